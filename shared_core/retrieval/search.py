"""Search: relevance of every record, score of every candidate, hits that explain themselves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shared_core.context.repetition import says_most_of
from shared_core.core_memory.working_memory import in_working_memory
from shared_core.embedding.base import FloatArray
from shared_core.index.resident import ResidentIndex
from shared_core.index.words import words_of
from shared_core.records import BUBBLE, HIT_TYPES, SUMMARY, HitType, Memory, Record, UtcDatetime
from shared_core.retrieval.filters import Filters
from shared_core.retrieval.question import Question
from shared_core.retrieval.relevance import CANDIDATES, Relevance, relevance_of
from shared_core.retrieval.spreading import spread
from shared_core.scoring import Column, ScoringPolicy, Signals
from shared_core.times import SECONDS_PER_DAY

Rows = NDArray[np.intp]

#: Rows sorted at first, for each hit that is wanted: several may come from one message.
OVERSAMPLING = 8
#: How far the relevance of what speaks of a thing that the question names is raised towards 1.
NAMED_SHARE = 0.3


class SearchHit(Record):
    """One memory that was found.

    Attributes:
        memory_id: Its id, for ``get``, ``update``, ``delete`` and ``history``.
        memory: Its text.
        type: ``semantic`` for a fact, ``connected_bubble`` for a bubble that was reached through another
            hit, else its kind.
        occurred_at: When it happened, or was said; None for facts. UTC.
        score: Higher is better.
        connections: Ids of the memories connected to it, strongest first.
        source_ids: Ids of the messages that it came from, first mention first.
        components: Every factor of the score by name; the policy's ``score`` of them is ``score``.
        record: The memory itself.
    """

    memory_id: str
    memory: str
    type: HitType
    occurred_at: UtcDatetime | None
    score: float
    connections: tuple[str, ...] = ()
    source_ids: tuple[str, ...] = ()
    components: dict[str, float]
    record: Memory

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape of seed 000."""
        return {
            "memory_id": self.memory_id,
            "memory": self.memory,
            "type": self.type,
            "occurred_at": self.occurred_at.isoformat() if self.occurred_at else None,
            "score": self.score,
            "connections": list(self.connections),
        }


class SearchResult(Record):
    """What a search found, best first; iterating over it gives the hits."""

    query: str
    results: list[SearchHit] = Field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """The JSON shape of seed 000: ``{"query", "results": […]}``."""
        return {"query": self.query, "results": [hit.to_dict() for hit in self.results]}

    def __len__(self) -> int:
        return len(self.results)

    def __bool__(self) -> bool:
        return bool(self.results)

    def __iter__(self) -> Iterator[SearchHit]:  # type: ignore[override]
        return iter(self.results)


@dataclass(frozen=True)
class Query:
    """A question, ready to be asked of an index.

    Attributes:
        question: As read against the speakers of the index.
        vector: The embedding of its subject, ``float32 [dimension]``.
        filters: What may be returned.
        limit: Most hits.
        now: What ages count from.
    """

    question: Question
    vector: FloatArray
    filters: Filters
    limit: int
    now: datetime


def search(index: ResidentIndex, query: Query, policy: ScoringPolicy) -> list[SearchHit]:
    """The best ``query.limit`` memories of ``index``, ranked by the exact score of ``policy``.

    A fact or bubble stands for its source messages, and a message for what was learnt from it: whichever
    scores best is returned, once. Places that are left go to what is linked to the memories that were found.
    """
    allowed = query.filters.mask(index, query.now)
    candidates = max(CANDIDATES, query.limit) if policy.follows_relevance else None
    relevance = relevance_of(index, query.question, query.vector, allowed, candidates=candidates)
    relevance = _raised_where_named(index, query.question, relevance)
    rows = relevance.rows
    components = policy.components(_signals(index, relevance, query.now))
    scores = policy.score(components)
    hits = []
    chosen = _distinct(index, rows, scores, limit=query.limit)
    for position in _moments_for_messages(index, rows, scores, chosen):
        factors = {name: float(column[position]) for name, column in components.items()}
        hits.append(_hit(index.memory_at(int(rows[position])), float(scores[position]), factors))
    return _with_linked(index, hits, allowed, limit=query.limit)


def _raised_where_named(index: ResidentIndex, question: Question, relevance: Relevance) -> Relevance:
    """The relevance, raised for what speaks of a thing that the question names (seed 004's graph step)."""
    words = [word.removesuffix("'s") for word in words_of(question.subject)]
    named = index.entities.named_in(words)
    places = [_position(relevance.rows, index.row(memory_id)) for memory_id in named]
    raised = [place for place in places if place is not None]
    if not raised:
        return relevance
    total = relevance.total.copy()
    total[raised] += NAMED_SHARE * (1.0 - total[raised])
    return replace(relevance, total=total)


