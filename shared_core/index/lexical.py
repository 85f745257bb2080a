"""BM25 over the texts of one namespace, kept up to date as texts come and go.

Robertson and Zaragoza, *The Probabilistic Relevance Framework: BM25 and Beyond* (2009), with stemming and
without stop words. A posting list per stem, appended to; a removed text leaves the statistics at once and
the lists when the index is compacted.
"""

from __future__ import annotations

import re
import threading
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
import Stemmer

from shared_core.embedding.base import FloatArray

#: BM25's saturation of repeated words, and its share of length normalisation.
K1, B = 1.2, 0.75
#: Words cut from a text beyond this number: what comes after cannot be found by its words.
MAX_TERMS = 20_000

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
#: Scripts written without spaces are indexed by pairs of characters.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+"
)

STOP_WORDS = frozenset(
    """a about above after again against all am an and any are aren't as at be because been before being
    below between both but by can can't cannot could couldn't did didn't do does doesn't doing don't
    down during each few for from further had hadn't has hasn't have haven't having he he'd he'll he's
    her here here's hers herself him himself his how how's i i'd i'll i'm i've if in into is isn't it
    it's its itself let's me more most my myself no nor not of off on once only or other ought our ours
    ourselves out over own same shan't she she'd she'll she's should shouldn't so some such than that
    that's the their theirs them themselves then there there's these they they'd they'll they're they've
    this those through to too under until up us very was wasn't we we'd we'll we're we've were weren't
    what what's when when's where where's which while who who's whom why why's will with won't would
    wouldn't you you'd you'll you're you've your yours yourself yourselves""".split()
)


class _Snowball(threading.local):
    """The English stemmer of this thread: one may not be shared."""

    def __init__(self) -> None:
        self.stem = Stemmer.Stemmer("english").stemWord


_SNOWBALL = _Snowball()


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    return str(_SNOWBALL.stem(word))


def terms_of(text: str) -> list[str]:
    """The stems of a text in order, without stop words; pairs of characters where words have no spaces."""
    terms: list[str] = []
    for word in _WORD.findall(text.lower().replace("’", "'")):
        if word.isascii():
            if word not in STOP_WORDS:
                terms.append(_stem(word.removesuffix("'s")))
        else:
            terms.extend(_split_unspaced(word))
        if len(terms) >= MAX_TERMS:
            break
    return terms[:MAX_TERMS]


def _split_unspaced(word: str) -> Iterable[str]:
    place = 0
    for run in _UNSPACED.finditer(word):
        if run.start() > place:
            yield _stem(word[place : run.start()])
        characters = run.group()
        yield from (characters[i : i + 2] for i in range(max(1, len(characters) - 1)))
        place = run.end()
    if place < len(word):
        yield _stem(word[place:])


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

    def append(self, text: str) -> int:
        """Add a text; returns its row."""
        row = len(self._lengths)
        counts = Counter(terms_of(text))
        length = counts.total()
        for term, count in counts.items():
            postings = self._postings.get(term)
            if postings is None:
                postings = self._postings[term] = _Postings()
            postings.rows.append(row)
            postings.frequencies.append(min(count, 65_535))
            postings.live += 1
        self._lengths.append(length)
        self._live += 1
        self._live_length += length
        return row

    def forget(self, row: int, text: str) -> None:
        """Take the text of a row out of the statistics; the row itself is the caller's to mask."""
        for term in set(terms_of(text)):
            postings = self._postings[term]
            postings.live -= 1
            if postings.live == 0:
                del self._postings[term]
        self._live -= 1
        self._live_length -= self._lengths[row]

    def scores(self, terms: Sequence[str]) -> FloatArray:
        """BM25 of each row for these stems: ``float32 [n]``, 0 where none occurs."""
        scores = np.zeros(len(self._lengths), dtype=np.float32)
        found = [(term, self._postings[term]) for term in dict.fromkeys(terms) if term in self._postings]
        if not found:
            return scores
        lengths = np.frombuffer(self._lengths, dtype=np.int32)
        average = max(1.0, self._live_length / max(1, self._live))
        for _, postings in found:
            rows = np.frombuffer(postings.rows, dtype=np.int32)
            counts = np.frombuffer(postings.frequencies, dtype=np.uint16).astype(np.float32)
            damping = K1 * (1.0 - B + (B / average) * lengths[rows].astype(np.float32))
            scores[rows] += self.weight(postings.live) * counts * (K1 + 1.0) / (counts + damping)
        return scores

    def weight(self, document_count: int) -> float:
        """The inverse document frequency of a term that so many live texts hold."""
        return float(np.log1p((self._live - document_count + 0.5) / (document_count + 0.5)))

    def best_possible(self, terms: Sequence[str]) -> float:
        """More than any text can score for these stems: each of them known, and repeated without end."""
        counts = [self._postings[term].live if term in self._postings else 0 for term in dict.fromkeys(terms)]
        return sum(self.weight(count) for count in counts) * (K1 + 1.0)
