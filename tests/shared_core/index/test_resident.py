from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from shared_core.index.resident import COMPACT_FROM_ROWS, ResidentIndex
from shared_core.records import Connection, Memory
from shared_core.stores.codec import encode
from tests.shared_core.building import EMBEDDER, message_record, record
from tests.shared_core.index.dump import dump, scores

QUERIES = [(text, EMBEDDER.embed_query(text)) for text in ("text of m1", "fact")]


def put(index: ResidentIndex, *memories: Memory) -> None:
    index.put_all(
        memories,
        [encode(memory) for memory in memories],
        EMBEDDER.embed([memory.text for memory in memories]),
    )


def filled(*memories: Memory) -> ResidentIndex:
    index = ResidentIndex(EMBEDDER.dimension)
    put(index, *memories)
    return index


def learnt(memory_id: str, *messages: Memory, **fields: Any) -> Memory:
    """A fact from these messages."""
    return record(
        memory_id,
        sources=tuple(message.id for message in messages),
        source_ids=tuple(message.message_id or "" for message in messages),
        **fields,
    )


M0, M1, M2 = (message_record(f"m{turn}", turn) for turn in range(3))


def source_of(index: ResidentIndex, memory_id: str) -> str | None:
    row = index.row(memory_id)
    assert row is not None
    source = int(index.columns["source"][row])
    return None if source < 0 else index.id_at(source)


def test_the_source_of_a_memory_is_the_first_of_its_messages_in_whatever_order_they_come() -> None:
    fact = learnt("fact-1", M1, M0)
    for order in ((M0, M1, fact), (fact, M1, M0), (M1, fact, M0), (fact, M0, M1)):
        assert source_of(filled(*order), "fact-1") == M1.id


def test_the_source_goes_with_its_message_and_no_other() -> None:
    index = filled(M0, M1, learnt("fact-1", M0, M1))
    index.remove(M1.id)
    assert source_of(index, "fact-1") == M0.id
    index.remove(M0.id)
    assert source_of(index, "fact-1") is None


def test_neighbours_are_those_of_one_session() -> None:
    other_session = message_record("m3", 3, session_id="c:3")
    index = filled(M2, other_session, M0, M1)
    rows = [index.row(message.id) for message in (M0, M1, M2, other_session)]
    after = [int(index.columns["after"][row]) for row in rows if row is not None]
    assert after == [rows[1], rows[2], -1, -1]


def test_a_replaced_text_gets_a_new_row_and_the_old_one_dies() -> None:
    index = filled(M0, record("fact-1", text="before"))
    old = index.row("fact-1")
    put(index, record("fact-1", text="after"))
    assert index.row("fact-1") != old
    assert not index.columns["alive"][old]
    assert len(index) == 2


def test_a_changed_record_with_the_same_text_keeps_its_row() -> None:
    index = filled(record("fact-1"))
    old = index.row("fact-1")
    put(index, record("fact-1", mention_count=5))
    assert index.row("fact-1") == old
    assert index.columns["mentions"][old] == 5


def test_a_summary_that_was_replaced_covers_nothing() -> None:
    summary = learnt("sum-1", M0, M1).model_copy(update={"kind": "summary", "title": "buffer"})
    earlier = summary.model_copy(update={"id": "sum-1~1", "superseded_by": "sum-1", "text": "earlier"})
    for order in ((summary, earlier), (earlier, summary)):
        index = filled(M0, M1, M2, *order)
        assert index.summary_of(M0.id) == "sum-1"
        assert [index.id_at(row) for row in index.buffered("c")] == [M2.id]
        index.remove("sum-1~1")
        assert index.summary_of(M0.id) == "sum-1"


def test_pending_messages_are_known_until_they_are_cleared() -> None:
    index = filled(M0.model_copy(update={"pending": True}), M1)
    assert index.pending == {M0.id}
    put(index, M0)
    assert index.pending == frozenset()


def test_removing_what_is_not_there_is_harmless() -> None:
    index = filled(M0)
    index.remove("nothing")
    index.remove(M0.id)
    index.remove(M0.id)
    assert len(index) == 0
    assert "c" not in index.conversations


def test_messages_are_found_by_their_callers_id() -> None:
    elsewhere = message_record("m0", 0, conversation_id="d")
    index = filled(M0, M1, elsewhere)
    assert index.messages_named("m0") == [M0.id, elsewhere.id]
    assert index.messages_named("m0", "d") == [elsewhere.id]
    assert index.messages_named("m9") == []


def test_compacting_changes_nothing_but_the_rows() -> None:
    index = filled(M0, M1, M2, learnt("fact-1", M1), record("bub-1", "bubble"))
    put(
        index,
        record("bub-2", "bubble", connections=(Connection(memory_id="bub-1", score=0.9),), metadata={"a": 1}),
    )
    assert index.compacted() is index
    vector = np.zeros(EMBEDDER.dimension, dtype=np.float32)
    for number in range(COMPACT_FROM_ROWS + 1):
        busy = record("fact-busy", text=f"version {number}")
        index.put(busy, encode(busy), vector)
    smaller = index.compacted()
    assert smaller is not index
    assert len(smaller.columns) == len(smaller) == 7
    assert dump(smaller) == dump(index)
    assert scores(smaller, QUERIES) == pytest.approx(scores(index, QUERIES), abs=1e-5)
