"""Dates that a sentence names, resolved against the moment at which it was said.

What a phrase stands for, in UTC, at noon unless it says a part of the day:

- *yesterday*, *three days ago*, *in two weeks*: that day. *A couple of* is 2, *a few* 3, *several* 5.
- *last Friday*: the latest Friday before the day of saying; *next Friday*: the first one after it;
  *on Friday*, *this Friday*: the next one in a sentence about the future, else the latest.
- *last weekend*: the Saturday of the latest weekend that is over; *next weekend*: that of the next
  calendar week.
- *last week*, *next week*: seven days off. *Last month*, *in March*: the 15th of that month. *Last year*,
  *in 2019*: 1 July. *Last summer*: the 15th of its middle month in the northern hemisphere.
- *in March*, *on 3 May* without a year: the nearest in the direction in which the sentence looks.

Lengths of time (*for two years*, *over the last month*, *since 2016*) are no dates.
"""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, timezone
from functools import lru_cache

NOON = 12
MID_MONTH = 15
MID_YEAR = (7, 1)
#: Hours of the day (UTC) that parts of a day stand for.
HOURS = {"morning": 9, "afternoon": 15, "evening": 19, "night": 21}

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTHS = {name.lower(): number for number, name in enumerate(calendar.month_name) if name}
_MONTHS |= {name.lower(): number for number, name in enumerate(calendar.month_abbr) if name} | {"sept": 9}
_SEASONS = {"spring": 4, "summer": 7, "autumn": 10, "fall": 10, "winter": 1}
_HOLIDAYS = {
    "christmas": (12, 25),
    "christmas eve": (12, 24),
    "new year's eve": (12, 31),
    "new year's day": (1, 1),
    "new year's": (1, 1),
    "halloween": (10, 31),
    "valentine's day": (2, 14),
}
_COUNTS = (
    "",
    "a an one",
    "two couple",
    "three few",
    "four",
    "five several",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
)
_NUMBERS = {
    word: number for number, words in enumerate((*_COUNTS, "eleven", "twelve")) for word in words.split()
}

