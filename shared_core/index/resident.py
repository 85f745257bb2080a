"""The resident index of one namespace: built from its records, kept by every write, droppable at any time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from shared_core.embedding.base import FloatArray
from shared_core.ids import message_record_id
from shared_core.index.claims import ClaimIndex
from shared_core.index.columns import NO_ROW, Codes, Columns
from shared_core.index.conversations import Conversation
from shared_core.index.entities import EntityIndex
from shared_core.index.graph import ConnectionGraph
from shared_core.index.lexical import LexicalIndex
from shared_core.index.surroundings import Surroundings, surroundings_of
from shared_core.index.traits import traits_of
from shared_core.index.vectors import VectorTable
from shared_core.index.wording import terms_in, wording_of
from shared_core.index.words import words_of
from shared_core.records import (
    CATEGORIES,
    KINDS,
    MESSAGE,
    SUMMARY,
    TIERS,
    WORKING_REASONS,
    Category,
    Connection,
    Kind,
    Memory,
    Tier,
    WorkingReason,
)
from shared_core.stores.codec import decode

Member = TypeVar("Member", str, int)

_KIND_CODES: dict[Kind, int] = {kind: code for code, kind in enumerate(KINDS)}
_CATEGORY_CODES: dict[Category | None, int] = {
    None: NO_ROW,
    **{category: code for code, category in enumerate(CATEGORIES)},
}
_TIER_CODES: dict[Tier, int] = {tier: code for code, tier in enumerate(TIERS)}
_REASON_CODES: dict[WorkingReason | None, int] = {
    None: NO_ROW,
    **{reason: code for code, reason in enumerate(WORKING_REASONS)},
}
#: Kinds that are bound to a moment, so that age counts against them.
DECAYING: frozenset[Kind] = frozenset({"message", "bubble", "summary"})
#: Kinds that may name the things that they are about.
STATING: frozenset[Kind] = frozenset({"fact", "triplet"})
#: What a summary says it sums up where it took messages out of the buffer.
BUFFER_TITLE = "buffer"
#: Whom a question means that does not name a speaker: *what did I say* asks for what the user said.
PRONOUNS: dict[str, Sequence[str]] = {
    "User": ("i", "me", "my", "mine", "myself", "i'm", "i've", "i'd"),
    "Assistant": ("you", "your", "yours"),
    "System": (),
    "Tool": (),
}
#: An index is rebuilt from itself once so many rows are dead, and they are half of all.
COMPACT_FROM_ROWS = 1_024


class ResidentIndex:
    """Every record of a namespace by row, with its vector, words, connections and neighbours.

    A row never changes its text or vector: a record whose text changes gets a new row, and the old one dies.
    Not thread-safe: whoever owns it holds a lock.

    Args:
        dimension: Length of a vector.
    """

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self.vectors = VectorTable(dimension)
        self.lexical = LexicalIndex()
        self.columns = Columns()
        self.connections = ConnectionGraph()
        self.entities = EntityIndex()
        self.claims = ClaimIndex()
        self.conversation_codes = Codes()
        self.session_codes = Codes()
        self.speaker_codes = Codes()
        self.conversations: dict[str, Conversation] = {}
        self._rows: dict[str, int] = {}
        self._ids: list[str] = []
        self._texts: list[str] = []
        self._payloads: list[str] = []
        self._origins: list[tuple[str, ...]] = []
        self._metadata: dict[int, dict[str, Any]] = {}
        self._pending: set[str] = set()
        self._learnt: dict[str, tuple[str, ...]] = {}  # short: a set of one takes four times the memory
        self._summary_of: dict[str, str] = {}
        self._replaced: dict[str, set[str]] = {}
        self._names: dict[str, set[int]] = {}
        self._heard: Counter[int] = Counter()
        self._surroundings: Surroundings | None = None
        self._surroundings_are_current = False
        self._allowed: dict[tuple[frozenset[Kind], bool, bool], NDArray[np.bool_]] = {}

    # -- reading -----------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, memory_id: object) -> bool:
        return memory_id in self._rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    @property
    def pending(self) -> frozenset[str]:
        """The ids of messages that nothing was learnt from yet."""
        return frozenset(self._pending)

    def row(self, memory_id: str) -> int | None:
        """The row of a record; None if there is no such record."""
        return self._rows.get(memory_id)

    def id_at(self, row: int) -> str:
        """The id of the record in a row."""
        return self._ids[row]

    def text_at(self, row: int) -> str:
        """The text of the record in a row."""
        return self._texts[row]

    def memory_at(self, row: int) -> Memory:
        """The record in a row, with its connections as seen from both ends."""
        memory = decode(self._ids[row], self._texts[row], self._payloads[row])
        connections = self.neighbours(memory.id)
        return (
            memory
            if connections == memory.connections
            else memory.model_copy(update={"connections": connections})
        )

    def get(self, memory_id: str) -> Memory | None:
        """The record of that id; None if there is none."""
        row = self._rows.get(memory_id)
        return None if row is None else self.memory_at(row)

    def holds(self, memory: Memory) -> bool:
        """Whether there is a record of that id with the same text, and so vector, kind and conversation."""
        row = self._rows.get(memory.id)
        return (
            row is not None
            and self._texts[row] == memory.text
            and int(self.columns["kind"][row]) == _KIND_CODES[memory.kind]
            and self.conversation_codes.name(int(self.columns["conversation"][row])) == memory.conversation_id
        )

    def origins_at(self, row: int) -> tuple[str, ...]:
        """The record ids of the messages that the record in a row stands for: a message for itself."""
        return self._origins[row]

    def metadata_at(self, row: int) -> dict[str, Any]:
        """What the caller attached to the record in a row."""
        return self._metadata.get(row, {})

    def stored(self, memory_id: str) -> Memory:
        """The record as it is stored, with only the connections that are stored with it."""
        row = self._rows[memory_id]
        return decode(memory_id, self._texts[row], self._payloads[row])

    def neighbours(self, memory_id: str) -> tuple[Connection, ...]:
        """The memories connected to one, strongest first."""
        return tuple(c for c in self.connections.neighbours(memory_id) if c.memory_id in self._rows)

    def links(self, memory_id: str) -> Mapping[str, float]:
        """What activation spreads to from a memory, with the strength of each link, 0 to 1.

        Those connected to it, and those that speak of the same thing.
        """
        connected, related = self.connections.links(memory_id), self.entities.links(memory_id)
        return {**related, **connected} if related else connected

    def learnt_from(self, message_record_id: str) -> tuple[str, ...]:
        """The ids of what names this message among its sources, in order."""
        return tuple(sorted(self._learnt.get(message_record_id, ())))

    def summary_of(self, message_record_id: str) -> str | None:
        """The id of the summary that took this message out of the buffer; None while it is in it."""
        return self._summary_of.get(message_record_id)

    def replaced_by(self, memory_id: str) -> frozenset[str]:
        """The ids of what this memory has superseded."""
        return frozenset(self._replaced.get(memory_id, ()))

    def dangling(self) -> dict[str, frozenset[str]]:
        """The records that refer to what is not there, each with the ids that it should not name."""
        found: dict[str, set[str]] = {}
        for memory_id, other in self.connections.stored():
            if other not in self._rows and memory_id in self._rows:
                found.setdefault(memory_id, set()).add(other)
        for successor, replaced in self._replaced.items():
            if successor not in self._rows:
                for memory_id in replaced:
                    found.setdefault(memory_id, set()).add(successor)
        return {memory_id: frozenset(others) for memory_id, others in found.items()}

    @property
    def names(self) -> Mapping[str, Collection[int]]:
        """The codes of the speakers by each word that may name them, in lower case."""
        return self._names

    def turns(self) -> NDArray[np.bool_]:
        """Which rows are messages: ``bool [n]``."""
        turns: NDArray[np.bool_] = self.columns["alive"] & (self.columns["kind"] == MESSAGE)
        return turns

    def surroundings(self) -> Surroundings:
        """What stands around each turn, computed anew after a write."""
        if self._surroundings is None or not self._surroundings_are_current:
            self._surroundings = surroundings_of(
                self.columns,
                self.vectors,
                self.lexical.lengths,
                session_count=len(self.session_codes),
                previous=self._surroundings,
            )
            self._surroundings_are_current = True
        return self._surroundings

    def allowed(self, kinds: frozenset[Kind], *, archived: bool, superseded: bool) -> NDArray[np.bool_]:
        """Which live rows are of these kinds: ``bool [n]``, a copy.

        Args:
            kinds: The kinds.
            archived: Whether what is archived counts as well.
            superseded: Whether what was replaced counts as well.
        """
        key = (kinds, archived, superseded)
        known = self._allowed.get(key)
        if known is None:
            columns = self.columns
            known = columns["alive"] & np.array([kind in kinds for kind in KINDS])[columns["kind"]]
            if not archived:
                known &= columns["active"]
            if not superseded:
                known &= columns["current"]
            self._allowed[key] = known
        copied: NDArray[np.bool_] = known.copy()
        return copied

    def rows_of(self, *kinds: Kind) -> NDArray[np.intp]:
        """The live rows of these kinds, in order; of every kind where none is named."""
        alive = self.columns["alive"]
        if kinds:
            alive = alive & np.isin(self.columns["kind"], [KINDS.index(kind) for kind in kinds])
        return np.flatnonzero(alive)

    def messages_named(self, message_id: str, conversation_id: str | None = None) -> list[str]:
        """The record ids of the messages that were added with this id, in one conversation or in any."""
        conversations = self.conversations if conversation_id is None else (conversation_id,)
        ids = (message_record_id(conversation, message_id) for conversation in conversations)
        return [memory_id for memory_id in ids if memory_id in self._rows]

    def summaries_of(self, conversation_id: str) -> list[int]:
        """The rows of the summaries of a conversation, newest first; versions replaced are left out."""
        code = self.conversation_codes.find(conversation_id)
        columns = self.columns
        rows = [
            int(row)
            for row in self.rows_of("summary")
            if columns["conversation"][row] == code and columns["current"][row]
        ]
        turns, created = columns["turn"], columns["created"]
        return sorted(rows, key=lambda row: (-turns[row], -created[row], self._ids[row]))

    def buffered(self, conversation_id: str) -> list[int]:
        """The rows of the messages that the buffer of a conversation holds, oldest first."""
        conversation = self.conversations.get(conversation_id)
        if conversation is None:
            return []
        rows = []
        for row in conversation.newest_first():
            if self._ids[row] in self._summary_of:
                break
            rows.append(row)
        return rows[::-1]

    # -- writing -----------------------------------------------------------------------------------------

    def put(self, memory: Memory, payload: str, vector: FloatArray) -> None:
        """Add or replace one record; ``vector`` is ``float32 [dimension]``."""
        self.put_all([memory], [payload], vector.reshape(1, -1))

    def _forget_what_follows(self) -> None:
        """What was computed from the columns is to be computed anew."""
        self._surroundings_are_current = False
        self._allowed.clear()

    def put_all(self, memories: Sequence[Memory], payloads: Sequence[str], vectors: FloatArray) -> None:
        """Add or replace records, in any order, each id once; ``vectors`` is ``float32 [n, dimension]``."""
        self._forget_what_follows()
        new: list[int] = []
        for place, memory in enumerate(memories):
            old = self._rows.get(memory.id)
            if old is not None:
                self._detach(old)
            if old is None or self._texts[old] != memory.text:
                new.append(place)
                if old is not None:
                    self._kill(old)
        if new:
            self._append([memories[place] for place in new], vectors[new])
        rows = [self._rows[memory.id] for memory in memories]
        for row, memory, payload in zip(rows, memories, payloads, strict=True):
            self._payloads[row] = payload
            self._origins[row] = (memory.id,) if memory.kind == "message" else memory.sources
        self._set_columns(rows, memories)
        self._attach_all(rows, memories)

    def remove(self, memory_id: str) -> None:
        """Take a record out; harmless if there is none."""
        row = self._rows.pop(memory_id, None)
        if row is None:
            return
        self._forget_what_follows()
        self._detach(row)
        self._kill(row)
        self.connections.remove(memory_id)
        self.entities.remove(memory_id)
        self.claims.remove(memory_id)
        self._texts[row] = self._payloads[row] = ""
        self._origins[row] = ()

    def compacted(self) -> ResidentIndex:
        """This index, or one without dead rows where they are many."""
        dead = len(self._ids) - len(self._rows)
        if dead < COMPACT_FROM_ROWS or dead < len(self._rows):
            return self
        fresh = ResidentIndex(self.dimension)
        rows = list(self._rows.values())
        memories = [decode(self._ids[row], self._texts[row], self._payloads[row]) for row in rows]
        fresh.put_all(memories, [self._payloads[row] for row in rows], self.vectors.take(rows))
        return fresh

    def _append(self, memories: Sequence[Memory], vectors: FloatArray) -> None:
        """A row for each record, with what follows from its text."""
        texts = [memory.text for memory in memories]
        wording = wording_of([words_of(text) for text in texts])
        first = self.columns.extend(len(memories))
        self.vectors.extend(vectors)
        self.lexical.extend(terms_in(wording))
        self.columns.set_all(np.arange(first, first + len(memories)), **traits_of(texts, wording))
        self._rows.update((memory.id, first + place) for place, memory in enumerate(memories))
        self._ids.extend(memory.id for memory in memories)
        self._texts.extend(texts)
        self._payloads.extend("" for _ in memories)
        self._origins.extend(() for _ in memories)

    def _kill(self, row: int) -> None:
        self.lexical.forget(row, self._texts[row])
        self.columns.set(row, alive=False)

    def _set_columns(self, rows: Sequence[int], memories: Sequence[Memory]) -> None:
        self.columns.set_all(
            np.array(rows, dtype=np.intp),
            alive=True,
            kind=[_KIND_CODES[memory.kind] for memory in memories],
            conversation=self.conversation_codes.of_all([memory.conversation_id for memory in memories]),
            session=self.session_codes.of_all([memory.session_id for memory in memories]),
            speaker=self.speaker_codes.of_all([memory.speaker for memory in memories]),
            category=[_CATEGORY_CODES[memory.category] for memory in memories],
            turn=[NO_ROW if memory.turn is None else memory.turn for memory in memories],
            dated=[memory.dated.timestamp() for memory in memories],
            created=[memory.created_at.timestamp() for memory in memories],
            importance=[memory.importance for memory in memories],
            mentions=[memory.mention_count for memory in memories],
            decays=[memory.kind in DECAYING for memory in memories],
            active=[memory.is_active for memory in memories],
            current=[memory.is_current for memory in memories],
            expires=[np.inf if m.expires_at is None else m.expires_at.timestamp() for m in memories],
            updated=[memory.updated_at.timestamp() for memory in memories],
            pinned=[memory.pinned for memory in memories],
            confidence=[memory.confidence for memory in memories],
            tier=[_TIER_CODES[memory.tier] for memory in memories],
            accesses=[memory.access_count for memory in memories],
            accessed=[-np.inf if (at := m.last_accessed_at) is None else at.timestamp() for m in memories],
            working_until=[-np.inf if (at := m.working_until) is None else at.timestamp() for m in memories],
            working_reason=[_REASON_CODES[memory.working_reason] for memory in memories],
        )

    def _hear(self, speaker: str | None, records: int) -> None:
        """Count records of a speaker in or out; one who has any is known by each word of the name."""
        if speaker is None:
            return
        code = self.speaker_codes.of(speaker)
        was_known = self._heard[code] > 0
        self._heard[code] += records
        is_known = self._heard[code] > 0
        for word in PRONOUNS.get(speaker, words_of(speaker)) if is_known != was_known else ():
            if is_known:
                self._names.setdefault(word, set()).add(code)
            else:
                _discard(self._names, word, code)

    def _attach_all(self, rows: Sequence[int], memories: Sequence[Memory]) -> None:
        """Tie records to their neighbours, their sources and their connections."""
        for speaker, records in Counter(memory.speaker for memory in memories).items():
            self._hear(speaker, records)
        sources: list[int] = []
        beside: list[tuple[int, int]] = []
        for row, memory in zip(rows, memories, strict=True):
            self._attach(row, memory)
            if memory.kind == "message":
                sources.append(row)
                before, after = self._conversation_of(memory).add(memory.turn or 0, row)
                beside += ((before, row), (row, after))
            else:
                sources.append(self._attach_learnt(memory))
        self.columns.set_all(np.array(rows, dtype=np.intp), source=sources)
        for row, memory in zip(rows, memories, strict=True):
            if memory.kind == "message" and memory.id in self._learnt:
                self._set_source_of_learnt(memory.id, row)
        self._join(beside)

    def _attach(self, row: int, memory: Memory) -> None:
        """Note what a record says of itself."""
        self.connections.put(memory.id, memory.connections)
        if memory.kind in STATING:
            self.entities.put(memory.id, memory.subject, memory.object)
            self.claims.put(memory.id, memory.kind, memory.subject, memory.predicate)
        if memory.metadata:
            self._metadata[row] = memory.metadata
        if memory.pending:
            self._pending.add(memory.id)
        if memory.superseded_by is not None:
            self._replaced.setdefault(memory.superseded_by, set()).add(memory.id)

    def _attach_learnt(self, memory: Memory) -> int:
        """Note what a record was learnt from; returns the row of its source, of a summary none."""
        for message in dict.fromkeys(memory.sources):
            self._learnt[message] = (*self._learnt.get(message, ()), memory.id)
            if memory.kind == "summary" and memory.title == BUFFER_TITLE and memory.is_current:
                self._summary_of[message] = memory.id
        if not memory.sources or memory.kind == "summary":
            return NO_ROW
        return self._rows.get(memory.sources[0], NO_ROW)

    def _conversation_of(self, message: Memory) -> Conversation:
        name = message.conversation_id or ""
        conversation = self.conversations.get(name)
        if conversation is None:
            conversation = self.conversations[name] = Conversation()
        return conversation

    def _detach(self, row: int) -> None:
        """Undo ``_attach`` for the record that the row holds now."""
        memory = decode(self._ids[row], self._texts[row], self._payloads[row])
        self._hear(memory.speaker, -1)
        self._pending.discard(memory.id)
        self._metadata.pop(row, None)
        if memory.superseded_by is not None:
            _discard(self._replaced, memory.superseded_by, memory.id)
        if memory.kind == "message":
            conversation = self.conversations[memory.conversation_id or ""]
            before, after = conversation.remove(memory.turn or 0, row)
            if not conversation.turns:
                del self.conversations[memory.conversation_id or ""]
            self.columns.set(row, before=NO_ROW, after=NO_ROW)
            self._join([(before, after)])
            self._set_source_of_learnt(memory.id, NO_ROW)
        for message in dict.fromkeys(memory.sources):
            left = tuple(one for one in self._learnt.pop(message, ()) if one != memory.id)
            if left:
                self._learnt[message] = left
            if self._summary_of.get(message) == memory.id:
                del self._summary_of[message]

    def _set_source_of_learnt(self, message_record_id: str, source: int) -> None:
        """Set the column ``source`` of what was learnt from this message first; a summary has none."""
        for learnt in self._learnt.get(message_record_id, ()):
            row = self._rows[learnt]
            if self._origins[row][0] == message_record_id and self.columns["kind"][row] != SUMMARY:
                self.columns.set(row, source=source)

    def _join(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Make the rows of each pair neighbours, if they are of one session; later pairs win."""
        if not pairs:
            return
        before, after = np.array(pairs, dtype=np.int32).T
        sessions = self.columns["session"]
        together = (before != NO_ROW) & (after != NO_ROW) & (sessions[before] == sessions[after])
        for rows, name, others in ((before, "after", after), (after, "before", before)):
            known = rows != NO_ROW
            self.columns.set_all(rows[known], **{name: np.where(together, others, NO_ROW)[known]})


def _discard(sets: dict[str, set[Member]], key: str, member: Member) -> None:
    """Take a member out of the set under ``key``, and an empty set out of the mapping."""
    members = sets.get(key, set())
    members.discard(member)
    if not members:
        sets.pop(key, None)