def _signals(index: ResidentIndex, relevance: Relevance, now: datetime) -> Signals:
    columns, rows = index.columns, relevance.rows
    return Signals(
        relevance=relevance.total,
        similarity=np.clip(relevance.similarity, 0.0, 1.0).astype(np.float64),
        age_days=np.maximum(0.0, (now.timestamp() - columns["dated"][rows]) / SECONDS_PER_DAY),
        decays=columns["decays"][rows].astype(np.float64),
        importance=columns["importance"][rows],
        mention_count=columns["mentions"][rows].astype(np.float64),
        in_working_memory=in_working_memory(index, now)[rows].astype(np.float64),
    )


def _distinct(index: ResidentIndex, rows: Rows, scores: Column, *, limit: int) -> list[int]:
    """Positions of the best rows, no two of which come from one message; summaries stand beside theirs."""
    chosen: list[int] = []
    represented: set[str] = set()
    kinds = index.columns["kind"]
    for position in _best_first(scores, at_least=OVERSAMPLING * limit):
        row = int(rows[position])
        origins = index.origins_at(row)
        if represented.isdisjoint(origins):
            chosen.append(position)
            if len(chosen) == limit:
                break
            if kinds[row] != SUMMARY:
                represented.update(origins)
    return chosen


def _moments_for_messages(
    index: ResidentIndex, rows: Rows, scores: Column, chosen: Sequence[int]
) -> list[int]:
    """``chosen``, with the moment in place of each message of which it says most; best first."""
    told = []
    for position in chosen:
        row = int(rows[position])
        moments = [
            place
            for learnt in index.learnt_from(index.id_at(row))  # nothing, but from messages
            if (place := _position(rows, index.row(learnt))) is not None
            and index.columns["kind"][rows[place]] == BUBBLE
            and says_most_of(index.text_at(int(rows[place])), index.text_at(row))
        ]
        told.append(max(moments, key=lambda place: float(scores[place]), default=position))
    return sorted(told, key=lambda position: -float(scores[position]))


def _position(rows: Rows, row: int | None) -> int | None:
    """Where ``row`` stands in ``rows``, which are in order; None if it does not."""
    place = len(rows) if row is None else int(np.searchsorted(rows, row))
    return place if place < len(rows) and rows[place] == row else None


def _best_first(scores: Column, *, at_least: int) -> Iterator[int]:
    """Positions by falling score, equal scores in order; a beginning is sorted first, the rest if wanted."""
    place = len(scores) - at_least
    if place > 0:
        lowest = np.partition(scores, place)[place]
        top = np.flatnonzero(scores >= lowest)
        yield from map(int, top[np.argsort(-scores[top], kind="stable")])
        rest = np.flatnonzero(scores < lowest)
    else:
        rest = np.arange(len(scores))
    yield from map(int, rest[np.argsort(-scores[rest], kind="stable")])


def _hit(memory: Memory, score: float, components: dict[str, float], *, connected: bool = False) -> SearchHit:
    return SearchHit.model_construct(
        memory_id=memory.id,
        memory=memory.text,
        type="connected_bubble" if connected else HIT_TYPES[memory.kind],
        occurred_at=None if memory.kind in ("fact", "triplet", "block") else memory.dated,
        score=score,
        connections=tuple(connection.memory_id for connection in memory.connections),
        source_ids=memory.source_ids,
        components=components,
        record=memory,
    )


def _with_linked(
    index: ResidentIndex, hits: Sequence[SearchHit], allowed: NDArray[np.bool_], *, limit: int
) -> list[SearchHit]:
    """The hits, and what is linked to them and scores higher than the last ones or fills empty places."""
    represented = {origin for hit in hits for origin in hit.record.sources or (hit.memory_id,)}
    lowest = hits[-1].score if len(hits) == limit else 0.0
    reached: list[SearchHit] = []
    for way in spread({hit.memory_id: hit.score for hit in hits}, index.links, above=lowest):
        if len(reached) == limit:
            break
        row = index.row(way.memory_id)
        if row is None or not allowed[row]:
            continue
        memory = index.memory_at(row)
        origins = memory.sources or (memory.id,)
        if represented.isdisjoint(origins):
            represented.update(origins)
            factors = {"origin": way.origin, "connection": way.connection, "share": way.share}
            reached.append(_hit(memory, way.score, factors, connected=memory.kind == "bubble"))
    return sorted((*hits, *reached), key=lambda hit: -hit.score)[:limit] if reached else list(hits)
