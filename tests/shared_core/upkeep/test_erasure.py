from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from shared_core import ContextMemory, Settings
from tests.shared_core.building import NOW, NotesExtractor, chroma_client, evicting, said

SECRET = "zanzibar"


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[ContextMemory]:
    settings = Settings(buffer_messages=4, buffer_evict=3)
    with ContextMemory(tmp_path, extractor=NotesExtractor(), settings=settings) as memory:
        yield memory


def everything(memory: ContextMemory) -> list[str]:
    """Every text and every metadata of a namespace, as it is stored and in whatever state."""
    memory.opened().drop_index()
    listed = memory.list(limit=10_000, include_archived=True, include_superseded=True)
    return [one.model_dump_json() for one in listed]


def assert_no_trace(memory: ContextMemory, folder: Path, word: str = SECRET) -> None:
    assert not [one for one in everything(memory) if word in one.casefold()]
    assert all(word not in hit.memory.casefold() for hit in memory.search(word, limit=100))
    memory.close()
    with chroma_client(folder) as client:
        for collection in client.list_collections():
            stored = collection.get()
            assert word not in f"{stored['documents']} {stored['metadatas']}".casefold()


def test_erasing_a_message_takes_along_what_was_learnt_only_from_it(
    notes: ContextMemory, tmp_path: Path
) -> None:
    notes.add(
        [
            said(
                f"fact: Ada hides in {SECRET}\nmoment: Ada flew to {SECRET}.\nrelation: Ada | in | {SECRET}",
                "m1",
            ),
            said("fact: Ada rides a tandem", "m2"),
        ],
        "c1",
    )
    assert notes.erase(message_id="m1") == 4
    assert sorted(one.kind for one in notes.list()) == ["fact", "message"]
    assert_no_trace(notes, tmp_path)


def test_a_fact_of_two_messages_loses_one_source_and_belongs_to_the_other(notes: ContextMemory) -> None:
    notes.add(said("fact: Ada rides", "m1", name="Ada", metadata={"app": "one"}), "c1", now=NOW)
    notes.add(
        said("fact: Ada rides", "m2", name="Bob", metadata={"app": "two"}), "c2", now=NOW + timedelta(days=1)
    )
    assert notes.erase(conversation_id="c1") == 1
    (fact,) = notes.list(kind="fact")
    assert (fact.source_ids, fact.mention_count) == (("m2",), 1)
    assert (fact.conversation_id, fact.session_id, fact.turn) == ("c2", "c2:0", 0)
    assert (fact.created_at, fact.speaker, fact.metadata) == (NOW + timedelta(days=1), "Bob", {"app": "two"})
    assert notes.list(conversation_id="c1") == []
    assert [one.kind for one in notes.list(conversation_id="c2", kind="fact")] == ["fact"]


def test_a_summary_is_written_anew_without_what_was_erased(notes: ContextMemory, tmp_path: Path) -> None:
    words = [
        "I bought a red tandem yesterday.",
        f"I hid the key in {SECRET} yesterday.",
        "I met Grace at the lake.",
    ]
    notes.add([said(text, f"m{n}") for n, text in enumerate([*words, "Fine.", "Well."])], "c1")
    (summary,) = evicting(notes)
    assert SECRET in summary.text
    notes.update(summary.id, f"Ada hid something in {SECRET}, by hand.")
    notes.erase(message_id="m1")
    (rewritten,) = evicting(notes)
    assert rewritten.source_ids == ("m0", "m2")
    assert "tandem" in rewritten.text
    assert_no_trace(notes, tmp_path)


def test_a_summary_of_nothing_is_erased(notes: ContextMemory) -> None:
    notes.add([said(f"I counted to {n} today.", f"m{n}") for n in range(5)], "c1")
    assert len(evicting(notes)) == 1
    for n in range(3):
        notes.erase(message_id=f"m{n}")
    assert evicting(notes) == []
    assert [one.message_id for one in notes.list(kind="message")] == ["m4", "m3"]


def test_a_summary_whose_last_message_was_erased_is_dated_by_the_one_before(notes: ContextMemory) -> None:
    moments = [NOW + timedelta(minutes=n) for n in range(5)]
    notes.add([said(f"I counted to {n} today.", f"m{n}", timestamp=at) for n, at in enumerate(moments)], "c1")
    notes.erase(message_id="m2")
    (summary,) = evicting(notes)
    assert (summary.turn, summary.occurred_at, summary.created_at) == (1, moments[1], moments[1])


def test_earlier_versions_of_what_was_learnt_go_with_it(notes: ContextMemory, tmp_path: Path) -> None:
    notes.add(said(f"fact: Ada hides in {SECRET}", "m1"), "c1")
    (fact,) = notes.list(kind="fact")
    notes.update(fact.id, "Ada hides in Bern")
    notes.update(fact.id, "Ada hides in Berlin")
    assert notes.erase(message_id="m1") == 4
    assert everything(notes) == []
    assert_no_trace(notes, tmp_path)


