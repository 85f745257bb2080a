"""``ContextMemory``: what an application talks to. Every step is elsewhere; here is their order."""

from __future__ import annotations

import builtins
import logging
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from datetime import datetime
from functools import wraps
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from typing_extensions import Self, Unpack

from shared_core.arguments import (
    at_least,
    conversation_of,
    identifier_of,
    identifiers_of,
    moment_of,
    question_of,
    statement_of,
    words_or_none,
)
from shared_core.asynchronous import run_in_thread, run_in_turn
from shared_core.context.assembly import TITLES, Context, ContextSources, Rendering, build_context
from shared_core.context.gathering import gather
from shared_core.core_memory.blocks import Blocks
from shared_core.core_memory.working_memory import hold, release, working_rows
from shared_core.embedding.base import Embedder
from shared_core.errors import StoreError
from shared_core.extraction.schema import Extractor
from shared_core.index.resident import ResidentIndex
from shared_core.learning.ingestion import Ingestion
from shared_core.learning.statements import fact_of, relation_of, state
from shared_core.learning.versions import history, revise
from shared_core.messages import MessageLike, json_object, parse_messages, quoted, storable
from shared_core.namespaces import Namespace, NamespacePool, acquire_pool, release_pool, retain_pool
from shared_core.records import KINDS, AddResult, Category, Memories, Memory
from shared_core.redaction import Redactor, checked_redactor, redact_messages, redact_text, redact_values
from shared_core.retrieval.filters import SEARCHED_KINDS, FilterOptions, Filters
from shared_core.retrieval.listing import newest_first, oldest_first
from shared_core.retrieval.question import read_question
from shared_core.retrieval.reranking import RERANKED, Reranker, rerank
from shared_core.retrieval.search import Query, SearchHit, SearchResult, search
from shared_core.scoring import policy_of
from shared_core.settings import Settings
from shared_core.times import utc_now
from shared_core.tokens import counter_for
from shared_core.upkeep.access import TAKEN_ALONG, AccessNotes, recalled
from shared_core.upkeep.erasure import delete_memories, erase_messages
from shared_core.upkeep.maintenance import MaintenanceReport, maintain

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

    from shared_core.graph.view import MemoryGraph
    from shared_core.inspection.inspection import Inspection
    from shared_core.items.store import ItemStore

logger = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")

DEFAULT_CONVERSATION = "default"
#: The blocks of a context whose memories a question has called up: those count as read.
RECALLED = frozenset({TITLES["facts"], TITLES["episodes"]})
#: Retrieved memories that a context chooses from, at most.
CONTEXT_CANDIDATES = 100


def _threaded(
    method: Callable[Concatenate[ContextMemory, P], R], *, reads: bool = False
) -> Callable[Concatenate[ContextMemory, P], Coroutine[Any, Any, R]]:
    """The async twin of a method: the same work in a thread, so that the event loop goes on.

    Many at once on one namespace wait in the loop, not in threads, which others need; those that only read
    do not wait behind those that write.
    """

    @wraps(method)
    async def twin(self: ContextMemory, /, *args: P.args, **kwargs: P.kwargs) -> R:
        kind = (self._pool, self.namespace, reads)
        return await run_in_turn(kind, method, self, *args, **kwargs)

    return twin


