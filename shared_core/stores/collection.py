"""The records of one namespace in one Chroma collection."""

from __future__ import annotations

import itertools
import logging
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from shared_core.embedding.base import FloatArray
from shared_core.errors import EmbedderMismatchError, StoreError
from shared_core.messages import quoted
from shared_core.stores.base import SCHEMA_VERSION, Change, StoredBatch, Update
from shared_core.stores.codec import (
    RECORD_KEY,
    VECTOR_KEY,
    Metadata,
    decode,
    decode_vectors,
    encode,
    metadata_of,
)
from shared_core.stores.copies import delete_from_copies
from shared_core.stores.database import read_pages
from shared_core.stores.head import Head
from shared_core.stores.lease import Lease
from shared_core.stores.parts import overlaid
from shared_core.stores.writing import Writing

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection as RawCollection
    from chromadb.api.types import Include

    from shared_core.stores.chroma import ChromaStore

__all__ = ["PAGE_SIZE", "ChromaCollection"]

logger = logging.getLogger(__name__)

#: Records read from Chroma at a time.
PAGE_SIZE: Final = 1_000
#: What is read of a record, and an answer without any.
FIELDS: Include = ["documents", "metadatas"]
NOTHING: Mapping[str, Any] = {"ids": [], "documents": [], "metadatas": []}


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
        self._lease = None if store.is_exclusive else Lease(store, name)
        self._raw: RawCollection | None = None
        self._opening = store.openings
        self._existing()

    def _existing(self) -> RawCollection | None:
        """The Chroma collection, if there is one by now."""
        if self._raw is None or self._opening != self._store.openings:
            opening = self._store.openings  # looked at first: a failure meanwhile makes what is found useless
            self._raw = self._store.find(self._name)
            self._opening = opening
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

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other processes from changing the namespace; only one thread at a time may be inside."""
        if self._lease is None:
            yield
            return
        try:
            self._lease.acquire()
            yield
        finally:
            self._lease.release()

    def load(self) -> Iterator[StoredBatch]:
        """Every record, in batches."""
        try:
            yield from self._pages()
        except StoreError as error:
            self._forget_if_gone(error)
            yield from self._pages()

    def drop(self) -> None:
        """Delete every record; a later write begins anew."""
        if self._lease is not None:
            self._lease.confirm()
        self._store.drop(self._name)
        self._forget()

    def _forget(self) -> None:
        """The Chroma collection is gone: the next use looks for a new one."""
        self._raw = None
        if self._head is not None:
            self._head.forget()

    def _forget_if_gone(self, error: StoreError) -> None:
        """Forget the Chroma collection if somebody has deleted it; raise any other error again."""
        if not self._store.tells_of_nothing(error):
            raise error
        self._forget()

    def _pages(self) -> Iterator[StoredBatch]:
        if self._head is not None:
            with self._store.guarded("read"):
                raw = self._existing()
                if raw is not None:
                    self._head.look(self._get_head(raw))
        for page in self._answers():
            yield _batch_of(page, self._dimension)

    def _answers(self) -> Iterator[Mapping[str, Any]]:
        """Every record, in pages; some of them twice where reading began anew."""
        part_writer, left = self._store.part_writer, None
        if part_writer is not None:
            with self._store.guarded("read"):
                raw = self._existing()
                left = part_writer.left_unwritten(self._name, raw) if raw is not None else None
        yield from self._stored() if left is None else overlaid(self._stored(), left)

    def _stored(self) -> Iterator[Mapping[str, Any]]:
        """Every record as Chroma has it."""
        folder = self._store.folder
        if folder is not None:
            found = False
            try:
                for page in self._from_database(folder):
                    found = True
                    yield page
            except (sqlite3.Error, OSError, ValueError) as error:
                logger.info("%s is read through Chroma: %s", self._store.place, error)
            else:
                if found:
                    return
        yield from self._through_chroma()

    def _from_database(self, folder: Path) -> Iterator[Mapping[str, Any]]:
        """The records straight from the database; nothing where Chroma has to be asked for them."""
        with self._store.guarded("read"):
            raw = self._existing()
            if raw is None:
                return
            collection_id = str(raw.id)
            if collection_id in self._store.unfinished():
                self._store.retried(raw.count)  # upon which Chroma finishes the write that was cut off
                if collection_id in self._store.unfinished(again=True):
                    return
        yield from read_pages(folder, collection_id, size=PAGE_SIZE)

    def _through_chroma(self) -> Iterator[Mapping[str, Any]]:
        page = self._page(0)
        if len(page["ids"]) == PAGE_SIZE:
            with ThreadPoolExecutor(1, "contextmemory-read") as reader:  # reads on while a page is indexed
                for offset in itertools.count(PAGE_SIZE, PAGE_SIZE):
                    following = reader.submit(self._page, offset)
                    yield page
                    page = following.result()
                    if len(page["ids"]) < PAGE_SIZE:
                        break
        yield page

    def _page(self, offset: int) -> Mapping[str, Any]:
        with self._store.guarded("read"):
            raw = self._existing()
            if raw is None:
                return NOTHING
            page = self._store.retried(lambda: raw.get(limit=PAGE_SIZE, offset=offset, include=FIELDS))
            return cast(Mapping[str, Any], page)

    def apply(self, change: Change) -> tuple[str, ...]:
        """Write ``change``: what is put first, then what goes."""
        for memory in change.puts:
            if (memory.kind == "item") != ("purpose" in self._stamp):
                raise StoreError(f"a {memory.kind} belongs in another collection: record {memory.id!r}")
        payloads = tuple(encode(memory) for memory in change.puts)
        if self._lease is not None:
            with self._store.guarded("write to"):
                self._lease.confirm()
        try:
            self._write(self._writing(change, payloads))
        except StoreError as error:
            self._forget_if_gone(error)
            self._write(self._writing(replace(change, keeps_texts=False), payloads))
        return payloads

    def _writing(self, change: Change, payloads: Sequence[str]) -> Writing:
        """What Chroma is asked for; on a server always with texts, for others look for what is new."""
        ids, deletes = [memory.id for memory in change.puts], change.deletes
        if change.keeps_texts and self._head is None:
            return Writing(ids, [{RECORD_KEY: payload} for payload in payloads], deletes=deletes)
        vectors = np.ascontiguousarray(change.vectors, dtype=np.float32)
        if ids and vectors.shape != (len(ids), self._dimension):
            raise StoreError(
                f"{len(ids)} records need vectors of {self._dimension} dimensions each, not {vectors.shape}"
            )
        finite = np.isfinite(vectors).all(axis=1)
        if ids and not finite.all():
            named = change.puts[int(np.argmin(finite))]
            raise StoreError(
                f"the embedder gave {quoted(named.text)} a vector with a NaN or an infinity in it: record "
                f"{named.id!r} cannot be found by that. Mend the embedder, or leave that text out"
            )
        metadatas: list[Metadata] = [
            metadata_of(memory, payload, vector)
            for memory, payload, vector in zip(change.puts, payloads, vectors, strict=True)
        ]
        texts = [memory.text for memory in change.puts]
        if self._head is not None and ids:
            mark = self._head.record_put()
            metadatas = [*({**metadata, **mark.on_records} for metadata in metadatas), mark.on_head]
            ids, texts = [*ids, Head.ID], [*texts, Head.TEXT]
            vectors = np.vstack([vectors, self._head.vector])
        return Writing(ids, metadatas, texts, vectors, deletes)

    def _write(self, writing: Writing) -> None:
        part_writer = self._store.part_writer
        if part_writer is not None and part_writer.takes(writing):
            part_writer.write(self._name, writing, self._made)
            return
        with self._store.guarded("write to"):
            raw = self._made()
            self._store.finish(self._name, raw)
            self._store.write(raw, writing)
        if writing.deletes:
            if self._head is None:
                delete_from_copies(self._store, self._name, writing.deletes)
            else:
                self._write_head(self._made(), self._head.record_deletion())

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
