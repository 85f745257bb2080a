from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from shared_core.embedding.base import FloatArray
from shared_core.errors import StoreError
from shared_core.records import CATEGORIES, KINDS, ROLES, Connection, Memory
from shared_core.stores.codec import decode, decode_vectors, encode, metadata_of
from tests.shared_core.building import NOW, record

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
MOMENTS = st.datetimes(timezones=st.just(timezone.utc))
SCORES = st.floats(0, 1)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda values: st.lists(values, max_size=2) | st.dictionaries(TEXT, values, max_size=2),
    max_leaves=5,
)
MEMORIES = st.builds(
    Memory,
    id=TEXT,
    kind=st.sampled_from(KINDS),
    text=TEXT,
    conversation_id=st.none() | TEXT,
    turn=st.none() | st.integers(0, 2**31 - 1),
    role=st.none() | st.sampled_from(ROLES),
    category=st.none() | st.sampled_from(CATEGORIES),
    importance=SCORES,
    confidence=SCORES,
    occurred_at=st.none() | MOMENTS,
    created_at=MOMENTS,
    updated_at=MOMENTS,
    expires_at=st.none() | MOMENTS,
    mention_count=st.integers(0, 10**6),
    source_ids=st.lists(TEXT, max_size=3).map(tuple),
    connections=st.lists(st.builds(Connection, memory_id=TEXT, score=st.floats(-1, 1)), max_size=3).map(
        tuple
    ),
    superseded_by=st.none() | TEXT,
    is_active=st.booleans(),
    pinned=st.booleans(),
    pending=st.booleans(),
    metadata=st.dictionaries(TEXT, JSON, max_size=3),
)


@given(MEMORIES)
def test_what_is_stored_is_read_again_exactly(memory: Memory) -> None:
    again = decode(memory.id, memory.text, encode(memory))
    assert again == memory
    assert repr(again.metadata) == repr(memory.metadata)


def test_the_text_is_stored_once() -> None:
    assert "long text" not in encode(record("fact-1", text="long text"))


def test_defaults_take_no_room() -> None:
    assert set(json.loads(encode(record("fact-1")))) == {"kind", "created_at", "updated_at"}


def test_kind_and_conversation_stay_readable_in_chroma() -> None:
    memory = record("fact-1", conversation_id="c1")
    metadata = metadata_of(memory, "{}", np.zeros(2, dtype=np.float32))
    assert {**metadata, "vector": None} == {
        "record": "{}",
        "kind": "fact",
        "conversation_id": "c1",
        "vector": None,
    }


@given(arrays(np.float32, 3, elements=st.floats(-1.0, 1.0, width=32)))
def test_a_vector_comes_back_to_the_last_bit(vector: FloatArray) -> None:
    written = metadata_of(record("fact-1"), "{}", vector)["vector"]
    assert decode_vectors(["fact-1"], [str(written)], 3).tobytes() == vector.tobytes()


@pytest.mark.parametrize("text", ["", "no base64!", "AAAA"])
def test_a_vector_that_was_changed_by_hand_is_refused_by_name(text: str) -> None:
    with pytest.raises(StoreError, match="vector of record 'fact-1' cannot be read"):
        decode_vectors(["fact-1"], [text], 3)


@pytest.mark.parametrize(
    "payload",
    [
        "",
        "not json",
        "[]",
        "{}",
        '{"kind": "dream", "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01T00:00:00Z"}',
        '{"kind": "fact", "created_at": "yesterday", "updated_at": "2026-01-01T00:00:00Z"}',
        '{"kind": "fact", "created_at": "2026-01-01T00:00:00Z", "updated_at": "2026-01-01", "new": 1}',
    ],
)
def test_a_record_of_an_unknown_layout_is_refused_by_name(payload: str) -> None:
    with pytest.raises(StoreError, match="record 'fact-1' cannot be read"):
        decode("fact-1", "text", payload)


def test_old_dates_are_read_again() -> None:
    first: Any = datetime(1, 1, 1, tzinfo=timezone.utc)
    assert decode("a", "b", encode(record("a", text="b", created_at=first))).created_at == first
    assert NOW.tzinfo is timezone.utc
