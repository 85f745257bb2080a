"""Open namespaces: each its collection, its resident index and the lock that keeps the two alike."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, TypeVar, cast
from weakref import WeakValueDictionary

from typing_extensions import Self

from shared_core.background import Background
from shared_core.errors import EmbedderMismatchError
from shared_core.index.resident import ResidentIndex
from shared_core.records import Memory
from shared_core.stores.base import Change, Collection, Purpose, Store

if TYPE_CHECKING:
    from shared_core.embedding.base import Embedder, FloatArray


class Index(Protocol):
    """What is kept in memory of a collection: its records by id, added and removed with every write."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[str]: ...

    def put_all(self, memories: Sequence[Memory], payloads: Sequence[str], vectors: FloatArray) -> None:
        """Add or replace records, in any order."""
        ...

    def remove(self, memory_id: str) -> None:
        """Take a record out; harmless if there is none."""
        ...

    def holds(self, memory: Memory) -> bool:
        """Whether there is a record of that id with the same text, vector, kind and conversation."""
        ...

    def compacted(self) -> Self:
        """This index, or one without dead rows where they are many."""
        ...


IndexT = TypeVar("IndexT", bound=Index)


class OpenCollection(ABC, Generic[IndexT]):
    """One collection. Hold ``with collection.use() as index`` while reading the index or writing.

    Args:
        collection: Its records.
        embedder_name: What their vectors were made with.
    """

    #: What the collection holds.
    purpose: ClassVar[Purpose]

    def __init__(self, collection: Collection, *, embedder_name: str) -> None:
        self.embedder_name = embedder_name
        self._collection = collection
        # Taken in this order: who is about to change something waits with the first for other processes, and
        # others of this one go on reading meanwhile.
        self._changing = threading.RLock()
        self._lock = threading.RLock()
        self._user: int | None = None
        self._index: IndexT | None = None
        self._is_alone = False
        self.used_at = time.monotonic()

    @property
    def dimension(self) -> int:
        """Length of the vectors."""
        return self._collection.dimension

    @property
    def batch_limit(self) -> int:
        """How many records one change may put."""
        return self._collection.batch_limit

    @contextmanager
    def use(self, *, catch_up: bool = True) -> Iterator[IndexT]:
        """The index, up to date with every finished write, and nobody else's meanwhile.

        Args:
            catch_up: Whether to look for what other processes have written.
        """
        with self._lock:
            self.used_at = time.monotonic()
            before, self._user = self._user, threading.get_ident()
            try:
                if self._index is None:
                    self._index = self._load()
                elif catch_up and not self._is_alone:
                    self._catch_up(self._index)
                yield self._index
            finally:
                self._user = before

    @contextmanager
    def alone(self) -> Iterator[IndexT]:
        """As ``use``, with other processes kept from changing anything meanwhile.

        For what is read in order to change it: where two processes write at once, neither writes over what
        it has not seen. Whoever only reads waits for the change, but not for its turn. ``use`` and ``alone``
        may be entered again inside; ``alone`` may not be entered inside ``use``.

        Raises:
            StoreError: If others do not let go of the namespace.
            RuntimeError: If it is entered inside ``use``: two that did so would wait for each other.
        """
        if self._user == threading.get_ident() and not self._is_alone:
            raise RuntimeError("alone() was entered inside use(): enter alone() in the place of use()")
        with self._changing:
            if self._is_alone:
                with self.use() as index:
                    yield index
                return
            with self._collection.alone(), self.use() as index:
                self._is_alone = True
                try:
                    yield index
                finally:
                    self._is_alone = False

    def apply(self, change: Change) -> None:
        """Write a change to the store, then to the index; call it inside ``use`` or ``alone``.

        Raises:
            StoreError: If it was not written; the index is then dropped, and loaded again on the next use.
        """
        with self._lock:
            index = self._index
            assert index is not None, "apply is for inside use()"
            with self._whole_or_dropped():
                keeps_texts = all(map(index.holds, change.puts))
                payloads = self._collection.apply(replace(change, keeps_texts=keeps_texts))
                index.put_all(change.puts, payloads, change.vectors)
                for memory_id in change.deletes:
                    index.remove(memory_id)
                self._index = index.compacted()

    def erase(self) -> int:
        """Delete every record, and the collection itself; returns how many there were."""
        with self.alone() as index:
            count = len(index)
            self._index = None
            self._collection.drop()
        return count

    def drop_index(self) -> None:
        """Forget the index; the next use builds it again."""
        with self._lock:
            self._index = None

    def drop_if_unused(self) -> None:
        """Forget the index unless somebody is at work with it: whoever makes room waits for nobody."""
        if self._lock.acquire(blocking=False):
            try:
                self._index = None
            finally:
                self._lock.release()

    @abstractmethod
    def _new_index(self, dimension: int) -> IndexT:
        """An empty index for vectors of that length."""

    def _load(self) -> IndexT:
        index = self._new_index(self._collection.dimension)
        for batch in self._collection.load():
            index.put_all(batch.memories, batch.payloads, batch.vectors)
        return index

    def _catch_up(self, index: IndexT) -> None:
        with self._whole_or_dropped():
            update = self._collection.updates()
            if update is None:
                return
            index.put_all(update.batch.memories, update.batch.payloads, update.batch.vectors)
            if update.ids is not None:
                for memory_id in set(index) - update.ids:
                    index.remove(memory_id)
            self._index = index.compacted()

    @contextmanager
    def _whole_or_dropped(self) -> Iterator[None]:
        """Drop the index if the block fails: a change that it missed would not be told again."""
        try:
            yield
        except BaseException:
            self._index = None
            raise


