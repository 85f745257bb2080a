"""The two plots of the report; readable on a light and on a dark page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.benchmarks.peers import SYSTEMS
from tests.benchmarks.tables import LIMIT, figures, title

#: Of the same contrast on white and on black.
INK = "#808080"
OURS = "#e8590c"
_COLOURS = dict(
    zip(
        (key for key in SYSTEMS if key != "ours"),
        ("#1c7ed6", "#9c36b5", "#2f9e44", "#d6336c", "#a07030", "#0c8599", "#7a8c00", INK),
        strict=True,
    )
)
_SIZE, _DPI = (8.0, 4.2), 110


def plot_recall(results: Mapping[str, Any], folder: Path) -> None:
    """``benchmark-recall.png``: recall@10 on all conversations and on the held-out ones."""
    measured = {key: one["splits"] for key, one in results["systems"].items() if "splits" in one}
    if not measured:
        return
    order = sorted(measured, key=lambda key: measured[key]["all"]["overall"]["recall@10"])
    figure, axes = _canvas()
    for place, key in enumerate(order):
        for split, shift, alpha in (("all", 0.2, 1.0), ("held out", -0.2, 0.55)):
            if split in measured[key]:
                value = measured[key][split]["overall"]["recall@10"]
                axes.barh(place + shift, value, 0.36, color=_colour(key), alpha=alpha)
                axes.text(value + 0.6, place + shift, f"{value:.1f}", va="center", color=INK, fontsize=8)
    axes.set_yticks(range(len(order)), [title(key) for key in order])
    axes.set_xlabel("recall@10, percent (solid: all conversations; pale: held out)", color=INK)
    axes.set_xlim(0, 100)
    _save(figure, folder / "benchmark-recall.png")


def plot_search(results: Mapping[str, Any], folder: Path) -> None:
    """``benchmark-search.png``: the median time of a search by the size of the namespace."""
    tables = results["by_size"]["search"]
    figure, axes = _canvas()
    for key in SYSTEMS:
        points = {int(size): figures(cells, "p50").get(key) for size, cells in tables.items()}
        known = {size: value for size, value in points.items() if isinstance(value, float | int)}
        if known:
            style: dict[str, Any] = {"linestyle": "--"} if key == LIMIT else {"marker": "o", "markersize": 4}
            width = 2.6 if key == "ours" else 1.4
            style |= {"label": title(key), "color": _colour(key), "linewidth": width}
            axes.plot(list(known), list(known.values()), **style)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("turns in the namespace", color=INK)
    axes.set_ylabel("ms, median of a search for 5", color=INK)
    axes.grid(alpha=0.25, color=INK)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, labelcolor=INK, fontsize=9)
    _save(figure, folder / "benchmark-search.png")


def _canvas() -> tuple[Any, Any]:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=_SIZE, dpi=_DPI)
    axes.tick_params(colors=INK, which="both")
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color(INK)
    axes.patch.set_alpha(0.0)
    return figure, axes


def _save(figure: Any, path: Path) -> None:
    figure.savefig(path, transparent=True, bbox_inches="tight")


def _colour(key: str) -> str:
    return OURS if key.startswith("ours") else _COLOURS[key.partition("+")[0]]
