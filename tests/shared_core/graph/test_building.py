from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

from shared_core import ContextMemory
from shared_core.graph import MemoryGraph
from shared_core.records import Memory
from tests.shared_core.building import NOW, NotesExtractor, opened_namespace, record, said, write


def stated(memory_id: str, subject: str, predicate: str, obj: str, **fields: object) -> Memory:
    fields = {"kind": "triplet", "text": f"{memory_id}: {subject} {predicate} {obj}", **fields}
    return record(memory_id, subject=subject, predicate=predicate, object=obj, **fields)  # type: ignore[arg-type]


def graph_of(folder: Path, *records: Memory, include_superseded: bool = False) -> MemoryGraph:
    with opened_namespace(folder) as namespace:
        write(namespace, *records)
        with ContextMemory(folder) as memory:
            return memory.graph(include_superseded=include_superseded, now=NOW)


def said_in(graph: MemoryGraph) -> set[str]:
    return {str(one) for one in graph.relations()}


def test_an_empty_memory_has_an_empty_graph(memory: ContextMemory) -> None:
    graph = memory.graph()
    assert len(graph) == 0
    assert graph.to_dict() == {"entities": [], "relations": []}


def test_spellings_are_one_entity_named_as_most_often(tmp_path: Path) -> None:
    graph = graph_of(
        tmp_path,
        stated("a", "Alex", "uses", "webmcp"),
        stated("b", "Bea", "uses", "WebMCP", mention_count=3),
        stated("c", "the WebMCP", "needs", "Chrome"),
    )
    entity = graph.entity("WEBMCP")
    assert (entity.name, entity.type, entity.mention_count) == ("WebMCP", "technology", 5)
    assert entity.aliases == ("webmcp", "the WebMCP")
    assert entity.memory_ids == ("a", "b", "c")


def test_a_fact_and_the_triplet_of_one_message_are_one_mention_of_one_relation(memory: ContextMemory) -> None:
    memory.add(said("I work at Acme.", "m1", timestamp=NOW), "c1")
    memory.add(said("Yes, I work at Acme.", "m2", timestamp=NOW + timedelta(days=2)), "c2")
    (relation,) = memory.graph().relations()
    assert (str(relation), relation.mention_count, relation.current) == ("User works_at Acme", 2, True)
    assert [memory_id[:3] for memory_id in relation.memory_ids] == ["tri", "fac"]
    assert relation.conversations == ("c1", "c2")
    assert len(relation.sessions) == 2
    assert relation.source_ids == ("m1", "m2")
    assert (relation.first_mentioned, relation.last_mentioned) == (NOW, NOW + timedelta(days=2))


def test_the_user_and_their_name_are_one_person(memory: ContextMemory) -> None:
    memory.add(said("My name is Alex."), "c1")
    memory.add(said("I live in Berlin."), "c2")
    memory.relate("Alex", "works on", "WebMCP")
    graph = memory.graph()
    alex = graph.entity("user")
    assert (alex.name, alex.aliases, alex.type) == ("Alex", ("User",), "person")
    assert said_in(graph) == {"Alex lives_in Berlin", "Alex works_on WebMCP"}
    assert alex.conversations == ("c1", "c2")
    assert [one.name for one in graph.across_conversations()] == ["Alex"]


def test_a_name_that_was_withdrawn_joins_nothing(tmp_path: Path) -> None:
    graph = graph_of(
        tmp_path,
        stated("a", "User", "name", "Alex", superseded_by="b"),
        stated("c", "User", "uses", "Vim"),
        stated("d", "Alex", "uses", "Emacs"),
    )
    assert {one.name for one in graph.entities()} == {"User", "Alex", "Vim", "Emacs"}


def test_a_name_stated_in_words_alone_is_enough(memory: ContextMemory) -> None:
    memory.remember("User's name is Alex", category="name")
    memory.relate("User", "uses", "Vim")
    memory.relate("Alex", "uses", "Emacs")
    assert said_in(memory.graph()) == {"Alex uses Vim", "Alex uses Emacs"}


