"""What a phrase that names a date stands for, in UTC, at noon unless it says a part of the day.

- *yesterday*, *three days ago*, *in two weeks*: that day. *A couple of* is 2, *a few* 3, *several* 5.
- *last Friday*: the latest Friday before the day of saying; *next Friday*: the first one after it;
  *on Friday*, *this Friday*: the next one in a sentence about the future, else the latest.
- *last weekend*: the Saturday of the latest weekend that is over; *next weekend*: that of the next
  calendar week.
- *last week*, *next week*: seven days off. *Last month*, *in March*: the 15th of that month. *Last year*,
  *in 2019*: 1 July. *Last summer*: the 15th of its middle month in the northern hemisphere.
- *in March*, *on 3 May* without a year: the nearest in the direction in which the sentence looks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import lru_cache

from dateutil.relativedelta import FR, MO, SA, SU, TH, TU, WE, relativedelta

NOON = 12
#: Hours of the day (UTC) that parts of a day stand for.
HOURS = {"morning": 9, "afternoon": 15, "evening": 19, "night": 21}
WEEKDAYS = {
    "monday": MO,
    "tuesday": TU,
    "wednesday": WE,
    "thursday": TH,
    "friday": FR,
    "saturday": SA,
    "sunday": SU,
}
#: Seasons are named by the middle of their middle month, months and years by their own middle.
SEASONS = {
    name: relativedelta(month=month, day=15)
    for name, month in {"spring": 4, "summer": 7, "autumn": 10, "fall": 10, "winter": 1}.items()
}
HOLIDAYS = {
    "christmas": relativedelta(month=12, day=25),
    "christmas eve": relativedelta(month=12, day=24),
    "new year's eve": relativedelta(month=12, day=31),
    "new year's day": relativedelta(month=1, day=1),
    "new year's": relativedelta(month=1, day=1),
    "halloween": relativedelta(month=10, day=31),
    "valentine's day": relativedelta(month=2, day=14),
}
_MIDDLES = {"month": relativedelta(day=15), "year": relativedelta(month=7, day=1)}
#: The middle of a season must be this far off for the season to be the last or the next one.
_SEASON = relativedelta(days=30)
#: What a phrase leaves out is taken from here; a leap year, so that 29 February is a day of it.
_ANY_YEAR = datetime(2000, 1, 15, tzinfo=timezone.utc)

_COUNTS = "a an one|two couple|three few|four|five several|six|seven|eight|nine|ten|eleven|twelve"
NUMBERS = {word: number for number, words in enumerate(_COUNTS.split("|"), 1) for word in words.split()}
UNITS = {
    "minute": relativedelta(minutes=1),
    "hour": relativedelta(hours=1),
    "day": relativedelta(days=1),
    "night": relativedelta(days=1),
    "week": relativedelta(weeks=1),
    "fortnight": relativedelta(weeks=2),
    "month": relativedelta(months=1),
    "year": relativedelta(years=1),
    "decade": relativedelta(years=10),
}
_NEAR = {
    "the day before yesterday": -2,
    "yesterday": -1,
    "today": 0,
    "tonight": 0,
    "tomorrow": 1,
    "the day after tomorrow": 2,
}
_STEPS = {"last": -1, "past": -1, "this past": -1, "next": 1, "coming": 1, "this coming": 1}


@dataclass(frozen=True)
class Named:
    """The words of a phrase, in small letters; what it leaves out is empty.

    Attributes:
        form: How it is built: a key of ``MEANINGS``.
        phrase: All of it, or the part that is a date of the calendar.
        which: "last", "next", "this" or a preposition.
        name: A day, month, season, holiday or unit of the calendar.
        part: Part of the day.
        count, unit: Of a distance in time.
        word: What a distance counts from, or a day near the present.
        day: Of the month, in figures.
        year: In figures.
    """

    form: str
    phrase: str
    which: str = ""
    name: str = ""
    part: str = ""
    count: str = ""
    unit: str = ""
    word: str = ""
    day: str = ""
    year: str = ""

    @property
    def step(self) -> int:
        """-1 for the one before, 1 for the one after, 0 where it says neither."""
        return _STEPS.get(self.which, 0)

    @property
    def is_ahead(self) -> bool:
        """Whether a distance counts forward."""
        return not self.word or "from" in self.word

    @property
    def time(self) -> relativedelta:
        """The time of day that it stands for, where that is not the time of saying."""
        if self.phrase == "today" or self.unit in ("minute", "hour"):
            return relativedelta()
        part = "night" if self.word == "tonight" else self.part
        return relativedelta(hour=HOURS.get(part, NOON), minute=0, second=0, microsecond=0)


@lru_cache(maxsize=4096)
def meaning(named: Named, said_at: datetime, is_future: bool) -> datetime | None:
    """What a phrase stands for; None for no day of the calendar, or none that can be told."""
    try:
        found = MEANINGS[named.form](named, said_at, is_future)
        return None if found is None else found + named.time
    except (ValueError, OverflowError):
        return None


def _near(named: Named, said_at: datetime, is_future: bool) -> datetime:
    return said_at + relativedelta(days=_NEAR[named.word])


def _part(named: Named, said_at: datetime, is_future: bool) -> datetime:
    return said_at + relativedelta(days=named.step)


def _distance(named: Named, said_at: datetime, is_future: bool) -> datetime | None:
    if not named.word and not is_future:
        return None  # "We built it in two weeks" is a length of time
    word = named.count.removesuffix(" of").split()[-1]
    count = int(word) if word.isdigit() else NUMBERS[word]
    if named.unit != "weekend":
        return said_at + UNITS[named.unit] * (count if named.is_ahead else -count)
    if named.is_ahead:
        return said_at + relativedelta(days=1, weekday=SA(count))
    return _monday(said_at) + relativedelta(weekday=SA(-count))


def _monday(said_at: datetime) -> datetime:
    return said_at + relativedelta(weekday=MO(-1))


def _date(named: Named, said_at: datetime, is_future: bool) -> datetime:
    found = _parsed(named)
    if named.year:
        return found
    return _nearest(relativedelta(month=found.month, day=found.day), said_at, is_future)


def _parsed(named: Named) -> datetime:
    """A day of the calendar: "3 May", "May 3rd, 2023", "2023-05-03", "May 2023".

    Raises:
        ValueError: If there is no such day.
    """
    from dateutil.parser import parse  # takes 50 ms to import, and few sentences have a written date

    return parse(named.phrase, default=_ANY_YEAR)


def _nearest(day: relativedelta, said_at: datetime, is_future: bool) -> datetime:
    """The next or the latest ``day`` of a year, today included; 29 February is else the 28th."""
    found = said_at + day
    if is_future and found < said_at:
        return said_at + relativedelta(years=1) + day
    if not is_future and found > said_at:
        return said_at - relativedelta(years=1) + day
    return found


def _day(named: Named, said_at: datetime, is_future: bool) -> datetime:
    day = int(named.day)
    step = 1 if is_future and day < said_at.day else -1 if not is_future and day > said_at.day else 0
    return (said_at + relativedelta(months=step, day=1)).replace(day=day)


def _weekday(named: Named, said_at: datetime, is_future: bool) -> datetime:
    weekday = next(day for name, day in WEEKDAYS.items() if name.startswith(named.name[:3]))
    if not named.step:
        return said_at + relativedelta(weekday=weekday(1 if is_future else -1))
    return said_at + relativedelta(days=named.step, weekday=weekday(named.step))


def _unit(named: Named, said_at: datetime, is_future: bool) -> datetime | None:
    name, step = named.name, named.step
    if name == "weekend":
        return _weekend(step, said_at, is_future)
    if name in SEASONS:
        return _season(SEASONS[name], step, said_at)
    return said_at + UNITS[name] * step + _MIDDLES.get(name, relativedelta()) if step else None


def _weekend(step: int, said_at: datetime, is_future: bool) -> datetime:
    if step > 0:
        return _monday(said_at) + relativedelta(weeks=1, weekday=SA)
    is_over = step < 0 or not (is_future or said_at.weekday() >= SA.weekday)
    return _monday(said_at) + relativedelta(weekday=SA(-1 if is_over else 1))


def _season(middle: relativedelta, step: int, said_at: datetime) -> datetime:
    found = said_at + middle
    if step < 0 and found >= said_at - _SEASON:
        return found - relativedelta(years=1)
    if step > 0 and found <= said_at + _SEASON:
        return found + relativedelta(years=1)
    return found


def _month(named: Named, said_at: datetime, is_future: bool) -> datetime:
    found = _parsed(named)
    if named.year:
        return found
    this_year = said_at + relativedelta(month=found.month, day=15)
    if named.which == "this" or (found.month == said_at.month and not named.step):
        return this_year
    if named.step > 0 or (not named.step and is_future):
        return this_year + relativedelta(years=found.month <= said_at.month)
    return this_year - relativedelta(years=found.month >= said_at.month)


def _year(named: Named, said_at: datetime, is_future: bool) -> datetime:
    return said_at + relativedelta(year=int(named.year)) + _MIDDLES["year"]


def _holiday(named: Named, said_at: datetime, is_future: bool) -> datetime:
    ahead = is_future if named.which in ("on", "at", "this") else named.step > 0
    return _nearest(HOLIDAYS[named.name], said_at, ahead)


MEANINGS: dict[str, Callable[[Named, datetime, bool], datetime | None]] = {
    "near": _near,
    "part": _part,
    "distance": _distance,
    "date": _date,
    "day": _day,
    "weekday": _weekday,
    "unit": _unit,
    "month": _month,
    "year": _year,
    "holiday": _holiday,
}
