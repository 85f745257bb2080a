"""What ``maintain`` changed."""

from __future__ import annotations

from collections import Counter

from matplotlib.axes import Axes

from shared_core.inspection.palette import SERIES, TEXT, TIER_COLOURS
from shared_core.inspection.snapshot import Snapshot
from shared_core.inspection.style import Plot, empty, figure, labelled, legend, whole_numbers
from shared_core.records import LEARNT_KINDS, TIERS
from shared_core.upkeep.maintenance import MaintenanceReport

__all__ = ["maintenance_plot"]

TIER_NAMES = {"stm": "short term", "mtm": "medium term", "ltm": "long term"}


def maintenance_plot(snapshot: Snapshot, report: MaintenanceReport) -> Plot:
    """How many memories each step of ``maintain`` touched, and what that made of the tiers.

    Args:
        snapshot: The memory after ``maintain``.
        report: What that did.
    """
    made, (left, right) = figure(width=10.0, columns=2, width_ratios=[3, 2])
    left.set_title("What maintain changed")
    left.set_xlabel("memories")
    counts = {name: count for name, count in report.counts.items() if count}
    if counts:
        names = list(counts)[::-1]
        bars = left.barh(range(len(names)), [counts[name] for name in names], color=SERIES[0])
        left.bar_label(bars, color=TEXT, fontsize=8, padding=2)
        labelled(left, range(len(names)), [name.replace("_", " ") for name in names])
        whole_numbers(left.xaxis)
        left.margins(x=0.12)
    else:
        empty(left, "Everything was in order")
    _tiers(right, snapshot, report)
    return made


def _tiers(axes: Axes, snapshot: Snapshot, report: MaintenanceReport) -> None:
    after = Counter(record.tier for record in snapshot.of_kind(*LEARNT_KINDS) if record.is_current)
    before = Counter(after)
    for move in report.moved:
        before[move.after] -= 1
        before[move.before] += 1
    for place, tier in enumerate(TIERS):
        axes.bar(place - 0.2, before[tier], width=0.36, color=TIER_COLOURS[tier], alpha=0.4)
        axes.bar(place + 0.2, after[tier], width=0.36, color=TIER_COLOURS[tier])
    axes.bar(0, 0, color=TEXT, alpha=0.4, label="before")
    axes.bar(0, 0, color=TEXT, label="after")
    axes.set_xticks(range(len(TIERS)), [TIER_NAMES[tier] for tier in TIERS])
    axes.set_title("The tiers")
    axes.set_ylabel("memories")
    whole_numbers(axes.yaxis)
    legend(axes)
