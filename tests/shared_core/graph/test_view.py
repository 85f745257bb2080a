from __future__ import annotations

import json
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core import ContextMemory
from shared_core.graph import Entity, MemoryGraph, Relation
from tests.shared_core.building import NOW

#: The graph that seed 004 draws, with its cycle between Python and FastAPI.
SEED = (
    ("Alex", "works_on", "WebMCP"),
    ("Alex", "prefers", "Python"),
    ("WebMCP", "uses", "React"),
    ("WebMCP", "uses", "PG-Lite"),
    ("WebMCP", "uses", "Drizzle"),
    ("Python", "uses", "FastAPI"),
    ("FastAPI", "related_to", "Python"),
)


def graph(*triples: tuple[str, str, str]) -> MemoryGraph:
    names = dict.fromkeys(name for first, _, second in triples for name in (first, second))
    entities = [Entity(name, "thing", (), 1, NOW, NOW, ("m",), (), ()) for name in names]
    relations = [
        Relation(*triple, 1.0, 1, True, f"m{place}", (f"m{place}",), NOW, NOW, (), (), ())
        for place, triple in enumerate(dict.fromkeys(triples))
    ]
    return MemoryGraph(entities, relations)


def test_a_path_keeps_the_direction_of_each_relation() -> None:
    path = graph(*SEED).path("react", "fastapi")
    assert path is not None
    assert [str(step) for step in path] == [
        "WebMCP uses React",
        "Alex works_on WebMCP",
        "Alex prefers Python",
        "FastAPI related_to Python",
    ]


def test_a_path_is_bounded_and_none_where_there_is_no_way() -> None:
    seed = graph(*SEED, ("Bea", "likes", "Tea"))
    assert seed.path("React", "FastAPI", max_hops=3) is None
    assert seed.path("React", "Tea", max_hops=100) is None
    assert seed.path("React", "React") == []


def test_a_neighbourhood_ends_in_cycles_and_says_how_far_each_thing_is() -> None:
    seed = graph(*SEED)
    near = seed.neighbourhood("alex", hops=1)
    assert dict(near.distances) == {"Alex": 0, "WebMCP": 1, "Python": 1}
    assert {str(one) for one in near.relations} == {"Alex works_on WebMCP", "Alex prefers Python"}
    everything = seed.neighbourhood("Alex", hops=50)
    assert {one.name for one in everything.entities} == {one.name for one in seed.entities()}
    assert len(everything.relations) == len(SEED)
    assert json.loads(json.dumps(everything.to_dict()))["centre"] == "Alex"


def test_a_directed_walk_goes_from_subject_to_object_only() -> None:
    seed = graph(*SEED)
    assert set(seed.neighbourhood("WebMCP", directed=True).distances) == {
        "WebMCP",
        "React",
        "PG-Lite",
        "Drizzle",
    }
    assert set(seed.neighbourhood("Python", hops=9, directed=True).distances) == {"Python", "FastAPI"}


def test_a_thing_related_to_itself_is_walked_past() -> None:
    loop = graph(("A", "calls", "A"), ("A", "calls", "B"))
    assert dict(loop.neighbourhood("A", hops=3).distances) == {"A": 0, "B": 1}
    assert [str(one) for one in loop.path("A", "B") or ()] == ["A calls B"]


triples = st.lists(st.tuples(st.sampled_from("ABCDEF"), st.just("r"), st.sampled_from("ABCDEF")), min_size=1)


@given(triples, st.integers(1, 7))
def test_a_path_is_as_long_as_its_end_is_far(drawn: list[tuple[str, str, str]], hops: int) -> None:
    made = graph(*drawn)
    start = drawn[0][0]
    distances = made.neighbourhood(start, hops).distances
    for entity in made.entities():
        path = made.path(start, entity.name, hops)
        assert (None if path is None else len(path)) == distances.get(entity.name)


def test_an_unknown_name_is_quoted_with_those_like_it() -> None:
    seed = graph(*SEED)
    with pytest.raises(ValueError, match="no entity 'Recat': did you mean 'React'"):
        seed.entity("Recat")
    with pytest.raises(ValueError, match="no entity 'Quux' among its 7: see entities"):
        seed.path("Alex", "Quux")
    with pytest.raises(ValueError, match="no entity 'Alex': it is empty"):
        graph().neighbourhood("Alex")


@pytest.mark.parametrize("name", ["", "  ", None, 3])
def test_a_name_that_is_none_is_refused(name: object) -> None:
    seed = graph(*SEED)
    with pytest.raises(ValueError, match="is not a non-empty string"):
        seed.entity(name)  # type: ignore[arg-type]
    assert name not in seed


@pytest.mark.parametrize("hops", [0, -1, 1.5, True, "2"])
def test_hops_that_are_no_count_are_refused(hops: int) -> None:
    with pytest.raises(ValueError, match="hops"):
        graph(*SEED).neighbourhood("Alex", hops)
    with pytest.raises(ValueError, match="max_hops"):
        graph(*SEED).path("Alex", "React", hops)


def test_networkx_holds_every_entity_and_relation_with_its_fields() -> None:
    drawn = graph(*SEED, ("Alex", "likes", "Python")).networkx()
    assert drawn.is_directed()
    assert drawn.is_multigraph()
    assert set(drawn["Alex"]["Python"]) == {"prefers", "likes"}
    assert drawn["Alex"]["WebMCP"]["works_on"]["mention_count"] == 1
    assert drawn.nodes["React"]["type"] == "thing"
    drawn.remove_node("Alex")  # a copy: the next is whole


def test_a_graph_is_json(memory: ContextMemory) -> None:
    memory.relate("Alex", "uses", "Vim", confidence=0.8)
    told = json.loads(json.dumps(memory.graph().to_dict()))
    assert [one["name"] for one in told["entities"]] == ["Alex", "Vim"]
    (relation,) = told["relations"]
    assert (relation["predicate"], relation["confidence"], relation["current"]) == ("uses", 0.8, True)


def test_a_snapshot_stays_as_it_was(memory: ContextMemory) -> None:
    memory.relate("Alex", "uses", "Vim")
    before = memory.graph()
    memory.relate("Alex", "uses", "Emacs")
    assert "Emacs" not in before
    assert "Emacs" in memory.graph()


def test_networkx_is_loaded_only_when_it_is_asked_for() -> None:
    code = (
        "import sys, tempfile; from shared_core import ContextMemory\n"
        "with tempfile.TemporaryDirectory() as folder, ContextMemory(folder) as memory:\n"
        "    memory.relate('a', 'b', 'c'); graph = memory.graph(); graph.path('a', 'c')\n"
        "    assert 'networkx' not in sys.modules\n"
        "    graph.networkx(); assert 'networkx' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
