"""What was read, noted in memory and written later: reading costs no write, and changes no ranking."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from weakref import WeakKeyDictionary

from shared_core.index.resident import ResidentIndex
from shared_core.namespaces import Namespace
from shared_core.records import KINDS, LEARNT_KINDS, Memory
from shared_core.stores.base import Change

#: Readings of one memory that a record can hold.
MOST_ACCESSES = 2**31 - 1
#: Memories whose readings a write of something else takes along: Chroma takes 1 to 2 ms for each.
TAKEN_ALONG = 20


@dataclass(frozen=True, slots=True)
class Access:
    """How often a memory was read since its record was last written, and when last."""

    count: int
    last: datetime

    def __add__(self, other: Access) -> Access:
        return Access(self.count + other.count, max(self.last, other.last))

    def noted_in(self, memory: Memory) -> Memory:
        """The record with these readings; ``updated_at`` stays, since what it says has not changed."""
        last = memory.last_accessed_at
        return memory.model_copy(
            update={
                "access_count": min(MOST_ACCESSES, memory.access_count + self.count),
                "last_accessed_at": self.last if last is None else max(last, self.last),
            }
        )


class AccessNotes:
    """The readings of several namespaces that are not written yet; for any number of threads.

    What is not flushed is lost with the process: at most the readings since the last flush.

    Args:
        limit: Memories of a namespace that are noted, at most; the readings of further ones are not counted.
    """

    def __init__(self, limit: int) -> None:
        self.users = 1
        self._limit = limit
        self._lock = threading.Lock()
        self._noted: WeakKeyDictionary[Namespace, dict[str, Access]] = WeakKeyDictionary()

    def note(self, namespace: Namespace, memory_ids: Iterable[str], now: datetime) -> None:
        """Count one reading of each of these memories."""
        self._merge(namespace, {memory_id: Access(1, now) for memory_id in memory_ids})

    def waiting(self, namespace: Namespace) -> int:
        """Memories of a namespace with readings that are not written yet."""
        with self._lock:
            return len(self._noted.get(namespace, ()))

    def flush(self, namespace: Namespace, *, limit: int | None = None) -> tuple[str, ...]:
        """Write the readings of a namespace, and forget them; returns the ids of the records changed.

        Memories deleted meanwhile are passed over. What could not be written stays noted.

        Args:
            namespace: Whose.
            limit: Memories whose readings are written at most, those read first before others; None for all.

        Raises:
            StoreError: If it could not be written.
        """
        noted = self._taken(namespace, limit)
        if not noted:
            return ()
        written: list[str] = []
        waiting = list(noted)
        for start in range(0, len(waiting), namespace.batch_limit):
            try:
                with namespace.alone() as index:
                    part = waiting[start : start + namespace.batch_limit]
                    present = [memory_id for memory_id in part if memory_id in index]
                    if present:
                        namespace.apply(_change(index, present, noted))
            except BaseException:
                self._merge(namespace, {memory_id: noted[memory_id] for memory_id in waiting[start:]})
                raise
            written.extend(present)
        return tuple(written)

    def flush_all(self) -> None:
        """Write the readings of every namespace.

        Raises:
            StoreError: If some could not be written.
        """
        with self._lock:
            namespaces = list(self._noted)
        for namespace in namespaces:
            self.flush(namespace)

    def shared(self) -> AccessNotes:
        """These notes, with one more user."""
        with self._lock:
            self.users += 1
        return self

    def leave(self) -> bool:
        """One user less; whether it was the last."""
        with self._lock:
            self.users -= 1
            return self.users == 0

    def _taken(self, namespace: Namespace, limit: int | None) -> dict[str, Access]:
        with self._lock:
            noted = self._noted.pop(namespace, {})
            if limit is None or len(noted) <= limit:
                return noted
            taken = {memory_id: noted.pop(memory_id) for memory_id in list(noted)[:limit]}
            self._noted[namespace] = noted
            return taken

    def _merge(self, namespace: Namespace, accesses: Mapping[str, Access]) -> None:
        with self._lock:
            noted = self._noted.setdefault(namespace, {})
            for memory_id, access in accesses.items():
                known = noted.get(memory_id)
                if known is not None:
                    noted[memory_id] = known + access
                elif len(noted) < self._limit:
                    noted[memory_id] = access


def recalled(index: ResidentIndex, memory_ids: Iterable[str]) -> list[str]:
    """These memories and, since a message stands for it in a search, what was learnt from them; each once."""
    found: dict[str, None] = {}
    kinds = index.columns["kind"]
    for memory_id in memory_ids:
        found[memory_id] = None
        for learnt in index.learnt_from(memory_id):
            row = index.row(learnt)
            if row is not None and KINDS[int(kinds[row])] in LEARNT_KINDS:
                found[learnt] = None
    return list(found)


def _change(index: ResidentIndex, memory_ids: list[str], noted: Mapping[str, Access]) -> Change:
    rows = [row for row in map(index.row, memory_ids) if row is not None]
    memories = tuple(noted[memory_id].noted_in(index.stored(memory_id)) for memory_id in memory_ids)
    return Change(puts=memories, vectors=index.vectors.take(rows))
