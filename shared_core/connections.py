"""Which memories belong together: seed 000's rule, on vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shared_core.embedding.base import FloatArray

#: New memories compared with all others at a time, which bounds the memory of the product.
CHUNK_ROWS = 256


def strongest_connections(
    new: FloatArray,
    others: FloatArray,
    *,
    allowed: NDArray[np.bool_] | None,
    threshold: float,
    limit: int,
) -> list[list[tuple[int, float]]]:
    """The ``limit`` others that are most similar to each new memory, from ``threshold`` on.

    Args:
        new: Unit vectors ``float32 [n, d]``.
        others: Unit vectors ``float32 [m, d]``.
        allowed: ``bool [n, m]``, False where a pair must not be connected; None for all.
        threshold: Lowest cosine similarity that connects.
        limit: Most connections of one new memory.

    Returns:
        For each new memory ``(position among others, similarity)``, strongest first.
    """
    found: list[list[tuple[int, float]]] = []
    for start in range(0, len(new), CHUNK_ROWS):
        similarities = new[start : start + CHUNK_ROWS] @ others.T
        if allowed is not None:
            similarities[~allowed[start : start + CHUNK_ROWS]] = -1.0
        found.extend(_best(row, threshold=threshold, limit=limit) for row in similarities)
    return found


def _best(similarities: FloatArray, *, threshold: float, limit: int) -> list[tuple[int, float]]:
    places = np.flatnonzero(similarities >= threshold)
    ranked = places[np.argsort(-similarities[places], kind="stable")][:limit]
    return [(int(place), min(1.0, float(similarities[place]))) for place in ranked]
