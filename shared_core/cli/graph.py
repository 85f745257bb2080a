"""``contextmemory graph``: what a memory knows as things and their relations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from shared_core.cli.options import (
    DEFAULT_NAMESPACE,
    DEFAULT_PATH,
    ConversationOption,
    JsonOption,
    NamespaceOption,
    PathOption,
    reading,
)
from shared_core.cli.output import is_terminal, json_text, note, show, table, waiting, write_line, write_rows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from shared_core.graph.relation import Relation


def graph(
    name: Annotated[
        str | None, typer.Argument(help="A person, place or thing; left out: everything.")
    ] = None,
    to: Annotated[str | None, typer.Option("--to", help="Show the shortest way from NAME to this.")] = None,
    hops: Annotated[int, typer.Option("--hops", help="Most relations away from NAME.")] = 2,
    limit: Annotated[int, typer.Option("--limit", "-l", help="Most relations, without --json.")] = 50,
    include_superseded: Annotated[
        bool, typer.Option("--include-superseded", help="Also what is no longer so.")
    ] = False,
    conversation_id: ConversationOption = None,
    as_json: JsonOption = False,
    path: PathOption = DEFAULT_PATH,
    namespace: NamespaceOption = DEFAULT_NAMESPACE,
) -> None:
    """Show what a memory knows of things and their relations, around one of them or between two."""
    if to is not None and name is None:
        raise ValueError("--to needs the name that the way begins at")
    if limit < 1:
        raise ValueError(f"limit {limit} is not a whole number of at least 1")
    with reading(path, namespace) as memory, waiting("Building the graph"):
        known = memory.graph(conversation_id, include_superseded=include_superseded)
    if name is None:
        data, relations = known.to_dict(), known.relations()
    elif to is None:
        near = known.neighbourhood(name, hops)
        data, relations = near.to_dict(), list(near.relations)
    else:
        way = known.path(name, to, hops)
        data = {"found": way is not None, "relations": [step.to_dict() for step in way or ()]}
        relations = way or []
    if as_json:
        write_line(json_text(data))
    elif not relations:
        note(f"no way of at most {hops} relations" if to is not None else "no relations")
    else:
        _show(relations, limit)


def _show(relations: list[Relation], limit: int) -> None:
    rows = list(_rows(relations[:limit]))
    if is_terminal():
        show(table(("Times", "Last", "Subject", "Predicate", "Object"), rows))
    else:
        write_rows(rows)
    if len(relations) > limit:
        note(f"{len(relations) - limit} more: see --limit")


def _rows(relations: Iterable[Relation]) -> Iterable[tuple[str, str, str, str, str]]:
    for one in relations:
        when = one.last_mentioned.date().isoformat()
        yield (str(one.mention_count), when, one.subject, one.predicate, one.object)