def test_no_connection_points_at_what_was_erased(notes: ContextMemory) -> None:
    for n in range(3):
        notes.add(said(f"moment: Ada rode her red tandem on day {n}.", f"m{n}"), "c1")
    gone = next(one for one in notes.list(kind="bubble") if one.source_ids == ("m0",))
    notes.erase(message_id="m0")
    left = notes.list(kind="bubble")
    assert [len(one.connections) for one in left] == [1, 1]
    assert not [one for one in everything(notes) if gone.id in one]


def test_erasing_a_conversation_leaves_the_others(notes: ContextMemory) -> None:
    notes.add([said(f"fact: Ada knows {n}", f"m{n}") for n in range(8)], "c1")
    notes.add(said("fact: Ada rides a tandem", "m0"), "c2")
    notes.erase(conversation_id="c1")
    assert sorted(one.text for one in notes.list()) == ["Ada rides a tandem", "fact: Ada rides a tandem"]
    assert notes.erase(conversation_id="c1") == 0


def test_erasing_everything_empties_one_namespace_and_it_can_be_used_again(notes: ContextMemory) -> None:
    other = notes.for_namespace("other")
    other.add(said("Hello.", "m1"))
    notes.add(said("fact: Ada rides", "m1"))
    assert notes.erase(everything=True) == 2
    assert notes.list() == []
    assert notes.namespaces() == ["other"]
    notes.add(said("fact: Ada walks", "m1"))
    assert len(notes.list()) == 2
    assert len(other.list()) == 1
    other.close()


def test_an_erased_id_may_be_used_again_with_another_text(notes: ContextMemory) -> None:
    notes.add(said("one text", "m1"), "c1")
    notes.erase(message_id="m1", conversation_id="c1")
    notes.add(said("another text", "m1"), "c1")
    assert [one.text for one in notes.list()] == ["another text"]


def test_the_neighbours_of_an_erased_message_become_neighbours(notes: ContextMemory) -> None:
    notes.add([said("The lake was frozen.", "m0"), said("Hm.", "m1"), said("Walking was fun.", "m2")], "c1")
    notes.erase(message_id="m1")
    notes.add(said("Indeed.", "m3"), "c1")
    assert [one.turn for one in notes.list(kind="message")] == [3, 2, 0]
    with notes.opened().use() as index:
        first, second = (index.row(one.id) for one in reversed(notes.list(kind="message")[1:]))
        assert first is not None
        assert index.columns["after"][first] == second


def test_deleting_a_message_erases_it(notes: ContextMemory) -> None:
    notes.add([said("fact: Ada rides", "m1"), said("fact: Ada walks", "m2")], "c1")
    message = notes.get("m1")
    assert message is not None
    assert notes.delete(message.id) is True
    assert notes.delete(message.id) is False
    assert sorted(one.text for one in notes.list()) == ["Ada walks", "fact: Ada walks"]


def test_deleting_a_memory_takes_its_history_and_leaves_its_message(notes: ContextMemory) -> None:
    notes.add(said("fact: Ada rides", "m1"), "c1")
    (fact,) = notes.list(kind="fact")
    notes.update(fact.id, "Ada walks")
    assert notes.delete(fact.id) is True
    assert len(everything(notes)) == 1
    assert notes.history(fact.id) == []


def test_deleting_a_summary_gives_its_messages_back_to_the_buffer(notes: ContextMemory) -> None:
    notes.add([said(f"I counted to {n} today.", f"m{n}") for n in range(5)], "c1")
    (summary,) = evicting(notes)
    notes.delete(summary.id)
    with notes.opened().use() as index:
        assert len(index.buffered("c1")) == 5
    notes.add(said("One more.", "m5"), "c1")
    assert [one.source_ids for one in evicting(notes)] == [("m0", "m1", "m2")]


def test_a_search_scores_as_if_the_erased_had_never_been(notes: ContextMemory) -> None:
    notes.add(
        [said("zebra zebra zebra", "m1"), said("A zebra stood at the gate of the zoo.", "m2")], "c1", now=NOW
    )
    notes.add(said("The bus was late.", "m3"), "c2", now=NOW)
    notes.erase(message_id="m1")
    kept = notes.search("zebra", now=NOW)
    notes.opened().drop_index()
    loaded = notes.search("zebra", now=NOW)
    assert [hit.memory_id for hit in kept] == [hit.memory_id for hit in loaded]
    assert [hit.score for hit in kept] == pytest.approx([hit.score for hit in loaded], abs=1e-6)
