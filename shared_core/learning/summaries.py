"""Summaries without a model: the sentences of some messages that say the most, in their order."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from shared_core.context.rendering import strip_own_context
from shared_core.extraction.sentences import sentences
from shared_core.index.words import terms_of
from shared_core.records import Memory

#: A sentence of fewer stems says too little to stand in a summary.
MIN_TERMS = 3
#: Damps the advantage of long sentences: weight per stem, of a sentence as many stems longer.
LENGTH_DAMPING = 4.0
#: A word that an earlier choice has said already counts this much.
REPEATED_WEIGHT = 0.2


class Telling(NamedTuple):
    """A sentence that may stand in a summary.

    Attributes:
        text: As said.
        terms: Its terms in order and each once: the sum of their weights is the same in each process.
    """

    text: str
    terms: tuple[str, ...]


@dataclass(frozen=True)
class _Candidate:
    order: int
    line: str
    terms: tuple[str, ...]


class Spoken(NamedTuple):
    """Somebody's words."""

    speaker: str | None
    text: str


def telling_sentences(text: str) -> tuple[Telling, ...]:
    """The sentences of a message that say enough, without questions and what our own contexts have put in."""
    found = []
    for sentence in sentences(strip_own_context(text)):
        terms = tuple(dict.fromkeys(terms_of(sentence.text)))
        if len(terms) >= MIN_TERMS and not sentence.is_question:
            found.append(Telling(sentence.text, terms))
    return tuple(found)


def summarise(
    messages: Sequence[Memory | Spoken],
    *,
    max_words: int,
    told: Callable[[str], Sequence[Telling]] = telling_sentences,
) -> str:
    """The most telling sentences of some messages, one a line after its speaker's name.

    Sentences are chosen one by one for the weight of the words that they add (logarithm of how often the
    messages use them), per length; questions are left out, and what our own contexts put into a prompt.

    Args:
        messages: In order.
        max_words: Longest summary.
        told: ``telling_sentences``, or the same with a memory, where a message stands in several summaries.

    Returns:
        A summary that is never empty: where no sentence qualifies, the beginning of the first message.
    """
    candidates: list[_Candidate] = []
    for message in messages:
        for text, terms in told(message.text):
            candidates.append(_Candidate(len(candidates), f"{message.speaker}: {text}", terms))
    counts = Counter(term for candidate in candidates for term in candidate.terms)
    weights = {term: math.log1p(count) for term, count in counts.items()}
    chosen: list[_Candidate] = []
    words_left = max_words
    ranked = [(-_gain(candidate, weights), candidate.order) for candidate in candidates]
    heapify(ranked)
    while ranked and words_left > 0:
        _, order = heappop(ranked)
        best = candidates[order]
        length = len(best.line.split())
        if length > words_left:
            continue
        rank = (-_gain(best, weights), order)  # weights only fall, so that an older rank was never too low
        if ranked and rank > ranked[0]:
            heappush(ranked, rank)
            continue
        chosen.append(best)
        words_left -= length
        for term in best.terms:
            weights[term] *= REPEATED_WEIGHT
    if not chosen:
        first = f"{messages[0].speaker}: {strip_own_context(messages[0].text)}"
        return " ".join(first.split()[:max_words])
    return "\n".join(candidate.line for candidate in sorted(chosen, key=lambda c: c.order))


def _gain(candidate: _Candidate, weights: dict[str, float]) -> float:
    return sum(weights[term] for term in candidate.terms) / (len(candidate.terms) + LENGTH_DAMPING)
