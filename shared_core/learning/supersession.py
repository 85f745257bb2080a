"""What replaces what: changes of memories that are being written, before they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from shared_core.ids import triplet_id
from shared_core.index.resident import ResidentIndex
from shared_core.learning.reconciliation import Held
from shared_core.learning.versions import version_of
from shared_core.records import Kind, Memory


class Draft:
    """Records to be written, over an index that does not know them yet.

    Args:
        index: What the namespace knows; it is only read.
        now: When the records are written.
    """

    def __init__(self, index: ResidentIndex, now: datetime) -> None:
        self.records: dict[str, Memory] = {}
        self._index = index
        self._now = now

    def get(self, memory_id: str) -> Memory | None:
        """The record of that id, as it will be."""
        drafted = self.records.get(memory_id)
        if drafted is None and memory_id in self._index:
            return self._index.stored(memory_id)
        return drafted

    def put(self, memory: Memory) -> None:
        """Have a record written."""
        self.records[memory.id] = memory

    def held(self, kind: Kind) -> Held:
        """What is said, and not replaced, by memories of a kind: see ``reconciliation.decide``."""

        def of(subject: str, predicate: str) -> Mapping[str, str]:
            drafted = [
                memory.id
                for memory in self.records.values()
                if memory.kind == kind
                and memory.predicate == predicate
                and (memory.subject or "").casefold() == subject.casefold()
            ]
            ids = dict.fromkeys((*self._index.claims.of(kind, subject, predicate), *drafted))
            found = ((memory_id, self.get(memory_id)) for memory_id in ids)
            return {
                memory_id: memory.object
                for memory_id, memory in found
                if memory is not None and memory.is_current and memory.object
            }

        return of

    def keep_as_version(self, memory: Memory) -> None:
        """Keep what was replaced once and is said again as an earlier version of itself."""
        self.put(version_of(self._index, memory, taken=self.records, now=self._now))

    def supersede(self, targets: Sequence[str], *, by: str) -> None:
        """Let ``by`` stand in the place of other memories, each with the triplet that says the same.

        What was said later stays: then ``by`` is the one that is superseded.
        """
        for target in targets:
            newer, older = self.get(by), self.get(target)
            if newer is None or older is None or by == target or not older.is_current:
                continue
            if self._said_last(older) > newer.created_at:
                older, by = newer, target
            self._replace(older, by)
            if older.subject and older.predicate and older.object:
                triplet = self.get(triplet_id(older.subject, older.predicate, older.object))
                if triplet is not None and triplet.is_current and triplet.id != by:
                    self._replace(triplet, by)

    def _replace(self, memory: Memory, by: str) -> None:
        self.put(memory.model_copy(update={"superseded_by": by, "connections": (), "updated_at": self._now}))

    def _said_last(self, memory: Memory) -> datetime:
        last = self._index.get(memory.sources[-1]) if memory.sources else None
        return memory.created_at if last is None else max(memory.created_at, last.created_at)
