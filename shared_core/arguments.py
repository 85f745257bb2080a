"""Checks of what a caller passes in: each bad value is quoted in a ``ValueError``."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from shared_core.messages import quoted, storable
from shared_core.times import as_utc, utc_now


def moment_of(now: datetime | None) -> datetime:
    """``now`` in UTC, or the present."""
    if now is None:
        return utc_now()
    if not isinstance(now, datetime):
        raise ValueError(f"now {quoted(now)} is not a datetime")
    return as_utc(now)


def conversation_of(value: str | int | None) -> str | None:
    """A conversation id as a string; None stays None."""
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"conversation_id {quoted(value)} is not a non-empty string")
    return storable(value, "conversation_id")


def question_of(query: str) -> str:
    """A question that asks something."""
    if not isinstance(query, str) or not query.strip():
        raise ValueError(f"query {quoted(query)} is empty: ask something")
    return storable(query, "query")


def statement_of(name: str, text: str) -> str:
    """A text that says something, without the space around it."""
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"{name} {quoted(text)} is empty")
    return storable(text.strip(), name)


def identifier_of(name: str, value: str | int) -> str:
    """An id as a string."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name} {quoted(value)} is not a non-empty string")
    return storable(value, name)


def identifiers_of(name: str, values: Iterable[str | int]) -> frozenset[str]:
    """Several ids as strings."""
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ValueError(f"{name} {quoted(values)} is not a list of ids")
    return frozenset(identifier_of(name, value) for value in values)


def words_or_none(name: str, value: str | None) -> str | None:
    """A text, or None."""
    if value is not None and not isinstance(value, str):
        raise ValueError(f"{name} {quoted(value)} is not a string")
    return value


def at_least(lowest: int, name: str, value: int) -> int:
    """A whole number of at least ``lowest``."""
    if not isinstance(value, int) or isinstance(value, bool) or value < lowest:
        raise ValueError(f"{name} {quoted(value)} is not a whole number of at least {lowest}")
    return value
