"""What the core asks of an embedder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors; the same text always into the same vector. Several threads may ask at once.

    Attributes:
        name: Stored with each namespace, so that another embedder's vectors never mix with its own.
        dimension: Length of a vector.
        connection_threshold: The cosine similarity from which two memories of this embedder belong
            together. Each embedder has a scale of its own: 0.6 suits OpenAI's (seed 000).
    """

    @property
    def name(self) -> str:
        """Which model and size, such as ``openai/text-embedding-3-small-1536``."""
        ...

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        ...

    @property
    def connection_threshold(self) -> float:
        """Cosine similarity, 0 to 1."""
        ...

    def embed(self, texts: Sequence[str]) -> FloatArray:
        """Embed memories: ``float32 [n, dimension]``, rows of length 1 (or 0 for a text without content)."""
        ...

    def embed_query(self, text: str) -> FloatArray:
        """Embed a question: ``float32 [dimension]``, of length 1 (or 0)."""
        ...


def unit_rows(vectors: FloatArray) -> FloatArray:
    """``vectors`` scaled to length 1 row by row; rows that are zero or not finite become zero.

    Args:
        vectors: ``float32 [n, d]``; left as it is.
    """
    finite = np.where(np.isfinite(vectors), vectors, 0.0).astype(np.float32)
    lengths = np.linalg.norm(finite, axis=1, keepdims=True)
    scaled: FloatArray = np.divide(finite, lengths, out=np.zeros_like(finite), where=lengths > 0)
    return scaled
