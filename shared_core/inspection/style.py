"""What every plot shares: a figure of its own, without ``pyplot`` and without changing anybody's settings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from functools import lru_cache
from io import BytesIO
from typing import Any

from matplotlib import dates as matplotlib_dates
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.ticker import MaxNLocator

from shared_core.inspection.palette import MUTED, TEXT

__all__ = [
    "Plot", "days_axis", "empty", "figure", "labelled", "legend", "legend_below", "plain", "plotted",
    "whole_numbers",
]  # fmt: skip

#: Its functions have no annotations.
dates: Any = matplotlib_dates

#: Dots per inch of the picture, and of the screen that it is made for.
DOTS, SCREEN_DOTS = 144, 72
#: What stands for a character that the font lacks.
LACKING = "▯"
#: Longest label, in characters.
LABEL_LENGTH = 44


class Plot(Figure):
    """A matplotlib figure that a notebook shows by itself; ``savefig`` and all else are matplotlib's.

    Its background is transparent, and its colours stand out on white and on black.
    """

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        """The picture, at twice the size at which it is shown."""
        target = BytesIO()
        self.savefig(target, format="png", dpi=DOTS)
        scale = SCREEN_DOTS * 1.15
        width, height = self.get_size_inches()
        return target.getvalue(), {"width": round(width * scale), "height": round(height * scale)}


def figure(*, width: float = 8.0, height: float = 3.6, columns: int = 1, **options: Any) -> tuple[Plot, Any]:
    """A figure of that size in inches, and its axes: one, or an array of them."""
    made = Plot(figsize=(width, height), layout="constrained", facecolor="none")
    axes = made.subplots(1, columns, **options)
    for one in [axes] if isinstance(axes, Axes) else list(axes.flat):
        _dress(one)
    return made, axes


def _dress(axes: Axes) -> None:
    axes.set_facecolor("none")
    axes.tick_params(colors=TEXT, labelsize=9)
    for name, spine in axes.spines.items():
        spine.set_color(MUTED)
        spine.set_visible(name in ("left", "bottom"))
    axes.grid(visible=True, color=MUTED, alpha=0.25, linewidth=0.6)
    axes.set_axisbelow(True)
    axes.xaxis.label.set_color(TEXT)
    axes.yaxis.label.set_color(TEXT)
    axes.title.set_color(TEXT)
    axes.title.set_fontsize(11)


def legend(axes: Axes, **options: Any) -> None:
    """A legend without a frame, if there is anything to name."""
    if axes.get_legend_handles_labels()[0]:
        axes.legend(frameon=False, labelcolor=TEXT, fontsize=9, **options)


def legend_below(made: Plot, axes: Axes, *, columns: int) -> None:
    """A legend under the plot, where it covers nothing."""
    handles, labels = axes.get_legend_handles_labels()
    made.legend(
        handles, labels, loc="outside lower center", ncols=columns, frameon=False, labelcolor=TEXT, fontsize=9
    )


def days_axis(axes: Axes) -> None:
    """Dates along the bottom, as short as can be."""
    locator = dates.AutoDateLocator(minticks=3, maxticks=8)
    axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))
    axes.xaxis.get_offset_text().set_color(TEXT)
    axes.set_xlabel("date (UTC)")


def whole_numbers(axis: Axis) -> None:
    """Ticks at whole numbers only: there is no half memory."""
    axis.set_major_locator(MaxNLocator(integer=True, nbins="auto"))


def plotted(moments: Iterable[datetime]) -> list[float]:
    """Moments as matplotlib counts them, in days."""
    return [float(dates.date2num(moment)) for moment in moments]


def empty(axes: Axes, text: str) -> None:
    """Say that there is nothing to show."""
    axes.grid(visible=False)
    axes.text(0.5, 0.5, text, color=TEXT, ha="center", va="center", transform=axes.transAxes)


def plain(text: str, length: int = LABEL_LENGTH) -> str:
    """``text`` on one line, cut off, in characters that the font has: no label fails or warns.

    Draw it with ``parse_math=False``, else a dollar sign begins a formula.
    """
    line = " ".join(text.split())
    line = line if len(line) <= length else f"{line[: length - 1].rstrip()}…"
    known = _characters(findfont(FontProperties()))
    return "".join(character if ord(character) in known else LACKING for character in line)


@lru_cache(maxsize=4)
def _characters(path: str) -> frozenset[int]:
    return frozenset(get_font(path).get_charmap())


def labelled(axes: Axes, places: Sequence[float], labels: Sequence[str]) -> None:
    """Labels along the left side."""
    axes.set_yticks(list(places), [plain(label) for label in labels], parse_math=False)
