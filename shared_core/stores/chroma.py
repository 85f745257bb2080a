"""Records in Chroma, one collection per namespace: the only file that imports chromadb at run time."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar, cast
from uuid import uuid4

import chromadb
import httpx
from chromadb.api import ClientAPI
from chromadb.api.models.Collection import Collection as RawCollection
from chromadb.config import Settings as ChromaSettings
from chromadb.errors import ChromaError, InternalError, NotFoundError

from shared_core.asynchronous import giving_way
from shared_core.errors import StoreError
from shared_core.messages import quoted
from shared_core.stores.advice import way_out
from shared_core.stores.base import SCHEMA_VERSION, Purpose
from shared_core.stores.collection import PAGE_SIZE, ChromaCollection
from shared_core.stores.copies import (
    BEGUN,
    COPY_KEY,
    copy_name,
    drop_copies,
    exchange,
    is_shown,
    rescued,
)
from shared_core.stores.database import unfinished
from shared_core.stores.folder import FolderLock
from shared_core.stores.names import NAME_PREFIX, NAMESPACE_LENGTH, collection_name
from shared_core.stores.parts import PartWriter
from shared_core.stores.rebuilding import rebuild
from shared_core.stores.redo import RedoLog
from shared_core.stores.repair import finished, require_database, set_broken_aside
from shared_core.stores.turn import Turn
from shared_core.stores.writing import Writing

__all__ = ["INDEX", "NAMESPACE_LENGTH", "PAGE_SIZE", "ChromaStore", "collection_name"]

logger = logging.getLogger(__name__)

T = TypeVar("T")

#: Vectors are of length 1, so the inner product is their cosine. Chroma writes its index files anew each
#: time that ``sync_threshold`` records have gathered, and looks through those that have not been written
#: on every write: 5 records took 36 ms behind 700 such records, 10 ms behind at most 200. Much lower
#: would cost safety: the files are not replaced atomically, and a kill meanwhile leaves a collection that
#: Chroma cannot open.
INDEX = {"hnsw": {"space": "ip", "sync_threshold": 200, "batch_size": 100}}
#: Pauses before a server that did not answer is asked again, in seconds: a restart of it takes about one.
PAUSES = (0.1, 0.2, 0.4, 0.8)
#: How long a server may be silent, in seconds. Chroma's own HTTP client would wait for ever.
SERVER_SILENCE = 120.0
#: How long an embedded Chroma may be silent while others wait, in seconds: no call of Chroma takes so long.
SILENCE = 120.0


class ChromaStore:
    """Namespaces in Chroma: an embedded folder, which is locked, or a client of any kind.

    Args:
        target: A folder, made if it is missing, or a Chroma client (persistent, ephemeral, HTTP, cloud). A
            client is taken to be shared with other processes, and stays its owner's to close.
        rebuild_all: Whether to set every index file of an embedded folder aside and write it anew.

    Raises:
        ValueError: If it is neither.
        StoreLockedError: If another process holds the folder.
        StoreError: If the folder cannot be used, or is damaged.
    """

    def __init__(self, target: str | Path | ClientAPI, *, rebuild_all: bool = False) -> None:
        self._rebuild_all = rebuild_all
        self._lock: FolderLock | None = None
        self._folder: Path | None = None
        self._broken: dict[str, str] = {}
        self._turn = Turn(SILENCE)
        #: Which client it is, counted from 0: what an earlier one has given is of no use.
        self.openings = 0
        self._unfinished: tuple[int, frozenset[str]] | None = None
        self._opened: ClientAPI | None = None
        self.writer = uuid4().hex[:16]
        #: What writes big changes in parts; None where each is written whole.
        self.part_writer: PartWriter | None = None
        if isinstance(target, (str, Path)):
            self._folder = folder = Path(target).expanduser().resolve()
            self.place = f"the Chroma folder {str(folder)!r}"
            self._lock = FolderLock(folder)
            try:
                with self.guarded("open"):
                    self.part_writer = PartWriter(self, RedoLog(folder))
                self._opened = self._open_folder(folder)
            except BaseException:
                self._lock.release()
                raise
        elif isinstance(target, ClientAPI):
            self.place = f"the Chroma client {type(target).__name__}"
            self._opened = target
            _bound_silence(target)
        else:
            raise ValueError(f"{quoted(target)} is neither a folder nor a Chroma client")

    def _open_folder(self, folder: Path) -> ClientAPI:
        with self.guarded("open"):
            require_database(folder)
            self._broken = set_broken_aside(folder, prefix=NAME_PREFIX, every=self._rebuild_all)
            self._rebuild_all = False
            settings = ChromaSettings(anonymized_telemetry=False)
            try:
                return chromadb.PersistentClient(str(folder), settings=settings)
            except AttributeError:  # half of an opening that failed was in Chroma's cache, till now
                return chromadb.PersistentClient(str(folder), settings=settings)

    @property
    def _client(self) -> ClientAPI:
        """The client; that of a folder is opened again where a failure has closed it."""
        if self._opened is None:
            if self._folder is None or self._lock is None:
                raise StoreError(f"{self.place} is closed: open it again")
            self._opened = self._open_folder(self._folder)
            logger.info("%s was opened again after a failure", self.place)
        return self._opened

    def _let_go(self, failure: BaseException) -> None:
        """Close the client of a folder in which something went wrong; the next call opens it again.

        Chroma's core may keep a connection whose transaction was never ended, as after a write to a full
        disk. Whoever comes upon it waits for its lock for ever, some calls with the interpreter's lock held.
        """
        if self._folder is None or self._opened is None or not _is_internal(failure):
            return
        client, self._opened = self._opened, None
        self.openings += 1
        try:
            cast(Any, client).close()
        except (ChromaError, OSError, RuntimeError) as error:
            logger.warning("closing %s after a failure failed, too: %s", self.place, error)

    @property
    def is_exclusive(self) -> bool:
        """Whether this process alone can write here."""
        return self._lock is not None

    @property
    def folder(self) -> Path | None:
        """The folder, if this process alone can write there."""
        return self._folder

    def open(
        self, namespace: str, *, embedder_name: str, dimension: int, purpose: Purpose = "memories"
    ) -> ChromaCollection:
        """The records of ``namespace``; a collection that is new is made by its first write."""
        stamp: dict[str, str | int] = {
            "namespace": namespace,
            "embedder": embedder_name,
            "dimension": dimension,
            "schema_version": SCHEMA_VERSION,
        }
        if purpose != "memories":
            stamp["purpose"] = purpose
        return ChromaCollection(self, collection_name(namespace, purpose), stamp)

    def find(self, name: str) -> RawCollection | None:
        """The Chroma collection of that name; None if there is none."""
        with self.guarded("open a namespace of"):
            try:
                found = self._raw(name)
            except NotFoundError:
                return rescued(self, name)
            if name in self._broken:
                rebuild(found, self.place, reason=self._broken[name], after_each=self._turn.went_on)
                assert self._folder is not None
                finished(self._folder, name)
                del self._broken[name]
            return found

    def finish(self, name: str, raw: RawCollection) -> None:
        """Write what was cut off of a change of that collection, before anything else is written.

        Raises:
            StoreError: If it could not be written.
        """
        if self.part_writer is not None:
            self.part_writer.finish(name, raw)

    def finish_all(self) -> Sequence[str]:
        """Write what was cut off of changes of any collection; the namespaces in which something was.

        Raises:
            StoreError: If something could not be written, or read; the others are finished all the same.
        """
        return () if self.part_writer is None else self.part_writer.finish_all()

    def write(self, raw: RawCollection, writing: Writing) -> None:
        """Put records and delete others, in one call of Chroma each.

        Raises:
            StoreError: If something was not written.
        """
        with self.guarded("write to"):
            self.retried(lambda: writing.put(raw))
        with self.guarded("delete from"):
            self.retried(lambda: writing.delete(raw))

    def unfinished(self, *, again: bool = False) -> frozenset[str]:
        """Chroma's ids of the collections of which a write was cut off before the folder was opened.

        Args:
            again: Whether to look anew, for Chroma may have finished some meanwhile.

        Raises:
            sqlite3.Error: If its database cannot be read directly.
        """
        if again or self._unfinished is None or self._unfinished[0] != self.openings:
            assert self._folder is not None, "only a folder has a database to look at"
            self._unfinished = (self.openings, unfinished(self._folder))
        return self._unfinished[1]

    def _raw(self, name: str) -> RawCollection:
        return self.retried(lambda: self._client.get_collection(name, embedding_function=None))

    def mend(self) -> Mapping[str, str]:
        """Write the vectors of every namespace whose index files were set aside; what was wrong, by name."""
        reasons = dict(self._broken)
        for name in reasons:
            self.find(name)
        return reasons

    def make(self, name: str, stamp: Mapping[str, Any]) -> RawCollection:
        """The Chroma collection of that name, made if it is new."""
        with self.guarded("make a namespace in"):
            return self.retried(
                lambda: self._client.get_or_create_collection(
                    name, configuration=cast(Any, INDEX), metadata=dict(stamp), embedding_function=None
                )
            )

    def namespaces(self) -> Sequence[str]:
        """The namespaces that hold memories, in order."""
        with self.guarded("list the namespaces of"):
            collections = self.retried(self._client.list_collections)
        ours = [
            c
            for c in collections
            if c.name.startswith(NAME_PREFIX)
            and "namespace" in (c.metadata or {})
            and "purpose" not in c.metadata
            and is_shown(c.metadata)
        ]
        return sorted({str(collection.metadata["namespace"]) for collection in ours})

    def stamp(self, namespace: str) -> tuple[str, int] | None:
        """Name and dimension of the embedder of a namespace's memories; None if there are none."""
        found = self.find(collection_name(namespace))
        metadata = (found.metadata if found is not None else None) or {}
        return (str(metadata["embedder"]), int(metadata["dimension"])) if "embedder" in metadata else None

    def open_copy(self, namespace: str, *, embedder_name: str, dimension: int) -> ChromaCollection:
        """A second collection of a namespace, which ``exchange`` puts in the place of the first.

        One that was begun with the same embedder is gone on with, one of another is deleted.
        """
        name = copy_name(collection_name(namespace))
        stamp: dict[str, str | int] = {
            "namespace": namespace,
            "embedder": embedder_name,
            "dimension": dimension,
            "schema_version": SCHEMA_VERSION,
            COPY_KEY: BEGUN,
        }
        begun = self.find(name)
        if begun is not None and any(
            (begun.metadata or {}).get(key) != stamp[key] for key in stamp if key != COPY_KEY
        ):
            self.drop(name)
        return ChromaCollection(self, name, stamp)

    def exchange(self, namespace: str) -> None:
        """Put the copy of a namespace in its place; whoever has the namespace open has to open it again."""
        exchange(self, collection_name(namespace))

    def drop_copies(self, namespace: str) -> None:
        """Delete what an interrupted reindexing has left."""
        drop_copies(self, collection_name(namespace))

    def drop(self, name: str) -> None:
        """Delete the Chroma collection of that name; harmless where there is none."""
        drop_copies(self, name)
        with self.guarded("delete a namespace of"):
            if self.find(name) is not None:
                self._client.delete_collection(name)
            if self.part_writer is not None:
                self.part_writer.discard(name)

    def create(self, name: str, metadata: Mapping[str, Any]) -> RawCollection | None:
        """A new Chroma collection that holds nothing; None if there is one of that name."""
        with self.guarded("write to"):
            try:
                return self.retried(
                    lambda: self._client.create_collection(
                        name, metadata=dict(metadata), embedding_function=None
                    )
                )
            except ChromaError as error:
                if "already exists" not in str(error):
                    raise
                return None

    def lookup(self, name: str) -> RawCollection | None:
        """The Chroma collection of that name as it stands; None if there is none."""
        with self.guarded("read"):
            try:
                return self._raw(name)
            except NotFoundError:
                return None

    def discard(self, name: str) -> None:
        """Delete the Chroma collection of that name and nothing else; harmless where there is none."""
        with self.guarded("write to"):
            try:
                self.retried(lambda: self._client.delete_collection(name))
            except NotFoundError:
                return

    def batch_limit(self) -> int:
        """How many records one write may hold."""
        with self.guarded("ask"):
            return int(self.retried(self._client.get_max_batch_size))

    def close(self) -> None:
        """Close an embedded folder and let other processes have it; a client is left alone."""
        if self._lock is None:
            return
        with self.guarded("close"):
            try:
                self.finish_all()
            except StoreError as error:
                logger.error("%s", error)
            finally:
                client, self._opened = self._opened, None
                self.openings += 1
                try:
                    if client is not None:
                        cast(Any, client).close()
                finally:
                    self._lock.release()
                    self._lock = None

    def retried(self, call: Callable[[], T]) -> T:
        """What ``call`` returns; a server that cannot be reached is asked again, a few times.

        Args:
            call: Does the same when it is repeated.
        """
        if self.is_exclusive:  # an embedded Chroma keeps the interpreter's lock for the whole of a write
            with giving_way():
                return call()
        for pause in PAUSES:
            try:
                return call()
            except (httpx.NetworkError, httpx.RemoteProtocolError) as error:
                logger.info("%s did not answer (%s): asked again in %s s", self.place, error, pause)
                time.sleep(pause)
        return call()

    def tells_of_failure(self, error: StoreError) -> bool:
        """Whether something may be written all the same; what was only refused is not."""
        return error.__cause__ is not None and _is_internal(error.__cause__)

    def tells_of_nothing(self, error: StoreError) -> bool:
        """Whether an error says that a Chroma collection is gone."""
        return isinstance(error.__cause__, NotFoundError)

    @contextmanager
    def guarded(self, action: str) -> Iterator[None]:
        """Turn what Chroma and its transports raise into a ``StoreError`` that says where and what next.

        An embedded Chroma serves one call at a time: none meets what a failed one has left.
        """
        with self._own_turn(action):
            try:
                yield
            except StoreError:
                raise
            except (ChromaError, httpx.HTTPError, OSError, RuntimeError, ValueError, TypeError) as error:
                self._let_go(error)
                raise self.failed(action, error) from error
            except BaseException as error:
                if not _is_panic(error):
                    raise
                self._let_go(error)
                raise self.failed(action, RuntimeError(f"Chroma's core failed ({error})")) from error

    def failed(self, action: str, error: Exception) -> StoreError:
        """What to raise where ``action`` failed: says where, why and what next."""
        return StoreError(f"cannot {action} {self.place}: {error}{way_out(error, self._folder)}")

    @contextmanager
    def _own_turn(self, action: str) -> Iterator[None]:
        if self._folder is None:
            yield
            return
        if not self._turn.take():
            raise StoreError(
                f"cannot {action} {self.place}: a call of Chroma has not come back for {SILENCE:.0f} s. End "
                "this process and open the folder again: what was written before is there"
            )
        try:
            yield
        finally:
            self._turn.pass_on()


def _is_panic(error: BaseException) -> bool:
    """Whether Chroma's Rust core has given up: what it raises then is not an Exception."""
    return type(error).__name__ == "PanicException"


def _is_internal(error: BaseException) -> bool:
    """Whether a failure may have left something behind in Chroma; a wrong argument does not."""
    return isinstance(error, (InternalError, OSError, RuntimeError)) or _is_panic(error)


def _bound_silence(client: ClientAPI) -> None:
    """Let an HTTP client that would wait for ever give up after some time; others stay as they are."""
    session = getattr(getattr(client, "_server", None), "_session", None)
    if isinstance(session, httpx.Client) and session.timeout == httpx.Timeout(None):
        session.timeout = httpx.Timeout(SERVER_SILENCE)
