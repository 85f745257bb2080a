"""What is linked with what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from matplotlib.collections import LineCollection

from shared_core.inspection.drawing import Canvas, Drawing, Label, drawn
from shared_core.inspection.network import Network, Place
from shared_core.inspection.palette import KIND_COLOURS, KIND_NAMES, MUTED, SERIES, TEXT
from shared_core.inspection.style import Plot, empty, figure, legend_below, plain

__all__ = ["network_plot"]

THING = "thing"
#: In points: the picture without its title and legend, and letters of ``FONT_SIZE``.
CANVAS = Canvas(width=640.0, least=240.0, most=620.0, letter=4.8, line=11.0)
FONT_SIZE = 8
#: Inches of a point, and of title and legend.
POINT, AROUND = 1 / 72, 0.9
#: Beside a text, where a line ends.
MARGIN = 4.0


def network_plot(network: Network, *, title: str, nothing: str) -> Plot:
    """A network of memories or of things; larger for more links, thicker for stronger ones."""
    drawing = drawn(network, CANVAS)
    made, axes = figure(width=9.0, height=drawing.height * POINT + AROUND)
    axes.set_title(title)
    axes.grid(visible=False)
    axes.set_axis_off()
    if not network.nodes:
        empty(axes, nothing)
        return made
    axes.set_xlim(0, drawing.width)
    axes.set_ylim(drawing.height, 0)
    _edges(axes, network, drawing)
    _nodes(axes, network, drawing)
    _write(axes, drawing.labels.values(), TEXT, FONT_SIZE)
    _write(axes, filter(None, drawing.edge_labels), SERIES[1], FONT_SIZE - 1)
    if network.left_out:
        axes.text(
            0, 0, f"{network.left_out} more not shown", color=TEXT, fontsize=8, transform=axes.transAxes
        )
    legend_below(made, axes, columns=4)
    return made


def _edges(axes: Any, network: Network, drawing: Drawing) -> None:
    """Lines that end where something is written: there is no background that could cover them."""
    written = [*drawing.labels.values(), *filter(None, drawing.edge_labels)]
    lines, widths = [], []
    for edge in network.edges:
        for line in _apart_from(drawing.places[edge.source], drawing.places[edge.target], written):
            lines.append(line)
            widths.append(0.5 + 1.8 * edge.weight)
    axes.add_collection(LineCollection(lines, colors=MUTED, linewidths=widths, alpha=0.6, zorder=1))


def _apart_from(start: Place, end: Place, written: Iterable[Label]) -> Iterator[tuple[Place, Place]]:
    """The parts of a line that pass no label, each with its ends."""
    covered = sorted(filter(None, (_within(start, end, label) for label in written)))
    begin = 0.0
    for enters, leaves in [*covered, (1.0, 1.0)]:
        if enters > begin:
            yield _at(start, end, begin), _at(start, end, enters)
        begin = max(begin, leaves)


def _within(start: Place, end: Place, label: Label) -> tuple[float, float] | None:
    """From where to where, in shares of the line, it passes the box of a label."""
    enters, leaves = 0.0, 1.0
    for axis, middle, size in ((0, label.x, label.width + MARGIN), (1, label.y, label.height)):
        way = end[axis] - start[axis]
        low, high = middle - size / 2 - start[axis], middle + size / 2 - start[axis]
        if way:
            first, last = sorted((low / way, high / way))
            enters, leaves = max(enters, first), min(leaves, last)
        elif not low <= 0.0 <= high:
            return None
    return (enters, leaves) if enters < leaves else None


def _at(start: Place, end: Place, share: float) -> Place:
    return (start[0] + share * (end[0] - start[0]), start[1] + share * (end[1] - start[1]))


def _nodes(axes: Any, network: Network, drawing: Drawing) -> None:
    for kind in dict.fromkeys(node.kind for node in network.nodes):
        chosen = [node.id for node in network.nodes if node.kind == kind]
        axes.scatter(
            [drawing.places[one][0] for one in chosen],
            [drawing.places[one][1] for one in chosen],
            s=[(1.6 * drawing.radii[one]) ** 2 for one in chosen],
            color=SERIES[0] if kind == THING else KIND_COLOURS[kind],  # type: ignore[index]
            label="things" if kind == THING else KIND_NAMES[kind],  # type: ignore[index]
            zorder=2,
        )


def _write(axes: Any, labels: Iterable[Label], colour: str, size: int) -> None:
    for label in labels:
        axes.text(
            label.x,
            label.y,
            plain(label.text),
            color=colour,
            fontsize=size,
            ha="center",
            va="center",
            parse_math=False,
            zorder=3,
        )
