from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from shared_core import ContextMemory, Settings
from shared_core.extraction.schema import ExtractedBubble, ExtractedFact, Extraction, ExtractionRequest
from shared_core.records import Memory
from tests.shared_core.building import NOW, NotesExtractor, said

TANDEM = "Ada rode her red tandem"


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[ContextMemory]:
    with ContextMemory(tmp_path, extractor=NotesExtractor()) as memory:
        yield memory


def only(memory: ContextMemory, kind: str) -> Memory:
    (found,) = memory.list(kind=kind)  # type: ignore[arg-type]
    return found


# -- facts and triplets ----------------------------------------------------------------------------------


def test_a_fact_said_again_is_counted_and_knows_both_messages(notes: ContextMemory) -> None:
    notes.add(said("fact: Ada lives in Berlin", "m1"), "c1", now=NOW)
    notes.add(said("fact: ada  lives in BERLIN", "m2"), "c2", now=NOW + timedelta(days=1))
    fact = only(notes, "fact")
    assert (fact.text, fact.mention_count) == ("Ada lives in Berlin", 2)
    assert (fact.source_ids, len(fact.sources)) == (("m1", "m2"), 2)
    assert (fact.created_at, fact.updated_at) == (NOW, NOW + timedelta(days=1))


def test_a_fact_counts_the_same_whether_said_in_one_add_or_in_two(notes: ContextMemory) -> None:
    telling = [said("fact: Ada lives in Berlin", f"m{n}") for n in range(3)]
    notes.add(telling)
    with notes.for_namespace("one by one") as one_by_one:
        for message in telling:
            one_by_one.add(message)
        together, apart = only(notes, "fact"), only(one_by_one, "fact")
    assert (together.mention_count, together.source_ids) == (3, ("m0", "m1", "m2"))
    assert (apart.mention_count, apart.source_ids) == (3, ("m0", "m1", "m2"))


def test_a_relation_said_again_is_counted_as_well(notes: ContextMemory) -> None:
    notes.add(said("relation: Ada | works_at | Acme", "m1"))
    notes.add(said("relation: ada | works_at | ACME", "m2"))
    triplet = only(notes, "triplet")
    assert (triplet.text, triplet.mention_count) == ("Ada works at Acme", 2)
    assert (triplet.subject, triplet.predicate, triplet.object) == ("Ada", "works_at", "Acme")


def test_a_fact_that_was_archived_is_active_again_once_it_is_said_again(notes: ContextMemory) -> None:
    notes.add(said("fact: Ada lives in Berlin", "m1"))
    namespace = notes.opened()
    with namespace.use() as index:
        from shared_core.stores.base import Change

        fact = index.stored(index.id_at(int(index.rows_of("fact")[0])))
        row = index.row(fact.id)
        assert row is not None
        namespace.apply(Change(puts=(fact.revised(is_active=False),), vectors=index.vectors.take([row])))
    assert notes.list(kind="fact") == []
    notes.add(said("fact: Ada lives in Berlin", "m2"))
    assert only(notes, "fact").mention_count == 2


def test_a_fact_that_was_changed_by_hand_is_not_changed_back(notes: ContextMemory) -> None:
    notes.add(said("fact: Ada lives in Berlin", "m1"))
    notes.update(only(notes, "fact").id, "Ada lives in Bern")
    for n in (2, 3):
        notes.add(said("fact: Ada lives in Berlin", f"m{n}"))
    assert {fact.text: fact.mention_count for fact in notes.list(kind="fact")} == {
        "Ada lives in Bern": 1,
        "Ada lives in Berlin": 2,
    }


def test_a_deleted_fact_is_learnt_anew_from_new_messages_only(notes: ContextMemory) -> None:
    notes.add(said("fact: Ada lives in Berlin", "m1"))
    notes.delete(only(notes, "fact").id)
    notes.add(said("fact: Ada lives in Berlin", "m1"))
    assert notes.list(kind="fact") == []
    notes.add(said("fact: Ada lives in Berlin", "m2"))
    assert only(notes, "fact").source_ids == ("m2",)


# -- bubbles ---------------------------------------------------------------------------------------------


def test_moments_are_never_merged(notes: ContextMemory) -> None:
    for n in range(3):
        notes.add(said(f"moment: {TANDEM}.", f"m{n}"))
    assert [bubble.source_ids for bubble in notes.list(kind="bubble")] == [("m2",), ("m1",), ("m0",)]


def test_a_moment_without_a_date_happened_when_it_was_said(notes: ContextMemory) -> None:
    notes.add(said(f"moment: {TANDEM}.", "m1", timestamp=NOW - timedelta(days=3)), now=NOW)
    assert only(notes, "bubble").occurred_at == NOW - timedelta(days=3)


def test_what_is_learnt_carries_the_place_of_its_message(notes: ContextMemory) -> None:
    notes.add([said("hello", "m0"), said(f"moment: {TANDEM}.", "m1", name="Ada")], "c1", now=NOW)
    bubble = only(notes, "bubble")
    assert (bubble.conversation_id, bubble.session_id, bubble.turn, bubble.speaker) == (
        "c1",
        "c1:0",
        1,
        "Ada",
    )


