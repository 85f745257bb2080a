"""Dates and ages: everything inside is UTC, and no age is negative."""

from __future__ import annotations

from datetime import datetime, timezone

SECONDS_PER_DAY = 86_400.0


def as_utc(moment: datetime) -> datetime:
    """``moment`` in UTC; one without a zone is taken as UTC.

    A moment so close to the year 1 or 9999 that its conversion leaves the calendar keeps its clock time.

    Raises:
        ValueError: If it is no datetime.
    """
    if not isinstance(moment, datetime):
        raise ValueError(f"{moment!r} is not a datetime")
    if moment.tzinfo is None:
        return moment.replace(tzinfo=timezone.utc)
    try:
        return moment.astimezone(timezone.utc)
    except OverflowError:
        return moment.replace(tzinfo=timezone.utc)


def utc_now() -> datetime:
    """The present, in UTC."""
    return datetime.now(timezone.utc)


def parse_timestamp(value: datetime | str) -> datetime:
    """A datetime, or an ISO 8601 string, in UTC.

    Raises:
        ValueError: If the string is not ISO 8601; the message quotes it.
    """
    if isinstance(value, datetime):
        return as_utc(value)
    try:
        return as_utc(datetime.fromisoformat(value.strip().replace("Z", "+00:00").replace("z", "+00:00")))
    except (ValueError, AttributeError, TypeError) as error:
        raise ValueError(
            f"timestamp {value!r} is neither a datetime nor ISO 8601, such as '2026-01-14T16:00:00+00:00'"
        ) from error


def age_days(moment: datetime, now: datetime) -> float:
    """Days from ``moment`` to ``now``; 0 for what lies in the future."""
    return max(0.0, (now - moment).total_seconds() / SECONDS_PER_DAY)
