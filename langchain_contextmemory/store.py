"""A LangGraph store whose items live beside a memory, in the same Chroma."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from types import TracebackType
from typing import Any, cast

from langchain_core.embeddings import Embeddings
from langgraph.store.base import (
    BaseStore,
    GetOp,
    IndexConfig,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    get_text_at_path,
    tokenize_path,
    validate_op_namespace,
)
from typing_extensions import Self

from langchain_contextmemory.store_calls import GatheredCalls
from langchain_contextmemory.store_embedder import embedder_of
from langchain_contextmemory.store_sweeper import Sweeper
from shared_core import ContextMemory
from shared_core import items as core
from shared_core.asynchronous import run_in_thread
from shared_core.messages import quoted

__all__ = ["ContextMemoryStore"]

#: How often expired items are deleted where nothing else is said (LangGraph's own default).
SWEEP_INTERVAL_MINUTES = 5.0
#: The whole value, in the words of an index configuration.
WHOLE_VALUE = "$"
INDEX_OPTIONS = ("dims", "embed", "fields", "text_fields", "distance_type")
TTL_OPTIONS = ("refresh_on_read", "omit_expired", "default_ttl", "sweep_interval_minutes")


class ContextMemoryStore(BaseStore):
    """LangGraph's long-term store on a memory: items by namespace and key, kept in Chroma.

    The items stand in a collection of their own within the memory's namespace, so that no search of the
    memory sees them, and survive the process. Without an index configuration, every value is searchable
    with the memory's own embedder. Closing the memory closes the store.

    Example:
        >>> from shared_core import ContextMemory
        >>> store = ContextMemoryStore(ContextMemory("./memory"))  # doctest: +SKIP
        >>> store.put(("users", "ada"), "diet", {"text": "Ada eats no meat"})  # doctest: +SKIP
        >>> store.search(("users", "ada"), query="vegetarian?")[0].key  # doctest: +SKIP
        'diet'

    Args:
        memory: Whose namespace and Chroma to use.
        index: ``embed`` (LangChain ``Embeddings``, a function, an embedder of the core, or the name of a
            model; the memory's own if left out), ``dims`` (the length of its vectors) and ``fields`` (what of
            a value is embedded, ``["$"]`` for all of it; ``text_fields`` means the same).
        ttl: ``default_ttl`` (minutes), ``refresh_on_read``, ``omit_expired``, ``sweep_interval_minutes``.

    Raises:
        ValueError: If an option is unknown or bad, or ``dims`` is not what the embedder makes.
        EmbedderMismatchError: If the items were written with another embedder.
        StoreError: If they cannot be opened.
    """

    supports_ttl = True

    def __init__(
        self, memory: ContextMemory, index: IndexConfig | None = None, ttl: TTLConfig | None = None
    ) -> None:
        if not isinstance(memory, ContextMemory):
            raise ValueError(f"memory {quoted(memory)} is not a ContextMemory: pass ContextMemory(…)")
        self.memory = memory
        self.index_config = _options("index", index, INDEX_OPTIONS)
        self.ttl_config = cast("TTLConfig | None", _options("ttl", ttl, TTL_OPTIONS))
        settings = self.index_config or {}
        self._fields = _fields(settings.get("fields") or settings.get("text_fields") or [WHOLE_VALUE])
        if settings.get("distance_type", "cosine") != "cosine":
            raise ValueError(f"distance_type {quoted(settings['distance_type'])} is not 'cosine'")
        dimension = _dimension(settings.get("dims"))
        #: What LangChain object embeds; None where the memory's own embedder does.
        self.embeddings: Embeddings | None = None
        embedder = memory.embedder
        if settings.get("embed") is not None:
            embedder, self.embeddings = embedder_of(settings["embed"], dimension)
        if dimension is not None and embedder.dimension != dimension:
            raise ValueError(
                f"dims {dimension} is not what {embedder.name!r} makes: its vectors have {embedder.dimension}"
            )
        omit_expired = bool((self.ttl_config or {}).get("omit_expired", False))
        self._items = memory.items(embedder, omit_expired=omit_expired)
        self._gathered: GatheredCalls[core.Operation, Any] = GatheredCalls(self._items.run)
        self._sweeper: Sweeper | None = None

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do several operations at once; the results stand in their order.

        Reads see the state before the batch; of several puts to one key the last counts.

        Raises:
            InvalidNamespaceError: If a label is empty, no string, or holds a period or NUL.
            ValueError: If a value is not JSON, or a filter, page or time to live is not valid.
            StoreError: If the store failed.
        """
        asked = list(ops)
        return _results(asked, self._items.run(self._translated(asked)))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """``batch`` in a thread; calls that wait at the same time are done together."""
        asked = list(ops)
        return _results(asked, await self._gathered(self._translated(asked)))

    # -- time to live ------------------------------------------------------------------------------------

    def sweep_ttl(self) -> int:
        """Delete the items that have expired; returns how many."""
        return self._items.sweep()

    async def asweep_ttl(self) -> int:
        """``sweep_ttl`` in a thread."""
        return await run_in_thread(self.sweep_ttl)

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> Future[None]:
        """Delete expired items at intervals, in a thread, until stopped; harmless if it runs already.

        Args:
            sweep_interval_minutes: From one sweep to the next; by default that of the configuration, or 5.

        Returns:
            Done when the thread has ended; cancelling it ends the thread.
        """
        if self._sweeper is None or not self._sweeper.is_running:
            configured = (self.ttl_config or {}).get("sweep_interval_minutes")
            minutes = sweep_interval_minutes or configured or SWEEP_INTERVAL_MINUTES
            if not isinstance(minutes, (int, float)) or not minutes > 0:
                raise ValueError(f"sweep_interval_minutes {quoted(minutes)} is not a number above 0")
            self._sweeper = Sweeper(self.sweep_ttl, minutes * 60)
        return self._sweeper.ended

    def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:
        """Stop that thread and wait for it, at most ``timeout`` seconds; returns whether it has ended."""
        sweeper = self._sweeper
        if sweeper is None or not sweeper.stop(timeout):
            return sweeper is None
        self._sweeper = None
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop_ttl_sweeper()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await run_in_thread(self.stop_ttl_sweeper)

    # -- translation -------------------------------------------------------------------------------------

    def _translated(self, ops: Sequence[Op]) -> list[core.Operation]:
        for op in ops:
            _check_labels(op)
        return [self._operation(op) for op in ops]

    def _operation(self, op: Op) -> core.Operation:
        if isinstance(op, GetOp):
            return core.GetItem(tuple(op.namespace), str(op.key), refresh=op.refresh_ttl)
        if isinstance(op, SearchOp):
            return core.FindItems(
                tuple(op.namespace_prefix),
                query=op.query or None,
                conditions=op.filter,
                limit=op.limit,
                offset=op.offset,
                refresh=op.refresh_ttl,
            )
        if isinstance(op, ListNamespacesOp):
            patterns = tuple(_pattern(condition) for condition in op.match_conditions or ())
            return core.ListPaths(patterns, max_depth=op.max_depth, limit=op.limit, offset=op.offset)
        if op.value is None:
            return core.DeleteItem(tuple(op.namespace), str(op.key))
        value = core.json_value(op.value)
        return core.PutItem(
            tuple(op.namespace), str(op.key), value, texts=self._texts(value, op.index), ttl_minutes=op.ttl
        )

    def _texts(self, value: Mapping[str, Any], index: Any) -> tuple[str, ...]:
        """What of a value is embedded: each text that stands at one of the fields."""
        if index is False:
            return ()
        fields = self._fields if index is None else _fields(index)
        return tuple(text for field in fields for text in get_text_at_path(value, field))


