"""Records in Chroma, one collection per namespace: the only file that imports chromadb."""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, TypeVar, cast
from uuid import uuid4

import chromadb
import httpx
import numpy as np
from chromadb.api import ClientAPI
from chromadb.api.models.Collection import Collection as RawCollection
from chromadb.api.types import Include
from chromadb.config import Settings as ChromaSettings
from chromadb.errors import ChromaError, NotFoundError

from shared_core.embedding.base import FloatArray
from shared_core.errors import EmbedderMismatchError, StoreError
from shared_core.messages import quoted
from shared_core.stores.advice import way_out
from shared_core.stores.base import SCHEMA_VERSION, Change, Purpose, StoredBatch, Update
from shared_core.stores.codec import (
    RECORD_KEY,
    VECTOR_KEY,
    Metadata,
    decode,
    decode_vectors,
    encode,
    metadata_of,
)
from shared_core.stores.copies import (
    BEGUN,
    COPY_KEY,
    copy_name,
    delete_from_copies,
    drop_copies,
    exchange,
    is_shown,
    rescued,
)
from shared_core.stores.folder import FolderLock
from shared_core.stores.head import Head
from shared_core.stores.repair import QUARANTINE, finished, require_database, set_broken_aside

logger = logging.getLogger(__name__)

T = TypeVar("T")

#: Collections of ours begin with it; the rest of the name is a digest of the namespace.
NAME_PREFIX = "contextmemory-"
#: Longest namespace, in characters.
NAMESPACE_LENGTH = 512
#: Records read from Chroma at a time.
PAGE_SIZE = 1_000
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
#: What is read of a record, and an answer without any.
FIELDS: Include = ["documents", "metadatas"]
NOTHING: Mapping[str, Any] = {"ids": [], "documents": [], "metadatas": []}


