from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core.extraction.dates import find_date
from tests.shared_core.extraction.labelled import SAID_AT


def day(text: str, *, is_future: bool | None = None, said_at: datetime = SAID_AT) -> str | None:
    found = find_date(text, said_at, is_future=is_future)
    return found.moment.date().isoformat() if found else None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It rained yesterday", "2024-06-14"),
        ("It rained the day before yesterday", "2024-06-13"),
        ("last Friday", "2024-06-14"),
        ("last Fri", "2024-06-14"),
        ("last Tues", "2024-06-11"),
        ("last Saturday", "2024-06-08"),
        ("on Monday", "2024-06-10"),
        ("two weeks ago", "2024-06-01"),
        ("a couple of days ago", "2024-06-13"),
        ("a few days ago", "2024-06-12"),
        ("10 years ago", "2014-06-15"),
        ("last week", "2024-06-08"),
        ("last weekend", "2024-06-08"),
        ("two weekends ago", "2024-06-01"),
        ("last month", "2024-05-15"),
        ("last year", "2023-07-01"),
        ("last summer", "2023-07-15"),
        ("in March", "2024-03-15"),
        ("in September", "2023-09-15"),
        ("in May 2021", "2021-05-15"),
        ("back in 2019", "2019-07-01"),
        ("on 3 May", "2024-05-03"),
        ("on the 3rd of May, 2022", "2022-05-03"),
        ("on December 24th", "2023-12-24"),
        ("on the 12th", "2024-06-12"),
        ("on 2023-02-28", "2023-02-28"),
        ("last night", "2024-06-14"),
        ("this morning", "2024-06-15"),
        ("last Christmas", "2023-12-25"),
    ],
)
def test_phrases_about_the_past(text: str, expected: str) -> None:
    assert day(f"We met {text}.") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tomorrow", "2024-06-16"),
        ("the day after tomorrow", "2024-06-17"),
        ("next Friday", "2024-06-21"),
        ("on Monday", "2024-06-17"),
        ("this weekend", "2024-06-15"),
        ("next weekend", "2024-06-22"),
        ("in two weeks", "2024-06-29"),
        ("three days from now", "2024-06-18"),
        ("next month", "2024-07-15"),
        ("in March", "2025-03-15"),
        ("on 3 May", "2025-05-03"),
        ("next year", "2025-07-01"),
    ],
)
def test_phrases_about_the_future(text: str, expected: str) -> None:
    assert day(f"We meet {text}.", is_future=True) == expected


@pytest.mark.parametrize(
    "text",
    [
        "for the last three years",
        "since last year",
        "over the past month",
        "every Monday",
        "It may rain",
        "on 31 February",
        "on 32 May",
        "on 2023-13-01",
        "We march on",
        "since 2016",
    ],
)
def test_lengths_of_time_and_impossible_days_are_no_dates(text: str) -> None:
    assert day(text) is None


def test_parts_of_a_day_have_hours() -> None:
    found = find_date("We left yesterday evening", SAID_AT)
    assert found is not None
    assert found.moment == datetime(2024, 6, 14, 19, tzinfo=timezone.utc)


def test_hours_are_exact() -> None:
    found = find_date("I ate three hours ago", SAID_AT)
    assert found is not None
    assert found.moment == SAID_AT - timedelta(hours=3)


@given(st.datetimes(min_value=datetime(1, 1, 1), timezones=st.just(timezone.utc)), st.booleans())
def test_no_moment_is_too_early_or_late_to_speak_of_others(said_at: datetime, is_future: bool) -> None:
    for text in (
        "9999 years ago",
        "last year",
        "next month",
        "on 29 February",
        "last weekend",
        "next Friday",
        "in March",
    ):
        find_date(text, said_at, is_future=is_future)


@given(
    st.datetimes(
        min_value=datetime(1900, 1, 1), max_value=datetime(2100, 1, 1), timezones=st.just(timezone.utc)
    )
)
def test_a_last_weekday_lies_within_the_week_before(said_at: datetime) -> None:
    for name in ("Monday", "Thursday", "Sunday"):
        found = find_date(f"last {name}", said_at)
        assert found is not None
        assert 1 <= (said_at.date() - found.moment.date()).days <= 7
        assert found.moment.strftime("%A") == name
