"""How well each record fits a question, from all evidence together: vectors, words, neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shared_core.embedding.base import FloatArray
from shared_core.index.columns import NO_ROW
from shared_core.index.lexical import terms_of
from shared_core.index.resident import ResidentIndex

#: Share of the vectors in the evidence of one record; the rest is words'.
SIMILARITY_SHARE = 0.4
#: What the message before and the one after add, and those two places away.
NEIGHBOUR_SHARES = (0.25, 0.10)


@dataclass(frozen=True)
class Relevance:
    """Evidence by row, each ``float32 [n]``.

    Attributes:
        total: All of it, 0 to 1 where 1 is the best of this search.
        similarity: Cosine similarity of the embeddings.
        lexical: BM25.
    """

    total: FloatArray
    similarity: FloatArray
    lexical: FloatArray


def relevance_of(index: ResidentIndex, text: str, vector: FloatArray) -> Relevance:
    """The evidence of each row of ``index`` for a question."""
    similarity = index.vectors.products(vector)
    lexical = index.lexical.scores(terms_of(text))
    own = SIMILARITY_SHARE * _scaled(similarity) + (1.0 - SIMILARITY_SHARE) * _scaled(lexical)
    total = own + _from_neighbours(index, own)
    return Relevance(_scaled(total), similarity, lexical)


def _scaled(values: FloatArray) -> FloatArray:
    """``values`` without what is negative, divided by the largest."""
    positive = np.maximum(values, 0.0)
    highest = float(positive.max(initial=0.0))
    return positive / np.float32(highest) if highest > 0 else positive


def _from_neighbours(index: ResidentIndex, own: FloatArray) -> FloatArray:
    """What the messages around a record's source say to the question."""
    source = index.columns["source"]
    added = np.zeros_like(own)
    for column in ("before", "after"):
        neighbours = index.columns[column]
        place = source
        for share in NEIGHBOUR_SHARES:
            place = np.where(place != NO_ROW, neighbours[place], NO_ROW)
            added += np.where(place != NO_ROW, own[place], 0.0).astype(np.float32) * np.float32(share)
    return added
