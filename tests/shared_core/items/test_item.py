from __future__ import annotations

import json
from datetime import datetime, timezone
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core.errors import StoreError
from shared_core.items.item import Item, expiry, item_id, item_of, json_text, json_value, record_of
from shared_core.stores.codec import decode, encode

NOW = datetime(2026, 1, 2, 3, 4, 5, 678_901, tzinfo=timezone.utc)
TEXTS = st.text(st.characters(), max_size=4)
VALUES = st.dictionaries(
    TEXTS,
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
        max_leaves=8,
    ),
    max_size=4,
)


@given(value=VALUES)
def test_json_reads_back_the_same_and_in_order(value: dict[str, Any]) -> None:
    text = json_text(value)
    text.encode("utf-8")
    assert json.loads(text) == value
    assert list(json_value(value)) == list(value)


@given(
    value=VALUES,
    path=st.lists(st.text(min_size=1, max_size=3), max_size=3).map(tuple),
    key=st.text(max_size=3),
    count=st.integers(0, 4),
    ttl=st.none() | st.floats(0, 1e6),
)
def test_an_item_survives_its_record(
    value: dict[str, Any], path: tuple[str, ...], key: str, count: int, ttl: float | None
) -> None:
    vectors = np.random.default_rng(count).normal(size=(count, 5)).astype(np.float32)
    item = Item(path, key, json_text(value), NOW, NOW, ttl, expiry(NOW, ttl))
    record, vector = record_of(item, vectors)
    again, own = item_of(decode(record.id, record.text, encode(record)), vector)
    assert again == item
    assert again.value == value
    np.testing.assert_array_equal(own, vectors)


def test_each_path_and_key_has_an_id_of_its_own() -> None:
    places: list[tuple[tuple[str, ...], str]] = [
        (("a", "b"), "c"),
        (("a",), "b/c"),
        (("ab",), "c"),
        (("a", "b", "c"), ""),
        ((), "abc"),
        (("a,b",), "c"),
        (('a", "b',), "c"),
    ]
    assert len({item_id(path, key) for path, key in places}) == len(places)


def test_a_record_that_is_no_item_is_told() -> None:
    record, vector = record_of(Item(("a",), "k", "{}", NOW, NOW), np.zeros((1, 3), dtype=np.float32))
    with pytest.raises(StoreError, match="no item"):
        item_of(record.model_copy(update={"metadata": {}}), vector)


def test_a_value_changed_by_its_reader_changes_nothing() -> None:
    item = Item(("a",), "k", '{"list": []}', NOW, NOW)
    item.value["list"].append(1)
    assert item.value == {"list": []}
