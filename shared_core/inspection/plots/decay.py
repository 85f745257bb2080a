"""What age does: the score that is left, and the stages of life."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from shared_core.decay import ARCHIVED_FROM_DAYS, COLD_FROM_DAYS, WARM_FROM_DAYS, Stage
from shared_core.inspection.palette import MUTED, SERIES, STAGE_COLOURS, TEXT
from shared_core.inspection.snapshot import Snapshot
from shared_core.inspection.style import Plot, days_axis, empty, figure, legend, whole_numbers
from shared_core.scoring import PresetName, ScoringPolicy, Signals, policy_of
from shared_core.times import SECONDS_PER_DAY, age_days

__all__ = ["decay_plot", "score_left", "stages_plot"]

#: Days shown at least, so that every stage is seen.
LEAST_DAYS = 120.0
#: Least share of the width into which the name of a stage fits.
LEAST_LABELLED = 0.05
CURVE_POINTS, STAGE_POINTS = 600, 160
#: Where each stage begins, in days.
STAGES: Mapping[Stage, float] = {
    "active": 0.0,
    "warm": WARM_FROM_DAYS,
    "cold": COLD_FROM_DAYS,
    "archived": ARCHIVED_FROM_DAYS,
}


def score_left(policy: ScoringPolicy, ages: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of its score that a moment keeps at these ages in days: 1 when new.

    The moment fits the question fully, is of the highest importance, and was said once.
    """
    aged = np.concatenate([[0.0], ages])
    full, none = np.ones_like(aged), np.zeros_like(aged)
    signals = Signals(
        relevance=full,
        similarity=full,
        age_days=aged,
        decays=full,
        importance=full,
        mention_count=full,
        in_working_memory=none,
    )
    scores = policy.score(policy.components(signals))
    left: NDArray[np.float64] = scores[1:] / scores[0]
    return left


def decay_plot(
    snapshot: Snapshot,
    policies: Mapping[str, PresetName | ScoringPolicy] | None = None,
    *,
    days: float | None = None,
) -> Plot:
    """Curves of the score that is left by age, and the bubbles of the memory on the first of them.

    Args:
        snapshot: The memory.
        policies: What to compare, by name; the memory's own if left out.
        days: How far the curves go; past the oldest bubble if left out.
    """
    chosen: Mapping[str, Any] = policies or {_name(snapshot): snapshot.settings.scoring}
    bubbles = [bubble for bubble in snapshot.of_kind("bubble") if bubble.is_current]
    ages = np.array([age_days(bubble.dated, snapshot.now) for bubble in bubbles], dtype=np.float64)
    horizon = days or max(LEAST_DAYS, 1.1 * float(ages.max(initial=0.0)))
    made, axes = figure(width=8.5, height=4.0)
    _stage_lines(axes, horizon)
    grid = np.linspace(0.0, horizon, CURVE_POINTS)
    for (name, policy), colour in zip(chosen.items(), _colours(len(chosen)), strict=True):
        axes.plot(grid, score_left(policy_of(policy), grid), color=colour, label=name, linewidth=1.8)
    if len(ages):
        first = policy_of(next(iter(chosen.values())))
        axes.scatter(
            ages,
            score_left(first, ages),
            s=[14 + 50 * bubble.importance for bubble in bubbles],
            color=[STAGE_COLOURS[bubble.stage(snapshot.now) or "active"] for bubble in bubbles],
            label="bubbles, by stage and importance",
            alpha=0.85,
            zorder=3,
        )
    axes.set(xlabel="age in days", ylabel="share of the score left")
    axes.set(ylim=(0.0, 1.05), xlim=(-0.02 * horizon, horizon))
    axes.set_title("What decay leaves", pad=18)
    legend(axes)
    return made


def _stage_lines(axes: Axes, horizon: float) -> None:
    ends = [*list(STAGES.values())[1:], horizon]
    for (stage, begin), end in zip(STAGES.items(), ends, strict=True):
        if begin < horizon:
            axes.axvline(begin, color=MUTED, linewidth=0.8, linestyle=":")
        if min(end, horizon) - begin >= LEAST_LABELLED * horizon:
            axes.text(begin, 1.02, f" {stage}", color=TEXT, fontsize=8, transform=axes.get_xaxis_transform())


def _name(snapshot: Snapshot) -> str:
    scoring = snapshot.settings.scoring
    return scoring if isinstance(scoring, str) else type(scoring).__name__


def _colours(count: int) -> list[str]:
    return [SERIES[number % len(SERIES)] for number in range(count)]


def stages_plot(snapshot: Snapshot) -> Plot:
    """How many bubbles were in each stage of life, from the first one to the present."""
    made, axes = figure()
    axes.set_title("Stages of the bubbles")
    bubbles = snapshot.of_kind("bubble")
    if not bubbles:
        empty(axes, "There is no bubble yet")
        return made
    created = np.array([bubble.created_at.timestamp() for bubble in bubbles])
    dated = np.array([bubble.dated.timestamp() for bubble in bubbles])
    end = max(snapshot.now.timestamp(), float(created.max()))
    moments = np.linspace(float(created.min()), end, STAGE_POINTS)
    counts = np.array([_stages_at(moment, created, dated) for moment in moments])
    axes.stackplot(
        moments / SECONDS_PER_DAY,  # matplotlib counts days from the same moment
        counts.T,
        labels=list(STAGES),
        colors=[STAGE_COLOURS[stage] for stage in STAGES],
        alpha=0.85,
    )
    axes.set_ylabel("bubbles")
    whole_numbers(axes.yaxis)
    days_axis(axes)
    legend(axes, loc="upper left")
    return made


def _stages_at(moment: float, created: NDArray[np.float64], dated: NDArray[np.float64]) -> NDArray[np.intp]:
    ages = (moment - dated[created <= moment]) / SECONDS_PER_DAY
    stages = np.clip(np.searchsorted(list(STAGES.values()), ages, side="right") - 1, 0, None)
    return np.bincount(stages, minlength=len(STAGES))
