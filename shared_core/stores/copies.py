"""A second collection of a namespace, made with another embedder, that takes the place of the first.

Chroma has no exchange of two collections in one step: the old one gives up its name, then the copy takes it.
The copy is marked as complete before, so that whoever looks for the name between the two, after a kill, finds
the copy instead of nothing and finishes the exchange.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection as RawCollection

    from shared_core.stores.chroma import ChromaStore

__all__ = [
    "BEGUN",
    "COPY_KEY",
    "copy_name",
    "delete_from_copies",
    "drop_copies",
    "exchange",
    "is_shown",
    "rescued",
]

#: In the metadata of such a collection: how far it is.
COPY_KEY = "copy"
BEGUN, COMPLETE, REPLACED = "begun", "complete", "replaced"


def copy_name(name: str) -> str:
    """The name of the copy of a collection."""
    return f"{name}-copy"


def _replaced_name(name: str) -> str:
    return f"{name}-replaced"


def exchange(store: ChromaStore, name: str) -> None:
    """Put the copy of a collection in its place, and delete the old one."""
    with store.guarded("exchange a namespace of"):
        made, old = store.find(copy_name(name)), store.find(name)
        assert made is not None, "there is a copy to put in its place"
        store.finish(copy_name(name), made)
        made.modify(metadata={**(made.metadata or {}), COPY_KEY: COMPLETE})
        if old is not None:
            old.modify(name=_replaced_name(name), metadata={**(old.metadata or {}), COPY_KEY: REPLACED})
        made.modify(name=name, metadata=_unmarked(made.metadata))
    store.drop(_replaced_name(name))


def rescued(store: ChromaStore, name: str) -> RawCollection | None:
    """The complete copy of a collection that is not there, put in its place; None if there is none."""
    if _is_copy(name):
        return None
    with store.guarded("exchange a namespace of"):
        made = store.find(copy_name(name))
        if made is None or (made.metadata or {}).get(COPY_KEY) != COMPLETE:
            return None
        made.modify(name=name, metadata=_unmarked(made.metadata))
    store.drop(_replaced_name(name))
    return store.find(name)


def drop_copies(store: ChromaStore, name: str) -> None:
    """Delete what a reindexing of a collection has left; harmless where there is nothing."""
    if not _is_copy(name):
        for each in (copy_name(name), _replaced_name(name)):
            store.drop(each)


def delete_from_copies(store: ChromaStore, name: str, memory_ids: Sequence[str]) -> None:
    """Delete records from what an interrupted reindexing of a collection has left: forgotten is forgotten."""
    if _is_copy(name):
        return
    store.drop(_replaced_name(name))
    with store.guarded("delete from"):
        made = store.find(copy_name(name))
        if made is not None:
            store.finish(copy_name(name), made)
            made.delete(ids=list(memory_ids))


def _is_copy(name: str) -> bool:
    return name.endswith((copy_name(""), _replaced_name("")))


def is_shown(metadata: Mapping[str, Any]) -> bool:
    """Whether a collection with that metadata stands for its namespace: a complete copy does."""
    return metadata.get(COPY_KEY) in (None, COMPLETE)


def _unmarked(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    return {key: value for key, value in (metadata or {}).items() if key != COPY_KEY}
