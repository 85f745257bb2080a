"""What is linked with what."""

from __future__ import annotations

from typing import Any

from matplotlib.collections import LineCollection

from shared_core.inspection.network import Network
from shared_core.inspection.palette import KIND_COLOURS, KIND_NAMES, MUTED, SERIES, TEXT
from shared_core.inspection.style import Plot, empty, figure, legend, plain

__all__ = ["network_plot"]

THING = "thing"
#: Labels that can still be read.
LABELLED_NODES, LABELLED_EDGES = 40, 30


def network_plot(network: Network, *, title: str, nothing: str) -> Plot:
    """A network of memories or of things; larger for more links, thicker for stronger ones."""
    made, axes = figure(width=9.0, height=6.0)
    axes.set_title(title)
    axes.grid(visible=False)
    axes.set_axis_off()
    if not network.nodes:
        empty(axes, nothing)
        return made
    places = network.places()
    lines = LineCollection(
        [(places[edge.source], places[edge.target]) for edge in network.edges],
        colors=MUTED,
        linewidths=[0.5 + 1.8 * edge.weight for edge in network.edges],
        alpha=0.6,
        zorder=1,
    )
    axes.add_collection(lines)
    _nodes(axes, network, places)
    _labels(axes, network, places)
    if network.left_out:
        axes.text(
            0, 0, f"{network.left_out} more not shown", color=TEXT, fontsize=8, transform=axes.transAxes
        )
    axes.margins(0.14)
    legend(axes, loc="lower right")
    return made


def _nodes(axes: Any, network: Network, places: dict[str, tuple[float, float]]) -> None:
    degrees = network.degrees()
    for kind in dict.fromkeys(node.kind for node in network.nodes):
        chosen = [node for node in network.nodes if node.kind == kind]
        axes.scatter(
            [places[node.id][0] for node in chosen],
            [places[node.id][1] for node in chosen],
            s=[40 + 22 * degrees[node.id] for node in chosen],
            color=SERIES[0] if kind == THING else KIND_COLOURS[kind],  # type: ignore[index]
            label="things" if kind == THING else KIND_NAMES[kind],  # type: ignore[index]
            zorder=2,
        )


def _labels(axes: Any, network: Network, places: dict[str, tuple[float, float]]) -> None:
    length = 26 if len(network.nodes) > 12 else 40
    for node in network.nodes[:LABELLED_NODES]:
        axes.annotate(
            plain(node.label, length),
            places[node.id],
            xytext=(0, 9),
            textcoords="offset points",
            ha="center",
            color=TEXT,
            fontsize=8,
            parse_math=False,
            zorder=3,
        )
    if len(network.edges) > LABELLED_EDGES:
        return
    for edge in network.edges:
        (ax, ay), (bx, by) = places[edge.source], places[edge.target]
        axes.annotate(
            plain(edge.label, 22) if edge.label else f"{edge.weight:.2f}",
            ((ax + bx) / 2, (ay + by) / 2),
            xytext=(0, 5),
            textcoords="offset points",
            color=SERIES[1],
            fontsize=7,
            ha="center",
            va="center",
            parse_math=False,
        )
