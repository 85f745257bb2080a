"""``contextmemory get``, ``history``, ``remember``, ``update`` and ``delete``: one memory at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

import typer

from shared_core.cli.options import (
    DEFAULT_NAMESPACE,
    DEFAULT_PATH,
    JsonOption,
    NamespaceOption,
    PathOption,
    RedactOption,
    reading,
    writing,
)
from shared_core.cli.output import is_terminal, json_text, show, table, write_line, write_rows

if TYPE_CHECKING:
    from shared_core.records import Category, Memory

MemoryId = Annotated[str, typer.Argument(help="Its id, as list and search --json show it.")]


def get(
    memory_id: MemoryId,
    as_json: JsonOption = False,
    path: PathOption = DEFAULT_PATH,
    namespace: NamespaceOption = DEFAULT_NAMESPACE,
) -> None:
    """Show everything that is known of one memory."""
    with reading(path, namespace) as memory:
        found = memory.get(memory_id)
    if found is None:
        raise ValueError(f"there is no memory {memory_id!r} in namespace {namespace!r}")
    if as_json:
        write_line(memory_json(found))
        return
    fields = found.model_dump(mode="json", exclude_defaults=True)
    rows = [(name.replace("_", " "), str(value)) for name, value in fields.items()]
    if is_terminal():
        show(table(("Field", "Value"), rows))
    else:
        write_rows(rows)


def history(
    memory_id: MemoryId,
    as_json: JsonOption = False,
    path: PathOption = DEFAULT_PATH,
    namespace: NamespaceOption = DEFAULT_NAMESPACE,
) -> None:
    """Show every version of a memory, oldest first: what was believed, and what replaced it."""
    with reading(path, namespace) as memory:
        versions = memory.history(memory_id)
    if not versions:
        raise ValueError(f"there is no memory {memory_id!r} in namespace {namespace!r}")
    if as_json:
        write_line(json_text([one.model_dump(mode="json", exclude_defaults=True) for one in versions]))
        return
    rows = [
        (one.id, one.updated_at.date().isoformat(), "current" if one.is_current else "replaced", one.text)
        for one in versions
    ]
    if is_terminal():
        show(table(("Id", "Changed", "State", "Memory"), rows))
    else:
        write_rows(rows)


def remember(
    text: Annotated[str, typer.Argument(help="A sentence that stands by itself.")],
    category: Annotated[
        str, typer.Option("--category", help="What it is about: work, place, preference, health, …")
    ] = "other",
    importance: Annotated[float, typer.Option("--importance", help="0 to 1.")] = 0.7,
    conversation_id: Annotated[
        str | None, typer.Option("--conversation-id", "-c", help="Where it was said.")
    ] = None,
    redact: RedactOption = False,
    as_json: JsonOption = False,
    path: PathOption = DEFAULT_PATH,
    namespace: NamespaceOption = DEFAULT_NAMESPACE,
) -> None:
    """Store a fact as it stands; said again, it counts as mentioned once more."""
    with writing(path, namespace, redact=redact) as memory:
        made = memory.remember(
            text,
            category=cast("Category", category),
            importance=importance,
            conversation_id=conversation_id,
        )
    write_line(memory_json(made) if as_json else made.id)


def update(
    memory_id: MemoryId,
    text: Annotated[str, typer.Argument(help="What it shall say from now on.")],
    redact: RedactOption = False,
    as_json: JsonOption = False,
    path: PathOption = DEFAULT_PATH,
    namespace: NamespaceOption = DEFAULT_NAMESPACE,
) -> None:
    """Give a memory another text; its history keeps the present one."""
    with reading(path, namespace, redact=redact) as memory:
        changed = memory.update(memory_id, text)
    write_line(memory_json(changed) if as_json else changed.id)


def delete(
    memory_ids: Annotated[list[str], typer.Argument(help="Ids of memories.")],
    path: PathOption = DEFAULT_PATH,
    namespace: NamespaceOption = DEFAULT_NAMESPACE,
) -> None:
    """Delete memories and their history; a message takes along what was learnt only from it."""
    with reading(path, namespace) as memory:
        missing = [one for one in memory_ids if not memory.delete(one)]
    if missing:
        raise ValueError(f"there is no memory {', '.join(map(repr, missing))} in namespace {namespace!r}")


def memory_json(memory: Memory) -> str:
    """A record as JSON, without the fields that have their default."""
    return json_text(memory.model_dump(mode="json", exclude_defaults=True))
