"""What each embedder does with texts before and after its model: mend, cut, embed once, check the answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import compress

import numpy as np

from shared_core.embedding.base import FloatArray, unit_rows
from shared_core.errors import EmbeddingError


def embed_unique(
    texts: Sequence[str],
    *,
    dimension: int,
    compute: Callable[[list[str]], FloatArray],
    max_characters: int,
) -> FloatArray:
    """Embed ``texts`` in their order, each different text once.

    Blank texts get a zero row, and ``compute`` never sees them.

    Args:
        texts: Any strings; lone surrogates are replaced.
        dimension: Length of a vector.
        compute: From ``m`` different texts that are not blank, ``m > 0``, to ``float32 [m, dimension]``.
        max_characters: Where a text is cut before it is embedded.

    Returns:
        ``float32 [len(texts), dimension]``, rows of length 1, or 0 for a text without content.

    Raises:
        ValueError: ``texts`` is one string, or holds something else than strings.
    """
    if isinstance(texts, (str, bytes)):
        raise ValueError(f"texts must be a list of strings, not one string: {texts[:80]!r}")
    prepared = [well_formed(text, max_characters) for text in texts]
    has_content = [bool(text) for text in prepared]
    positions: dict[str, int] = {}
    rows = [positions.setdefault(text, len(positions)) for text in compress(prepared, has_content)]
    if not positions:
        return np.zeros((len(prepared), dimension), dtype=np.float32)
    unique = unit_rows(compute(list(positions)))
    if len(positions) == len(prepared):
        return unique
    vectors = np.zeros((len(prepared), dimension), dtype=np.float32)
    vectors[np.flatnonzero(has_content)] = unique[rows]
    return vectors


def well_formed(text: str, max_characters: int) -> str:
    """``text`` stripped, cut to ``max_characters``, surrogate pairs joined and lone surrogates made U+FFFD.

    Raises:
        ValueError: ``text`` is not a string.
    """
    if not isinstance(text, str):
        raise ValueError(f"a text must be a string, not {type(text).__name__}: {text!r:.80}")
    cut = text.strip()[:max_characters]
    try:
        cut.encode()
    except UnicodeEncodeError:
        return cut.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return cut


def batches(texts: Sequence[str], *, max_texts: int, max_bytes: int) -> Iterator[list[str]]:
    """``texts`` in order, in lists of at most ``max_texts`` texts and ``max_bytes`` bytes of UTF-8.

    A text that alone has more bytes gets a list of its own.
    """
    batch: list[str] = []
    size = 0
    for text in texts:
        length = len(text.encode())
        if batch and (len(batch) == max_texts or size + length > max_bytes):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += length
    if batch:
        yield batch


def checked_vectors(answer: object, *, count: int, dimension: int | None, source: str) -> FloatArray:
    """``answer`` as ``float32 [count, dimension]``, once it has that shape and is finite.

    Args:
        answer: What a model gave: a sequence of vectors, or an array.
        count: How many vectors it was asked for.
        dimension: Length of a vector; None for any.
        source: Who answered, for the message.

    Raises:
        EmbeddingError: It is anything else; the message quotes what came.
    """
    try:
        vectors = np.asarray(answer, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise EmbeddingError(f"{source} sent what makes no matrix: {answer!r:.120}") from error
    if vectors.ndim != 2 or len(vectors) != count:
        raise EmbeddingError(f"{source} was asked for {count} vectors and sent an array of {vectors.shape}")
    if vectors.shape[1] != (dimension or vectors.shape[1]) or not vectors.shape[1]:
        expected = "at least one" if dimension is None else dimension
        raise EmbeddingError(f"{source} sent vectors of dimension {vectors.shape[1]}, expected {expected}")
    if not np.isfinite(vectors).all():
        raise EmbeddingError(f"{source} sent vectors that are not finite")
    return vectors
