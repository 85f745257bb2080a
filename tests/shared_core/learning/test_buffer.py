from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core.learning.buffer import TOKENS_KEPT_SHARE, evictions, starts_session

NOON = datetime(2026, 1, 14, 12, tzinfo=timezone.utc)


@pytest.mark.parametrize(
    ("count", "expected"),
    [(0, []), (1, []), (50, []), (51, [30]), (80, [30]), (81, [30, 30]), (111, [30, 30, 30])],
)
def test_a_buffer_of_50_lets_its_oldest_30_go_together(count: int, expected: list[int]) -> None:
    assert evictions([0] * count, max_messages=50, evict_messages=30, max_tokens=None) == expected


def test_by_tokens_the_oldest_leave_until_40_percent_are_left() -> None:
    sizes = evictions([100] * 11, max_messages=50, evict_messages=30, max_tokens=1_000)
    assert sizes == [7]


def test_a_single_message_over_the_token_limit_stays() -> None:
    assert evictions([9_999], max_messages=50, evict_messages=30, max_tokens=10) == []
    assert evictions([1, 9_999], max_messages=50, evict_messages=30, max_tokens=10) == [1]


def test_the_smallest_buffer_holds_the_newest_message() -> None:
    assert evictions([0] * 4, max_messages=1, evict_messages=1, max_tokens=None) == [1, 1, 1]


@given(
    tokens=st.lists(st.integers(0, 500), max_size=200),
    max_messages=st.integers(1, 60),
    share=st.floats(0.01, 1.0),
    max_tokens=st.none() | st.integers(1, 5_000),
)
def test_eviction_respects_both_limits_and_keeps_the_newest(
    tokens: list[int], max_messages: int, share: float, max_tokens: int | None
) -> None:
    evict = max(1, int(max_messages * share))
    sizes = evictions(tokens, max_messages=max_messages, evict_messages=evict, max_tokens=max_tokens)
    left = tokens[sum(sizes) :]
    assert all(size > 0 for size in sizes)
    assert len(left) <= max_messages
    assert bool(left) == bool(tokens)
    if max_tokens is not None:
        assert sum(left) <= max_tokens or len(left) == 1
    if len(tokens) <= max_messages and (max_tokens is None or sum(tokens) <= max_tokens):
        assert not sizes


@given(st.lists(st.integers(1, 100), min_size=2, max_size=100), st.integers(1, 2_000))
def test_an_eviction_by_tokens_takes_no_more_than_it_must(tokens: list[int], max_tokens: int) -> None:
    sizes = evictions(tokens, max_messages=1_000, evict_messages=1, max_tokens=max_tokens)
    if sizes and sizes[0] < len(tokens) - 1:
        kept = tokens[sizes[0] - 1 :]
        assert sum(kept) > TOKENS_KEPT_SHARE * max_tokens


def test_a_session_ends_with_a_pause_longer_than_the_gap() -> None:
    thirty, more = NOON + timedelta(minutes=30), NOON + timedelta(minutes=30, seconds=1)
    assert not starts_session(NOON, thirty, gap_minutes=30)
    assert starts_session(NOON, more, gap_minutes=30)


def test_the_first_message_starts_a_session() -> None:
    assert starts_session(None, NOON, gap_minutes=30)


def test_a_clock_that_goes_back_starts_no_session() -> None:
    assert not starts_session(NOON, NOON - timedelta(days=400), gap_minutes=30)
