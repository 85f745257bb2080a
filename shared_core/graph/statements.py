"""What the records of a namespace state about two things, read from its index in one pass."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timezone

import numpy as np

from shared_core.graph.names import NAMING, stated_name
from shared_core.index.resident import STATING, ResidentIndex
from shared_core.records import Category, Memory
from shared_core.retrieval.filters import Filters

__all__ = ["Statement", "read_statements"]

_STATED = Filters(kinds=tuple(sorted(STATING)), include_superseded=True)


@dataclass(slots=True)
class Statement:
    """What a graph needs of a fact or a triplet; keeping whole records doubles the time of the collector.

    Attributes:
        place: Among all statements, counted from 0, oldest first.
        memory_id: Of the record.
        relation: Its subject, predicate and object; None for a fact in words alone.
        named: A subject and the name that it is given, where that is what it says.
        is_fact: Whether it is a fact, not a triplet.
        is_current: Whether nothing has superseded it.
        category: Of a fact.
        speaker: Who said it.
        confidence: 0 to 1.
        mention_count: How often it was said.
        created_at, last_said, updated_at: When it was said first and last, and when the record changed. UTC.
        conversations, sessions: Of the messages that it came from, in order.
        source_ids: Those messages.
    """

    place: int
    memory_id: str
    relation: tuple[str, str, str] | None
    named: tuple[str, str] | None
    is_fact: bool
    is_current: bool
    category: Category | None
    speaker: str | None
    confidence: float
    mention_count: int
    created_at: datetime
    last_said: datetime
    updated_at: datetime
    conversations: tuple[str, ...]
    sessions: tuple[str, ...]
    source_ids: tuple[str, ...]


def read_statements(index: ResidentIndex, now: datetime) -> list[Statement]:
    """Every fact and triplet, oldest first; what expired by ``now`` or was archived is left out."""
    rows = np.flatnonzero(_STATED.mask(index, now))
    order = np.lexsort((rows, index.columns["created"][rows]))
    places = _Places(index)
    memories = (index.stored(index.id_at(row)) for row in rows[order].tolist())
    return [places.statement(place, memory) for place, memory in enumerate(memories)]


class _Places:
    """Where messages were said, looked up once for all statements."""

    def __init__(self, index: ResidentIndex) -> None:
        self._row = index.row
        self._conversations = [
            index.conversation_codes.name(code) for code in range(len(index.conversation_codes))
        ]
        self._sessions = [index.session_codes.name(code) for code in range(len(index.session_codes))]
        # Lists, because reading one number from an array makes an object each time.
        self._conversation_of = index.columns["conversation"].tolist()
        self._session_of = index.columns["session"].tolist()
        self._created = index.columns["created"].tolist()

    def statement(self, place: int, memory: Memory) -> Statement:
        relation = _relation_of(memory)
        conversations, sessions, last = self._said(memory)
        return Statement(
            place=place,
            memory_id=memory.id,
            relation=relation,
            named=_name_in(memory, relation),
            is_fact=memory.kind == "fact",
            is_current=memory.is_current,
            category=memory.category,
            speaker=memory.speaker,
            confidence=memory.confidence,
            mention_count=memory.mention_count,
            created_at=memory.created_at,
            last_said=last,
            updated_at=memory.updated_at,
            conversations=conversations,
            sessions=sessions,
            source_ids=memory.source_ids,
        )

    def _said(self, memory: Memory) -> tuple[tuple[str, ...], tuple[str, ...], datetime]:
        """The conversations and sessions of its messages, and when the last of them was said."""
        rows = (
            [row for source in memory.sources if (row := self._row(source)) is not None]
            if len(memory.sources) > 1
            else ()
        )
        if not rows:  # the record itself says where and when its only message was said
            last = memory.created_at if memory.sources else max(memory.created_at, memory.updated_at)
            return _known(memory.conversation_id), _known(memory.session_id), last
        return (
            _named(self._conversations, (self._conversation_of[row] for row in rows)),
            _named(self._sessions, (self._session_of[row] for row in rows)),
            datetime.fromtimestamp(max(self._created[row] for row in rows), timezone.utc),
        )


def _relation_of(memory: Memory) -> tuple[str, str, str] | None:
    subject, predicate, obj = memory.subject, memory.predicate, memory.object
    if not subject or not predicate or not obj:
        return None
    return " ".join(subject.split()), predicate, " ".join(obj.split())


def _name_in(memory: Memory, relation: tuple[str, str, str] | None) -> tuple[str, str] | None:
    if relation is not None:
        return relation[::2] if relation[1] in NAMING else None
    return stated_name(memory.text) if memory.category == "name" else None


def _known(name: str | None) -> tuple[str, ...]:
    return () if name is None else (name,)


def _named(names: list[str | None], codes: Iterable[int]) -> tuple[str, ...]:
    return tuple(name for code in dict.fromkeys(codes) if code >= 0 and (name := names[code]) is not None)
