"""Vectors of one namespace: exact products with a question, in blocks that never move."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from shared_core.embedding.base import FloatArray

#: Rows of one block. Blocks instead of one array that doubles: growing copies nothing and wastes at most one.
BLOCK_ROWS = 8_192


class VectorTable:
    """Rows of ``float32 [n, dimension]``, appended and never changed."""

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self._blocks: list[FloatArray] = []
        self._rows = 0

    def __len__(self) -> int:
        return self._rows

    def append(self, vector: FloatArray) -> int:
        """Add ``float32 [dimension]``; returns its row."""
        block, place = divmod(self._rows, BLOCK_ROWS)
        if block == len(self._blocks):
            self._blocks.append(np.empty((BLOCK_ROWS, self.dimension), dtype=np.float32))
        self._blocks[block][place] = vector
        self._rows += 1
        return self._rows - 1

    def products(self, query: FloatArray) -> FloatArray:
        """The product of each row with ``query [dimension]``: ``float32 [n]``; cosines of unit vectors."""
        products = np.empty(self._rows, dtype=np.float32)
        for number, block in enumerate(self._blocks):
            start = number * BLOCK_ROWS
            stop = min(start + BLOCK_ROWS, self._rows)
            np.dot(block[: stop - start], query, out=products[start:stop])
        return products

    def take(self, rows: Sequence[int] | NDArray[np.integer]) -> FloatArray:
        """A copy of these rows: ``float32 [len(rows), dimension]``."""
        wanted = np.asarray(rows, dtype=np.intp)
        taken = np.empty((len(wanted), self.dimension), dtype=np.float32)
        numbers = wanted // BLOCK_ROWS
        for number in np.unique(numbers):
            here = numbers == number
            taken[here] = self._blocks[number][wanted[here] % BLOCK_ROWS]
        return taken
