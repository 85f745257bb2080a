from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core.retrieval.spreading import MAX_HOPS, SHARE, spread

Graph = dict[str, dict[str, float]]

graphs = st.dictionaries(
    st.sampled_from("abcdef"),
    st.dictionaries(st.sampled_from("abcdef"), st.floats(0.01, 1.0), max_size=4),
    max_size=6,
)


def links_in(graph: Graph) -> Graph:
    both: Graph = {}
    for start, edges in graph.items():
        for end, score in edges.items():
            both.setdefault(start, {})[end] = score
            both.setdefault(end, {})[start] = score
    return both


def reached(
    graph: Graph, origins: dict[str, float], hops: int = MAX_HOPS, above: float = 0.0
) -> dict[str, float]:
    links = links_in(graph)
    ways = spread(origins, lambda one: links.get(one, {}), hops=hops, above=above)
    return {way.memory_id: way.score for way in ways}


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


@given(graphs, st.dictionaries(st.sampled_from("abc"), st.floats(0.0, 1.0), min_size=1), st.floats(0.0, 1.0))
def test_ways_that_are_too_weak_are_left_out_and_change_nothing_else(
    graph: Graph, origins: dict[str, float], above: float
) -> None:
    everything = reached(graph, origins)
    assert reached(graph, origins, above=above) == {
        memory_id: score for memory_id, score in everything.items() if score > above
    }
