from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core.records import Connection
from shared_core.spreading import MAX_HOPS, SHARE, spread

Graph = dict[str, dict[str, float]]

graphs = st.dictionaries(
    st.sampled_from("abcdef"),
    st.dictionaries(st.sampled_from("abcdef"), st.floats(0.01, 1.0), max_size=4),
    max_size=6,
)


def neighbours_in(graph: Graph) -> dict[str, tuple[Connection, ...]]:
    both: dict[str, dict[str, float]] = {}
    for start, edges in graph.items():
        for end, score in edges.items():
            both.setdefault(start, {})[end] = score
            both.setdefault(end, {})[start] = score
    return {
        start: tuple(Connection(memory_id=end, score=score) for end, score in edges.items())
        for start, edges in both.items()
    }


def reached(graph: Graph, origins: dict[str, float], hops: int = MAX_HOPS) -> dict[str, float]:
    edges = neighbours_in(graph)
    return {way.memory_id: way.score for way in spread(origins, lambda one: edges.get(one, ()), hops=hops)}


def test_a_neighbour_gets_a_share_of_the_hit_and_its_neighbour_a_share_of_that() -> None:
    found = reached({"hit": {"near": 0.8}, "near": {"far": 0.5}, "far": {"too far": 1.0}}, {"hit": 0.9})
    assert found == pytest.approx({"near": 0.9 * 0.8 * SHARE, "far": 0.9 * 0.8 * 0.5 * SHARE**2})


def test_the_strongest_way_counts() -> None:
    found = reached({"a": {"c": 0.2}, "b": {"c": 0.9}}, {"a": 1.0, "b": 0.5})
    assert found == pytest.approx({"c": 0.5 * 0.9 * SHARE})


@given(graphs, st.dictionaries(st.sampled_from("abc"), st.floats(0.0, 1.0), min_size=1))
def test_cycles_end_and_nothing_scores_above_what_it_was_reached_from(
    graph: Graph, origins: dict[str, float]
) -> None:
    found = reached(graph, origins)
    assert not set(found) & set(origins)
    assert all(score <= SHARE * max(origins.values()) for score in found.values())
    assert list(found.values()) == sorted(found.values(), reverse=True)
