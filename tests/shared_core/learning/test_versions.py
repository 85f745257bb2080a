from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from shared_core import ContextMemory
from tests.shared_core.building import NotesExtractor, opened_namespace, record, said, write


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[ContextMemory]:
    with ContextMemory(tmp_path, extractor=NotesExtractor()) as memory:
        yield memory


def fact_id(memory: ContextMemory, text: str = "Ada lives in Berlin") -> str:
    memory.add(said(f"fact: {text}"))
    return next(one.id for one in memory.list(kind="fact") if one.text == text)


def test_an_update_changes_what_is_found_and_keeps_what_was(notes: ContextMemory) -> None:
    known = fact_id(notes)
    updated = notes.update(known, "Ada lives in Bern")
    assert (updated.id, updated.text) == (known, "Ada lives in Bern")
    assert notes.get(known) == updated
    assert [one.text for one in notes.list(kind="fact")] == ["Ada lives in Bern"]
    assert [hit.memory for hit in notes.search("Where does Ada live?", kind="fact")] == ["Ada lives in Bern"]
    assert [one.text for one in notes.history(known)] == ["Ada lives in Berlin", "Ada lives in Bern"]


def test_a_version_that_was_replaced_says_by_what(notes: ContextMemory) -> None:
    known = fact_id(notes)
    notes.update(known, "Ada lives in Bern")
    earlier, current = notes.history(known)
    assert (earlier.superseded_by, earlier.is_current) == (known, False)
    assert current.is_current
    assert len(notes.list(kind="fact", include_superseded=True)) == 2


def test_a_history_of_many_versions_is_in_order(notes: ContextMemory) -> None:
    known = fact_id(notes)
    for n in range(12):
        notes.update(known, f"Ada lives in town {n}")
    told = [one.text for one in notes.history(known)]
    assert told == ["Ada lives in Berlin", *(f"Ada lives in town {n}" for n in range(12))]
    notes.opened().drop_index()
    assert [one.text for one in notes.history(known)] == told


def test_the_history_can_be_asked_of_any_version(notes: ContextMemory) -> None:
    known = fact_id(notes)
    notes.update(known, "Ada lives in Bern")
    earlier = notes.history(known)[0]
    assert notes.history(earlier.id) == notes.history(known)


def test_an_update_of_an_earlier_version_updates_the_current_one(notes: ContextMemory) -> None:
    known = fact_id(notes)
    notes.update(known, "Ada lives in Bern")
    assert notes.update(notes.history(known)[0].id, "Ada lives in Basel").id == known
    assert [one.text for one in notes.history(known)] == [
        "Ada lives in Berlin",
        "Ada lives in Bern",
        "Ada lives in Basel",
    ]


def test_an_update_keeps_sources_mentions_and_connections(notes: ContextMemory) -> None:
    notes.add(said("moment: Ada rode her red tandem to work.", "m1"))
    notes.add(said("moment: Ada rode her red tandem to the lake.", "m2"))
    second, first = notes.list(kind="bubble")
    for bubble in (first, second):
        updated = notes.update(bubble.id, f"{bubble.text} It rained.")
        assert updated.source_ids == bubble.source_ids
        assert notes.get(bubble.id).connections == bubble.connections  # type: ignore[union-attr]
    notes.opened().drop_index()
    assert [one.connections for one in notes.list(kind="bubble")] == [second.connections, first.connections]


def test_a_message_stays_as_it_was_said(notes: ContextMemory) -> None:
    notes.add(said("hello", "m1"))
    (message,) = notes.list(kind="message")
    with pytest.raises(ValueError, match="is a message, which stays as it was said"):
        notes.update(message.id, "goodbye")


def test_an_update_of_nothing_is_refused_and_quoted(notes: ContextMemory) -> None:
    with pytest.raises(ValueError, match="there is no memory 'fact-nowhere'"):
        notes.update("fact-nowhere", "text")


def test_an_earlier_version_can_be_deleted_alone(notes: ContextMemory) -> None:
    known = fact_id(notes)
    notes.update(known, "Ada lives in Bern")
    notes.update(known, "Ada lives in Basel")
    assert notes.delete(notes.history(known)[0].id)
    assert [one.text for one in notes.history(known)] == ["Ada lives in Bern", "Ada lives in Basel"]
    notes.update(known, "Ada lives in Biel")
    assert [one.text for one in notes.history(known)][-1] == "Ada lives in Biel"
    assert len(notes.history(known)) == 3


def test_a_record_that_says_it_replaced_itself_has_a_history_all_the_same(tmp_path: Path) -> None:
    with opened_namespace(tmp_path) as namespace, ContextMemory(tmp_path) as memory:
        write(namespace, record("a", superseded_by="b"), record("b", superseded_by="a"))
        write(namespace, record("c", superseded_by="c"))
        assert [one.id for one in memory.history("a")] == ["a", "b"]
        assert memory.history("c")


def test_a_context_holds_a_core_block_as_it_is_now(tmp_path: Path) -> None:
    with opened_namespace(tmp_path) as namespace, ContextMemory(tmp_path) as memory:
        write(namespace, record("focus", "block", "Ada builds a bridge", title="Focus"))
        memory.update("focus", "Ada builds a tower")
        text = memory.context().text
        assert "tower" in text
        assert "bridge" not in text