#: One of these words, or a figure, stands in every sentence with a date.
_CUES = frozenset(
    {word for name in (*_HOLIDAYS, *_MONTHS, *_DAYS, *_SEASONS) for word in name.split()}
    | set("ago back earlier yesterday today tomorrow tonight last next past coming now this".split())
    | {
        f"{unit}{s}"
        for unit in ("minute", "hour", "day", "night", "week", "weekend", "month", "year")
        for s in ("", "s")
    }
    | {"fortnight", "decade", "decades"}
)
_COUNT = (
    r"(?P<count>\d{1,4}|an?(?: (?:few|couple(?: of)?))?|few|couple(?: of)?|several|"
    r"one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
)
_UNIT = r"(?P<unit>minute|hour|day|night|week|weekend|fortnight|month|year|decade)s?"
_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_MONTH = (
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
)
_YEAR = r"(?:19|20)\d\d"
_PARTS = r"(?:morning|afternoon|evening|night)"
_FORMS = tuple(
    (name, re.compile(expression, re.IGNORECASE))
    for name, expression in (
        (
            "near",
            rf"\b(?P<word>the day before yesterday|the day after tomorrow|yesterday|tomorrow|"
            rf"today|tonight)\b(?: (?P<part>{_PARTS}))?",
        ),
        ("part", r"\b(?P<which>this|last) (?P<part>morning|afternoon|evening|night)\b"),
        (
            "ago",
            rf"\b(?:about |around |almost |over )?{_COUNT} {_UNIT} (?P<word>ago|back|earlier|"
            rf"from now|from today)\b",
        ),
        ("within", rf"\bin (?:about )?{_COUNT} {_UNIT}(?:' time|s' time)?\b(?! of)"),
        ("iso", r"\b(?P<year>(?:19|20)\d\d)-(?P<month>\d{1,2})-(?P<day>\d{1,2})\b"),
        (
            "day_month",
            rf"\b(?:the )?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? (?P<name>{_MONTH})\b\.?(?:,? "
            rf"(?P<year>{_YEAR}))?",
        ),
        (
            "month_day",
            rf"\b(?P<name>{_MONTH})\.? (?:the )?(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,? "
            rf"(?P<year>{_YEAR})\b)?",
        ),
        (
            "day",
            r"\bon the (?P<day>\d{1,2})(?:st|nd|rd|th)\b(?! of| [A-Z]| birthday| anniversary| floor| time)",
        ),
        (
            "weekday",
            rf"(?<!black )(?<!good )\b(?:(?P<which>last|next|this(?: past| coming)?|past|"
            rf"on|coming|every) )?(?P<name>{_DAY})\b(?: (?P<part>{_PARTS}))?",
        ),
        (
            "unit",
            r"\b(?P<which>last|next|this(?: past| coming)?|past|the other) (?P<name>weekend|"
            r"week|month|year|spring|summer|autumn|fall|winter)\b",
        ),
        (
            "month",
            rf"\b(?:(?P<which>last|next|this|in|back in|since|until|by) (?:early |late "
            rf"|mid[- ]?)?)(?P<name>{_MONTH})\b(?:,? (?P<year>{_YEAR})\b)?",
        ),
        ("year", rf"\b(?:in|back in|in early|in late) (?P<year>{_YEAR})\b"),
        (
            "holiday",
            r"\b(?:(?P<which>last|next|this|on|at|for) )(?P<name>christmas(?: eve)?|new "
            r"year's(?: eve| day)?|halloween|valentine's day)\b",
        ),
    )
)
_LENGTH = re.compile(
    r"\b(?:for|over|during|since|within|until|till|every|of|than|through|throughout)(?: "
    r"(?:the|about|around|almost))?\s*$",
    re.I,
)


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
    return not vocabulary.isdisjoint(_CUES) or any(word[0].isdigit() for word in vocabulary)


def find_date(text: str, said_at: datetime, *, is_future: bool | None = None) -> DatePhrase | None:
    """The first date that ``text`` names, or None.

    Args:
        text: One sentence.
        said_at: When it was said, in UTC.
        is_future: Whether the sentence looks ahead; settles *on Friday* and *in March*. None where it
            does not show, which is taken as the past.
    """
    best: tuple[int, int, str] | None = None
    for name, expression in _FORMS:
        for match in expression.finditer(text):
            if best is not None and match.start() >= best[0]:
                break
            if _names_a_date(name, match, text):
                best = (match.start(), match.end(), name)
                break
    if best is None:
        return None
    start, end, name = best
    looks_ahead = bool(is_future) and not text[:start].rstrip().endswith(("from", "since"))
    moment = _resolve(name, text[start:end].lower(), said_at, looks_ahead)
    return None if moment is None else DatePhrase(start, end, moment)


def _names_a_date(form: str, match: re.Match[str], text: str) -> bool:
    """Whether the match is a date rather than a length of time, a modal verb or a march."""
    which = match.groupdict().get("which") or ""
    if which.lower() in ("since", "until", "by", "every", "for"):
        return False
    if _LENGTH.search(text[max(0, match.start() - 24) : match.start()]) and form not in (
        "iso",
        "day_month",
        "month_day",
    ):
        return False
    name = match.groupdict().get("name") or ""
    if name.lower() in ("may", "march", "mar", "jan", "dec", "sep", "jun"):
        return name[0].isupper()
    return True


@lru_cache(maxsize=4096)
def _resolve(form: str, phrase: str, said_at: datetime, is_future: bool) -> datetime | None:
    """What ``phrase`` of the given form stands for; None for no day of the calendar."""
    expression = dict(_FORMS)[form]
    match = expression.search(phrase)
    if match is None:  # a look-ahead that saw more than the phrase
        return None
    try:
        return _RESOLVERS[form](match.groupdict(), said_at, is_future)
    except (ValueError, OverflowError):
        return None


