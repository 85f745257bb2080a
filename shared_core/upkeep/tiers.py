"""Tiers: what proves important or useful rises from short to medium to long term (seed 003)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from shared_core.index.resident import ResidentIndex
from shared_core.records import KINDS, LEARNT_KINDS, TIERS, Record, Tier
from shared_core.settings import Settings
from shared_core.times import SECONDS_PER_DAY
from shared_core.upkeep.worth import uses


class Move(Record):
    """One memory that rose.

    Attributes:
        memory_id: Which.
        before, after: Its tiers.
        reason: What earned it the new one, in words.
    """

    memory_id: str
    before: Tier
    after: Tier
    reason: str


@dataclass(frozen=True)
class Threshold:
    """What earns a tier: age, and either importance or use.

    Attributes:
        after_days: Least age, in days.
        importance: Least importance, 0 to 1, of what is seldom used.
        uses: How often what is less important must have been said or read.
    """

    after_days: float
    importance: float
    uses: int

    def is_met(self, *, importance: float, uses: float, age_days: float) -> bool:
        """Whether a memory of this age, importance and use has earned the tier."""
        return age_days >= self.after_days and (importance >= self.importance or uses >= self.uses)

    def reason(self, *, importance: float, uses: float, age_days: float) -> str:
        """Why it has, in words."""
        if importance >= self.importance:
            return f"{age_days:.0f} days old, importance {importance:.2f} of {self.importance:.2f}"
        return f"{age_days:.0f} days old, said or read {uses:.0f} times of {self.uses}"


def thresholds(settings: Settings) -> tuple[Threshold, Threshold]:
    """What earns the medium term, and what the long term."""
    return (
        Threshold(settings.mtm_after_days, settings.mtm_importance, settings.mtm_uses),
        Threshold(settings.ltm_after_days, settings.ltm_importance, settings.ltm_uses),
    )


def tier_of(
    tier: Tier, earned_by: tuple[Threshold, Threshold], *, importance: float, uses: float, age_days: float
) -> Tier:
    """The tier of a memory that has been in ``tier``: as high as it has earned step by step, never lower.

    Applying it again changes nothing, and none of the three measures can lower it.
    """
    place = TIERS.index(tier)
    while place < len(earned_by) and earned_by[place].is_met(
        importance=importance, uses=uses, age_days=age_days
    ):
        place += 1
    return TIERS[place]


def rising(
    index: ResidentIndex, living: NDArray[np.bool_], *, now: datetime, settings: Settings
) -> Iterator[tuple[int, Move]]:
    """The rows that rise, each with its move.

    Args:
        index: The namespace; only read.
        living: Which rows are current and in use, ``bool [n]``.
        now: What ages count from.
        settings: The thresholds.
    """
    columns, earned_by = index.columns, thresholds(settings)
    learnt = np.isin(columns["kind"], [KINDS.index(kind) for kind in LEARNT_KINDS])
    old = columns["created"] <= now.timestamp() - min(t.after_days for t in earned_by) * SECONDS_PER_DAY
    rows = np.flatnonzero(living & learnt & old & (columns["tier"] < len(earned_by)))
    used = uses(index, rows)
    ages = (now.timestamp() - columns["created"][rows]) / SECONDS_PER_DAY
    for row, often, age in zip(rows.tolist(), used.tolist(), ages.tolist(), strict=True):
        before = TIERS[int(columns["tier"][row])]
        measures = {"importance": float(columns["importance"][row]), "uses": often, "age_days": age}
        after = tier_of(before, earned_by, **measures)
        if after != before:
            reason = earned_by[TIERS.index(after) - 1].reason(**measures)
            yield row, Move(memory_id=index.id_at(row), before=before, after=after, reason=reason)