def collection_name(namespace: str, purpose: Purpose = "memories") -> str:
    """The name of a namespace's collection: the same for the same string, different for any other.

    Raises:
        ValueError: If the namespace is empty, over-long or not valid Unicode.
    """
    if not isinstance(namespace, str) or not namespace.strip():
        raise ValueError(f"namespace {quoted(namespace)} is not a non-empty string")
    if len(namespace) > NAMESPACE_LENGTH:
        raise ValueError(f"namespace {quoted(namespace)} is longer than {NAMESPACE_LENGTH} characters")
    try:
        digest = hashlib.sha256(namespace.encode("utf-8")).hexdigest()
    except UnicodeEncodeError as error:
        raise ValueError(f"namespace {quoted(namespace)} holds a lone surrogate") from error
    return NAME_PREFIX + digest[:48] + ("" if purpose == "memories" else f"-{purpose}")


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
        self.writer = uuid4().hex[:16]
        if isinstance(target, (str, Path)):
            self._folder = folder = Path(target).expanduser().resolve()
            self.place = f"the Chroma folder {str(folder)!r}"
            self._lock = FolderLock(folder)
            try:
                self._client = self._open_folder(folder)
            except BaseException:
                self._lock.release()
                raise
        elif isinstance(target, ClientAPI):
            self.place = f"the Chroma client {type(target).__name__}"
            self._client = target
            _bound_silence(target)
        else:
            raise ValueError(f"{quoted(target)} is neither a folder nor a Chroma client")

    def _open_folder(self, folder: Path) -> ClientAPI:
        with self.guarded("open"):
            require_database(folder)
            self._broken = set_broken_aside(folder, prefix=NAME_PREFIX, every=self._rebuild_all)
            settings = ChromaSettings(anonymized_telemetry=False)
            return chromadb.PersistentClient(str(folder), settings=settings)

    @property
    def is_exclusive(self) -> bool:
        """Whether this process alone can write here."""
        return self._lock is not None

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
                found = self.retried(lambda: self._client.get_collection(name, embedding_function=None))
            except NotFoundError:
                return rescued(self, name)
            if name in self._broken:
                self._rebuild(found)
            return found

    def mend(self) -> Mapping[str, str]:
        """Write the vectors of every namespace whose index files were set aside; what was wrong, by name."""
        reasons = dict(self._broken)
        for name in reasons:
            self.find(name)
        return reasons

    def _rebuild(self, collection: RawCollection) -> None:
        """Write every vector of a collection once more, from the database: nothing else of it changes."""
        logger.warning(
            "the index files of namespace %r in %s were damaged (%s): they are in the folder %r now, and are "
            "written anew from the database, where every record still stands",
            (collection.metadata or {}).get("namespace"),
            self.place,
            self._broken[collection.name],
            QUARANTINE,
        )
        for offset in count(0, PAGE_SIZE):
            page = collection.get(limit=PAGE_SIZE, offset=offset, include=["metadatas"])
            _write_vectors(collection, page)
            if len(page["ids"]) < PAGE_SIZE:
                break
        assert self._folder is not None
        finished(self._folder, collection.name)
        del self._broken[collection.name]

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

    def batch_limit(self) -> int:
        """How many records one write may hold."""
        with self.guarded("ask"):
            return int(self.retried(self._client.get_max_batch_size))

    def close(self) -> None:
        """Close an embedded folder and let other processes have it; a client is left alone."""
        if self._lock is None:
            return
        with self.guarded("close"):
            cast(Any, self._client).close()
        self._lock.release()
        self._lock = None

    def retried(self, call: Callable[[], T]) -> T:
        """What ``call`` returns; a server that cannot be reached is asked again, a few times.

        Args:
            call: Does the same when it is repeated.
        """
        for pause in () if self.is_exclusive else PAUSES:
            try:
                return call()
            except (httpx.NetworkError, httpx.RemoteProtocolError) as error:
                logger.info("%s did not answer (%s): asked again in %s s", self.place, error, pause)
                time.sleep(pause)
        return call()

    @contextmanager
    def guarded(self, action: str) -> Iterator[None]:
        """Turn what Chroma and its transports raise into a ``StoreError`` that says where and what next."""
        try:
            yield
        except StoreError:
            raise
        except (ChromaError, httpx.HTTPError, OSError, RuntimeError, ValueError, TypeError) as error:
            raise StoreError(
                f"cannot {action} {self.place}: {error}{way_out(error, self._folder)}"
            ) from error
        except BaseException as error:
            if type(error).__name__ != "PanicException":  # of Chroma's Rust core: not an Exception
                raise
            failure = RuntimeError(f"Chroma's core failed ({error})")
            raise StoreError(
                f"cannot {action} {self.place}: {failure}{way_out(failure, self._folder)}"
            ) from error


def _bound_silence(client: ClientAPI) -> None:
    """Let an HTTP client that would wait for ever give up after some time; others stay as they are."""
    session = getattr(getattr(client, "_server", None), "_session", None)
    if isinstance(session, httpx.Client) and session.timeout == httpx.Timeout(None):
        session.timeout = httpx.Timeout(SERVER_SILENCE)


def _write_vectors(collection: RawCollection, page: Mapping[str, Any]) -> None:
    """Write the vectors of some records, which their metadata hold; records of others have none there."""
    vectors = {
        memory_id: str(metadata[VECTOR_KEY])
        for memory_id, metadata in zip(page["ids"], page["metadatas"], strict=True)
        if metadata and VECTOR_KEY in metadata
    }
    if vectors:
        ids, dimension = list(vectors), int(collection.metadata["dimension"])
        collection.upsert(ids=ids, embeddings=decode_vectors(ids, list(vectors.values()), dimension))


def _check_stamp(found: Mapping[str, Any], wanted: Mapping[str, Any], place: str) -> None:
    """Refuse a namespace of a newer schema, or of another embedder."""
    version = found.get("schema_version")
    if version is None or int(version) > SCHEMA_VERSION:
        raise StoreError(
            f"namespace {quoted(wanted['namespace'])} in {place} has schema version {version}, this release "
            f"knows up to {SCHEMA_VERSION}: upgrade contextmemory-chroma"
        )
    theirs = (found.get("embedder"), found.get("dimension"))
    ours = (wanted["embedder"], wanted["dimension"])
    if theirs != ours:
        raise EmbedderMismatchError(
            f"namespace {quoted(wanted['namespace'])} in {place} was written with embedder {theirs[0]!r} of "
            f"{theirs[1]} dimensions, not {ours[0]!r} of {ours[1]}: open it with the first, or export it and "
            "import it into a new folder, which embeds it again; contextmemory reindex does that in place"
        )