class Namespace(OpenCollection[ResidentIndex]):
    """The memories of one namespace."""

    purpose = "memories"

    def _new_index(self, dimension: int) -> ResidentIndex:
        return ResidentIndex(dimension)


OpenT = TypeVar("OpenT", bound="OpenCollection[Any]")


class NamespacePool:
    """The namespaces of one store that are open, the least recently used closed first.

    What is beyond the limit is dropped entirely, so that any number of namespaces may be used in turn. One
    that somebody still holds stays the same object, and with it its lock, until they let go.

    Args:
        store: Closed when the last user of the pool lets go of it.
        resident_limit: How many namespaces stay in memory.
        idle_seconds: After how long without use one may be dropped.
    """

    def __init__(self, store: Store, *, resident_limit: int, idle_seconds: float) -> None:
        self.store = store
        self.users = 0
        self._resident_limit = resident_limit
        self._idle_seconds = idle_seconds
        self._open: OrderedDict[tuple[Purpose, str], OpenCollection[Any]] = OrderedDict()
        self._held: WeakValueDictionary[tuple[Purpose, str], OpenCollection[Any]] = WeakValueDictionary()
        self._background: dict[str, Background] = {}
        self._lock = threading.Lock()

    def open(self, name: str, embedder: Embedder) -> Namespace:
        """The memories of the namespace of that name; the same object for as long as it is in use."""
        return self.open_as(Namespace, name, embedder)

    def open_as(self, wanted: type[OpenT], name: str, embedder: Embedder) -> OpenT:
        """One collection of the namespace of that name, by what it holds."""
        key = (wanted.purpose, name)
        with self._lock:
            namespace = self._held.get(key) if isinstance(name, str) else None
            if namespace is None:
                collection = self.store.open(
                    name, embedder_name=embedder.name, dimension=embedder.dimension, purpose=wanted.purpose
                )
                namespace = self._held[key] = wanted(collection, embedder_name=embedder.name)
            elif (namespace.embedder_name, namespace.dimension) != (embedder.name, embedder.dimension):
                raise EmbedderMismatchError(
                    f"namespace {name!r} is open with embedder {namespace.embedder_name!r} of "
                    f"{namespace.dimension} dimensions, not {embedder.name!r} of {embedder.dimension}: "
                    "give both memories the same"
                )
            self._open[key] = namespace
            self._open.move_to_end(key)
            dropped = self._dropped()
        for other in dropped:
            other.drop_if_unused()
        return cast(OpenT, namespace)

    def _dropped(self) -> list[OpenCollection[Any]]:
        """Take out what is beyond the limit or idle, oldest first; the one opened last stays."""
        latest = time.monotonic() - self._idle_seconds
        dropped = []
        while len(self._open) > 1:
            oldest = next(iter(self._open.values()))
            if len(self._open) <= self._resident_limit and oldest.used_at >= latest:
                break
            dropped.append(self._open.popitem(last=False)[1])
        return dropped

    def background(self, name: str) -> Background:
        """The worker of the namespace of that name, made when it is first wanted."""
        with self._lock:
            worker = self._background.get(name)
            if worker is None:
                worker = self._background[name] = Background("contextmemory-learn")
            return worker

    def drain(self, name: str) -> list[Exception]:
        """Wait for the worker of a namespace; returns what failed since the last time."""
        with self._lock:
            worker = self._background.get(name) if isinstance(name, str) else None
        return [] if worker is None else worker.drain()

    def close(self) -> None:
        """Finish what workers have left, forget every index and close the store."""
        for worker in self._background.values():
            worker.close()
        with self._lock:
            self._open.clear()
            self._held.clear()
            self.store.close()


#: The pools of embedded folders in this process: two memories on one folder share one client.
_FOLDER_POOLS: dict[Path, NamespacePool] = {}
_FOLDER_LOCK = threading.Lock()


def acquire_pool(target: str | Path | Any, *, resident_limit: int, idle_seconds: float) -> NamespacePool:
    """The pool of a folder, shared by its users in this process, or a new pool over a Chroma client.

    Call ``release_pool`` when done with it.
    """
    from shared_core.stores.chroma import ChromaStore

    folder = Path(target).expanduser().resolve() if isinstance(target, (str, Path)) else None
    with _FOLDER_LOCK:
        pool = _FOLDER_POOLS.get(folder) if folder else None
        if pool is None:
            store = ChromaStore(folder or target)
            pool = NamespacePool(store, resident_limit=resident_limit, idle_seconds=idle_seconds)
            if folder:
                _FOLDER_POOLS[folder] = pool
        pool.users += 1
        return pool


def retain_pool(pool: NamespacePool) -> NamespacePool:
    """One more user of a pool."""
    with _FOLDER_LOCK:
        pool.users += 1
    return pool


def release_pool(pool: NamespacePool) -> None:
    """One user less of a pool; the last one closes it."""
    with _FOLDER_LOCK:
        pool.users -= 1
        if pool.users == 0:
            for folder in [folder for folder, shared in _FOLDER_POOLS.items() if shared is pool]:
                del _FOLDER_POOLS[folder]
            pool.close()
