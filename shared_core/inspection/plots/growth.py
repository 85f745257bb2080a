"""How a memory grows, and what it is made of."""

from __future__ import annotations

from collections import Counter
from typing import Any

from shared_core.inspection.palette import KIND_COLOURS, KIND_NAMES, TEXT
from shared_core.inspection.snapshot import Snapshot
from shared_core.inspection.style import (
    Plot,
    days_axis,
    empty,
    figure,
    labelled,
    legend,
    plotted,
    whole_numbers,
)
from shared_core.records import KINDS

__all__ = ["growth_plot"]


def growth_plot(snapshot: Snapshot) -> Plot:
    """Records of each kind over time on the left; what they are, by kind and category, on the right."""
    made, (left, right) = figure(width=10.0, columns=2, width_ratios=[3, 2])
    left.set_title("How the memory grew")
    right.set_title("What it is made of")
    right.set_xlabel("records")
    if not snapshot.records:
        empty(left, "Nothing is remembered yet")
        empty(right, "")
        return made
    _grow(left, snapshot)
    _compose(right, snapshot)
    return made


def _grow(axes: Any, snapshot: Snapshot) -> None:
    (end,) = plotted([snapshot.records[-1].created_at])
    for kind in KINDS:
        moments = plotted(record.created_at for record in snapshot.of_kind(kind))
        if moments:
            axes.step(
                [moments[0], *moments, end],
                [*range(len(moments) + 1), len(moments)],
                where="post",
                color=KIND_COLOURS[kind],
                label=KIND_NAMES[kind],
                linewidth=3.6 - 0.5 * KINDS.index(kind),  # so that none hides another,
            )
    axes.set_ylabel("records so far")
    axes.set_ylim(bottom=0)
    whole_numbers(axes.yaxis)
    days_axis(axes)
    legend(axes)


def _compose(axes: Any, snapshot: Snapshot) -> None:
    counts = Counter(
        (record.kind, record.category or "other" if record.kind == "fact" else "")
        for record in snapshot.records
    )
    rows = sorted(counts.items(), key=lambda row: (KINDS.index(row[0][0]), -row[1]))[::-1]
    bars = axes.barh(
        range(len(rows)), [count for _, count in rows], color=[KIND_COLOURS[kind] for (kind, _), _ in rows]
    )
    axes.bar_label(bars, color=TEXT, fontsize=8, padding=2)
    labels = [
        f"{KIND_NAMES[kind]}: {category}" if category else KIND_NAMES[kind] for (kind, category), _ in rows
    ]
    labelled(axes, range(len(rows)), labels)
    whole_numbers(axes.xaxis)
    axes.margins(x=0.12)
