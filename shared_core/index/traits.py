"""What a turn is like, whatever is asked: six numbers that a ranking model uses."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache, reduce
from operator import or_
from typing import NamedTuple

from shared_core.index.words import words_of

#: Traits are read from this much of a text, in characters.
MAX_CHARACTERS = 4_000

_TIME = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|ago|since|recently|just|back in|weekend|birthday|anniversary"
    r"|(?:last|next|this) (?:morning|night|week|weekend|month|year|past|\w{3,6}day)"
    r"|(?:last|next|this) (?:spring|summer|autumn|fall|winter)"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|january|february|march|april|june|july|august|september|october|november|december"
    r"|(?:19|20)\d\d|\d{1,2}(?:st|nd|rd|th))\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\b(?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|once|twice|couple|few"
    r"|several|first|second|third|both)\b",
    re.IGNORECASE,
)
#: Without one of these words and without a digit, a text names no time; or no number.
_TIME_WORDS = frozenset(
    """yesterday today tonight tomorrow ago since recently just back weekend birthday anniversary last next
    this monday tuesday wednesday thursday friday saturday sunday january february march april june july
    august september october november december""".split()
)
_NUMBER_WORDS = frozenset(
    """one two three four five six seven eight nine ten eleven twelve dozen once twice couple few several
    first second third both""".split()
)
_MAY_BE_TIME, _MAY_BE_NUMBER = 1, 2
_CAPITALISED = re.compile(r"(?<=[a-z,;:\"'(] )[\"'(]?[A-Z][a-zA-Z]+")
_SENTENCE = re.compile(r"[^.!?]*[.!?]?")


class Traits(NamedTuple):
    """Numbers about a text.

    Attributes:
        log_words: Natural logarithm of one more than its words.
        asks: 1 if it holds a question mark.
        question_share: Share of its characters that stand in questions, 0 to 1.
        has_time: 1 if it names a day, a date or a stretch of time.
        has_number: 1 if it holds a number, in figures or in words.
        log_capitalised: Logarithm of one more than its words with a capital inside a sentence.
    """

    log_words: float
    asks: float
    question_share: float
    has_time: float
    has_number: float
    log_capitalised: float


def traits_of(text: str, words: Sequence[str]) -> Traits:
    """The traits of a text; what stands after ``MAX_CHARACTERS`` is not looked at.

    Args:
        text: The text.
        words: What ``words_of`` finds in it.
    """
    if len(text) > MAX_CHARACTERS:
        text = text[:MAX_CHARACTERS]
        words = words_of(text)
    hints = reduce(or_, map(_hints_of, words), 0)
    asks = "?" in text
    asked = sum(len(s) for s in _SENTENCE.findall(text) if s.endswith("?")) if asks else 0
    return Traits(
        log_words=math.log1p(len(words)),
        asks=float(asks),
        question_share=asked / max(1, len(text)),
        has_time=float(hints & _MAY_BE_TIME != 0 and _TIME.search(text) is not None),
        has_number=float(hints & _MAY_BE_NUMBER != 0 and _NUMBER.search(text) is not None),
        log_capitalised=math.log1p(len(_CAPITALISED.findall(text))),
    )


@lru_cache(maxsize=65_536)
def _hints_of(word: str) -> int:
    """What a text with this word may hold, so that most texts need no closer look."""
    bare = word.removesuffix("'s")
    if any(character.isdigit() for character in word):
        return _MAY_BE_TIME | _MAY_BE_NUMBER
    return _MAY_BE_TIME * (bare in _TIME_WORDS) | _MAY_BE_NUMBER * (bare in _NUMBER_WORDS)