class ContextMemory:
    """Long-term memory of one namespace: a user, an agent, a team.

    Without further settings it needs no key and no network: embedded Chroma in a folder, a bundled
    embedder, extraction by rules. It may be used from several threads. What reads or writes has an async
    twin, whose name begins with ``a``, and which runs in a thread.

    Example:
        >>> with ContextMemory("./memory", namespace="alice") as memory:
        ...     memory.add([{"role": "user", "content": "I moved to Berlin last week."}])
        ...     print(memory.context("Where does she live?", token_budget=200).text)

    Args:
        path_or_client: A folder, made if it is missing, or a Chroma client of any kind.
        namespace: Whose memory it is; no search ever crosses it.
        embedder: Turns texts into vectors; the bundled one if left out. A Chroma embedding function will do.
        extractor: Finds facts and moments in messages; rules if left out.
        reranker: Rates the best hits of each search anew: takes the question and their texts, gives a number
            for each, higher for better. None keeps the order of the scores.
        settings: Everything else.
        redact: Gives each text as it may be stored, before anything else sees it: contents, speakers and
            metadata of messages, statements, new texts, core blocks, items and imports. ``redact_secrets``
            takes out keys, card and phone numbers, and e-mail addresses. Ids and questions stay as they are.

    Raises:
        ValueError: If the namespace is empty, over-long or not valid Unicode.
        StoreLockedError: If another process holds the folder.
        EmbedderMismatchError: If the namespace was written with another embedder.
        StoreError: If the store cannot be opened.
    """

    def __init__(
        self,
        path_or_client: str | Path | ClientAPI,
        namespace: str = "default",
        *,
        embedder: Embedder | Callable[[list[str]], Any] | None = None,
        extractor: Extractor | None = None,
        reranker: Reranker | None = None,
        settings: Settings | None = None,
        redact: Redactor | None = None,
    ) -> None:
        if settings is not None and not isinstance(settings, Settings):
            raise ValueError(f"settings {quoted(settings)} is not a Settings: pass Settings(…)")
        if extractor is not None and not isinstance(extractor, Extractor):
            raise ValueError(f"extractor {quoted(extractor)} has no name, is_slow and extract: see Extractor")
        if reranker is not None and not callable(reranker):
            raise ValueError(f"reranker {quoted(reranker)} cannot be called with a question and texts")
        if isinstance(path_or_client, str) and not path_or_client.strip():
            raise ValueError(
                f"path_or_client {quoted(path_or_client)} is empty: name a folder, such as './memory'"
            )
        self.settings = settings or Settings()
        self.namespace = namespace
        self._policy = policy_of(self.settings.scoring)
        self._reranker = reranker
        self._redact = checked_redactor(redact)
        self._embedder = _embedder_of(embedder)
        self._extractor = extractor or _rules()
        self._accesses = AccessNotes(self.settings.access_limit)
        self._pool: NamespacePool | None = acquire_pool(
            path_or_client,
            resident_limit=self.settings.resident_limit,
            idle_seconds=self.settings.idle_seconds,
        )
        try:
            self._opened()
        except BaseException:
            self.close()
            raise

    def __repr__(self) -> str:
        return f"ContextMemory(namespace={self.namespace!r}, embedder={self._embedder.name!r})"

    @property
    def embedder(self) -> Embedder:
        """What turns texts into vectors here."""
        return self._embedder

    @property
    def redactor(self) -> Redactor | None:
        """What gives each text as it may be stored: ``redact``; None if texts are stored as they come."""
        return self._redact

    def items(self, embedder: Embedder | None = None, *, omit_expired: bool = False) -> ItemStore:
        """What an application keeps beside the memories of this namespace, in a collection of its own.

        Args:
            embedder: Turns the items' texts into vectors; the memory's own if left out.
            omit_expired: Whether expired items are hidden before ``sweep`` deletes them.

        Raises:
            EmbedderMismatchError: If the items were written with another embedder.
            StoreError: If they cannot be opened.
        """
        from shared_core.items.index import ItemCollection
        from shared_core.items.store import ItemStore

        chosen = embedder or self._embedder
        return ItemStore(
            lambda: self._open_pool().open_as(ItemCollection, self.namespace, chosen),
            chosen,
            omit_expired=omit_expired,
            redact=self._redact,
        )

    def opened(self) -> Namespace:
        """The namespace itself, for what reads or writes whole records: export, import, inspection."""
        return self._opened()

    # -- writing -----------------------------------------------------------------------------------------

    def add(
        self,
        messages: MessageLike | Iterable[MessageLike],
        conversation_id: str | int | None = None,
        *,
        metadata: Mapping[str, Any] | None = None,
        wait: bool | None = None,
        now: datetime | None = None,
    ) -> AddResult:
        """Remember messages of one conversation, and learn from them.

        Args:
            messages: ``{"role", "content"}`` with optional ``id``, ``name`` (the speaker), ``timestamp``
                (a datetime or ISO 8601; naive is UTC) and ``metadata``; content is a string or a list of
                parts in the OpenAI format. An id that is known already is skipped, so an ``add`` may be
                repeated.
            conversation_id: Any string or number; ``"default"`` if left out.
            metadata: JSON values to attach to each message and to what is learnt from it.
            wait: Whether to return only when everything is learnt. Without it, ``add`` returns once the
                messages are durable, and a worker learns from them in order; ``flush`` waits for it and
                raises what failed. The setting ``background`` says what is meant if left out.
            now: The present, which is also the time of messages without a timestamp.

        Raises:
            ValueError: If anything about a message is wrong; the value is quoted, and nothing is written.
            StoreError: If it could not be written.
            ExtractionError: If the extractor failed; the messages are stored, and learnt from later.
        """
        moment = moment_of(now)
        parsed = redact_messages(self._redact, parse_messages(messages, now=moment, metadata=metadata))
        conversation = conversation_of(conversation_id) or DEFAULT_CONVERSATION
        self._write_accesses(self._opened())
        in_background = self.settings.background if wait is None else not wait
        worker = self._open_pool().background(self.namespace) if in_background else None
        return self._ingestion().add(parsed, conversation_id=conversation, now=moment, background=worker)

    def update(self, memory_id: str | int, text: str) -> Memory:
        """Give a memory another text; ``history`` keeps the present one.

        Raises:
            ValueError: If there is no such memory, if it is a message, or if the text is blank.
        """
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"text {quoted(text)} is empty; to remove a memory, delete it")
        text = redact_text(self._redact, storable(text, "text"), "text")
        vector = self._embedder.embed([text])[0]
        return revise(self._opened(), identifier_of("memory_id", memory_id), text, vector, now=utc_now())

    def remember(
        self,
        text: str,
        *,
        category: Category = "other",
        importance: float = 0.7,
        conversation_id: str | int | None = None,
        metadata: Mapping[str, Any] | None = None,
        now: datetime | None = None,
    ) -> Memory:
        """Store a fact as it stands; one that is known is mentioned once more.

        Args:
            text: A sentence that stands by itself: ``User is allergic to peanuts``.
            category: What it is about.
            importance: 0 to 1.
            conversation_id: Where it was said, if that matters.
            metadata: JSON values to attach.
            now: When it is said; the present if left out.

        Raises:
            ValueError: If the text is blank, the category unknown, or the importance outside 0 to 1.
        """
        fact = fact_of(
            redact_text(self._redact, statement_of("text", text), "text"),
            category=category,
            importance=importance,
            conversation_id=conversation_of(conversation_id),
            metadata=redact_values(self._redact, json_object(metadata or {}, "metadata"), "metadata"),
            now=moment_of(now),
        )
        return state(self._opened(), fact, embedder=self._embedder)

    def relate(
        self,
        subject: str,
        predicate: str,
        object: str,  # noqa: A002 - the word for it
        *,
        confidence: float = 1.0,
        conversation_id: str | int | None = None,
        metadata: Mapping[str, Any] | None = None,
        now: datetime | None = None,
    ) -> Memory:
        """Store a relation between two things: ``relate("Alice", "works at", "Acme")``.

        Args:
            subject: What it is about, as short as can be.
            predicate: How it relates; becomes snake case.
            object: To what.
            confidence: 0 to 1.
            conversation_id: Where it was said, if that matters.
            metadata: JSON values to attach.
            now: When it is said; the present if left out.

        Raises:
            ValueError: If one of the three is blank, or the confidence outside 0 to 1.
        """
        relation = relation_of(
            redact_text(self._redact, statement_of("subject", subject), "subject"),
            redact_text(self._redact, statement_of("predicate", predicate), "predicate"),
            redact_text(self._redact, statement_of("object", object), "object"),
            confidence=confidence,
            conversation_id=conversation_of(conversation_id),
            metadata=redact_values(self._redact, json_object(metadata or {}, "metadata"), "metadata"),
            now=moment_of(now),
        )
        return state(self._opened(), relation, embedder=self._embedder)

    def delete(self, memory_id: str | int) -> bool:
        """Remove a memory and its history; a message takes along what was learnt only from it.

        Args:
            memory_id: Its id, or that of the one message that was added with it.

        Returns:
            Whether there was one.
        """
        namespace = self._opened()
        with namespace.alone() as index:
            memory = index.get(_resolved(index, memory_id))
            if memory is None:
                return False
            if memory.kind == "message":
                self._erase_messages(namespace, [memory.id])
            else:
                delete_memories(namespace, [memory.id], now=utc_now(), embed=self._embedder.embed)
        return True

    def erase(
        self,
        *,
        message_id: str | int | None = None,
        conversation_id: str | int | None = None,
        everything: bool = False,
    ) -> int:
        """Remove messages, and every memory that was learnt only from them.

        Args:
            message_id: One message, by the id that it was added with.
            conversation_id: All messages of a conversation, or the one in which ``message_id`` stands.
            everything: The whole namespace.

        Returns:
            How many records were removed.

        Raises:
            ValueError: If nothing is named, or a message id stands in several conversations.
        """
        if everything:
            return self._opened().erase()
        conversation = conversation_of(conversation_id)
        if message_id is None and conversation is None:
            raise ValueError("name what to erase: message_id, conversation_id or everything=True")
        namespace = self._opened()
        with namespace.alone() as index:
            if message_id is None:
                rows = index.conversations[conversation].turns if conversation in index.conversations else ()
                return self._erase_messages(namespace, [index.id_at(row) for _, row in rows])
            named = index.messages_named(identifier_of("message_id", message_id), conversation)
            if len(named) > 1:
                raise ValueError(
                    f"message_id {quoted(message_id)} stands in {len(named)} conversations: "
                    "name one of them with conversation_id"
                )
            return self._erase_messages(namespace, named)

    def _erase_messages(self, namespace: Namespace, message_ids: Sequence[str]) -> int:
        return erase_messages(
            namespace,
            message_ids,
            now=utc_now(),
            summary_words=self.settings.summary_words,
            embed=self._embedder.embed,
        )

    def focus(self, memory_id: str | int, *, minutes: float = 60.0, now: datetime | None = None) -> Memory:
        """Hold a memory in working memory, which every context shows, for some time.

        Args:
            memory_id: Its id, or that of the one message that was added with it.
            minutes: How long; it leaves by itself.
            now: When that time begins; the present if left out.

        Raises:
            ValueError: If there is no such memory, if it is a core block, or the minutes are not above 0.
        """
        namespace = self._opened()
        with namespace.alone() as index:
            wanted = _resolved(index, memory_id)
            return hold(namespace, wanted, minutes=minutes, now=moment_of(now))

    def release(self, memory_id: str | int, *, now: datetime | None = None) -> bool:
        """Let a memory go from working memory until it is said or read again; whether it was there."""
        namespace = self._opened()
        with namespace.alone() as index:
            return release(namespace, _resolved(index, memory_id), now=moment_of(now))

    @property
    def blocks(self) -> Blocks:
        """Core memory: short named texts that stand in every context."""
        return Blocks(self._opened, self._embedder, self._redact)

    def working_memory(self, *, now: datetime | None = None) -> Sequence[Memory]:
        """What every context shows because it is in use: what is held first, then what is worth most."""
        moment = moment_of(now)
        with self._opened().use() as index:
            rows = working_rows(index, now=moment, capacity=self.settings.working_capacity)
            return Memories(index.memory_at(row) for row in rows)

    def _write_accesses(self, namespace: Namespace) -> None:
        """Write some of what was read, once it is so much that a write of its own is worth while."""
        batch = self.settings.access_batch
        if self._accesses.waiting(namespace) >= batch:
            self._accesses.flush(namespace, limit=min(batch, TAKEN_ALONG))

    def maintain(self, now: datetime | None = None) -> MaintenanceReport:
        """Tend the memory: finish pending work, and do what a mind does asleep.

        In this order: delete what expired, archive old bubbles, let memories rise to the tier that they have
        earned, choose working memory, keep the capacity, prune, write the core blocks. Running it again
        changes nothing.

        Args:
            now: The present, in case another one is wanted.
        """
        moment = moment_of(now)
        resumed, failures = self._ingestion().resume(now=moment)
        for failure in failures:
            logger.warning("namespace %r: messages stay pending: %s", self.namespace, failure)
        namespace = self._opened()
        with namespace.alone():
            accessed = self._accesses.flush(namespace)
            report = maintain(namespace, now=moment, settings=self.settings, embed=self._embedder.embed)
        return report.model_copy(update={"resumed": resumed, "accessed": accessed})

    def flush(self) -> None:
        """Finish what is pending: what was read, what a worker has left, what an interrupted process has.

        Raises:
            ExtractionError: If the extractor failed, now or in the background since the last ``flush``; what
                it failed at stays pending, and the next ``flush`` tries it again.
            StoreError: If something could not be written, now or in the background.
        """
        failed = self._open_pool().drain(self.namespace)
        if failed:
            raise failed[0]
        self._accesses.flush(self._opened())
        _, failures = self._ingestion().resume(now=utc_now())
        if failures:
            raise failures[0]

    # -- reading -----------------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        conversation_id: str | int | None = None,
        limit: int = 5,
        *,
        now: datetime | None = None,
        **filters: Unpack[FilterOptions],
    ) -> SearchResult:
        """The memories that answer a question best, each with every factor of its score.

        Args:
            query: The question, in any words.
            conversation_id: Only what was said or learnt there.
            limit: Most hits.
            now: What ages count from; the present if left out.
            **filters: ``kind`` (one or several), ``category``, ``session_id``, ``since``, ``until``,
                ``metadata``, ``include_archived``, ``include_superseded``.

        Raises:
            ValueError: If the query is blank, the limit below 1, or a filter unknown; or if the reranker does
                not give one finite number for each text.
        """
        asked, most, moment = question_of(query), at_least(1, "limit", limit), moment_of(now)
        chosen = Filters.of(
            filters, conversation_id=conversation_of(conversation_id), default_kinds=SEARCHED_KINDS
        )
        hits = self._found(asked, chosen, most, moment)
        self._note_recalled((hit.memory_id for hit in hits), moment)
        return SearchResult.model_construct(query=query, results=hits)

    def _found(self, asked: str, chosen: Filters, most: int, moment: datetime) -> builtins.list[SearchHit]:
        namespace = self._opened()
        with namespace.use() as read:
            question = read_question(asked, names=read.names, now=moment)
        vector = self._embedder.embed_query(question.subject)
        with namespace.use(catch_up=False) as index:
            if index is not read:  # compacted or loaded anew meanwhile: its speakers have other codes
                question = read_question(asked, names=index.names, now=moment)
            looked_at = most if self._reranker is None else max(most, RERANKED)
            hits = search(index, Query(question, vector, chosen, looked_at, moment), self._policy)
        if self._reranker is not None:
            hits = rerank(asked, hits, self._reranker, limit=most)
        return hits

    def context(
        self,
        query: str | None = None,
        token_budget: int = 2_000,
        conversation_id: str | int | None = None,
        *,
        model: str | None = None,
        rendering: Rendering = "markdown",
        shown: Iterable[str | int] = (),
        now: datetime | None = None,
    ) -> Context:
        """A block of text for a prompt: what is always known, what fits the question, what was just said.

        Args:
            query: The question; without one, only what needs no search.
            token_budget: Most tokens of the text; never exceeded.
            conversation_id: The conversation whose recent messages and summary to include.
            model: The model to count tokens for; that of the settings if left out.
            rendering: ``markdown``, or ``compact`` for fewer tokens.
            shown: Ids of messages of this conversation that the prompt holds anyway: not repeated here.
            now: What ages count from; the present if left out.

        Raises:
            ValueError: If the budget is below 1, or the query blank.
        """
        budget = at_least(1, "token_budget", token_budget)
        counter = counter_for(model or self.settings.model)
        conversation, moment = conversation_of(conversation_id), moment_of(now)
        ids = identifiers_of("shown", shown)
        sources = self._context_sources(query, conversation, ids, moment)
        context = build_context(sources, token_budget=budget, counter=counter, rendering=rendering)
        recalled_blocks = (block for block in context.blocks if block.title in RECALLED)
        self._note_recalled((one for block in recalled_blocks for one in block.memory_ids), moment)
        return context

    def _note_recalled(self, memory_ids: Iterable[str], now: datetime) -> None:
        """Note what a question has called up; ``flush``, ``maintain`` or a later write stores it."""
        namespace = self._opened()
        with namespace.use(catch_up=False) as index:
            self._accesses.note(namespace, recalled(index, memory_ids), now)

    def _context_sources(
        self, query: str | None, conversation_id: str | None, shown: frozenset[str], now: datetime
    ) -> ContextSources:
        found: Sequence[SearchHit] = ()
        if query is not None:
            searched = Filters(kinds=SEARCHED_KINDS)
            found = self._found(question_of(query), searched, CONTEXT_CANDIDATES, now)
        with self._opened().use(catch_up=query is None) as index:
            return gather(
                index,
                (hit.record for hit in found),
                conversation_id=conversation_id,
                now=now,
                working_capacity=self.settings.working_capacity,
                shown=shown,
            )

    def get(self, memory_id: str | int) -> Memory | None:
        """The memory of that id, or the message that was added with it; None if there is none."""
        namespace = self._opened()
        with namespace.use() as index:
            memory = index.get(_resolved(index, memory_id))
        if memory is not None:
            self._accesses.note(namespace, (memory.id,), utc_now())
        return memory

    def list(
        self,
        *,
        contains: str | None = None,
        conversation_id: str | int | None = None,
        limit: int = 50,
        offset: int = 0,
        now: datetime | None = None,
        **filters: Unpack[FilterOptions],
    ) -> Sequence[Memory]:
        """The memories that fulfil some conditions, newest first, page by page.

        Args:
            contains: Words that stand in the text just so, whatever their case.
            conversation_id: Only what was said or learnt there.
            limit: Most memories of a page.
            offset: How many to pass over.
            now: What expiry counts from; the present if left out.
            **filters: As for ``search``.

        Raises:
            ValueError: If a kind, category or filter is unknown, the limit below 1, or the offset below 0.
        """
        chosen = Filters.of(filters, conversation_id=conversation_of(conversation_id), default_kinds=KINDS)
        size = at_least(1, "limit", limit)
        start, wanted = at_least(0, "offset", offset), words_or_none("contains", contains)
        with self._opened().use() as index:
            return Memories(
                newest_first(index, chosen, contains=wanted, limit=size, offset=start, now=moment_of(now))
            )

    def messages(
        self, conversation_id: str | int | None = None, *, last: int | None = None
    ) -> Sequence[Memory]:
        """The messages of a conversation as they were said, oldest first.

        Args:
            conversation_id: ``"default"`` if left out.
            last: Only the newest so many.

        Raises:
            ValueError: If ``last`` is below 1.
        """
        conversation = conversation_of(conversation_id) or DEFAULT_CONVERSATION
        most = None if last is None else at_least(1, "last", last)
        with self._opened().use() as index:
            return Memories(oldest_first(index, conversation, last=most))

    def history(self, memory_id: str | int) -> Sequence[Memory]:
        """Every version of a memory, oldest first, the current one last; empty if there is no such memory."""
        with self._opened().use() as index:
            return Memories(history(index, _resolved(index, memory_id)))

    def graph(
        self,
        conversation_id: str | int | None = None,
        *,
        include_superseded: bool = False,
        now: datetime | None = None,
    ) -> MemoryGraph:
        """What the facts and triplets say, as things and their relations: a snapshot to walk in.

        Args:
            conversation_id: Only what was said there.
            include_superseded: Also what is no longer so.
            now: What expiry counts from; the present if left out.
        """
        from shared_core.graph.building import build_graph

        conversation, moment = conversation_of(conversation_id), moment_of(now)
        with self._opened().use() as index:
            return build_graph(
                index, conversation_id=conversation, include_superseded=include_superseded, now=moment
            )

    def inspect(self, *, now: datetime | None = None) -> Inspection:
        """The memory as it is now, as tables (pandas) and plots (matplotlib); not counted as reading.

        Args:
            now: What ages count from; the present if left out.

        Raises:
            MissingExtraError: If the extra ``notebooks`` is not installed.
        """
        from shared_core.inspection import inspect

        return inspect(self, now=now)

    # -- life --------------------------------------------------------------------------------------------

    def for_namespace(self, namespace: str) -> ContextMemory:
        """A sibling for another namespace, which shares the client, the embedder and the extractor."""
        sibling = object.__new__(ContextMemory)
        sibling.__dict__.update(self.__dict__)
        sibling.namespace = namespace
        sibling._accesses = self._accesses.shared()
        sibling._pool = retain_pool(self._open_pool())
        try:
            sibling._opened()
        except BaseException:
            sibling.close()
            raise
        return sibling

    def namespaces(self) -> Sequence[str]:
        """The namespaces of this store, in order."""
        return self._open_pool().store.namespaces()

    def close(self) -> None:
        """Let go of the store; what has been written stays. Harmless when repeated.

        The last of a memory and its siblings writes what they have read.
        """
        pool, self._pool = self._pool, None
        if pool is None:
            return
        for failure in pool.drain(self.namespace):
            logger.warning("namespace %r: messages stay pending: %s", self.namespace, failure)
        try:
            if self._accesses.leave():
                self._accesses.flush_all()
        except StoreError as error:
            logger.warning("namespace %r: what was read last is not counted: %s", self.namespace, error)
        finally:
            release_pool(pool)

    @property
    def is_closed(self) -> bool:
        """Whether it was closed."""
        return self._pool is None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await run_in_thread(self.close)

    def _open_pool(self) -> NamespacePool:
        if self._pool is None:
            raise StoreError(f"this memory of namespace {quoted(self.namespace)} is closed: open it again")
        return self._pool

    def _opened(self) -> Namespace:
        return self._open_pool().open(self.namespace, self._embedder)

    def _ingestion(self) -> Ingestion:
        return Ingestion(self._opened(), self._embedder, self._extractor, self.settings)

    aadd = _threaded(add)
    aupdate = _threaded(update)
    adelete = _threaded(delete)
    aerase = _threaded(erase)
    afocus = _threaded(focus)
    arelease = _threaded(release)
    aworking_memory = _threaded(working_memory, reads=True)
    amaintain = _threaded(maintain)
    aflush = _threaded(flush)
    asearch = _threaded(search, reads=True)
    acontext = _threaded(context, reads=True)
    aremember = _threaded(remember)
    arelate = _threaded(relate)
    amessages = _threaded(messages, reads=True)
    aget = _threaded(get, reads=True)
    alist = _threaded(list, reads=True)  # noqa: A003 - the method of this class
    ahistory = _threaded(history, reads=True)
    agraph = _threaded(graph, reads=True)
    ainspect = _threaded(inspect, reads=True)
    aclose = _threaded(close)


def _resolved(index: ResidentIndex, memory_id: str | int) -> str:
    """The id of a record: as given, or that of the one message that was added with this id."""
    wanted = identifier_of("memory_id", memory_id)
    named = [] if wanted in index else index.messages_named(wanted)
    return named[0] if len(named) == 1 else wanted


def _embedder_of(embedder: Embedder | Callable[[Any], Any] | None) -> Embedder:
    if embedder is None:
        from shared_core.embedding.wordllama import WordLlamaEmbedder

        return WordLlamaEmbedder()
    from shared_core.embedding.chroma import as_embedder

    return as_embedder(embedder)


def _rules() -> Extractor:
    from shared_core.extraction.rules import RuleExtractor

    return RuleExtractor()
