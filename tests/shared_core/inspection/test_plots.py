from __future__ import annotations

from collections.abc import Callable
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest

from shared_core import ContextMemory
from shared_core.inspection.inspection import Inspection
from shared_core.inspection.plots.decay import STAGES, score_left
from shared_core.inspection.style import LACKING, Plot, plain
from shared_core.scoring import BalancedPolicy, policy_of
from tests.shared_core.inspection.told import HOSTILE, NOW, tell

PLOTS: dict[str, Callable[[ContextMemory, Inspection], Plot]] = {
    "growth": lambda memory, look: look.plot_growth(),
    "decay": lambda memory, look: look.plot_decay(),
    "presets": lambda memory, look: look.plot_decay({"ours": BalancedPolicy(), "seed": "memoria"}, days=30),
    "stages": lambda memory, look: look.plot_stages(),
    "connections": lambda memory, look: look.plot_connections(),
    "graph": lambda memory, look: look.plot_graph(),
    "budget": lambda memory, look: look.plot_budget(
        memory.context("Berlin?", 300, now=NOW), token_budget=300
    ),
    "scores": lambda memory, look: look.plot_scores(memory.search("Berlin?", now=NOW)),
    "maintenance": lambda memory, look: look.plot_maintenance(memory.maintain(now=NOW)),
}
#: Drawn without axes.
WITHOUT_AXES = {"connections", "graph"}


@pytest.mark.parametrize("name", PLOTS)
def test_each_plot_is_a_picture_with_labelled_axes(name: str, memory: ContextMemory) -> None:
    tell(memory)
    plot = PLOTS[name](memory, memory.inspect(now=NOW))
    picture, size = plot._repr_png_()
    assert picture.startswith(b"\x89PNG")
    assert size["width"] > size["height"] > 100
    assert all(axes.get_title() for axes in plot.axes)
    if name not in WITHOUT_AXES:
        assert all(axes.get_xlabel() or axes.get_ylabel() for axes in plot.axes)


@pytest.mark.parametrize("name", PLOTS)
def test_an_empty_memory_can_be_plotted(name: str, memory: ContextMemory) -> None:
    assert PLOTS[name](memory, memory.inspect(now=NOW))._repr_png_()[0]


@pytest.mark.parametrize("name", PLOTS)
def test_no_text_breaks_a_plot_or_makes_it_warn(name: str, memory: ContextMemory) -> None:
    memory.add([{"role": "user", "content": text} for text in HOSTILE], now=NOW)
    memory.relate("$\\frac{1$", "_likes__", "食べ物 🍣", now=NOW)
    assert PLOTS[name](memory, memory.inspect(now=NOW))._repr_png_()[0]


def test_plotting_changes_no_settings_and_opens_no_window(memory: ContextMemory) -> None:
    tell(memory)
    before = dict(mpl.rcParams)
    for plot in PLOTS.values():
        plot(memory, memory.inspect(now=NOW))._repr_png_()
    assert dict(mpl.rcParams) == before


def test_the_background_is_transparent(memory: ContextMemory) -> None:
    tell(memory)
    plot: Any = memory.inspect(now=NOW).plot_growth()
    assert plot.get_facecolor()[3] == 0
    assert all(axes.get_facecolor()[3] == 0 for axes in plot.axes)


@pytest.mark.parametrize("preset", ["balanced", "contextmemory", "memoria", "webmcp"])
def test_age_leaves_all_of_a_new_memory_and_never_more_of_an_older_one(preset: str) -> None:
    left = score_left(policy_of(preset), np.array([0.0, 1.0, 7.0, 90.0, 1e4]))  # type: ignore[arg-type]
    assert left[0] == 1.0
    assert (np.diff(left) <= 0).all()


def test_the_seed_s_week_leaves_what_it_says() -> None:
    assert score_left(policy_of("contextmemory"), np.array([7.0]))[0] == pytest.approx(np.exp(-0.35))


def test_stages_add_up_to_the_bubbles(memory: ContextMemory) -> None:
    tell(memory)
    look = memory.inspect(now=NOW)
    axes: Any = look.plot_stages().axes[0]
    tops = [area.get_paths()[0].vertices[:, 1].max() for area in axes.collections]
    assert len(tops) == len(STAGES)
    assert max(tops) == (look.memories()["kind"] == "bubble").sum() > 0


def test_the_bar_of_a_context_holds_all_of_its_tokens(memory: ContextMemory) -> None:
    tell(memory)
    context = memory.context("Where does she live?", 300, now=NOW)
    axes: Any = memory.inspect(now=NOW).plot_budget(context, token_budget=300).axes[0]
    assert sum(bar.get_width() for bar in axes.patches) == context.tokens


def test_labels_are_short_lines_in_known_characters() -> None:
    assert plain("a\n b  c") == "a b c"
    assert len(plain("x" * 1_000)) <= 50
    assert plain("🍣!") == f"{LACKING}!"
