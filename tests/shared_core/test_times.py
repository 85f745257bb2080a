from __future__ import annotations

from datetime import date, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core.times import age_days, as_utc, parse_timestamp, utc_now

BERLIN = timezone(timedelta(hours=2))
ZONES = st.timedeltas(timedelta(hours=-23), timedelta(hours=23)).map(timezone)


def test_a_naive_datetime_is_taken_as_utc() -> None:
    assert as_utc(datetime(2026, 1, 14, 16)) == datetime(2026, 1, 14, 16, tzinfo=timezone.utc)


def test_another_zone_is_converted() -> None:
    moment = as_utc(datetime(2026, 1, 14, 16, tzinfo=BERLIN))
    assert (moment.hour, moment.tzinfo) == (14, timezone.utc)


@given(st.datetimes(timezones=st.none() | ZONES))
def test_every_datetime_of_the_calendar_has_a_moment_in_utc(moment: datetime) -> None:
    converted = as_utc(moment)
    assert converted.tzinfo is timezone.utc
    assert as_utc(converted) == converted


@pytest.mark.parametrize(
    "text",
    [
        "2026-01-14T16:00:00Z",
        "2026-01-14T16:00:00z",
        "2026-01-14T16:00:00+00:00",
        "2026-01-14T18:00:00+02:00",
        "2026-01-14T16:00:00",
        " 2026-01-14 16:00 ",
    ],
)
def test_iso_8601_is_read(text: str) -> None:
    assert parse_timestamp(text) == datetime(2026, 1, 14, 16, tzinfo=timezone.utc)


def test_a_date_alone_is_its_midnight() -> None:
    assert parse_timestamp("2026-01-14") == datetime(2026, 1, 14, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    "value",
    ["", "yesterday", "2026-13-01", "2026-02-30", 1_700_000_000, None, b"2026-01-14", date(2026, 1, 14)],
)
def test_anything_else_is_refused_and_quoted(value: Any) -> None:
    with pytest.raises(ValueError, match="neither a datetime nor ISO 8601") as raised:
        parse_timestamp(value)
    assert repr(value) in str(raised.value)


@pytest.mark.parametrize("value", ["2026-01-14", 5, date(2026, 1, 14)])
def test_a_moment_that_is_no_datetime_is_refused_and_quoted(value: Any) -> None:
    with pytest.raises(ValueError, match="is not a datetime") as raised:
        as_utc(value)
    assert repr(value) in str(raised.value)


def test_ages_are_days_and_never_negative() -> None:
    now = datetime(2026, 1, 14, tzinfo=timezone.utc)
    assert age_days(now - timedelta(hours=36), now) == 1.5
    assert age_days(now + timedelta(days=3), now) == 0.0


def test_the_present_knows_its_zone() -> None:
    assert utc_now().tzinfo is timezone.utc
