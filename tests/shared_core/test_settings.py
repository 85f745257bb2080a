from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from shared_core import Settings


def test_the_defaults_are_those_of_the_seeds() -> None:
    settings = Settings()
    assert (settings.buffer_messages, settings.buffer_evict, settings.buffer_tokens) == (50, 30, None)
    assert (settings.connection_limit, settings.connection_threshold) == (5, None)
    assert (settings.archive_after_days, settings.capacity) == (90.0, 1_000)
    assert (settings.session_gap_minutes, settings.summary_words) == (30.0, 200)
    assert settings.scoring == "balanced"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("session_gap_minutes", 0),
        ("session_gap_minutes", float("nan")),
        ("buffer_messages", 0),
        ("buffer_evict", 0),
        ("buffer_tokens", 0),
        ("summary_words", 9),
        ("connection_limit", -1),
        ("connection_threshold", 1.01),
        ("archive_after_days", -1),
        ("capacity", 0),
        ("resident_limit", 0),
        ("idle_seconds", 0),
        ("scoring", "newest"),
    ],
)
def test_a_value_out_of_range_is_refused_by_name_and_quoted(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=name) as raised:
        Settings(**{name: value})
    assert str(value) in str(raised.value)


def test_all_bad_values_are_reported_at_once() -> None:
    with pytest.raises(ValidationError) as raised:
        Settings(capacity=0, summary_words=1, buffer_messages=-5)
    assert {error["loc"][0] for error in raised.value.errors()} == {
        "capacity",
        "summary_words",
        "buffer_messages",
    }


def test_an_unknown_setting_is_refused() -> None:
    with pytest.raises(ValidationError, match="half_life"):
        Settings(half_life=3)  # type: ignore[call-arg]


def test_no_more_can_be_evicted_than_the_buffer_holds() -> None:
    with pytest.raises(ValidationError, match="buffer_evict 30 is more than buffer_messages 20"):
        Settings(buffer_messages=20)
    assert Settings(buffer_messages=20, buffer_evict=20).buffer_evict == 20


def test_settings_do_not_change() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        Settings().capacity = 5  # type: ignore[misc]
