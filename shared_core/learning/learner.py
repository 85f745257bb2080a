"""From what an extractor found to records: repeated facts counted, moments kept apart and connected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from shared_core.embedding.base import FloatArray
from shared_core.extraction.schema import ExtractedBubble, ExtractedFact, ExtractedTriplet, Extraction
from shared_core.ids import fact_id, record_id, triplet_id
from shared_core.index.resident import ResidentIndex
from shared_core.learning.connections import strongest_connections
from shared_core.learning.reconciliation import Decision, decide
from shared_core.learning.supersession import Draft
from shared_core.messages import passed_on
from shared_core.records import Connection, Memory, Usage

Vectors = Mapping[str, FloatArray]
Item = TypeVar("Item", ExtractedFact, ExtractedBubble, ExtractedTriplet)


#: Bubbles compared with all other memories at a time, which bounds the memory of the product.
CONNECTED_AT_ONCE = 256


@dataclass(frozen=True)
class Learnt:
    """Records to write, and how many of them are new, changed, or were known word for word."""

    memories: tuple[Memory, ...]
    added: int
    updated: int
    repeated: int


def usable(extraction: Extraction, message_count: int) -> Extraction:
    """``extraction`` without the items that say nothing, or that no message says; they count as dropped.

    The sources of the others come in the order of the messages, each once.
    """

    def cleaned(items: Sequence[Item]) -> tuple[Item, ...]:
        found = []
        for item in items:
            sources = tuple(sorted({place for place in item.sources if 0 <= place < message_count}))
            if sources and all(word.strip() for word in _words_of(item)):
                found.append(item.model_copy(update={"sources": sources}))
        return tuple(found)

    facts, bubbles = cleaned(extraction.facts), cleaned(extraction.bubbles)
    triplets = cleaned(extraction.triplets)
    given = len(extraction.facts) + len(extraction.bubbles) + len(extraction.triplets)
    dropped = Usage(dropped=given - len(facts) - len(bubbles) - len(triplets))
    return Extraction(facts=facts, bubbles=bubbles, triplets=triplets, usage=extraction.usage + dropped)


def _words_of(item: ExtractedFact | ExtractedBubble | ExtractedTriplet) -> tuple[str, ...]:
    if isinstance(item, ExtractedTriplet):
        return (item.subject, item.predicate, item.object)
    return (item.text,)


def texts_of(extraction: Extraction) -> list[str]:
    """Every text that the records of an extraction will need a vector for."""
    return [
        *(fact.text for fact in extraction.facts),
        *(bubble.text for bubble in extraction.bubbles),
        *(triplet_text(triplet) for triplet in extraction.triplets),
    ]


def known_ids(extraction: Extraction, index: ResidentIndex) -> list[str]:
    """The ids under which its facts and triplets stand, if they were said before."""
    return [
        *(standing_id(index, fact_id(fact.text), fact.text) for fact in extraction.facts),
        *(standing_id(index, _id_of(triplet), triplet_text(triplet)) for triplet in extraction.triplets),
    ]


def _id_of(triplet: ExtractedTriplet) -> str:
    return triplet_id(triplet.subject, triplet.predicate, triplet.object)


def standing_id(index: ResidentIndex, memory_id: str, text: str) -> str:
    """An id for ``text``: its own, unless the record of that id was given another text since."""
    said = text.casefold().split()
    row = index.row(memory_id)
    while row is not None and index.text_at(row).casefold().split() != said:
        memory_id = record_id("fact", memory_id, " ".join(said))
        row = index.row(memory_id)
    return memory_id


def triplet_text(triplet: ExtractedTriplet) -> str:
    """A triplet as a sentence: ``Alice works at Google``."""
    return f"{triplet.subject} {triplet.predicate.replace('_', ' ')} {triplet.object}"


class Learner:
    """Turns one extraction into records.

    Args:
        index: What the namespace knows already; it is only read.
        messages: The message records that the extraction speaks of, in the order of its request.
        vectors: The vector of every text that may be needed.
        now: When the records are written.
        decisions: What a model has decided of facts, by their position; rules decide of the others.
    """

    def __init__(
        self,
        index: ResidentIndex,
        messages: Sequence[Memory],
        vectors: Vectors,
        now: datetime,
        decisions: Mapping[int, Decision] | None = None,
    ) -> None:
        self._messages = messages
        self._vectors = vectors
        self._now = now
        self._index = index
        self._decisions = decisions or {}
        self._draft = Draft(index, now)
        self._repeated = 0

    def learn(self, extraction: Extraction, *, threshold: float, limit: int) -> Learnt:
        """The records of ``extraction``; a bubble makes ``limit`` connections, from ``threshold`` on."""
        for place, fact in enumerate(extraction.facts):
            self._add_fact(fact, self._decisions.get(place))
        for triplet in extraction.triplets:
            self._add_triplet(triplet)
        for bubble in extraction.bubbles:
            self._add_bubble(bubble)
        self._connect(threshold=threshold, limit=limit)
        records = tuple(self._draft.records.values())
        updated = sum(memory.id in self._index for memory in records)
        return Learnt(records, len(records) - updated, updated, self._repeated)

    def _add_fact(self, fact: ExtractedFact, decision: Decision | None) -> None:
        self._add_or_repeat(
            fact_id(fact.text),
            fact.sources,
            decision or decide(fact, self._draft.held("fact")),
            kind="fact",
            text=fact.text,
            category=fact.category,
            importance=fact.importance,
            confidence=fact.confidence,
            subject=fact.subject,
            predicate=fact.predicate,
            object=fact.object,
        )

    def _add_triplet(self, triplet: ExtractedTriplet) -> None:
        self._add_or_repeat(
            _id_of(triplet),
            triplet.sources,
            decide(triplet, self._draft.held("triplet")),
            kind="triplet",
            text=triplet_text(triplet),
            confidence=triplet.confidence,
            subject=triplet.subject,
            predicate=triplet.predicate,
            object=triplet.object,
        )

    def _add_bubble(self, bubble: ExtractedBubble) -> None:
        source = self._messages[bubble.sources[0]]
        memory_id = record_id("bubble", source.id, bubble.text)
        if self._draft.get(memory_id) is not None:
            self._repeated += 1
            return
        self._draft.put(
            self._record(
                memory_id,
                bubble.sources,
                kind="bubble",
                text=bubble.text,
                importance=bubble.importance,
                confidence=bubble.confidence,
                occurred_at=bubble.occurred_at or source.created_at,
            )
        )

    def _add_or_repeat(
        self, memory_id: str, sources: Sequence[int], decision: Decision, **fields: object
    ) -> None:
        """A record of what is new, in place of what it supersedes; one more mention of what is known."""
        memory_id = standing_id(self._index, memory_id, str(fields["text"]))
        if decision.event == "NOOP":
            known = self._draft.get(decision.targets[0])
        else:
            known = self._draft.get(memory_id)
        if known is not None and known.is_current:
            self._mention(known, sources)
            memory_id = known.id
        else:
            if known is not None:
                memory_id = known.id
                self._draft.keep_as_version(known)
            made = self._record(memory_id, sources, **fields)
            self._draft.put(made.model_copy(update={"mention_count": len(made.sources)}))
        self._draft.supersede(decision.targets if decision.event != "NOOP" else (), by=memory_id)

    def _mention(self, known: Memory, sources: Sequence[int]) -> None:
        self._repeated += 1
        fresh = [self._messages[i] for i in sources if self._messages[i].id not in known.sources]
        if fresh:
            self._draft.put(
                known.model_copy(
                    update={
                        "mention_count": known.mention_count + len(fresh),
                        "sources": (*known.sources, *(message.id for message in fresh)),
                        "source_ids": (*known.source_ids, *(message.message_id or "" for message in fresh)),
                        "updated_at": self._now,
                        "is_active": True,
                    }
                )
            )

    def _record(self, memory_id: str, sources: Sequence[int], **fields: object) -> Memory:
        messages = [self._messages[i] for i in sources]
        first = messages[0]
        return Memory.model_validate(
            {
                "id": memory_id,
                "conversation_id": first.conversation_id,
                "session_id": first.session_id,
                "turn": first.turn,
                "speaker": first.speaker,
                "created_at": first.created_at,
                "updated_at": self._now,
                "source_ids": tuple(message.message_id for message in messages),
                "sources": tuple(message.id for message in messages),
                "metadata": passed_on(first.metadata),
                **fields,
            }
        )

    def _connect(self, *, threshold: float, limit: int) -> None:
        """Connect each new bubble to older facts and bubbles of other messages."""
        records = self._draft.records
        bubbles = [memory for memory in records.values() if memory.kind == "bubble"]
        if not bubbles or limit == 0:
            return
        rows = self._index.rows_of("bubble", "fact")
        rows = rows[self._index.columns["current"][rows]]
        new = [
            memory for memory in records.values() if memory.kind in ("bubble", "fact") and memory.is_current
        ]
        table = np.stack([self._vectors[memory.text] for memory in new])
        allowed = self._allowed(bubbles, new, rows)
        for start in range(0, len(bubbles), CONNECTED_AT_ONCE):
            chunk = bubbles[start : start + CONNECTED_AT_ONCE]
            vectors = np.stack([self._vectors[memory.text] for memory in chunk])
            similarities = np.hstack([self._index.vectors.products(vectors)[:, rows], vectors @ table.T])
            found = strongest_connections(
                similarities, allowed=allowed[start : start + len(chunk)], threshold=threshold, limit=limit
            )
            for bubble, best in zip(chunk, found, strict=True):
                others = [
                    self._index.id_at(int(rows[place])) if place < len(rows) else new[place - len(rows)].id
                    for place, _ in best
                ]
                connections = tuple(
                    Connection(memory_id=other, score=round(score, 4))
                    for other, (_, score) in zip(others, best, strict=True)
                )
                self._draft.put(bubble.model_copy(update={"connections": connections}))

    def _allowed(
        self, bubbles: Sequence[Memory], new: Sequence[Memory], rows: NDArray[np.intp]
    ) -> NDArray[np.bool_]:
        """``bool [bubbles, rows + new]``: of the new, only earlier ones of other messages."""
        allowed = np.ones((len(bubbles), len(rows) + len(new)), dtype=np.bool_)
        known = (self._index.row(memory_id) for memory_id in self._draft.records)
        rewritten = [row for row in known if row is not None]
        allowed[:, np.flatnonzero(np.isin(rows, rewritten))] = False
        first_new = len(rows)
        place = {memory.id: first_new + position for position, memory in enumerate(new)}
        of_source: dict[str, list[int]] = {}
        for memory in new:
            for source in memory.sources:
                of_source.setdefault(source, []).append(place[memory.id])
        for row, bubble in enumerate(bubbles):
            allowed[row, place[bubble.id] :] = False
            for source in bubble.sources:
                allowed[row, of_source[source]] = False
        return allowed
