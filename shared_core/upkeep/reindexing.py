"""Reindexing: a namespace with the vectors of another embedder, from the texts that it holds."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from shared_core.embedding.base import Embedder
from shared_core.errors import StoreError
from shared_core.messages import quoted
from shared_core.namespaces import acquire_pool, release_pool
from shared_core.records import Memory, Record
from shared_core.settings import Settings
from shared_core.stores.base import Change, Collection
from shared_core.stores.chroma import ChromaStore

__all__ = ["ReindexReport", "reindex"]

logger = logging.getLogger(__name__)

#: Records embedded and written at a time: what a kill costs at most.
BATCH_RECORDS = 256


class ReindexReport(Record):
    """What a reindexing did.

    Attributes:
        records: Memories of the namespace.
        embedded: Those that were embedded now.
        resumed: Those that an earlier, interrupted reindexing had embedded already.
    """

    records: int = Field(default=0, ge=0)
    embedded: int = Field(default=0, ge=0)
    resumed: int = Field(default=0, ge=0)


def reindex(
    folder: str | Path,
    namespace: str,
    embedder: Embedder | Callable[[list[str]], Any],
    *,
    progress: Callable[[int, int], None] | None = None,
) -> ReindexReport:
    """Embed the memories of a namespace again, with another embedder; texts, ids and links stay as they are.

    The new vectors gather in a copy beside the namespace, which takes its place once it is complete: until
    then the namespace stays as it was. After an interruption the same call goes on where it was. With the
    embedder that the namespace has, nothing is done. Items stay as they are, since the texts that their
    vectors were made of are not kept: ``memory.items(embedder)`` opens them with the one that they have.

    Args:
        folder: An embedded folder that nobody has open. A server's namespace may be written meanwhile by
            others: export it, and import it into another one.
        namespace: Its name.
        embedder: The new one. A Chroma embedding function will do.
        progress: Told after each batch how many records are done, of how many.

    Raises:
        ValueError: If it is no folder, or the embedder none.
        StoreLockedError: If another process holds the folder.
        StoreError: If there is no such namespace, or it is open in this process.
        EmbeddingError: If the embedder failed; what it has done is kept for the next call.
    """
    from shared_core.embedding.chroma import as_embedder

    if not isinstance(folder, (str, Path)):
        raise ValueError(
            f"folder {quoted(folder)} is not a folder: export a server's namespace, and import it"
        )
    chosen, settings = as_embedder(embedder), Settings()
    pool = acquire_pool(folder, resident_limit=settings.resident_limit, idle_seconds=settings.idle_seconds)
    try:
        if pool.users > 1:
            raise StoreError(f"the folder {str(folder)!r} is open in this process: close its memories first")
        assert isinstance(pool.store, ChromaStore)
        return _reindexed(pool.store, namespace, chosen, progress or (lambda done, total: None))
    finally:
        release_pool(pool)


def _reindexed(
    store: ChromaStore, namespace: str, embedder: Embedder, progress: Callable[[int, int], None]
) -> ReindexReport:
    stamp = store.stamp(namespace)
    if stamp is None:
        raise StoreError(f"{store.place} has no namespace {quoted(namespace)}")
    if stamp == (embedder.name, embedder.dimension):
        store.drop_copies(namespace)
        return ReindexReport()
    source = store.open(namespace, embedder_name=stamp[0], dimension=stamp[1])
    copy = store.open_copy(namespace, embedder_name=embedder.name, dimension=embedder.dimension)
    report = _copied(source, copy, embedder, progress)
    if report.records:
        store.exchange(namespace)
    else:  # nothing to keep: the next write makes the collection anew
        source.drop()
    return report


def _copied(
    source: Collection, copy: Collection, embedder: Embedder, progress: Callable[[int, int], None]
) -> ReindexReport:
    """Bring a copy up to its source: what is missing or changed is embedded, what is gone is deleted."""
    held = {memory.id: memory for batch in source.load() for memory in batch.memories}
    known = {memory.id: memory for batch in copy.load() for memory in batch.memories}
    gone = tuple(memory_id for memory_id in known if memory_id not in held)
    for start in range(0, len(gone), BATCH_RECORDS):
        copy.apply(Change(deletes=gone[start : start + BATCH_RECORDS]))
    missing = [memory for memory in held.values() if known.get(memory.id) != memory]
    resumed = len(held) - len(missing)
    size = min(BATCH_RECORDS, copy.batch_limit)
    for start in range(0, len(missing), size):
        batch = missing[start : start + size]
        _embed(copy, batch, embedder)
        progress(resumed + start + len(batch), len(held))
    logger.info("%d records embedded with %r, %d were already", len(missing), embedder.name, resumed)
    return ReindexReport(records=len(held), embedded=len(missing), resumed=resumed)


def _embed(copy: Collection, memories: Sequence[Memory], embedder: Embedder) -> None:
    vectors = embedder.embed([memory.text for memory in memories])
    copy.apply(Change(puts=tuple(memories), vectors=vectors))
