"""The limit: one matrix–vector product over vectors in memory, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tests.benchmarks.peers.base import Peer, Turn

if TYPE_CHECKING:
    from shared_core.embedding.base import Embedder, FloatArray


class _Matrix:
    """Vectors in rows, ``float32 [n, d]``, grown by doubling."""

    def __init__(self, dimension: int) -> None:
        self.ids: list[str] = []
        self._rows = np.empty((1_024, dimension), dtype=np.float32)

    def append(self, ids: Sequence[str], vectors: FloatArray) -> None:
        start, end = len(self.ids), len(self.ids) + len(ids)
        while end > len(self._rows):
            self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        self._rows[start:end] = vectors
        self.ids.extend(ids)

    def nearest(self, vector: FloatArray, limit: int) -> list[str]:
        scores = self._rows[: len(self.ids)] @ vector
        top = np.arange(len(scores))
        if limit < len(scores):
            top = np.argpartition(scores, -limit)[-limit:]
        return [self.ids[row] for row in top[np.argsort(-scores[top])]]


class ProductPeer(Peer):
    """A matrix for each namespace."""

    def __init__(self, folder: str, embedder: Embedder) -> None:
        self._embedder = embedder
        self._matrices: dict[str, _Matrix] = {}

    def load(self, namespace: str, turns: Sequence[Turn]) -> None:
        self.add(namespace, turns)

    def add(self, namespace: str, pair: Sequence[Turn]) -> None:
        vectors = self._embedder.embed([turn.document for turn in pair])
        matrix = self._matrices.setdefault(namespace, _Matrix(self._embedder.dimension))
        matrix.append([turn.id for turn in pair], vectors)

    def search(self, namespace: str, query: str, limit: int) -> list[str]:
        return self._matrices[namespace].nearest(self._embedder.embed_query(query), limit)
