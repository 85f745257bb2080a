from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core.decay import (
    CONTEXTMEMORY_RATE_PER_DAY,
    MEMORIA_RATE_PER_MINUTE,
    MINUTES_PER_DAY,
    WEBMCP_RATE_PER_DAY,
    exponential_recency,
    half_life_recency,
    logarithmic_frequency,
    stage_of,
)

AGES = st.floats(0.0, 1e7, allow_nan=False)
RATES = st.floats(0.0, 50.0, allow_nan=False)


@pytest.mark.parametrize(
    ("age_days", "rate_per_day", "expected"),
    [
        (7.0, CONTEXTMEMORY_RATE_PER_DAY, 0.705),
        (45.0 / MINUTES_PER_DAY, MEMORIA_RATE_PER_MINUTE * MINUTES_PER_DAY, 0.407),
        (2.0, WEBMCP_RATE_PER_DAY, 0.850),
        (0.0, CONTEXTMEMORY_RATE_PER_DAY, 1.000),
    ],
)
def test_recency_follows_the_worked_examples_of_the_seeds(
    age_days: float, rate_per_day: float, expected: float
) -> None:
    assert exponential_recency(age_days, rate_per_day=rate_per_day) == pytest.approx(expected, abs=5e-4)


def test_recency_halves_with_each_half_life() -> None:
    values = [half_life_recency(days, half_life_days=30.0) for days in (0.0, 30.0, 60.0)]
    assert values == pytest.approx([1.0, 0.5, 0.25])


@given(st.lists(AGES, min_size=2, max_size=2), RATES)
def test_recency_never_rises_with_age(ages: list[float], rate: float) -> None:
    younger, older = sorted(ages)
    assert exponential_recency(older, rate_per_day=rate) <= exponential_recency(younger, rate_per_day=rate)


@given(st.floats(-1e9, 1e9, allow_nan=False), RATES)
def test_recency_stays_between_0_and_1_at_any_age(age: float, rate: float) -> None:
    assert 0.0 <= exponential_recency(age, rate_per_day=rate) <= 1.0


def test_what_lies_in_the_future_counts_as_new() -> None:
    assert exponential_recency(-365.0, rate_per_day=0.05) == 1.0


def test_arrays_decay_like_their_numbers() -> None:
    ages = np.array([-1.0, 0.0, 1.5, 400.0])
    expected = [exponential_recency(float(age), rate_per_day=0.05) for age in ages]
    assert exponential_recency(ages, rate_per_day=0.05).tolist() == expected
    assert ages.tolist() == [-1.0, 0.0, 1.5, 400.0]


def test_frequency_is_070_at_8_mentions_and_0_at_none() -> None:
    assert logarithmic_frequency(8.0) == pytest.approx(0.70)
    assert logarithmic_frequency(0.0) == 0.0
    assert logarithmic_frequency(1.0) == pytest.approx(0.221, abs=5e-4)


@pytest.mark.parametrize("mentions", [23.0, 1e3, 1e12, math.inf])
def test_frequency_is_capped_at_1(mentions: float) -> None:
    assert logarithmic_frequency(mentions) == 1.0


@given(st.lists(st.floats(-10, 1e6, allow_nan=False), min_size=2, max_size=2))
def test_frequency_never_falls_with_mentions(counts: list[float]) -> None:
    fewer, more = sorted(counts)
    assert 0.0 <= logarithmic_frequency(fewer) <= logarithmic_frequency(more) <= 1.0


@pytest.mark.parametrize(
    ("age_days", "stage"),
    [
        (-1.0, "active"),
        (0.0, "active"),
        (6.99, "active"),
        (7.0, "warm"),
        (29.99, "warm"),
        (30.0, "cold"),
        (89.99, "cold"),
        (90.0, "archived"),
        (3650.0, "archived"),
    ],
)
def test_a_bubble_passes_its_stages_at_7_30_and_90_days(age_days: float, stage: str) -> None:
    assert stage_of(age_days) == stage
