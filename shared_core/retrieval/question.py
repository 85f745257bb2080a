"""What a question asks for: its terms, whom it names, which kind of answer, which dates."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime

from shared_core.extraction.dates import find_date, may_name_date
from shared_core.index.words import worded_terms, words_of

_MONTHS = "January February March April May June July August September October November December".split()
_MONTH = re.compile(rf"\b({'|'.join(_MONTHS)})\b")
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")
_DAY = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)?\b")
_WHEN = re.compile(
    r"^\s*(?:when|(?:what|which) (?:day|date|month|year|week|time))\b|\b(?:how long|since when)\b"
    r"|\b(?:in|on) (?:what|which) (?:day|date|month|year|week)\b",
    re.IGNORECASE,
)
_WHERE = re.compile(r"\b(?:where|(?:which|what) (?:city|country|place|state|town|location))\b", re.IGNORECASE)
_WHAT = re.compile(r"^\s*(?:what|which)\b", re.IGNORECASE)
_MANY = re.compile(r"\bhow (?:many|much|often|old)\b", re.IGNORECASE)
_RECAP = re.compile(
    r"\bwe\b.*\b(?:discuss|talk|cover|chat|speak|go through|agree)\w*|\b(?:summar(?:y|i[sz]e)|recap)\b"
    r"|\b(?:discussed|talked about|said|happened) (?:earlier|so far|before|last time|today)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Question:
    """A question as a ranking model reads it.

    Attributes:
        text: As asked.
        subject: What it is about: its words without stop words and speakers' names, which say who speaks
            rather than what of; the whole text where nothing else is left.
        terms: The terms of these words, each once, in order.
        speakers: Codes of the speakers that it names.
        asks_when, asks_where, asks_what, asks_many: Which kind of answer it wants.
        asks_recap: Whether it is about the conversation itself: what was discussed, in short.
        months: Months that it names, 1 to 12.
        days: Days that it names as ``(year or None, month, day)``.
    """

    text: str
    subject: str
    terms: tuple[str, ...]
    speakers: frozenset[int]
    asks_when: bool
    asks_where: bool
    asks_what: bool
    asks_many: bool
    asks_recap: bool
    months: tuple[int, ...]
    days: tuple[tuple[int | None, int, int], ...]


def read_question(text: str, *, names: Mapping[str, Collection[int]], now: datetime) -> Question:
    """Read a question.

    Args:
        text: As asked.
        names: The codes of the speakers by each word of their names, in lower case.
        now: What *yesterday* counts from.
    """
    words = words_of(text)
    said = {word.removesuffix("'s") for word in words}
    kept = [(word, term) for word, term in worded_terms(words) if word.removesuffix("'s") not in names]
    months, days = _dates(text, now) if may_name_date(frozenset(words)) else ((), ())
    return Question(
        text=text,
        subject=" ".join(word for word, _ in kept) or text,
        terms=tuple(dict.fromkeys(term for _, term in kept)),
        speakers=frozenset(code for word in said for code in names.get(word, ())),
        asks_when=_WHEN.search(text) is not None,
        asks_where=_WHERE.search(text) is not None,
        asks_what=_WHAT.search(text) is not None,
        asks_many=_MANY.search(text) is not None,
        asks_recap=_RECAP.search(text) is not None,
        months=months,
        days=days,
    )


def _dates(text: str, now: datetime) -> tuple[tuple[int, ...], tuple[tuple[int | None, int, int], ...]]:
    """Months and days that a question names; a relative date is one day."""
    months = tuple(_MONTHS.index(name) + 1 for name in dict.fromkeys(_MONTH.findall(text)))
    if not months:
        phrase = find_date(text, now)
        if phrase is None:
            return (), ()
        return (), ((phrase.moment.year, phrase.moment.month, phrase.moment.day),)
    years: list[int | None] = [int(year) for year in _YEAR.findall(text)]
    named = [int(day) for day in _DAY.findall(text) if 0 < int(day) <= 31][:1]
    return months, tuple((year, month, day) for year in years or [None] for month in months for day in named)
