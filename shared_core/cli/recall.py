"""``contextmemory search``, ``context`` and ``list``: what a memory holds."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from shared_core.cli.options import (
    DEFAULT_NAMESPACE,
    DEFAULT_PATH,
    ConversationOption,
    JsonOption,
    KindOption,
    NamespaceOption,
    PathOption,
    reading,
)
from shared_core.cli.output import (
    is_terminal,
    json_text,
    note,
    panel,
    printable,
    show,
    table,
    write_line,
    write_rows,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared_core.records import Category, Kind, Memory
    from shared_core.retrieval.search import SearchHit

#: Messages that a memory came from, as shown in a table.
SHOWN_SOURCES = 2


def search(
    query: Annotated[str, typer.Argument(help="A question, in any words.")],
    limit: Annotated[int, typer.Option("--limit", "-l", help="Most hits.")] = 5,
    conversation_id: ConversationOption = None,
    kind: KindOption = None,
    as_json: JsonOption = False,
    path: PathOption = DEFAULT_PATH,
    namespace: NamespaceOption = DEFAULT_NAMESPACE,
) -> None:
    """Show the memories that answer a question best."""
    with reading(path, namespace) as memory:
        found = memory.search(query, conversation_id, limit, kind=cast("Kind | None", kind))
    if as_json:
        write_line(json_text({"query": found.query, "results": [_hit_json(hit) for hit in found]}))
    elif not found:
        note("nothing fits")
    elif is_terminal():
        show(table(("Score", "Type", "When", "Source", "Memory"), map(hit_row, found), title=query))
    else:
        write_rows(map(hit_row, found))


def hit_row(hit: SearchHit) -> tuple[str, str, str, str, str]:
    """A hit as cells: score, type, day, the messages that it came from, text."""
    when, sources = _day(hit.occurred_at), sources_cell(hit.source_ids)
    return (f"{hit.score:.3f}", hit.type, when, sources, _spoken(hit.record))


def sources_cell(source_ids: Sequence[str]) -> str:
    """The first messages that a memory came from, and how many more there are."""
    more = len(source_ids) - SHOWN_SOURCES
    return ", ".join(source_ids[:SHOWN_SOURCES]) + (f" +{more}" if more > 0 else "")


def context(
    query: Annotated[str, typer.Argument(help="The question that the prompt is about.")],
    budget: Annotated[int, typer.Option("--budget", "-b", help="Most tokens.")] = 2_000,
    conversation_id: Annotated[
        str | None,
        typer.Option("--conversation-id", "-c", help="The conversation whose latest messages go along."),
    ] = None,
    model: Annotated[str | None, typer.Option("--model", help="Count tokens as this model does.")] = None,
    compact: Annotated[bool, typer.Option("--compact", help="A terser layout.")] = False,
    as_json: JsonOption = False,
    path: PathOption = DEFAULT_PATH,
    namespace: NamespaceOption = DEFAULT_NAMESPACE,
) -> None:
    """Print a block of memories for a prompt, within a token budget."""
    with reading(path, namespace) as memory:
        made = memory.context(
            query, budget, conversation_id, model=model, rendering="compact" if compact else "markdown"
        )
    if as_json:
        write_line(json_text(made.model_dump(mode="json")))
    elif not made.text:
        note(f"no memory fits into {budget} tokens")
    elif is_terminal():
        show(panel(made.text, title=query, subtitle=f"{made.tokens:,} of {budget:,} tokens"))
    else:
        for line in made.text.split("\n"):
            write_line(printable(line))


def list_memories(
    kind: KindOption = None,
    category: Annotated[
        str | None,
        typer.Option("--category", help="Facts of this category: work, place, preference, health, …"),
    ] = None,
    contains: Annotated[str | None, typer.Option("--contains", help="Words in the text.")] = None,
    conversation_id: ConversationOption = None,
    limit: Annotated[int, typer.Option("--limit", "-l", help="Most memories.")] = 50,
    offset: Annotated[int, typer.Option("--offset", help="How many to pass over.")] = 0,
    as_json: JsonOption = False,
    path: PathOption = DEFAULT_PATH,
    namespace: NamespaceOption = DEFAULT_NAMESPACE,
) -> None:
    """List memories, newest first."""
    with reading(path, namespace) as memory:
        page = memory.list(
            kind=cast("Kind | None", kind),
            category=cast("Category | None", category),
            contains=contains,
            conversation_id=conversation_id,
            limit=limit,
            offset=offset,
        )
    if as_json:
        write_line(json_text([found.model_dump(mode="json", exclude_defaults=True) for found in page]))
    elif not page:
        note("nothing here")
    elif is_terminal():
        show(table(("Id", "Kind", "Category", "When", "Memory"), map(_memory_row, page)))
    else:
        write_rows(map(_memory_row, page))


def _memory_row(memory: Memory) -> tuple[str, str, str, str, str]:
    return (memory.id, memory.kind, memory.category or "", _day(memory.dated), _spoken(memory))


def _spoken(memory: Memory) -> str:
    """The text, after the name of who said it."""
    return f"{memory.speaker}: {memory.text}" if memory.kind == "message" else memory.text


def _hit_json(hit: SearchHit) -> dict[str, Any]:
    return {**hit.to_dict(), "source_ids": list(hit.source_ids), "components": hit.components}


def _day(moment: datetime | None) -> str:
    return moment.date().isoformat() if moment else ""