_Groups = dict[str, "str | None"]


def _at(day: date, hour: int = NOON) -> datetime:
    return datetime.combine(day, time(hour), tzinfo=timezone.utc)


def _hour(groups: _Groups) -> int:
    return HOURS.get(groups.get("part") or "", NOON)


def _shift_months(day: date, months: int) -> date:
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, calendar.monthrange(year, month + 1)[1]))


def _near(groups: _Groups, said_at: datetime, is_future: bool) -> datetime:
    word = groups["word"]
    if word == "today" and not groups["part"]:
        return said_at
    if word == "tonight":
        return _at(said_at.date(), HOURS["night"])
    days = {
        "the day before yesterday": -2,
        "yesterday": -1,
        "today": 0,
        "tomorrow": 1,
        "the day after tomorrow": 2,
    }
    return _at(said_at.date() + timedelta(days=days[word or ""]), _hour(groups))


def _part(groups: _Groups, said_at: datetime, is_future: bool) -> datetime:
    day = said_at.date() - timedelta(days=1 if groups["which"] == "last" else 0)
    return _at(day, _hour(groups))


def _number(text: str | None) -> int:
    words = (text or "").replace(" of", "").split()
    return int(words[-1]) if words[-1].isdigit() else _NUMBERS[words[-1]]


def _counted(said_at: datetime, sign: int, count: int, unit: str | None) -> datetime:
    day = said_at.date()
    if unit in ("minute", "hour"):
        return said_at + sign * timedelta(**{f"{unit}s": count})
    if unit == "weekend":
        saturday = _saturday_before(day) if sign < 0 else _weekday_after(day, 5)
        return _at(saturday + sign * timedelta(weeks=count - 1))
    if unit in ("month", "year", "decade"):
        return _at(_shift_months(day, sign * count * {"month": 1, "year": 12, "decade": 120}[unit]))
    days = {"day": 1, "night": 1, "week": 7, "fortnight": 14}[unit or "day"]
    return _at(day + sign * timedelta(days=days * count))


def _ago(groups: _Groups, said_at: datetime, is_future: bool) -> datetime:
    sign = 1 if "from" in (groups["word"] or "") else -1
    return _counted(said_at, sign, _number(groups["count"]), groups["unit"])


def _within(groups: _Groups, said_at: datetime, is_future: bool) -> datetime | None:
    # "We built it in two weeks" is a length of time: only a sentence about the future means a date.
    return _counted(said_at, 1, _number(groups["count"]), groups["unit"]) if is_future else None


def _iso(groups: _Groups, said_at: datetime, is_future: bool) -> datetime:
    return _at(date(int(groups["year"] or 0), int(groups["month"] or 0), int(groups["day"] or 0)))


def _calendar_day(groups: _Groups, said_at: datetime, is_future: bool) -> datetime:
    month, day = _MONTHS[groups["name"] or ""], int(groups["day"] or 0)
    if groups["year"]:
        return _at(date(int(groups["year"]), month, day))
    return _at(_nearest(month, day, said_at.date(), is_future))


def _day(groups: _Groups, said_at: datetime, is_future: bool) -> datetime:
    day, today = int(groups["day"] or 0), said_at.date()
    step = 1 if is_future and day < today.day else -1 if not is_future and day > today.day else 0
    return _at(_shift_months(today.replace(day=1), step).replace(day=day))


def _nearest(month: int, day: int, today: date, is_future: bool) -> date:
    found = _valid(today.year, month, day)
    if is_future and found < today:
        return _valid(today.year + 1, month, day)
    if not is_future and found > today:
        return _valid(today.year - 1, month, day)
    return found


def _valid(year: int, month: int, day: int) -> date:
    """29 February in a year without one is the 28th."""
    return date(year, month, min(day, 28) if (month, day) == (2, 29) and not calendar.isleap(year) else day)


