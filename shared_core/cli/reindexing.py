"""``contextmemory reindex``: a namespace with the vectors of another embedder."""

from __future__ import annotations

from typing import Annotated

import typer

from shared_core.cli.embedders import embedder_named
from shared_core.cli.options import (
    DEFAULT_NAMESPACE,
    DEFAULT_PATH,
    JsonOption,
    NamespaceOption,
    PathOption,
    existing_folder,
)
from shared_core.cli.output import json_text, progress_bar, write_line


def reindex(
    embedder: Annotated[str, typer.Argument(help="bundled (offline), or openai (any compatible server).")],
    model: Annotated[str | None, typer.Option("--model", help="Of openai: the model.")] = None,
    dimension: Annotated[
        int | None, typer.Option("--dimension", help="Of openai: the vectors' length.")
    ] = None,
    base_url: Annotated[
        str | None, typer.Option("--base-url", help="Of openai: another server; else OPENAI_BASE_URL.")
    ] = None,
    as_json: JsonOption = False,
    path: PathOption = DEFAULT_PATH,
    namespace: NamespaceOption = DEFAULT_NAMESPACE,
) -> None:
    """Embed a namespace again, with another embedder; after an interruption the same command goes on."""
    folder = existing_folder(path)
    chosen = embedder_named(embedder, model=model, dimension=dimension, base_url=base_url)
    from shared_core.upkeep.reindexing import reindex as embed_again

    with progress_bar("Reindexing") as advance:
        report = embed_again(folder, namespace, chosen, progress=advance)
    if as_json:
        write_line(json_text({**report.model_dump(), "embedder": chosen.name}))
    elif not report.records:
        write_line(f"nothing to do: the namespace has the vectors of {chosen.name}")
    else:
        before = f", {report.resumed} were embedded before" if report.resumed else ""
        write_line(f"{report.embedded} records embedded with {chosen.name}{before}")
