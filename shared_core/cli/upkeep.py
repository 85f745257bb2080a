"""``contextmemory maintain`` and ``erase``: what becomes of memories in the long run."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from shared_core.cli.options import (
    DEFAULT_NAMESPACE,
    DEFAULT_PATH,
    JsonOption,
    NamespaceOption,
    PathOption,
    reading,
)
from shared_core.cli.output import is_terminal, json_text, note, show, table, waiting, write_line, write_rows


def maintain(
    as_json: JsonOption = False,
    path: PathOption = DEFAULT_PATH,
    namespace: NamespaceOption = DEFAULT_NAMESPACE,
) -> None:
    """Tend a memory: let it age, rise, come to mind, and stay within its limits; again changes nothing."""
    with reading(path, namespace) as memory, waiting("Maintaining"):
        report = memory.maintain()
    if as_json:
        write_line(json_text(report.model_dump(mode="json")))
    elif report.changed_nothing:
        note("everything was in order")
    else:
        rows = [(name.replace("_", " "), str(count)) for name, count in report.counts.items() if count]
        if is_terminal():
            show(table(("What", "Records"), rows))
        else:
            write_rows(rows)


def erase(
    message_id: Annotated[
        str | None, typer.Option("--message-id", help="One message, by the id that it was added with.")
    ] = None,
    conversation_id: Annotated[
        str | None,
        typer.Option(
            "--conversation-id", "-c", help="A conversation, or the one in which the message stands."
        ),
    ] = None,
    everything: Annotated[bool, typer.Option("--everything", help="The whole namespace.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    path: PathOption = DEFAULT_PATH,
    namespace: NamespaceOption = DEFAULT_NAMESPACE,
) -> None:
    """Erase messages for good, and every memory that was learnt only from them."""
    if everything and (message_id is not None or conversation_id is not None):
        raise ValueError("--everything erases more than --message-id or --conversation-id: name one of them")
    if message_id is None and conversation_id is None and not everything:
        raise ValueError("name what to erase: --message-id, --conversation-id or --everything")
    with reading(path, namespace) as memory:
        if not yes:
            _ask(f"Erase {_named(message_id, conversation_id)} of namespace {namespace!r} for good?")
        with waiting("Erasing"):
            count = memory.erase(
                message_id=message_id, conversation_id=conversation_id, everything=everything
            )
    write_line(f"{count} records erased")


def _named(message_id: str | None, conversation_id: str | None) -> str:
    if message_id is not None:
        return f"message {message_id!r}"
    return "everything" if conversation_id is None else f"conversation {conversation_id!r}"


def _ask(question: str) -> None:
    if not sys.stdin.isatty():
        raise ValueError("erasing is for good: add --yes where nobody can be asked")
    typer.confirm(question, abort=True, err=True)
