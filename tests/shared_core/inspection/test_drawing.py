from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared_core.inspection.drawing import Canvas, Drawing, Label, drawn
from shared_core.inspection.network import NODE_LIMIT, Edge, Network, Node

CANVAS = Canvas(width=640.0, least=200.0, most=900.0, letter=5.0, line=11.0)


def network(count: int, pairs: list[tuple[int, int]], label: str = "a memory of some length") -> Network:
    nodes = tuple(Node(str(one), f"{label} {one}", "fact", ()) for one in range(count))
    return Network(nodes, tuple(Edge(str(a % count), str(b % count), "likes", 0.5) for a, b in pairs))


def over_each_other(one: Label, other: Label) -> bool:
    across, down = 2 * abs(one.x - other.x), 2 * abs(one.y - other.y)
    return across < one.width + other.width and down < one.height + other.height


def written(drawing: Drawing) -> list[Label]:
    return [*drawing.labels.values(), *(label for label in drawing.edge_labels if label)]


def chain(count: int) -> Network:
    return network(count, [(one, one + 1) for one in range(count - 1)])


def star(count: int) -> Network:
    return network(count, [(0, one) for one in range(1, count)])


@settings(max_examples=20, deadline=None)
@given(
    st.integers(1, 30), st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=40), st.text()
)
def test_no_label_covers_another_and_none_leaves_the_canvas(
    count: int, pairs: list[tuple[int, int]], label: str
) -> None:
    drawing = drawn(network(count, pairs, label), CANVAS)
    labels = written(drawing)
    assert not [pair for pair in combinations(labels, 2) if over_each_other(*pair)]
    for x, y in drawing.places.values():
        assert 0.0 <= x <= drawing.width
        assert 0.0 <= y <= drawing.height
    for one in drawing.labels.values():
        assert one.x - one.width / 2 >= -1e-6
        assert one.x + one.width / 2 <= drawing.width + 1e-6


@pytest.mark.parametrize("made", [chain(20), star(20), network(20, [])], ids=["chain", "star", "alone"])
def test_twenty_nodes_have_room_for_all_their_labels(made: Network) -> None:
    drawing = drawn(made, CANVAS)
    assert len(drawing.labels) == 20
    circles = [
        Label("", *place, 2 * drawing.radii[one], 2 * drawing.radii[one])
        for one, place in drawing.places.items()
    ]
    assert not [
        (circle, label)
        for circle in circles
        for label in drawing.labels.values()
        if over_each_other(circle, label)
    ]


def test_a_canvas_grows_with_what_is_drawn_within_its_bounds() -> None:
    heights = [drawn(chain(count), CANVAS).height for count in (1, 20, NODE_LIMIT)]
    assert heights[0] == CANVAS.least < heights[1] < heights[2] <= CANVAS.most


def test_a_crowd_is_drawn_with_some_labels_and_in_time() -> None:
    drawing = drawn(star(NODE_LIMIT), CANVAS)
    assert len(drawing.places) == NODE_LIMIT
    assert 20 < len(drawing.labels) < NODE_LIMIT
    assert set(drawing.edge_labels) == {None}


def test_nothing_can_be_drawn() -> None:
    drawing = drawn(Network((), ()), CANVAS)
    assert (drawing.places, drawing.labels, drawing.edge_labels) == ({}, {}, ())
