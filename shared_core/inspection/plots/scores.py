"""Why each hit has its score."""

from __future__ import annotations

from shared_core.inspection.palette import SERIES, TEXT
from shared_core.inspection.style import Plot, empty, figure, labelled, legend_below
from shared_core.retrieval.search import SearchResult

__all__ = ["scores_plot"]

#: Hits that can be told apart.
SHOWN = 12
SCORE_COLOUR = TEXT


def scores_plot(result: SearchResult) -> Plot:
    """The score of each hit and the factors that made it, side by side; best hit at the top."""
    hits = result.results[:SHOWN]
    names = ["score", *dict.fromkeys(name for hit in hits for name in hit.components)]
    made, axes = figure(width=9.0, height=1.6 + 0.16 * max(1, len(hits)) * (len(names) + 1))
    axes.set_title("Why each hit has its score")
    axes.set_xlabel("score, and each factor (0 to 1)")
    if not hits:
        empty(axes, "Nothing was found")
        return made
    step = 0.84 / len(names)
    for number, name in enumerate(names):
        values = [hit.score if name == "score" else hit.components.get(name, 0.0) for hit in hits]
        places = [place - 0.42 + step * (number + 0.5) for place in range(len(hits))]
        colour = SCORE_COLOUR if name == "score" else SERIES[(number - 1) % len(SERIES)]
        axes.barh(places, values, height=step * 0.9, color=colour, label=name)
    labelled(axes, range(len(hits)), [f"{hit.memory} ({hit.type})" for hit in hits])
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    legend_below(made, axes, columns=len(names))
    return made
