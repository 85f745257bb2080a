"""What a turn is like, whatever is asked: six numbers that a ranking model uses."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shared_core.embedding.base import FloatArray
from shared_core.index.wording import Wording, wording_of
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
#: The times of ``_TIME`` that take more than one word, in a text of lower case.
_TIME_PHRASE = re.compile(
    r"(?:(?:last|next|this)(?<=\b....) (?:morning|night|week|weekend|month|year|past|\w{3,6}day"
    r"|spring|summer|autumn|fall|winter)|back(?<=\b....) in)\b"
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
#: What a word tells of its text: that it may hold a time or a number, or that it does.
_MAY_BE_TIME, _MAY_BE_NUMBER, _IS_TIME, _IS_NUMBER = 1, 2, 4, 8
#: Begins with the space, at which a search can jump.
_CAPITALISED = re.compile(r" (?<=[a-z,;:\"'(] )[\"'(]?[A-Z][a-zA-Z]+")
_SENTENCE = re.compile(r"[^.!?]*[.!?]?")


def traits_of(texts: Sequence[str], wording: Wording) -> dict[str, FloatArray]:
    """The traits of texts, each ``float32 [n]``; what stands after ``MAX_CHARACTERS`` is not looked at.

    Args:
        texts: The texts.
        wording: What ``words_of`` finds in them.

    Returns:
        ``log_words``, the logarithm of one more than its words; ``asks``, 1 if it holds a question mark;
        ``question_share``, the share of its characters that stand in questions; ``has_time``, 1 if it names
        a day, a date or a stretch of time; ``has_number``, 1 if it holds a number, in figures or in words;
        ``log_capitalised``, the logarithm of one more than its words with a capital inside a sentence.
    """
    if any(len(text) > MAX_CHARACTERS for text in texts):
        texts = [text[:MAX_CHARACTERS] for text in texts]
        wording = wording_of([words_of(text) for text in texts])
    hints = _hints_of_texts(wording)
    held = [_held(text, hint) for text, hint in zip(texts, hints.tolist(), strict=True)]
    capitalised = [math.log1p(len(_CAPITALISED.findall(text))) for text in texts]
    return {
        "log_words": _floats([math.log1p(words) for words in wording.lengths.tolist()]),
        "asks": _floats(["?" in text for text in texts]),
        "question_share": _floats([_question_share(text) if "?" in text else 0.0 for text in texts]),
        "has_time": _floats([has_time for has_time, _ in held]),
        "has_number": _floats([has_number for _, has_number in held]),
        "log_capitalised": _floats(capitalised),
    }


def _floats(values: Any) -> FloatArray:
    return np.asarray(values, dtype=np.float32)


def _question_share(text: str) -> float:
    return sum(len(s) for s in _SENTENCE.findall(text) if s.endswith("?")) / max(1, len(text))


def _held(text: str, hints: int) -> tuple[bool, bool]:
    """Whether a text with these hints names a time; and a number."""
    if not hints:
        return False, False
    if text.isascii() and "_" not in text:  # a pattern sees words end where ``words_of`` does
        has_time = hints & _IS_TIME != 0
        if not has_time and hints & _MAY_BE_TIME:
            has_time = _TIME_PHRASE.search(text.lower()) is not None
        return has_time, hints & _IS_NUMBER != 0
    has_time = hints & _MAY_BE_TIME != 0 and _TIME.search(text) is not None
    return has_time, hints & _MAY_BE_NUMBER != 0 and _NUMBER.search(text) is not None


def _hints_of_texts(wording: Wording) -> NDArray[np.int64]:
    """The hints of all words of each text."""
    hints = np.zeros(len(wording.lengths), dtype=np.int64)
    has_words = wording.lengths > 0  # ``reduceat`` takes no empty stretches
    if has_words.any():
        of_words = np.fromiter(map(_hints_of, wording.words), dtype=np.int64)[wording.numbers]
        starts = np.cumsum(wording.lengths) - wording.lengths
        hints[has_words] = np.bitwise_or.reduceat(of_words, starts[has_words])
    return hints


@lru_cache(maxsize=65_536)
def _hints_of(word: str) -> int:
    """What a text with this word may hold, or holds by this word alone: most texts need no closer look."""
    is_unclear = not word.isalpha()  # digits, and what an apostrophe joins
    hints = 0
    if is_unclear or word in _TIME_WORDS:
        hints |= _MAY_BE_TIME | _IS_TIME * (_TIME.search(word) is not None)
    if is_unclear or word in _NUMBER_WORDS:
        hints |= _MAY_BE_NUMBER | _IS_NUMBER * (_NUMBER.search(word) is not None)
    return hints
