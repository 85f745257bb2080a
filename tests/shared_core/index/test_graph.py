from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from shared_core.index.graph import ConnectionGraph
from shared_core.records import Connection


def links(**scores: float) -> list[Connection]:
    return [Connection(memory_id=name, score=score) for name, score in scores.items()]


def test_a_connection_is_seen_from_both_ends() -> None:
    graph = ConnectionGraph()
    graph.put("young", links(old=0.7))
    assert graph.neighbours("young") == tuple(links(old=0.7))
    assert graph.neighbours("old") == tuple(links(young=0.7))


def test_neighbours_come_strongest_first_and_then_by_id() -> None:
    graph = ConnectionGraph()
    graph.put("x", links(b=0.5, a=0.5, c=0.9))
    assert [link.memory_id for link in graph.neighbours("x")] == ["c", "a", "b"]


def test_putting_again_replaces_only_what_is_stored_there() -> None:
    graph = ConnectionGraph()
    graph.put("middle", links(old=0.7))
    graph.put("young", links(middle=0.8))
    graph.put("middle", links(other=0.6))
    assert [link.memory_id for link in graph.neighbours("middle")] == ["young", "other"]
    assert graph.neighbours("old") == ()


def test_the_order_of_loading_does_not_matter() -> None:
    first, second = ConnectionGraph(), ConnectionGraph()
    first.put("old", [])
    first.put("young", links(old=0.7))
    second.put("young", links(old=0.7))
    second.put("old", [])
    assert first.neighbours("old") == second.neighbours("old") == tuple(links(young=0.7))


def test_removing_a_memory_removes_its_connections() -> None:
    graph = ConnectionGraph()
    graph.put("young", links(old=0.7))
    graph.remove("old")
    assert graph.neighbours("young") == ()
    graph.remove("old")


def test_referrers_are_those_whose_record_names_it() -> None:
    graph = ConnectionGraph()
    graph.put("young", links(old=0.7))
    assert graph.referrers("old") == ["young"]
    assert graph.referrers("young") == []


NAMES = st.sampled_from("abcdef")


@given(st.lists(st.tuples(NAMES, st.none() | st.dictionaries(NAMES, st.floats(0, 1), max_size=3))))
def test_whatever_is_put_and_removed_every_connection_has_two_ends(
    steps: list[tuple[str, dict[str, float] | None]],
) -> None:
    graph = ConnectionGraph()
    for name, scores in steps:
        if scores is None:
            graph.remove(name)
        else:
            graph.put(name, [link for link in links(**scores) if link.memory_id > name])
    for name in "abcdef":
        for link in graph.neighbours(name):
            assert Connection(memory_id=name, score=link.score) in graph.neighbours(link.memory_id)