def _weekday_after(day: date, weekday: int) -> date:
    return day + timedelta(days=(weekday - day.weekday() - 1) % 7 + 1)


def _weekday_before(day: date, weekday: int) -> date:
    return day - timedelta(days=(day.weekday() - weekday - 1) % 7 + 1)


def _saturday_before(day: date) -> date:
    """The Saturday of the latest weekend that is over."""
    monday = day - timedelta(days=day.weekday())
    return monday - timedelta(days=2)


def _weekday(groups: _Groups, said_at: datetime, is_future: bool) -> datetime:
    which, weekday, today = groups["which"] or "", _DAYS.index(groups["name"] or ""), said_at.date()
    if which in ("next", "coming", "this coming"):
        ahead = True
    elif which in ("last", "past", "this past"):
        ahead = False
    else:
        ahead = is_future
        if weekday == today.weekday():
            return _at(today, _hour(groups))
    return _at(_weekday_after(today, weekday) if ahead else _weekday_before(today, weekday), _hour(groups))


def _unit(groups: _Groups, said_at: datetime, is_future: bool) -> datetime | None:
    which, name, today = groups["which"] or "", groups["name"] or "", said_at.date()
    if which == "the other":
        return None
    step = {"last": -1, "past": -1, "this past": -1, "next": 1, "this coming": 1}.get(which, 0)
    if name == "weekend":
        return _at(_weekend(step, today, is_future))
    if name == "week":
        return _at(today + timedelta(weeks=step)) if step else None
    if name == "month":
        return _at(_shift_months(today, step).replace(day=MID_MONTH)) if step else None
    if name == "year":
        return _at(date(today.year + step, *MID_YEAR)) if step else None
    return _at(_season(_SEASONS[name], step, today, is_future))


def _weekend(step: int, today: date, is_future: bool) -> date:
    monday = today - timedelta(days=today.weekday())
    if step > 0:
        return monday + timedelta(days=12)
    if step < 0:
        return _saturday_before(today)
    return monday + timedelta(days=5) if is_future or today.weekday() >= 5 else _saturday_before(today)


def _season(month: int, step: int, today: date, is_future: bool) -> date:
    middle = date(today.year, month, MID_MONTH)
    if step < 0 and middle >= today - timedelta(days=30):
        return middle.replace(year=today.year - 1)
    if step > 0 and middle <= today + timedelta(days=30):
        return middle.replace(year=today.year + 1)
    return middle


def _month(groups: _Groups, said_at: datetime, is_future: bool) -> datetime:
    month, today, which = _MONTHS[groups["name"] or ""], said_at.date(), groups["which"]
    if groups["year"]:
        return _at(date(int(groups["year"]), month, MID_MONTH))
    if which == "this" or (month == today.month and which not in ("last", "next")):
        return _at(date(today.year, month, MID_MONTH))
    ahead = which == "next" or (which != "last" and is_future)
    year = today.year + (month <= today.month if ahead else -(month >= today.month))
    return _at(date(year, month, MID_MONTH))


def _year(groups: _Groups, said_at: datetime, is_future: bool) -> datetime:
    return _at(date(int(groups["year"] or 0), *MID_YEAR))


def _holiday(groups: _Groups, said_at: datetime, is_future: bool) -> datetime:
    month, day = _HOLIDAYS[groups["name"] or ""]
    ahead = is_future if groups["which"] in ("on", "at", "this") else groups["which"] == "next"
    return _at(_nearest(month, day, said_at.date(), ahead))


_RESOLVERS = {
    "near": _near,
    "part": _part,
    "ago": _ago,
    "within": _within,
    "iso": _iso,
    "day_month": _calendar_day,
    "month_day": _calendar_day,
    "day": _day,
    "weekday": _weekday,
    "unit": _unit,
    "month": _month,
    "year": _year,
    "holiday": _holiday,
}
