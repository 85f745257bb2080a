"""Which memories belong together: seed 000's rule, on vectors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shared_core.embedding.base import FloatArray


def strongest_connections(
    similarities: FloatArray, *, allowed: NDArray[np.bool_] | None, threshold: float, limit: int
) -> list[list[tuple[int, float]]]:
    """The ``limit`` others that are most similar to each new memory, from ``threshold`` on.

    Args:
        similarities: Cosine similarity of each new memory to each other one, ``float32 [n, m]``.
        allowed: ``bool [n, m]``, False where a pair must not be connected; None for all.
        threshold: Lowest similarity that connects.
        limit: Most connections of one new memory.

    Returns:
        For each new memory ``(position among others, similarity)``, strongest first.
    """
    possible = similarities if allowed is None else np.where(allowed, similarities, np.float32(-1.0))
    return [_best(row, threshold=threshold, limit=limit) for row in possible]


def _best(similarities: FloatArray, *, threshold: float, limit: int) -> list[tuple[int, float]]:
    places = np.flatnonzero(similarities >= threshold)
    ranked = places[np.argsort(-similarities[places], kind="stable")][:limit]
    return [(int(place), min(1.0, float(similarities[place]))) for place in ranked]