class ChromaCollection:
    """The records of one namespace in one Chroma collection.

    Args:
        store: Where it is.
        name: Of the Chroma collection.
        stamp: Namespace, embedder, dimension and schema version: the metadata of the collection.

    Raises:
        EmbedderMismatchError: If it was written with another embedder.
        StoreError: If it is of a newer schema.
    """

    def __init__(self, store: ChromaStore, name: str, stamp: Mapping[str, Any]) -> None:
        self._store = store
        self._name = name
        self._stamp = stamp
        self._dimension = int(stamp["dimension"])
        self._batch_limit = store.batch_limit()
        self._head = None if store.is_exclusive else Head(self._dimension, store.writer)
        self._raw: RawCollection | None = None
        self._existing()

    def _existing(self) -> RawCollection | None:
        """The Chroma collection, if there is one by now."""
        if self._raw is None:
            self._raw = self._store.find(self._name)
            if self._raw is not None:
                _check_stamp(self._raw.metadata or {}, self._stamp, self._store.place)
        return self._raw

    def _made(self) -> RawCollection:
        """The Chroma collection, made if it is new."""
        raw = self._existing()
        if raw is None:
            raw = self._store.make(self._name, self._stamp)
            _check_stamp(raw.metadata or {}, self._stamp, self._store.place)
            self._raw = raw
        return raw

    @property
    def dimension(self) -> int:
        """Length of its vectors."""
        return self._dimension

    @property
    def batch_limit(self) -> int:
        """How many records one change may put; one place is kept for the head record."""
        return self._batch_limit - 1

    def load(self) -> Iterator[StoredBatch]:
        """Every record, in batches."""
        try:
            yield from self._pages()
        except StoreError as error:
            self._forget_if_gone(error)
            yield from self._pages()

    def drop(self) -> None:
        """Delete every record; a later write begins anew."""
        self._store.drop(self._name)
        self._forget()

    def _forget(self) -> None:
        """The Chroma collection is gone: the next use looks for a new one."""
        self._raw = None
        if self._head is not None:
            self._head.forget()

    def _forget_if_gone(self, error: StoreError) -> None:
        """Forget the Chroma collection if somebody has deleted it; raise any other error again."""
        if not isinstance(error.__cause__, NotFoundError):
            raise error
        self._forget()

    def _pages(self) -> Iterator[StoredBatch]:
        raw = self._existing()
        if raw is None:
            return
        if self._head is not None:
            self._head.look(self._get_head(raw))
        with ThreadPoolExecutor(1, "contextmemory-read") as reader:  # reads on while a page is indexed
            offset = 0
            following = reader.submit(self._page, raw, offset)
            while True:
                page = following.result()
                offset += PAGE_SIZE
                is_last = len(page["ids"]) < PAGE_SIZE
                if not is_last:
                    following = reader.submit(self._page, raw, offset)
                yield _batch_of(page, self._dimension)
                if is_last:
                    return

    def _page(self, raw: RawCollection, offset: int) -> Mapping[str, Any]:
        with self._store.guarded("read"):
            page = self._store.retried(lambda: raw.get(limit=PAGE_SIZE, offset=offset, include=FIELDS))
            return cast(Mapping[str, Any], page)

    def apply(self, change: Change) -> tuple[str, ...]:
        """Write ``change``: one upsert for all that is put, then one delete for what goes."""
        for memory in change.puts:
            if (memory.kind == "item") != ("purpose" in self._stamp):
                raise StoreError(f"a {memory.kind} belongs in another collection: record {memory.id!r}")
        payloads = tuple(encode(memory) for memory in change.puts)
        try:
            self._write(self._made(), change, payloads)
        except StoreError as error:
            self._forget_if_gone(error)
            self._write(self._made(), change, payloads)
        return payloads

    def _write(self, raw: RawCollection, change: Change, payloads: Sequence[str]) -> None:
        if change.puts:
            self._upsert(raw, change, payloads)
        if change.deletes:
            with self._store.guarded("delete from"):
                self._store.retried(lambda: raw.delete(ids=list(change.deletes)))
            if self._head is None:
                delete_from_copies(self._store, self._name, change.deletes)
            else:
                self._write_head(raw, self._head.record_deletion())

    def _upsert(self, raw: RawCollection, change: Change, payloads: Sequence[str]) -> None:
        ids = [memory.id for memory in change.puts]
        texts = [memory.text for memory in change.puts]
        vectors = np.ascontiguousarray(change.vectors, dtype=np.float32)
        if vectors.shape != (len(ids), self._dimension):
            raise StoreError(
                f"{len(ids)} records need vectors of {self._dimension} dimensions each, not {vectors.shape}"
            )
        metadatas: list[Metadata] = [
            metadata_of(memory, payload, vector)
            for memory, payload, vector in zip(change.puts, payloads, vectors, strict=True)
        ]
        if self._head is not None:
            mark = self._head.record_put()
            metadatas = [{**metadata, **mark.on_records} for metadata in metadatas]
            ids, texts = [*ids, Head.ID], [*texts, Head.TEXT]
            metadatas.append(mark.on_head)
            vectors = np.vstack([vectors, self._head.vector])
        with self._store.guarded("write to"):
            self._store.retried(
                lambda: raw.upsert(
                    ids=ids, documents=texts, embeddings=vectors, metadatas=cast(Any, metadatas)
                )
            )

    def updates(self) -> Update | None:
        """What other processes have written since the last look: one read by id where there is nothing."""
        raw = self._existing() if self._head is not None else None
        if raw is None or self._head is None:
            return None
        try:
            news = self._head.look(self._get_head(raw))
        except StoreError as error:
            self._forget_if_gone(error)
            return self._everything()
        if news is None:
            return None
        with self._store.guarded("read"):
            page: Mapping[str, Any] = NOTHING
            if news.where:
                where = cast(Any, news.where)
                page = cast(Any, self._store.retried(lambda: raw.get(where=where, include=FIELDS)))
            ids = None
            if news.deleted:
                ids = frozenset(self._store.retried(lambda: raw.get(include=[]))["ids"])
        return Update(_batch_of(page, self._dimension), ids)

    def _everything(self) -> Update:
        """All that there is, in place of all that there was."""
        batches = [StoredBatch((), (), np.empty((0, self._dimension), dtype=np.float32)), *self.load()]
        memories = tuple(memory for batch in batches for memory in batch.memories)
        payloads = tuple(payload for batch in batches for payload in batch.payloads)
        vectors: FloatArray = np.concatenate([batch.vectors for batch in batches])
        return Update(StoredBatch(memories, payloads, vectors), frozenset(memory.id for memory in memories))

    def _get_head(self, raw: RawCollection) -> Mapping[str, Any]:
        with self._store.guarded("read"):
            page = self._store.retried(lambda: raw.get(ids=[Head.ID], include=["metadatas"]))
        found = page["metadatas"]
        return found[0] if found and found[0] else {}

    def _write_head(self, raw: RawCollection, metadata: Metadata) -> None:
        assert self._head is not None
        vector = self._head.vector
        with self._store.guarded("write to"):
            self._store.retried(
                lambda: raw.upsert(
                    ids=[Head.ID],
                    documents=[Head.TEXT],
                    embeddings=vector,
                    metadatas=cast(Any, [metadata]),
                )
            )


def _batch_of(page: Mapping[str, Any], dimension: int) -> StoredBatch:
    """The records of one answer of Chroma, the head record and strangers left out."""
    records = [
        (memory_id, text or "", metadata)
        for memory_id, text, metadata in zip(page["ids"], page["documents"], page["metadatas"], strict=True)
        if memory_id != Head.ID and metadata and RECORD_KEY in metadata
    ]
    payloads = tuple(str(metadata[RECORD_KEY]) for _, _, metadata in records)
    memories = tuple(
        decode(memory_id, text, payload)
        for (memory_id, text, _), payload in zip(records, payloads, strict=True)
    )
    written = [str(metadata.get(VECTOR_KEY, "")) for _, _, metadata in records]
    vectors = decode_vectors([memory.id for memory in memories], written, dimension)
    return StoredBatch(memories, payloads, vectors)