# -- connections -----------------------------------------------------------------------------------------


def test_similar_moments_are_connected_and_both_know(notes: ContextMemory) -> None:
    notes.add(said(f"moment: {TANDEM} to work.", "m1"))
    notes.add(said("moment: The tax office wrote a letter.", "m2"))
    notes.add(said(f"moment: {TANDEM} to the lake.", "m3"))
    lake, tax, work = notes.list(kind="bubble")
    assert [connection.memory_id for connection in lake.connections] == [work.id]
    assert [connection.memory_id for connection in work.connections] == [lake.id]
    assert lake.connections[0].score == work.connections[0].score
    assert tax.connections == ()


def test_a_connection_is_seen_from_both_ends_after_reopening(notes: ContextMemory) -> None:
    notes.add(said(f"moment: {TANDEM} to work.", "m1"))
    notes.add(said(f"moment: {TANDEM} to the lake.", "m2"))
    before = [bubble.connections for bubble in notes.list(kind="bubble")]
    notes.opened().drop_index()
    assert [bubble.connections for bubble in notes.list(kind="bubble")] == before
    assert all(before)


def test_a_moment_connects_to_at_most_5_others_the_strongest(notes: ContextMemory) -> None:
    for n in range(8):
        notes.add(said(f"moment: {TANDEM} on day {n}.", f"m{n}"))
    newest = notes.list(kind="bubble")[0]
    with notes.opened().use() as index:
        assert len(index.stored(newest.id).connections) == 5
    scores = [connection.score for connection in newest.connections]
    assert scores == sorted(scores, reverse=True)


def test_moments_of_one_add_are_connected_but_not_those_of_one_message(notes: ContextMemory) -> None:
    notes.add(
        [
            said(f"moment: {TANDEM} to work.\nmoment: {TANDEM} home again.", "m1"),
            said(f"moment: {TANDEM} to the lake.", "m2"),
        ]
    )
    bubbles = {bubble.text: bubble for bubble in notes.list(kind="bubble")}
    for bubble in bubbles.values():
        others = [notes.get(connection.memory_id) for connection in bubble.connections]
        assert others
        assert all(other is not None and set(other.sources).isdisjoint(bubble.sources) for other in others)


def test_the_threshold_and_the_limit_are_settings(tmp_path: Path) -> None:
    for name, settings, expected in [
        ("strict", Settings(connection_threshold=1.0), 0),
        ("none", Settings(connection_limit=0), 0),
        ("two", Settings(connection_limit=2, connection_threshold=0.1), 2),
    ]:
        with ContextMemory(tmp_path / name, extractor=NotesExtractor(), settings=settings) as memory:
            for n in range(4):
                memory.add(said(f"moment: {TANDEM} on day {n}.", f"m{n}"))
            newest = memory.list(kind="bubble")[0]
            assert len(newest.connections) == expected


def test_nothing_connects_to_a_version_that_was_replaced(notes: ContextMemory) -> None:
    notes.add(said(f"moment: {TANDEM} to work.", "m1"))
    first = only(notes, "bubble")
    notes.update(first.id, f"{TANDEM} to work in the rain.")
    notes.add(said(f"moment: {TANDEM} to work.", "m2"))
    newest = notes.list(kind="bubble")[0]
    assert [connection.memory_id for connection in newest.connections] == [first.id]


class TwoSources:
    """Finds one moment and one fact that two messages tell together."""

    is_slow = False
    name = "two sources"

    def extract(self, request: ExtractionRequest) -> Extraction:
        return Extraction(
            bubbles=(ExtractedBubble(text="Ada asked and Grace agreed.", sources=(0, 1)),),
            facts=(ExtractedFact(text="Ada and Grace are partners", sources=(1, 0)),),
        )


def test_a_memory_of_two_messages_names_both_first_mention_first(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, extractor=TwoSources()) as memory:
        memory.add([said("Shall we?", "m1"), said("Yes!", "m2")], "c1")
        assert only(memory, "bubble").source_ids == ("m1", "m2")
        assert only(memory, "fact").source_ids == ("m1", "m2")
        hits = memory.search("Ada and Grace are partners", limit=10)
        assert len(hits) == 1


def test_a_fact_that_was_changed_by_hand_and_said_again_is_one_fact_whatever_its_case(
    notes: ContextMemory,
) -> None:
    notes.add(said("fact: Ada lives in Berlin", "m1"))
    notes.update(only(notes, "fact").id, "Ada lives in Bern")
    notes.add(said("fact: Ada lives in Berlin", "m2"))
    notes.add(said("fact: ada lives in BERLIN", "m3"))
    found = {fact.text: fact.source_ids for fact in notes.list(kind="fact")}
    assert found == {"Ada lives in Bern": ("m1",), "Ada lives in Berlin": ("m2", "m3")}
