"""The resident index of one collection of items: by key, by path, and the vectors of their texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shared_core.embedding.base import FloatArray
from shared_core.index.vectors import VectorTable
from shared_core.items.item import Item, item_of
from shared_core.items.paths import Path
from shared_core.namespaces import OpenCollection
from shared_core.records import Memory

Rows = NDArray[np.intp]

_COLUMNS = np.dtype(
    [
        ("alive", "?"),
        ("path", "i4"),  # position in the list of paths
        ("created", "i8"),  # microseconds since 1970
        ("expires", "f8"),  # seconds since 1970; infinity for never
        ("start", "i8"),  # first of its vectors
        ("count", "i4"),  # how many there are
    ]
)
#: An index is rebuilt from itself once so many rows are dead, and they are half of all.
COMPACT_FROM_ROWS = 1_024
#: Of all vectors, the part from which the product with all is faster than taking out those wanted.
WHOLE_TABLE_SHARE = 0.25


class ItemIndex:
    """Every item of a collection by row. An item that is put anew gets a new row, and the old one dies.

    Not thread-safe: whoever owns it holds a lock.

    Args:
        dimension: Length of a vector.
    """

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._vectors = VectorTable(dimension)
        self._columns = np.zeros(64, dtype=_COLUMNS)
        self._rows: dict[str, int] = {}
        self._items: list[Item | None] = []
        self._values: dict[int, dict[str, Any]] = {}
        self._paths: list[Path] = []
        self._codes: dict[Path, int] = {}
        self._under: dict[Path, list[int]] = {}
        self._ordered: Rows | None = None

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def holds(self, memory: Memory) -> bool:
        """No: the vectors of an item are those of parts of it, which its text does not tell."""
        return False

    # -- writing -----------------------------------------------------------------------------------------

    def put_all(self, memories: Iterable[Memory], payloads: Iterable[str], vectors: FloatArray) -> None:
        """Add or replace records, in any order."""
        for memory, _, vector in zip(memories, payloads, vectors, strict=True):
            item, own_vectors = item_of(memory, vector)
            self._put(memory.id, item, own_vectors)

    def _put(self, record_id: str, item: Item, vectors: FloatArray) -> None:
        self.remove(record_id)
        row = len(self._items)
        if row == len(self._columns):
            self._columns = np.concatenate([self._columns, np.zeros_like(self._columns)])
        self._items.append(item)
        self._rows[record_id] = row
        self._ordered = None
        start = len(self._vectors)
        for vector in vectors:
            self._vectors.append(vector)
        expires = np.inf if item.expires_at is None else item.expires_at.timestamp()
        created = round(item.created_at.timestamp() * 1e6)
        self._columns[row] = (True, self._code(item.path), created, expires, start, len(vectors))

    def _code(self, path: Path) -> int:
        code = self._codes.get(path)
        if code is None:
            code = self._codes[path] = len(self._paths)
            self._paths.append(path)
            for depth in range(len(path) + 1):
                self._under.setdefault(path[:depth], []).append(code)
        return code

    def remove(self, memory_id: str) -> None:
        """Take an item out; harmless if there is none."""
        row = self._rows.pop(memory_id, None)
        if row is not None:
            self._items[row] = None
            self._values.pop(row, None)
            self._columns[row]["alive"] = False
            self._ordered = None

    def compacted(self) -> ItemIndex:
        """This index, or one without dead rows where they are many."""
        dead = len(self._items) - len(self._rows)
        if dead < COMPACT_FROM_ROWS or dead < len(self._rows):
            return self
        fresh = ItemIndex(self.dimension)
        for record_id, row in self._rows.items():
            fresh._put(record_id, self._item(row), self._vectors_of(row))
        return fresh

    # -- reading -----------------------------------------------------------------------------------------

    def get(self, record_id: str) -> Item | None:
        """The item of that record; None if there is none."""
        row = self._rows.get(record_id)
        return None if row is None else self._items[row]

    def vectors_of(self, record_id: str) -> FloatArray:
        """The vectors of an item's texts: ``float32 [n, dimension]``."""
        return self._vectors_of(self._rows[record_id])

    def _vectors_of(self, row: int) -> FloatArray:
        start, count = int(self._columns[row]["start"]), int(self._columns[row]["count"])
        return self._vectors.take(range(start, start + count))

    def _item(self, row: int) -> Item:
        item = self._items[row]
        assert item is not None, "a dead row is never asked for"
        return item

    def items(self, rows: Iterable[int]) -> list[Item]:
        """The items in these rows."""
        return [self._item(row) for row in rows]

    def value_at(self, row: int) -> Mapping[str, Any]:
        """The value in a row, read once and kept; not for callers to change."""
        value = self._values.get(row)
        if value is None:
            value = self._values[row] = self._item(row).value
        return value

    def paths(self, *, unexpired_at: datetime | None = None) -> list[Path]:
        """The paths that hold items, in order; with a moment, only items that live beyond it count."""
        rows = self.rows_under((), unexpired_at=unexpired_at)
        return sorted(self._paths[code] for code in np.unique(self._columns["path"][rows]))

    def rows_under(self, prefix: Path, *, unexpired_at: datetime | None = None) -> Rows:
        """The rows whose path begins with these labels: the oldest path first, in it the oldest item."""
        columns = self._columns[: len(self._items)]
        chosen: NDArray[np.bool_] = columns["alive"].copy()
        if prefix:
            is_under = np.zeros(len(self._paths), dtype=np.bool_)
            is_under[self._under.get(prefix, [])] = True
            chosen &= is_under[columns["path"]]
        if unexpired_at is not None:
            chosen &= columns["expires"] > unexpired_at.timestamp()
        ordered = self._in_order()
        return ordered[chosen[ordered]]

    def expired(self, now: datetime) -> list[str]:
        """The ids of the items that have expired."""
        columns = self._columns[: len(self._items)]
        rows = np.flatnonzero(columns["alive"] & (columns["expires"] <= now.timestamp()))
        return [item.id for item in self.items(rows)]

    def _in_order(self) -> Rows:
        """Every living row: the oldest path first, and in each path the oldest item first."""
        if self._ordered is None:
            rows = np.flatnonzero(self._columns["alive"])
            columns = self._columns[rows]
            oldest = np.full(len(self._paths), np.iinfo(np.int64).max)
            np.minimum.at(oldest, columns["path"], columns["created"])
            order = np.lexsort((columns["created"], columns["path"], oldest[columns["path"]]))
            self._ordered = rows[order]
        return self._ordered

    def similarities(self, rows: Rows, query: FloatArray) -> FloatArray:
        """The best cosine of each row's vectors with ``query [dimension]``; NaN for a row without vectors."""
        best = np.full(len(rows), np.nan, dtype=np.float32)
        starts, counts = self._columns["start"][rows], self._columns["count"][rows]
        has_vectors = counts > 0
        starts, counts = starts[has_vectors], counts[has_vectors]
        if not len(counts):
            return best
        if counts.max() == 1:
            best[has_vectors] = np.clip(self._products(starts, query), -1.0, 1.0)
            return best
        # The vectors of a row stand side by side, so the best of each is the maximum of a stretch.
        firsts = np.cumsum(counts) - counts
        wanted = np.repeat(starts - firsts, counts) + np.arange(counts.sum())
        best[has_vectors] = np.clip(np.maximum.reduceat(self._products(wanted, query), firsts), -1.0, 1.0)
        return best

    def _products(self, wanted: NDArray[np.int64], query: FloatArray) -> FloatArray:
        """The product of each of these vectors with ``query``."""
        if len(wanted) > WHOLE_TABLE_SHARE * len(self._vectors):
            return self._vectors.products(query)[wanted]
        products: FloatArray = self._vectors.take(wanted) @ query
        return products


class ItemCollection(OpenCollection[ItemIndex]):
    """The items of one namespace."""

    purpose = "items"

    def _new_index(self, dimension: int) -> ItemIndex:
        return ItemIndex(dimension)
