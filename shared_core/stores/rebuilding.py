"""The vectors of a collection, written once more from the database after its index files were lost."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from shared_core.stores.codec import VECTOR_KEY, decode_vectors
from shared_core.stores.repair import QUARANTINE

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection as RawCollection

__all__ = ["rebuild"]

logger = logging.getLogger(__name__)

#: Records whose vectors are written at a time.
BATCH_RECORDS: Final = 1_000


def rebuild(collection: RawCollection, place: str, *, reason: str, after_each: Callable[[], object]) -> None:
    """Write every vector of a collection once more: nothing else of it changes.

    Args:
        collection: Whose index files were set aside.
        place: Where it is, for the log.
        reason: What was wrong with its index files.
        after_each: Told after each batch, which a big collection has many of.
    """
    logger.warning(
        "the index files of namespace %r in %s were damaged (%s): they are in the folder %r now, and are "
        "written anew from the database, where every record still stands",
        (collection.metadata or {}).get("namespace"),
        place,
        reason,
        QUARANTINE,
    )
    for offset in count(0, BATCH_RECORDS):
        page = collection.get(limit=BATCH_RECORDS, offset=offset, include=["metadatas"])
        _write_vectors(collection, page)
        after_each()
        if len(page["ids"]) < BATCH_RECORDS:
            break


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
