"""``contextmemory view``: a memory as one page for a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shared_core.cli.options import (
    DEFAULT_NAMESPACE,
    DEFAULT_PATH,
    NamespaceOption,
    PathOption,
    reading,
)
from shared_core.cli.output import note, waiting


def view(
    file: Annotated[Path, typer.Argument(help="The page to write.")] = Path("memory.html"),
    query: Annotated[
        str | None, typer.Option("--query", "-q", help="The question of the context that it shows.")
    ] = None,
    budget: Annotated[int, typer.Option("--budget", "-b", help="Most tokens of that context.")] = 2_000,
    limit: Annotated[int, typer.Option("--limit", "-l", help="Most memories listed, the newest.")] = 5_000,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that exists.")] = False,
    path: PathOption = DEFAULT_PATH,
    namespace: NamespaceOption = DEFAULT_NAMESPACE,
) -> None:
    """Write a namespace as one page of HTML that needs nothing else: search, timeline, graph, budget."""
    if str(file) == "-":
        raise ValueError("a page goes into a file: name one, such as 'memory.html'")
    if file.exists() and not overwrite:
        raise ValueError(f"{str(file)!r} exists: name another file, or --overwrite it")
    if not file.parent.is_dir():
        raise ValueError(f"there is no folder {str(file.parent)!r} for {file.name!r}")
    with reading(path, namespace) as memory, waiting("Drawing"):
        from shared_core.inspection.page import write_page

        write_page(memory, file, query=query, token_budget=budget, limit=limit)
    note(f"open {str(file)!r} in a browser")