def _options(name: str, given: Any, known: Sequence[str]) -> dict[str, Any] | None:
    """A copy of a configuration, if it holds only options that are known."""
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise ValueError(f"{name} {quoted(given)} is not a mapping")
    for option in given:
        if option not in known:
            raise ValueError(f"{name} option {quoted(option)} is none of {', '.join(known)}")
    return dict(given)


def _fields(given: Any) -> list[str | list[str]]:
    """Fields as ``get_text_at_path`` takes them, each read once."""
    if isinstance(given, str) or not isinstance(given, Iterable):
        raise ValueError(f"fields {quoted(given)} is not a list of fields, such as ['metadata.title']")
    fields = list(given)
    for field in fields:
        if not isinstance(field, str) or not field:
            raise ValueError(f"field {quoted(field)} is not a non-empty string")
    return [field if field == WHOLE_VALUE else tokenize_path(field) for field in fields]


def _dimension(given: Any) -> int | None:
    if given is not None and (not isinstance(given, int) or isinstance(given, bool) or given < 1):
        raise ValueError(f"dims {quoted(given)} is not a whole number of at least 1")
    return given


def _check_labels(op: Op) -> None:
    """Refuse an operation whose namespace is not made of labels; ``batch`` itself is never given a check."""
    if isinstance(op, (GetOp, PutOp)):
        named: Any = [op.namespace]
    elif isinstance(op, SearchOp):
        named = [op.namespace_prefix]
    elif isinstance(op, ListNamespacesOp):
        named = [condition.path for condition in op.match_conditions or ()]
    else:
        raise ValueError(
            f"{quoted(op)} is no operation of a store: GetOp, PutOp, SearchOp or ListNamespacesOp"
        )
    for labels in named:
        if isinstance(labels, str) or not isinstance(labels, Sequence):
            raise InvalidNamespaceError(
                f"namespace {quoted(labels)} is not a tuple of labels, such as ('users',)"
            )
    validate_op_namespace(op)


def _pattern(condition: MatchCondition) -> core.PathPattern:
    if condition.match_type not in ("prefix", "suffix"):
        raise ValueError(f"match_type {quoted(condition.match_type)} is neither 'prefix' nor 'suffix'")
    return core.PathPattern(condition.match_type, tuple(condition.path))


def _results(ops: Sequence[Op], answers: Sequence[Any]) -> list[Result]:
    return [_result(op, answer) for op, answer in zip(ops, answers, strict=True)]


def _result(op: Op, answer: Any) -> Result:
    """An answer of the core in LangGraph's classes; values are copies, which the caller may change."""
    if isinstance(op, SearchOp):
        return [SearchItem(**_named(found.item), score=found.score) for found in answer]
    return Item(**_named(answer)) if isinstance(answer, core.Item) else answer


def _named(item: core.Item) -> dict[str, Any]:
    return {
        "namespace": item.path,
        "key": item.key,
        "value": item.value,
        "created_at": item.created_at,
        "updated_at": item.updated_at,
    }
