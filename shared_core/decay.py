"""What age and repetition do to a memory: pure functions of days and counts, on numbers or arrays."""

from __future__ import annotations

from typing import Literal, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

#: A number, or an array of them: what goes in comes out.
Values = TypeVar("Values", float, NDArray[np.float64])

Stage = Literal["active", "warm", "cold", "archived"]

#: Decay per day of the ``contextmemory`` preset (seed 000).
CONTEXTMEMORY_RATE_PER_DAY = 0.05
#: Decay per minute of the ``memoria`` preset (seed 002).
MEMORIA_RATE_PER_MINUTE = 0.02
#: Decay per day of the ``webmcp`` preset: recency is 0.85 at 2 days (seed 004).
WEBMCP_RATE_PER_DAY = -float(np.log(0.85)) / 2
#: Frequency is 0.70 at 8 mentions (seed 004).
FREQUENCY_AT_8_MENTIONS = 0.70
#: First day of each stage of a bubble (seed 000).
WARM_FROM_DAYS, COLD_FROM_DAYS, ARCHIVED_FROM_DAYS = 7.0, 30.0, 90.0

MINUTES_PER_DAY = 1_440.0


def exponential_recency(age_days: Values, *, rate_per_day: float) -> Values:
    """e^(−rate·age): 1 for what is new, towards 0 with age.

    Args:
        age_days: Days since the moment; ages below 0 count as 0.
        rate_per_day: Decay rate λ, 0 or more.

    Returns:
        0 to 1, never rising with age.
    """
    return cast(Values, np.exp(-rate_per_day * np.maximum(age_days, 0.0)))


def half_life_recency(age_days: Values, *, half_life_days: float) -> Values:
    """2^(−age/half-life): 0.5 after one half-life, in days."""
    return exponential_recency(age_days, rate_per_day=float(np.log(2.0)) / half_life_days)


def logarithmic_frequency(mention_count: Values) -> Values:
    """Frequency on a logarithmic scale: 0 for none, 0.70 at 8 mentions, at most 1 (seed 004)."""
    scaled = FREQUENCY_AT_8_MENTIONS * np.log1p(np.maximum(mention_count, 0.0)) / np.log(9.0)
    return cast(Values, np.minimum(1.0, scaled))


def stage_of(age_days: float) -> Stage:
    """The lifecycle stage of a bubble of that age in days (seed 000)."""
    if age_days < WARM_FROM_DAYS:
        return "active"
    if age_days < COLD_FROM_DAYS:
        return "warm"
    return "cold" if age_days < ARCHIVED_FROM_DAYS else "archived"
