from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from shared_core import ContextMemory
from shared_core.records import KINDS
from shared_core.retrieval.filters import SEARCHED_KINDS, Filters
from tests.shared_core.building import NOW, NotesExtractor, days_before, message_record, record, said, write


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ContextMemory]:
    """One of each; only read."""
    with ContextMemory(tmp_path_factory.mktemp("filters"), extractor=NotesExtractor()) as opened:
        write(
            opened.opened(),
            message_record("m0", 0, created_at=days_before(10), metadata={"mood": "good", "n": 1}),
            message_record("m1", 1, session_id="c:1", created_at=days_before(2), metadata={"mood": "bad"}),
            message_record("m2", 0, conversation_id="d", created_at=days_before(1)),
            record("fact-name", category="name", conversation_id="c", metadata={"mood": "good"}),
            record("fact-work", category="work", conversation_id="d", superseded_by="fact-name"),
            record("bub-old", "bubble", occurred_at=days_before(100), is_active=False),
            record("bub-new", "bubble", occurred_at=days_before(3), created_at=NOW),
            record("sum-1", "summary", conversation_id="c", session_id="c:0"),
            record("tri-1", "triplet"),
            record("blk-1", "block"),
            record("fact-gone", expires_at=days_before(1)),
        )
        yield opened


def listed(memory: ContextMemory, **filters: Any) -> set[str]:
    """The texts without their beginning."""
    return {one.text.removeprefix("text of ") for one in memory.list(limit=100, now=NOW, **filters)}


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, {"m0", "m1", "m2", "fact-name", "bub-new", "sum-1", "tri-1", "blk-1"}),
        ({"kind": "message"}, {"m0", "m1", "m2"}),
        ({"kind": ["fact", "block"]}, {"fact-name", "blk-1"}),
        ({"kind": ("triplet",)}, {"tri-1"}),
        ({"kind": "fact", "include_superseded": True}, {"fact-name", "fact-work"}),
        ({"kind": "bubble", "include_archived": True}, {"bub-new", "bub-old"}),
        ({"category": "name"}, {"fact-name"}),
        ({"category": "work"}, set()),
        ({"conversation_id": "c"}, {"m0", "m1", "fact-name", "sum-1"}),
        ({"conversation_id": "nowhere"}, set()),
        ({"session_id": "c:0"}, {"m0", "sum-1"}),
        ({"session_id": "nowhere"}, set()),
        ({"kind": "message", "since": days_before(2)}, {"m1", "m2"}),
        ({"kind": "message", "until": days_before(2)}, {"m0"}),
        ({"kind": "message", "since": days_before(2), "until": days_before(1).isoformat()}, {"m1"}),
        ({"since": NOW, "until": days_before(1)}, set()),
        ({"kind": "bubble", "since": days_before(4), "until": days_before(2)}, {"bub-new"}),
        ({"metadata": {"mood": "good"}}, {"m0", "fact-name"}),
        ({"metadata": {"mood": "good", "n": 1}}, {"m0"}),
        ({"metadata": {"mood": None}}, set()),
        ({"metadata": {"missing": None}}, set()),
        ({"metadata": {}}, {"m0", "m1", "m2", "fact-name", "bub-new", "sum-1", "tri-1", "blk-1"}),
        ({"metadata": {"mood": ["good"]}}, set()),
        ({"conversation_id": "c", "kind": "fact", "metadata": {"mood": "good"}}, {"fact-name"}),
    ],
    ids=lambda value: repr(sorted(value) if isinstance(value, set) else value),
)
def test_a_listing_returns_what_fulfils_all_filters(
    memory: ContextMemory, filters: dict[str, Any], expected: set[str]
) -> None:
    assert listed(memory, **filters) == expected


def test_a_search_fulfils_the_same_filters(memory: ContextMemory) -> None:
    chosen: list[dict[str, Any]] = [
        {"kind": "message"},
        {"conversation_id": "c"},
        {"metadata": {"mood": "good"}},
        {"category": "name"},
    ]
    for filters in chosen:
        found = {
            hit.memory.removeprefix("text of ")
            for hit in memory.search("text of", limit=50, now=NOW, **filters)
        }
        assert found
        assert found <= listed(memory, **filters)


def test_a_search_leaves_core_memory_to_the_context(memory: ContextMemory) -> None:
    assert set(KINDS) - set(SEARCHED_KINDS) == {"block"}
    assert "block" not in {hit.type for hit in memory.search("text of blk-1", limit=50, now=NOW)}
    assert {hit.type for hit in memory.search("text of blk-1", limit=50, now=NOW, kind="block")} == {"block"}


def test_expiry_counts_from_the_present_that_is_given(memory: ContextMemory) -> None:
    earlier = memory.list(kind="fact", now=days_before(1) - timedelta(seconds=1))
    assert "text of fact-gone" in {one.text for one in earlier}


def test_nested_metadata_is_compared_as_a_whole(tmp_path_factory: pytest.TempPathFactory) -> None:
    with ContextMemory(tmp_path_factory.mktemp("nested")) as memory:
        memory.add(said("hello", "m1", metadata={"a": {"b": [1, {"c": None}]}}))
        assert len(memory.list(metadata={"a": {"b": [1, {"c": None}]}})) == 1
        assert memory.list(metadata={"a": {"b": [1]}}) == []


def test_filters_of_nothing_allow_the_default_kinds() -> None:
    assert Filters.of({}, conversation_id=None, default_kinds=("fact",)).kinds == ("fact",)
    assert Filters().kinds == KINDS
