"""One ``add``, step by step: what is new, what it teaches, what the buffer lets go, one write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial

import numpy as np

from shared_core.background import Background
from shared_core.context.rendering import strip_own_context
from shared_core.embedding.base import Embedder, FloatArray
from shared_core.errors import ExtractionError
from shared_core.extraction.schema import ExtractedFact, Extraction, ExtractionRequest, Extractor
from shared_core.ids import fact_id, message_record_id, record_id
from shared_core.index.resident import BUFFER_TITLE, ResidentIndex
from shared_core.learning.buffer import evictions, starts_session
from shared_core.learning.learner import Learner, Learnt, known_ids, texts_of, usable
from shared_core.learning.reconciliation import Case, Decision, Reconciler
from shared_core.learning.session_summary import session_summaries, session_summary_id
from shared_core.learning.summaries import summarise, telling_sentences
from shared_core.messages import quoted
from shared_core.namespaces import Namespace
from shared_core.records import AddResult, Memory, Message, Usage
from shared_core.settings import Settings
from shared_core.stores.base import Change
from shared_core.tokens import counter_for

#: Messages before the new ones that an extractor is shown (seed 000).
RECENT_MESSAGES = 10
#: Records that one message may lead to, at most, so that a chunk of messages stays one write.
RECORDS_PER_MESSAGE = 4
#: Known facts that a model is shown beside a new one (seed 000), and from which similarity on.
NEAREST_FACTS, NEAR = 10, 0.3
NO_DECISIONS: Mapping[int, Decision] = {}
NO_VECTORS: Mapping[str, FloatArray] = {}


@dataclass(frozen=True)
class Ingestion:
    """Writes messages, and what they teach, into a namespace.

    Where the extractor is quick, messages and what was learnt are one write. Where it is slow, the messages
    are written first, marked as pending, and a process that dies meanwhile leaves them to the next one.
    """

    namespace: Namespace
    embedder: Embedder
    extractor: Extractor
    settings: Settings

    def add(
        self,
        messages: Sequence[Message],
        *,
        conversation_id: str,
        now: datetime,
        background: Background | None = None,
    ) -> AddResult:
        """Add messages of one conversation.

        Args:
            messages: The messages.
            conversation_id: Theirs.
            now: When they are added.
            background: Learns from them later, once they are stored; None to learn before returning.

        Raises:
            ValueError: If an id is known with another text; nothing is written then.
            StoreError: If they could not be written.
        """
        with self.namespace.use() as index:
            fresh = _unknown(messages, conversation_id, index)
        usage = Usage(skipped_messages=len(messages) - len(fresh))
        learnt: list[Memory] = []
        size = max(1, self.namespace.batch_limit // RECORDS_PER_MESSAGE)
        chunks = [fresh[start : start + size] for start in range(0, len(fresh), size)]
        results: Iterable[AddResult]
        if background is not None:
            results = self._learn_later(chunks, conversation_id, now, background)
        elif self.extractor.is_slow:
            results = self._learn_slowly(chunks, conversation_id, now)
        else:
            results = (self._learn_at_once(chunk, conversation_id, now) for chunk in chunks)
        for result in results:
            usage += result.usage
            learnt.extend(result.memories)
        return AddResult.of(learnt, usage)

    def _learn_later(
        self,
        chunks: Sequence[Sequence[Message]],
        conversation_id: str,
        now: datetime,
        background: Background,
    ) -> list[AddResult]:
        for records in self._stored(chunks, conversation_id, now):
            background.submit(partial(self.learn_pending, records, now=now))
        return []

    def _learn_slowly(
        self, chunks: Sequence[Sequence[Message]], conversation_id: str, now: datetime
    ) -> Iterator[AddResult]:
        """Store every message first; then learn from them chunk by chunk."""
        stored = self._stored(chunks, conversation_id, now)
        return (self.learn_pending(records, now=now) for records in stored)

    def _stored(
        self, chunks: Sequence[Sequence[Message]], conversation_id: str, now: datetime
    ) -> list[list[Memory]]:
        """Store messages, marked as pending. Nobody waits for the namespace while they are embedded."""
        stored: list[list[Memory]] = []
        for chunk in chunks:
            vectors = self._embed(message.content for message in chunk)
            with self.namespace.alone() as index:
                messages = _unknown(chunk, conversation_id, index)
                records = self._records_of(messages, conversation_id, index, now, pending=True)
                self._write(records, vectors)
            stored.append(records)
        return stored

    def _learn_at_once(self, messages: Sequence[Message], conversation_id: str, now: datetime) -> AddResult:
        """Learn from messages and store them in one write; the namespace is not held before that.

        Where something was said meanwhile, what it is learnt from is another: it is then learnt once more.
        """
        with self.namespace.use(catch_up=False) as index:
            records = self._records_of(messages, conversation_id, index, now, pending=False)
            request = _request(records, index, now)
        extraction = usable(self.extractor.extract(request), len(records))
        embedded = self._embed_new(records, extraction)
        with self.namespace.alone() as index:
            fresh = _unknown(messages, conversation_id, index)
            skipped = Usage(skipped_messages=len(messages) - len(fresh))
            if not fresh:  # another thread was quicker
                return AddResult.of([], extraction.usage + skipped + Usage(embedded_texts=len(embedded)))
            records = self._records_of(fresh, conversation_id, index, now, pending=False)
            asked, request = request, _request(records, index, now)
            if request != asked:
                before = extraction.usage + skipped
                extraction = _costing(before, usable(self.extractor.extract(request), len(records)))
            return self._finish(records, extraction, index, now, embedded=embedded)

    def learn_pending(self, records: Sequence[Memory], *, now: datetime) -> AddResult:
        """Learn from messages that are stored but pending, and clear the mark; from no message twice.

        Raises:
            ExtractionError: If the extractor failed; the messages stay pending.
        """
        embedded: dict[str, FloatArray] = {}
        spent = Usage()
        while records:
            with self.namespace.use() as index:
                request = _request(records, index, now)
            extraction = _costing(spent, usable(self.extractor.extract(request), len(records)))
            extraction, decisions = self._reconciled(extraction)
            embedded |= self._embed_new(records, extraction, but=embedded)
            with self.namespace.alone() as index:
                # Some were erased, or learnt from by another thread, meanwhile: once more without them.
                pending = index.pending
                left = [record for record in records if record.id in pending]
                if len(left) == len(records):
                    cleared = [record.model_copy(update={"pending": False}) for record in records]
                    return self._finish(cleared, extraction, index, now, decisions, embedded)
            records, spent = left, extraction.usage
        return AddResult.of([], spent + Usage(embedded_texts=len(embedded)))

    def _reconciled(self, extraction: Extraction) -> tuple[Extraction, Mapping[int, Decision]]:
        """What a model decides of the new facts; they get the words that it gives them."""
        if not isinstance(self.extractor, Reconciler) or not extraction.facts:
            return extraction, {}
        decisions, usage = self.extractor.reconcile(self._cases(extraction.facts))
        facts = list(extraction.facts)
        for place, decision in decisions.items():
            if decision.text is not None:
                facts[place] = facts[place].model_copy(update={"text": decision.text})
        cost = extraction.usage + usage
        return extraction.model_copy(update={"facts": tuple(facts), "usage": cost}), decisions

    def _cases(self, facts: Sequence[ExtractedFact]) -> list[Case]:
        """Each new fact with the current ones nearest to it; none, where it is known word for word."""
        vectors = self.embedder.embed([fact.text for fact in facts])
        cases = []
        with self.namespace.use() as index:
            rows = index.rows_of("fact")
            rows = rows[index.columns["current"][rows]]
            for fact, similarities in zip(facts, index.vectors.products(vectors)[:, rows], strict=True):
                nearest = np.argsort(-similarities, kind="stable")[:NEAREST_FACTS]
                near = [rows[place] for place in nearest if similarities[place] >= NEAR]
                if any(index.id_at(int(row)) == fact_id(fact.text) for row in near):
                    near = []
                cases.append(Case(fact, tuple(index.memory_at(int(row)) for row in near)))
        return cases

    def resume(self, *, now: datetime) -> tuple[tuple[str, ...], list[ExtractionError]]:
        """Learn from the messages that an interrupted process has left pending, conversation by conversation.

        Returns:
            The record ids of those that were learnt from, and what went wrong with those that stay pending.
        """
        with self.namespace.use() as index:
            left: dict[str | None, list[Memory]] = {}
            for memory_id in index.pending:
                message = index.stored(memory_id)
                left.setdefault(message.conversation_id, []).append(message)
        resumed: list[str] = []
        failures: list[ExtractionError] = []
        for messages in left.values():
            try:
                self.learn_pending(sorted(messages, key=lambda message: message.turn or 0), now=now)
            except ExtractionError as error:
                failures.append(error)
            else:
                resumed.extend(message.id for message in messages)
        return tuple(resumed), failures

    def _finish(
        self,
        records: Sequence[Memory],
        extraction: Extraction,
        index: ResidentIndex,
        now: datetime,
        decisions: Mapping[int, Decision] = NO_DECISIONS,
        embedded: Mapping[str, FloatArray] = NO_VECTORS,
    ) -> AddResult:
        """Write messages together with what was learnt from them and what the buffer lets go.

        What is not among the texts that were ``embedded`` before is embedded while the namespace is held.
        """
        summaries = self._summaries(records, index, now)
        vectors = _known_vectors([*(record.id for record in records), *known_ids(extraction, index)], index)
        texts = [*(record.text for record in records), *texts_of(extraction), *(s.text for s in summaries)]
        vectors.update(embedded)
        rest = self._embed(text for text in texts if text not in vectors)
        vectors.update(rest)
        learnt = self._learn(records, extraction, index, vectors, now, decisions)
        others = (memory.id for memory in learnt.memories if memory.text not in vectors)
        vectors.update(_known_vectors(others, index))
        self._write_learnt(records, [*learnt.memories, *summaries], vectors)
        usage = extraction.usage + Usage(
            embedded_texts=len(embedded) + len(rest),
            added=learnt.added + len(summaries),
            updated=learnt.updated,
            repeated=learnt.repeated,
        )
        return AddResult.of([*learnt.memories, *summaries], usage)

    def _learn(
        self,
        records: Sequence[Memory],
        extraction: Extraction,
        index: ResidentIndex,
        vectors: dict[str, FloatArray],
        now: datetime,
        decisions: Mapping[int, Decision],
    ) -> Learnt:
        threshold = self.settings.connection_threshold
        return Learner(index, records, vectors, now, decisions).learn(
            extraction,
            threshold=self.embedder.connection_threshold if threshold is None else threshold,
            limit=self.settings.connection_limit,
        )

    def _records_of(
        self,
        messages: Sequence[Message],
        conversation_id: str,
        index: ResidentIndex,
        now: datetime,
        *,
        pending: bool,
    ) -> list[Memory]:
        """Messages as records, each with its turn and its session."""
        conversation = index.conversations.get(conversation_id)
        turn = conversation.next_turn if conversation else 0
        previous = index.memory_at(conversation.last_row) if conversation else None
        records: list[Memory] = []
        for message in messages:
            session_id = previous.session_id if previous else None
            moment = previous.created_at if previous else None
            if starts_session(moment, message.timestamp, gap_minutes=self.settings.session_gap_minutes):
                session_id = f"{conversation_id}:{turn}"
            previous = _record_of(message, conversation_id, session_id, turn, now, pending=pending)
            records.append(previous)
            turn += 1
        return records

    def _summaries(self, records: Sequence[Memory], index: ResidentIndex, now: datetime) -> list[Memory]:
        """One summary for each group of messages that leaves the buffer, and those of sessions that grew."""
        held = index.buffered(records[0].conversation_id or "")
        buffer = [index.memory_at(row) for row in held]
        buffer.extend(record for record in records if record.id not in index)
        sizes = evictions(
            self._token_counts(buffer),
            max_messages=self.settings.buffer_messages,
            evict_messages=self.settings.buffer_evict,
            max_tokens=self.settings.buffer_tokens,
        )
        told = cache(telling_sentences)  # a message stands in the summary of the buffer and in its session's
        summaries, start = [], 0
        for size in sizes:
            evicted = buffer[start : start + size]
            text = summarise(evicted, max_words=self.settings.summary_words, told=told)
            summaries.append(_summary_of(evicted, text, now))
            start += size
        rolling = session_summaries(
            records,
            index,
            every=self.settings.summary_every_messages,
            max_words=self.settings.summary_words,
            at_once=bool(summaries),
            now=now,
            told=told,
        )
        return [*summaries, *rolling]

    def _token_counts(self, messages: Sequence[Memory]) -> list[int]:
        if self.settings.buffer_tokens is None:
            return [0] * len(messages)
        counter = counter_for(self.settings.model, allow_download=False)
        return [counter.count(message.text) for message in messages]

    def _embed(self, texts: Iterable[str]) -> dict[str, FloatArray]:
        """The vector of each text, each computed once."""
        unique = list(dict.fromkeys(texts))
        return dict(zip(unique, self.embedder.embed(unique), strict=True)) if unique else {}

    def _embed_new(
        self,
        records: Sequence[Memory],
        extraction: Extraction,
        *,
        but: Mapping[str, FloatArray] = NO_VECTORS,
    ) -> dict[str, FloatArray]:
        """The vectors of messages, and of what was found in them, where they are not known yet."""
        with self.namespace.use(catch_up=False) as index:
            ids = [*(record.id for record in records), *known_ids(extraction, index)]
            known = _known_vectors(ids, index).keys() | but.keys()
        texts = [*(record.text for record in records), *texts_of(extraction)]
        return self._embed(text for text in texts if text not in known)

    def _write_learnt(
        self, records: Sequence[Memory], learnt: Sequence[Memory], vectors: dict[str, FloatArray]
    ) -> None:
        """Write messages and what they taught: in one write, if one holds so much.

        Otherwise the messages stay pending until the rest is written, so that nothing is lost in between.
        """
        limit = self.namespace.batch_limit
        if len(records) + len(learnt) > limit:
            self._write([record.model_copy(update={"pending": True}) for record in records], vectors)
            for start in range(0, len(learnt), limit):
                self._write(learnt[start : start + limit], vectors)
            learnt = ()
        self._write([*records, *learnt], vectors)

    def _write(self, memories: Sequence[Memory], vectors: dict[str, FloatArray]) -> None:
        if memories:
            table = np.stack([vectors[memory.text] for memory in memories])
            self.namespace.apply(Change(puts=tuple(memories), vectors=table))


def _costing(before: Usage, extraction: Extraction) -> Extraction:
    """An extraction that counts as well what was spent before on one that is of no use any more."""
    return extraction.model_copy(update={"usage": before + extraction.usage})


def _unknown(messages: Sequence[Message], conversation_id: str, index: ResidentIndex) -> list[Message]:
    """The messages whose id is not known yet, each once.

    Raises:
        ValueError: If an id is known with another text.
    """
    fresh: dict[str, Message] = {}
    for message in messages:
        known = index.row(message_record_id(conversation_id, message.id))
        if known is None:
            fresh.setdefault(message.id, message)
        elif index.text_at(known) != message.content:
            raise ValueError(
                f"message id {quoted(message.id)} stands for {quoted(index.text_at(known))} in conversation "
                f"{quoted(conversation_id)}, not for {quoted(message.content)}: give it an id of its own"
            )
    return list(fresh.values())


def _known_vectors(memory_ids: Iterable[str], index: ResidentIndex) -> dict[str, FloatArray]:
    """The vectors of those records that are stored already, by their text."""
    rows = [row for row in map(index.row, memory_ids) if row is not None]
    texts = [index.text_at(row) for row in rows]
    return dict(zip(texts, index.vectors.take(rows), strict=True))


def _request(records: Sequence[Memory], index: ResidentIndex, now: datetime) -> ExtractionRequest:
    """What an extractor is shown: the new messages, up to 10 before them, the latest summary.

    What our own contexts put into a prompt is left out, so that nothing is learnt from what was learnt.
    """
    conversation_id = records[0].conversation_id or ""
    first_turn = min(record.turn or 0 for record in records)
    conversation = index.conversations.get(conversation_id)
    recent: list[Memory] = []
    summary = ""
    for row in conversation.newest_first() if conversation else ():
        if index.columns["turn"][row] >= first_turn:
            continue
        covered_by = index.summary_of(index.id_at(row))
        if covered_by is not None:
            summary = index.stored(covered_by).text
            break
        if len(recent) < RECENT_MESSAGES:
            recent.append(index.memory_at(row))
        elif not summary:
            rolling = index.get(session_summary_id(conversation_id, records[0].session_id or ""))
            summary = rolling.text if rolling else ""
    return ExtractionRequest(
        messages=tuple(_message_of(record) for record in records),
        recent=tuple(_message_of(record) for record in reversed(recent)),
        summary=summary,
        now=now,
    )


def _record_of(
    message: Message, conversation_id: str, session_id: str | None, turn: int, now: datetime, *, pending: bool
) -> Memory:
    memory_id = message_record_id(conversation_id, message.id)
    return Memory(
        id=memory_id,
        kind="message",
        text=message.content,
        conversation_id=conversation_id,
        session_id=session_id,
        turn=turn,
        role=message.role,
        speaker=message.speaker,
        message_id=message.id,
        created_at=message.timestamp,
        updated_at=now,
        source_ids=(message.id,),
        pending=pending,
        metadata=message.metadata,
    )


def _message_of(record: Memory) -> Message:
    assert record.role is not None
    name = record.speaker if record.speaker != record.role.capitalize() else None
    return Message(
        id=record.message_id or record.id,
        role=record.role,
        content=strip_own_context(record.text),
        name=name,
        timestamp=record.created_at,
        metadata=record.metadata,
    )


def _summary_of(evicted: Sequence[Memory], text: str, now: datetime) -> Memory:
    first, last = evicted[0], evicted[-1]
    return Memory(
        id=record_id("summary", BUFFER_TITLE, first.id, last.id),
        kind="summary",
        text=text,
        title=BUFFER_TITLE,
        conversation_id=first.conversation_id,
        session_id=last.session_id,
        turn=last.turn,
        occurred_at=last.created_at,
        created_at=last.created_at,
        updated_at=now,
        source_ids=tuple(message.message_id or message.id for message in evicted),
        sources=tuple(message.id for message in evicted),
    )
