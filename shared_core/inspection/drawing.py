"""Where to draw the nodes of a network and where to write on it, so that no label covers another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from unicodedata import east_asian_width

import numpy as np

from shared_core.embedding.base import FloatArray
from shared_core.inspection.network import Network, Node, Place

__all__ = ["Canvas", "Drawing", "Label", "drawn"]

#: Labels of nodes and of edges that are written at most, whatever the room.
NODE_LABELS, EDGE_LABELS = 60, 60
#: Longest label of a node where there are few, and where there are more than ``FEW``.
LONG_LABEL, SHORT_LABEL, FEW = 40, 24, 12
EDGE_LABEL = 22
#: Free space around what is drawn, how much of it may be lost, and rounds of pushing apart.
GAP, TOLERANCE, PUSHES = 4.0, 1.0, 300
#: Height of a canvas for each square that labels fill: most of a picture is empty.
AIR = 6.5
#: Where along an edge its label may stand, the best place first.
ALONG = (0.5, 0.42, 0.58, 0.34, 0.66, 0.26, 0.74)
#: Where the label of a node may stand: the direction, across and down, and what it costs.
SIDES = ((0.0, -1.0, 0.0), (0.0, 1.0, 0.05), (1.0, 0.0, 0.1), (-1.0, 0.0, 0.12))


@dataclass(frozen=True)
class Canvas:
    """What is drawn on, in any unit of length; across from the left, down from the top.

    Attributes:
        width: How wide it is.
        least, most: Bounds of its height; between them it grows with what there is to draw.
        letter: Width of a letter of a label.
        line: Height of a line of it.
    """

    width: float
    least: float
    most: float
    letter: float
    line: float


@dataclass(frozen=True)
class Label:
    """A text around its middle.

    Attributes:
        text: Cut to the length that there is room for.
        x, y: Its middle.
        width, height: Of its box, about.
    """

    text: str
    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True)
class Drawing:
    """A network on a canvas.

    Attributes:
        width, height: Of the canvas.
        places: The middle of each node, by its id.
        radii: Of the circle of each.
        labels: What is written beside nodes, by id; a node whose label has no room has none.
        edge_labels: What is written on each edge of the network, in its order; None where there is no room.
    """

    width: float
    height: float
    places: Mapping[str, Place]
    radii: Mapping[str, float]
    labels: Mapping[str, Label]
    edge_labels: tuple[Label | None, ...]


def drawn(network: Network, canvas: Canvas) -> Drawing:
    """Lay out ``network``; the same network on the same canvas always looks the same."""
    degrees = network.degrees()
    radii = {node.id: 4.0 + min(8.0, float(degrees[node.id])) for node in network.nodes}
    length = SHORT_LABEL if len(network.nodes) > FEW else LONG_LABEL
    texts = {node.id: _cut(node.label, length) for node in _labelled(network)}
    sizes = {one: (_columns(text) * canvas.letter, canvas.line) for one, text in texts.items()}
    height = _height(canvas, radii, sizes)
    rough = network.places()
    boxes = _boxes(network, rough, radii, sizes, (canvas.width, height))
    places = _pushed(rough, boxes, (canvas.width, height))
    middles = {one: (x + boxes[one].label[0], y + boxes[one].label[1]) for one, (x, y) in places.items()}
    written: list[Label] = []
    labels = {}
    for one, text in texts.items():
        label = Label(text, *middles[one], *sizes[one])
        if _free(label, written):
            labels[one] = label
            written.append(label)
    taken = [*written, *(Label("", *places[one], 2 * radius, 2 * radius) for one, radius in radii.items())]
    return Drawing(canvas.width, height, places, radii, labels, _edge_labels(network, places, taken, canvas))


def _labelled(network: Network) -> list[Node]:
    """The nodes to write on, of each kind those with the most links first."""
    by_kind: dict[str, list[Node]] = {}
    for node in network.nodes:
        by_kind.setdefault(node.kind, []).append(node)
    turns = chain.from_iterable(zip_longest(*by_kind.values()))
    return [node for node in turns if node is not None][:NODE_LABELS]


@dataclass(frozen=True)
class _Box:
    """What a node takes with its label: edges of the box, and the middle of the label, from the node."""

    left: float
    top: float
    right: float
    bottom: float
    label: Place


def _height(canvas: Canvas, radii: Mapping[str, float], sizes: Mapping[str, Place]) -> float:
    filled = sum((width + GAP) * (height + GAP) for width, height in sizes.values())
    filled += sum((2 * radius + GAP) ** 2 for radius in radii.values())
    return min(canvas.most, max(canvas.least, AIR * filled / canvas.width))


def _boxes(
    network: Network,
    rough: Mapping[str, Place],
    radii: Mapping[str, float],
    sizes: Mapping[str, Place],
    canvas: Place,
) -> dict[str, _Box]:
    """Each node with its label on the side to which the fewest of its edges go."""
    ways: dict[str, list[Place]] = {one: [] for one in rough}
    for edge in network.edges:
        (ax, ay), (bx, by) = rough[edge.source], rough[edge.target]
        across, down = (bx - ax) * canvas[0], (by - ay) * canvas[1]
        far = float(np.hypot(across, down)) or 1.0
        ways[edge.source].append((across / far, down / far))
        ways[edge.target].append((-across / far, -down / far))
    return {one: _box(ways[one], radii[one], sizes.get(one, (0.0, 0.0))) for one in rough}


def _box(ways: Iterable[Place], radius: float, size: Place) -> _Box:
    directions = list(ways)
    across, down, _ = min(
        SIDES,
        key=lambda side: side[2] + sum(max(0.0, x * side[0] + y * side[1]) ** 2 for x, y in directions),
    )
    width, height = size
    middle = (across * (radius + width / 2 + 3.0), down * (radius + height / 2 + 1.0))
    return _Box(
        left=min(-radius, middle[0] - width / 2),
        top=min(-radius, middle[1] - height / 2),
        right=max(radius, middle[0] + width / 2),
        bottom=max(radius, middle[1] + height / 2),
        label=middle,
    )


def _pushed(rough: Mapping[str, Place], boxes: Mapping[str, _Box], canvas: Place) -> dict[str, Place]:
    """Places on the canvas, from those of −1 to 1, with boxes pushed apart that overlap."""
    if not rough:
        return {}
    edges = np.array([(box.left, box.top, box.right, box.bottom) for box in boxes.values()])
    offset, half = (edges[:, :2] + edges[:, 2:]) / 2, (edges[:, 2:] - edges[:, :2] + GAP) / 2
    size = np.array(canvas)
    low, high = half, np.maximum(half, size - half)
    middles = low + (np.array(list(rough.values())) + 1.0) / 2.0 * (high - low)
    for number in range(PUSHES):
        pushes = _pushes(middles, half, sideways=number > PUSHES // 2)
        if not pushes.any():
            break
        middles = np.clip(middles + pushes, low, high)
    return {one: (float(x), float(y)) for one, (x, y) in zip(rough, middles - offset, strict=True)}


def _pushes(middles: FloatArray, half: FloatArray, *, sideways: bool) -> FloatArray:
    """How far each box goes, away from those that it overlaps.

    Args:
        middles: Of the boxes, ``[n, 2]``.
        half: Half of the width and of the height of each, ``[n, 2]``.
        sideways: Along both axes, where a column is full; else along the one that takes less.
    """
    between = middles[:, None, :] - middles[None, :, :]
    overlap = half[:, None, :] + half[None, :, :] - np.abs(between)
    hit = (overlap > TOLERANCE).all(axis=2) & ~np.eye(len(middles), dtype=bool)
    number = np.arange(len(middles))
    earlier = np.sign(number[:, None] - number[None, :])[:, :, None]  # parts boxes that lie on one another
    away = np.where(between == 0.0, earlier, np.sign(between))
    upright = overlap[:, :, 1] <= overlap[:, :, 0]
    chosen = np.stack([hit & (~upright | sideways), hit & (upright | sideways)], axis=2)
    pushes: FloatArray = np.where(chosen, 0.3 * overlap * away, 0.0).sum(axis=1)
    return pushes


def _edge_labels(
    network: Network, places: Mapping[str, Place], taken: Sequence[Label], canvas: Canvas
) -> tuple[Label | None, ...]:
    if len(network.edges) > EDGE_LABELS:
        return (None,) * len(network.edges)
    boxes, found = list(taken), []
    for edge in network.edges:
        text = _cut(edge.label, EDGE_LABEL) if edge.label else f"{edge.weight:.2f}"
        (ax, ay), (bx, by) = places[edge.source], places[edge.target]
        size = (0.9 * _columns(text) * canvas.letter, 0.9 * canvas.line)
        tried = (Label(text, ax + part * (bx - ax), ay + part * (by - ay), *size) for part in ALONG)
        label = next((one for one in tried if _free(one, boxes)), None)
        found.append(label)
        if label:
            boxes.append(label)
    return tuple(found)


def _free(label: Label, taken: Iterable[Label]) -> bool:
    return not any(
        2 * abs(label.x - other.x) < label.width + other.width
        and 2 * abs(label.y - other.y) < label.height + other.height
        for other in taken
    )


def _columns(text: str) -> int:
    """Letters, wide ones counted twice."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def _cut(text: str, length: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= length else f"{line[: length - 1].rstrip()}…"
