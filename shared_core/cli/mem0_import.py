"""``contextmemory import-mem0``: what mem0 has stored, into namespaces of ours."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shared_core.cli.options import (
    DEFAULT_NAMESPACE,
    DEFAULT_PATH,
    JsonOption,
    NamespaceOption,
    PathOption,
    RedactOption,
    writing,
)
from shared_core.cli.output import counted, json_text, progress_bar, waiting, write_line
from shared_core.cli.transfer import STREAM

if TYPE_CHECKING:
    from shared_core.transfer.mem0_import import Mem0Export, Mem0Report

#: Namespaces that a summary names; more are counted.
NAMED = 5


def import_mem0(
    source: Annotated[
        Path,
        typer.Argument(
            help="What get_all returned, as .json or .jsonl; the folder of its Chroma store; - for JSON "
            "from standard input."
        ),
    ],
    user_id: Annotated[
        str | None, typer.Option("--user-id", help="Only this user's, which then go to --namespace.")
    ] = None,
    collection: Annotated[str, typer.Option("--collection", help="Its name in that store.")] = "mem0",
    redact: RedactOption = False,
    as_json: JsonOption = False,
    path: PathOption = DEFAULT_PATH,
    namespace: NamespaceOption = DEFAULT_NAMESPACE,
) -> None:
    """Take over what mem0 has stored, each user's into a namespace of that name; again adds nothing.

    Memories that belong to no user go to --namespace. Texts are embedded anew.
    """
    from shared_core.transfer.mem0_import import import_mem0 as take_over

    with waiting("Reading"):  # the whole source is checked before anything is written
        export = _read(source, collection)
    with writing(path, namespace, redact=redact) as memory, progress_bar("Importing") as advance:
        report = take_over(memory, export, user_id=user_id, progress=advance)
    write_line(json_text(report.model_dump(mode="json")) if as_json else _summary(report))


def _read(source: Path, collection: str) -> Mem0Export:
    from shared_core.transfer.chat_logs import decoded_lines, parsed_json
    from shared_core.transfer.mem0_import import read_mem0

    if source != STREAM:
        return read_mem0(source.expanduser(), collection=collection)
    name = "standard input"
    export = parsed_json("".join(decoded_lines(sys.stdin.buffer, name)), name)
    if not isinstance(export, (dict, list)):
        raise ValueError(f"{name} has no list of memories, neither as such nor under 'results'")
    return read_mem0(export)


def _summary(report: Mem0Report) -> str:
    more = len(report.namespaces) - NAMED
    named = ", ".join(map(repr, report.namespaces[:NAMED])) + (f" and {more} more" if more > 0 else "")
    return (
        f"{counted(report.facts, 'fact')} and {counted(report.messages, 'message')} imported into "
        f"{named or 'no namespace'}, "
        f"{report.known} known already, {report.skipped} without a text"
    )
