"""The index of items against a plain dictionary, through every sequence of writes."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared_core.items import index as module
from shared_core.items.index import ItemIndex
from shared_core.items.item import Item, expiry, item_id, record_of

NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)
DIMENSION = 4
PATHS = st.lists(st.sampled_from(["a", "b", "ab"]), min_size=1, max_size=3).map(tuple)
WRITES = st.lists(
    st.tuples(PATHS, st.sampled_from("xyz"), st.integers(0, 3), st.booleans(), st.booleans()), max_size=30
)


def item_at(path: tuple[str, ...], key: str, place: int, *, expires: bool = False) -> Item:
    moment = NOW + timedelta(seconds=place)
    ttl = 1.0 if expires else None
    return Item(path, key, f'{{"place": {place}}}', moment, moment, ttl, expiry(moment, ttl))


def put(index: ItemIndex, item: Item, vectors: np.ndarray) -> None:
    record, vector = record_of(item, vectors)
    index.put_all([record], [""], vector[np.newaxis])


@settings(max_examples=100)
@given(writes=WRITES)
def test_the_index_holds_what_was_written_last(
    writes: list[tuple[tuple[str, ...], str, int, bool, bool]],
) -> None:
    index = ItemIndex(DIMENSION)
    model: dict[str, tuple[Item, np.ndarray]] = {}
    random = np.random.default_rng(0)
    for place, (path, key, count, expires, removes) in enumerate(writes):
        if removes:
            index.remove(item_id(path, key))
            model.pop(item_id(path, key), None)
            continue
        item = item_at(path, key, place, expires=expires)
        vectors = random.normal(size=(count, DIMENSION)).astype(np.float32)
        put(index, item, vectors)
        model[item.id] = item, vectors
    assert set(index) == set(model)
    assert len(index) == len(model)
    query = random.normal(size=DIMENSION).astype(np.float32)
    later = NOW + timedelta(seconds=70)
    for prefix in {(), *(item.path[:depth] for item, _ in model.values() for depth in (1, 2, 3))}:
        wanted = [pair for pair in model.values() if pair[0].path[: len(prefix)] == prefix]
        rows = index.rows_under(prefix)
        assert {item.id for item in index.items(rows)} == {item.id for item, _ in wanted}
        for item, score in zip(index.items(rows), index.similarities(rows, query), strict=True):
            products = model[item.id][1] @ query
            best = np.clip(products.max(), -1, 1) if len(products) else np.nan
            np.testing.assert_allclose(score, best, rtol=1e-4, atol=1e-5)
        living = index.items(index.rows_under(prefix, unexpired_at=later))
        assert {item.id for item in living} == {item.id for item, _ in wanted if not item.is_expired(later)}
    assert index.paths() == sorted({item.path for item, _ in model.values()})
    assert set(index.expired(later)) == {key for key, (item, _) in model.items() if item.is_expired(later)}


def test_rows_come_the_oldest_path_first_whatever_the_order_of_writing() -> None:
    order = [(("b",), "1"), (("a",), "2"), (("b",), "3"), (("a", "c"), "4"), (("a",), "5")]
    items = [item_at(path, key, place) for place, (path, key) in enumerate(order)]
    for permutation in ([0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 4, 0, 1, 3]):
        index = ItemIndex(DIMENSION)
        for place in permutation:
            put(index, items[place], np.empty((0, DIMENSION), dtype=np.float32))
        found = [item.key for item in index.items(index.rows_under(()))]
        assert found == ["1", "3", "2", "5", "4"]


def test_an_index_of_many_dead_rows_is_rebuilt_with_the_same_content() -> None:
    index = ItemIndex(DIMENSION)
    vectors = np.eye(DIMENSION, dtype=np.float32)[:2]
    for place in range(module.COMPACT_FROM_ROWS + 3):
        put(index, item_at(("a",), str(place % 3), place), vectors)
    fresh = index.compacted()
    assert fresh is not index
    assert fresh.compacted() is fresh
    assert sorted(fresh) == sorted(index)
    for record_id in index:
        assert fresh.get(record_id) == index.get(record_id)
        np.testing.assert_array_equal(fresh.vectors_of(record_id), vectors)


@pytest.mark.parametrize("count", [1, 300])
def test_few_and_many_candidates_get_the_same_scores(count: int) -> None:
    index = ItemIndex(DIMENSION)
    random = np.random.default_rng(1)
    for place in range(1_000):
        path = ("few",) if place < count else ("many",)
        put(
            index, item_at(path, str(place), place), random.normal(size=(2, DIMENSION)).astype(np.float32) / 9
        )
    query = random.normal(size=DIMENSION).astype(np.float32)
    every, few = index.rows_under(()), index.rows_under(("few",))
    by_row = dict(zip(every.tolist(), index.similarities(every, query), strict=True))
    np.testing.assert_allclose(
        index.similarities(few, query), [by_row[row] for row in few.tolist()], rtol=1e-5, atol=1e-6
    )
