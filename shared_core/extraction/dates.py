"""Dates that a sentence names: where they stand, and what they stand for (``date_meanings``).

Lengths of time (*for two years*, *over the last month*, *since 2016*) are no dates.
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import datetime

from shared_core.extraction.date_meanings import HOLIDAYS, NUMBERS, SEASONS, UNITS, WEEKDAYS, Named, meaning
from shared_core.extraction.expressions import Expression, any_of

_MONTHS = (*calendar.month_name[1:], *calendar.month_abbr[1:], "Sept")
_SHORT_DAYS = ("mon", "tue", "tues", "wed", "thu", "thurs", "fri", "sat", "sun")
#: One of these words, or a figure, stands in every sentence with a date.
_CUES = frozenset(
    word.lower() for name in (*HOLIDAYS, *_MONTHS, *WEEKDAYS, *SEASONS) for word in name.split()
) | frozenset(
    "ago back earlier yesterday today tomorrow tonight last next past coming now this".split()
    + [f"{unit}{s}" for unit in ("weekend", *UNITS) for s in ("", "s")]
    + list(_SHORT_DAYS)
)
#: Also words of other meanings: a date only with a capital.
_AMBIGUOUS = frozenset("may march mar jan dec sep jun mon wed fri sat sun".split())

_COUNT = rf"(?P<count>\d{{1,4}}|an?(?: (?:few|couple(?: of)?))?|couple of|{any_of(NUMBERS)})"
_UNIT = rf"(?P<unit>weekend|{any_of(UNITS)})s?"
_DAY = any_of(WEEKDAYS)
_SHORT_DAY = any_of(_SHORT_DAYS)
_MONTH = f"(?:{any_of(_MONTHS)})"
_SEASON = any_of(SEASONS)
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_PART = r"(?P<part>morning|afternoon|evening|night)"
_NUMBER = r"(?:[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?"  # 32 would be read as a year

#: The form of each, and how it looks. ``phrase`` is what a parser of dates understands of it.
_FORMS = tuple(
    (form, Expression(source, ignore_case=True))
    for form, source in (
        (
            "near",
            r"\b(?P<word>the day before yesterday|the day after tomorrow|yesterday|tomorrow|today|tonight)\b"
            rf"(?: {_PART})?",
        ),
        ("part", rf"\b(?P<which>this|last) {_PART}\b"),
        (
            "distance",
            rf"\b(?:about |around |almost |over )?{_COUNT} {_UNIT} "
            r"(?P<word>ago|back|earlier|from now|from today)\b",
        ),
        ("distance", rf"\bin (?:about )?{_COUNT} {_UNIT}(?:' time|s' time)?\b(?! of)"),
        ("date", rf"\b(?P<phrase>{_YEAR}-\d{{1,2}}-\d{{1,2}})\b"),
        (
            "date",
            rf"\b(?:the )?(?P<phrase>{_NUMBER}(?: of)? (?P<name>{_MONTH})\b\.?(?:,? {_YEAR})?)",
        ),
        (
            "date",
            rf"\b(?P<phrase>(?P<name>{_MONTH})\.? (?:the )?{_NUMBER}\b(?!:)(?:,? {_YEAR}\b)?)",
        ),
        (
            "day",
            r"\bon the (?P<day>\d{1,2})(?:st|nd|rd|th)\b(?! of| [A-Z]| birthday| anniversary| floor| time)",
        ),
        (
            "weekday",
            r"(?<!black )(?<!good )\b(?:(?P<which>last|next|this(?: past| coming)?|past|on|coming|every) )?"
            rf"(?P<name>{_DAY})\b(?: {_PART})?",
        ),
        ("weekday", rf"\b(?P<which>last|next|this|past|on) (?P<name>{_SHORT_DAY})\b(?: {_PART})?"),
        (
            "unit",
            r"\b(?P<which>last|next|this(?: past| coming)?|past) "
            rf"(?P<name>weekend|week|month|year|{_SEASON})\b",
        ),
        (
            "month",
            r"\b(?P<which>last|next|this|in|back in|since|until|by) (?:early |late |mid[- ]?)?"
            rf"(?P<phrase>(?P<name>{_MONTH})\b(?:,? {_YEAR}\b)?)",
        ),
        ("year", rf"\b(?:in|back in|in early|in late) {_YEAR}\b"),
        ("holiday", rf"\b(?P<which>last|next|this|on|at|for) (?P<name>{any_of(HOLIDAYS)})\b"),
    )
)
_LENGTH = Expression(
    r"\b(?:for|over|during|since|within|until|till|every|of|than|through|throughout)"
    r"(?: (?:the|about|around|almost))?\s*$",
    ignore_case=True,
)
#: How far before a phrase the words stand that make it a length of time.
_LENGTH_CHARS = 24


@dataclass(frozen=True)
class DatePhrase:
    """A phrase that names a date.

    Attributes:
        start, end: Its place in the text.
        moment: What it stands for, in UTC.
    """

    start: int
    end: int
    moment: datetime


def may_name_date(vocabulary: frozenset[str]) -> bool:
    """Whether a sentence with these lower-case words can name a date: a quick look before ``find_date``."""
    return any(word[0].isdigit() or word.removesuffix("'s") in _CUES for word in vocabulary)


def find_date(text: str, said_at: datetime, *, is_future: bool | None = None) -> DatePhrase | None:
    """The first date that ``text`` names, or None.

    Args:
        text: One sentence.
        said_at: When it was said, in UTC.
        is_future: Whether the sentence looks ahead; settles *on Friday* and *in March*. None where it
            does not show, which is taken as the past.
    """
    first: tuple[str, re.Match[str]] | None = None
    for form, expression in _FORMS:
        for match in expression.finditer(text):
            if first is not None and match.start() >= first[1].start():
                break
            if _names_a_date(form, match, text):
                first = form, match
                break
    if first is None:
        return None
    form, match = first
    looks_ahead = bool(is_future) and not text[: match.start()].rstrip().endswith(("from", "since"))
    moment = meaning(_named(form, match), said_at, looks_ahead)
    return None if moment is None else DatePhrase(match.start(), match.end(), moment)


def _named(form: str, match: re.Match[str]) -> Named:
    groups = {name: words.lower() for name, words in match.groupdict().items() if words}
    phrase = groups.pop("phrase", match.group().lower())
    return Named(form, phrase.replace(" the ", " "), **groups)


def _names_a_date(form: str, match: re.Match[str], text: str) -> bool:
    """Whether the match is a date rather than a length of time, a modal verb or a march."""
    groups = match.groupdict()
    if (groups.get("which") or "").lower() in ("since", "until", "by", "every", "for"):
        return False
    before = text[max(0, match.start() - _LENGTH_CHARS) : match.start()]
    if form != "date" and _LENGTH.search(before):
        return False
    name = groups.get("name") or ""
    return name.lower() not in _AMBIGUOUS or name[0].isupper()
