"""The head record of a namespace that several processes share: who has written how much.

Each process counts its own writes. It stamps every record with its name and count, and sets its own key of
the head record in the same write, which Chroma merges with the keys of the others. A reader that
remembers the counts sees from one small record whether there is news, and asks for just that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import numpy as np

from shared_core.embedding.base import FloatArray
from shared_core.stores.codec import KIND_KEY, Metadata

WRITER_KEY, REVISION_KEY = "writer", "revision"
PUTS, DELETES = "puts:", "deletes:"


@dataclass(frozen=True)
class Mark:
    """What one write adds to the metadata of its records, and to that of the head record."""

    on_records: Metadata
    on_head: Metadata


@dataclass(frozen=True)
class News:
    """What has changed: a filter for the new records, and whether any were deleted."""

    where: dict[str, Any] | None
    deleted: bool


class Head:
    """One process's view of the head record of one namespace.

    Args:
        dimension: Length of the namespace's vectors; the head record needs one as well.
        writer: The name under which this process counts. A namespace that it closes and opens again goes on
            with its count, so that the head record does not grow with each opening.
    """

    ID = "contextmemory:head"
    TEXT = "ContextMemory: who has written how much to this namespace"

    def __init__(self, dimension: int, writer: str | None = None) -> None:
        self._me = writer or uuid4().hex[:16]
        self._puts = 0
        self._deletes = 0
        self._seen: dict[str, int] = {}
        vector: FloatArray = np.zeros((1, dimension), dtype=np.float32)
        vector[0, 0] = 1.0
        self.vector = vector

    def forget(self) -> None:
        """What was seen belongs to a collection that is gone."""
        self._seen = {}

    def record_put(self) -> Mark:
        """Count one write of this process."""
        self._puts += 1
        on_head: Metadata = {KIND_KEY: "head", PUTS + self._me: self._puts}
        return Mark({WRITER_KEY: self._me, REVISION_KEY: self._puts}, on_head)

    def record_deletion(self) -> Metadata:
        """Count one deletion of this process; what to merge into the head record."""
        self._deletes += 1
        return {KIND_KEY: "head", DELETES + self._me: self._deletes}

    def look(self, head: Mapping[str, Any]) -> News | None:
        """Compare the head record with the last look, and remember it.

        Returns:
            None where nobody else has changed anything.
        """
        self._puts = max(self._puts, int(head.get(PUTS + self._me, 0)))
        self._deletes = max(self._deletes, int(head.get(DELETES + self._me, 0)))
        counts = {
            key: int(value)
            for key, value in head.items()
            if key.startswith((PUTS, DELETES)) and self._me not in key
        }
        fresh = {
            key: self._seen.get(key, 0) for key, count in counts.items() if count > self._seen.get(key, 0)
        }
        self._seen = counts
        if not fresh:
            return None
        clauses = [
            {"$and": [{WRITER_KEY: key.removeprefix(PUTS)}, {REVISION_KEY: {"$gt": seen}}]}
            for key, seen in fresh.items()
            if key.startswith(PUTS)
        ]
        where = clauses[0] if len(clauses) == 1 else {"$or": clauses} if clauses else None
        return News(where, deleted=any(key.startswith(DELETES) for key in fresh))
