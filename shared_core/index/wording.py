"""Many texts at once as numbers of their words, so that each different word is looked at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain, count
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shared_core.index.words import MAX_TERMS, worded_terms

Numbers = NDArray[np.int64]


class Wording(NamedTuple):
    """The words, or terms, of some texts.

    Attributes:
        words: Each different word once.
        numbers: Place in ``words`` of each word of the first text, then of the second, and so on: ``[m]``.
        lengths: Words of each text, repeated ones counted: ``[texts]``.
    """

    words: Sequence[str]
    numbers: Numbers
    lengths: Numbers

    def owners(self) -> Numbers:
        """The text that each word stands in: ``[m]``."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)


def wording_of(texts: Sequence[Sequence[str]]) -> Wording:
    """The wording of texts from the words of each."""
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    lengths = _array(map(len, texts))
    flat = _array(map(numbers.__getitem__, chain.from_iterable(texts)))
    return Wording(list(numbers), flat, lengths)


def terms_in(wording: Wording) -> Wording:
    """The terms of texts from their words; of a text, ``MAX_TERMS`` at most."""
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    found = [[numbers[term] for _, term in worded_terms([word])] for word in wording.words]
    of_each, terms = _array(map(len, found)), _array(chain.from_iterable(found))
    counts = of_each[wording.numbers]  # nearly always 1, or 0 for a stop word
    places = np.repeat((np.cumsum(of_each) - of_each)[wording.numbers], counts) + _ranks(counts)
    owners = np.repeat(wording.owners(), counts)
    lengths = np.bincount(owners, minlength=len(wording.lengths))
    if len(lengths) and lengths.max() > MAX_TERMS:
        kept = _ranks(lengths) < MAX_TERMS
        places, lengths = places[kept], np.minimum(lengths, MAX_TERMS)
    return Wording(list(numbers), terms[places], lengths)


def _array(values: Iterable[int]) -> Numbers:
    return np.fromiter(values, dtype=np.int64)


def _ranks(counts: Numbers) -> Numbers:
    """0, 1, … for each count in turn: [2, 0, 3] → [0, 1, 0, 1, 2]."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