def test_what_is_no_longer_so_is_left_out_unless_asked_for(tmp_path: Path) -> None:
    records = (
        stated("old", "Alex", "lives_in", "Paris", kind="fact", superseded_by="new"),
        stated("old triplet", "Alex", "lives_in", "Paris"),
        stated("new", "Alex", "lives_in", "Berlin", kind="fact"),
    )
    graph = graph_of(tmp_path, *records)
    assert said_in(graph) == {"Alex lives_in Berlin"}
    assert "Paris" not in graph
    both = graph_of(tmp_path, *records, include_superseded=True)
    assert {str(one): one.current for one in both.relations()} == {
        "Alex lives_in Berlin": True,
        "Alex lives_in Paris": False,
    }


def test_a_relation_stated_again_after_it_was_superseded_holds_again(tmp_path: Path) -> None:
    graph = graph_of(
        tmp_path,
        stated("old", "Alex", "lives_in", "Paris", kind="fact", superseded_by="new"),
        stated("again", "Alex", "lives_in", "Paris", updated_at=NOW + timedelta(days=1)),
    )
    assert said_in(graph) == {"Alex lives_in Paris"}
    assert graph.relations()[0].memory_ids == ("again",)


def test_a_fact_changed_by_hand_no_longer_says_the_relation(memory: ContextMemory) -> None:
    memory.add(said("I work at Acme."))
    (fact,) = memory.list(kind="fact")
    memory.update(fact.id, "User works at Globex")
    assert said_in(memory.graph()) == set()


def test_what_expired_or_was_archived_is_left_out(tmp_path: Path) -> None:
    graph = graph_of(
        tmp_path,
        stated("a", "Alex", "uses", "Vim", expires_at=NOW),
        stated("b", "Alex", "uses", "Nano", is_active=False),
        stated("c", "Alex", "uses", "Emacs"),
    )
    assert said_in(graph) == {"Alex uses Emacs"}


def test_a_thing_like_one_of_a_known_type_is_of_that_type(tmp_path: Path) -> None:
    graph = graph_of(
        tmp_path, stated("a", "Kim", "uses", "FastAPI"), stated("b", "FastAPI", "related_to", "Python")
    )
    assert graph.entity("Python").type == "technology"


def test_a_conversation_has_a_graph_of_its_own(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, extractor=NotesExtractor()) as memory:
        memory.add(said("relation: Alex | uses | Vim"), "c1")
        memory.add(said("relation: Alex | uses | Emacs"), "c2")
        memory.add(said("relation: Alex | uses | Vim"), "c2")
        assert said_in(memory.graph("c1")) == {"Alex uses Vim"}
        assert said_in(memory.graph("c2")) == {"Alex uses Vim", "Alex uses Emacs"}
        assert len(memory.graph("nowhere")) == 0
        assert memory.graph("c1").entity("Vim").conversations == ("c1", "c2")


def test_sessions_of_one_conversation_are_linked_as_well(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, extractor=NotesExtractor()) as memory:
        for days in (0, 3):
            memory.add(
                said("relation: Alex | uses | Vim", f"m{days}", timestamp=NOW + timedelta(days=days)), "c1"
            )
        graph = memory.graph()
        assert graph.across_conversations() == []
        assert {one.name for one in graph.across_sessions()} == {"Alex", "Vim"}


def test_what_was_erased_is_gone_from_the_graph(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, extractor=NotesExtractor()) as memory:
        memory.add(said("relation: Alex | uses | Vim", "m1"), "c1")
        memory.add(said("relation: Alex | uses | Emacs", "m2"), "c2")
        memory.erase(conversation_id="c1")
        assert "Vim" not in json.dumps(memory.graph().to_dict())


async def test_the_async_twin_gives_the_same_graph(memory: ContextMemory) -> None:
    memory.relate("Alex", "uses", "Vim")
    assert (await memory.agraph()).to_dict() == memory.graph().to_dict()
