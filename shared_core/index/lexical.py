"""The terms of the texts of one namespace by row, kept up to date as texts come and go.

BM25 after Robertson and Zaragoza, *The Probabilistic Relevance Framework: BM25 and Beyond* (2009). A
posting list per term, appended to; a removed text leaves the statistics at once and the lists when the
index is compacted.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shared_core.embedding.base import FloatArray
from shared_core.index.wording import Wording, terms_in, wording_of
from shared_core.index.words import terms_of, words_of

#: BM25's saturation of repeated words, and its share of length normalisation.
K1, B = 1.2, 0.5


class Occurrences(NamedTuple):
    """Where a term stands: rows ``int32 [m]``, how often ``float32 [m]``, and its weight (idf).

    The rows are those of the index itself: drop them before the next text comes.
    """

    rows: NDArray[np.int32]
    counts: FloatArray
    weight: float


class _Postings:
    """The rows that hold one term, how often, and how many of them still count."""

    __slots__ = ("frequencies", "live", "rows")

    def __init__(self) -> None:
        self.rows = array("i")
        self.frequencies = array("H")
        self.live = 0


class LexicalIndex:
    """Texts by row, appended in the order of rows."""

    def __init__(self) -> None:
        self._postings: dict[str, _Postings] = {}
        self._lengths = array("i")
        self._live = 0
        self._live_length = 0

    def __len__(self) -> int:
        return len(self._lengths)

    @property
    def lengths(self) -> NDArray[np.int32]:
        """Terms of each row, repeated ones counted: ``int32 [n]``, a copy."""
        return np.array(self._lengths, dtype=np.int32)

    def append(self, text: str) -> int:
        """Add a text; returns its row."""
        return self.extend(terms_in(wording_of([words_of(text)])))

    def extend(self, texts: Wording) -> int:
        """Add texts by their terms; returns the row of the first."""
        first, number = len(self._lengths), max(1, len(texts.lengths))
        pairs, counts = np.unique(texts.numbers * number + texts.owners(), return_counts=True)
        owners, rows = np.divmod(pairs, number)  # by term, then by row
        bounds = np.searchsorted(owners, np.arange(len(texts.words) + 1)).tolist()
        rows_said = (rows + first).astype(np.int32)
        frequencies = np.minimum(counts, 65_535).astype(np.uint16)
        for term, start, stop in zip(texts.words, bounds, bounds[1:], strict=False):
            if start < stop:
                postings = self._postings.get(term)
                if postings is None:
                    postings = self._postings[term] = _Postings()
                postings.rows.frombytes(rows_said[start:stop].tobytes())
                postings.frequencies.frombytes(frequencies[start:stop].tobytes())
                postings.live += stop - start
        self._lengths.frombytes(texts.lengths.astype(np.int32).tobytes())
        self._live += len(texts.lengths)
        self._live_length += int(texts.lengths.sum())
        return first

    def forget(self, row: int, text: str) -> None:
        """Take the text of a row out of the statistics; the row itself is the caller's to mask."""
        for term in set(terms_of(text)):
            postings = self._postings[term]
            postings.live -= 1
            if postings.live == 0:
                del self._postings[term]
        self._live -= 1
        self._live_length -= self._lengths[row]

    def occurrences(self, term: str) -> Occurrences | None:
        """Where a term stands, dead rows included; None if no live text holds it."""
        postings = self._postings.get(term)
        if postings is None:
            return None
        rows = np.frombuffer(postings.rows, dtype=np.int32)
        counts = np.array(postings.frequencies, dtype=np.float32)
        return Occurrences(rows, counts, self.weight(postings.live))

    def scores(self, terms: Sequence[str]) -> FloatArray:
        """BM25 of each row for these terms: ``float32 [n]``, 0 where none occurs."""
        scores = np.zeros(len(self._lengths), dtype=np.float32)
        damping = self.damping()
        for term in dict.fromkeys(terms):
            found = self.occurrences(term)
            if found is not None:
                counts = found.counts
                scores[found.rows] += found.weight * (K1 + 1.0) * counts / (counts + damping[found.rows])
        return scores

    def damping(self) -> FloatArray:
        """What BM25 adds to a term's count in the denominator, by row: ``float32 [n]``."""
        average = max(1.0, self._live_length / max(1, self._live))
        return (K1 * (1.0 - B + (B / average) * np.array(self._lengths, dtype=np.float32))).astype(np.float32)

    def weight(self, document_count: int) -> float:
        """The inverse document frequency of a term that so many live texts hold."""
        return float(np.log1p((self._live - document_count + 0.5) / (document_count + 0.5)))
