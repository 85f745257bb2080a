from __future__ import annotations

import time
from datetime import datetime, timedelta, timezone
from pathlib import Path

import numpy as np
import pytest

from shared_core import ContextMemory
from shared_core.errors import StoreError
from shared_core.items import DeleteItem, FindItems, GetItem, Item, ListPaths, PathPattern, PutItem
from shared_core.records import Memory
from shared_core.stores.base import Change

NOW = datetime(2026, 1, 1, tzinfo=timezone.utc)


def test_a_batch_reads_the_state_before_it_and_writes_the_last_of_each_key(memory: ContextMemory) -> None:
    items = memory.items()
    put = PutItem(("a",), "k", {"v": 1}, texts=("leek soup",))
    assert items.run([put, GetItem(("a",), "k"), DeleteItem(("a",), "k"), put]) == [None] * 4
    (found,) = items.run([FindItems(("a",), query="soup")])
    assert isinstance(found, list)
    assert found[0].item.value == {"v": 1}  # type: ignore[union-attr]
    assert items.run([ListPaths((PathPattern("suffix", ("a",)),))]) == [[("a",)]]


def test_the_present_is_an_argument(memory: ContextMemory) -> None:
    items = memory.items(omit_expired=True)
    items.run([PutItem(("a",), "k", {}, ttl_minutes=5)], now=NOW)
    get = [GetItem(("a",), "k", refresh=False)]
    (item,) = items.run(get, now=NOW + timedelta(minutes=4))
    assert isinstance(item, Item)
    assert item.created_at == item.updated_at == NOW
    assert items.run(get, now=NOW + timedelta(minutes=5)) == [None]
    assert items.sweep(now=NOW + timedelta(minutes=4)) == 0
    assert items.sweep(now=NOW + timedelta(minutes=5)) == 1


def test_items_written_by_a_clock_that_went_back_keep_their_dates_in_order(memory: ContextMemory) -> None:
    items = memory.items()
    items.run([PutItem(("a",), "k", {"v": 1})], now=NOW)
    items.run([PutItem(("a",), "k", {"v": 2})], now=NOW - timedelta(days=1))
    (item,) = items.run([GetItem(("a",), "k")])
    assert isinstance(item, Item)
    assert item.value == {"v": 2}
    assert item.updated_at >= item.created_at == NOW


def test_records_of_one_purpose_are_refused_by_the_collection_of_the_other(memory: ContextMemory) -> None:
    stray = Memory(id="item-1", kind="item", text="{}", created_at=NOW, updated_at=NOW)
    namespace = memory.opened()
    vectors = np.zeros((1, memory.embedder.dimension), dtype=np.float32)
    with namespace.use(), pytest.raises(StoreError, match="item"):
        namespace.apply(Change(puts=(stray,), vectors=vectors))
    assert memory.list() == []


def test_idle_items_leave_memory_and_come_back(tmp_path: Path) -> None:
    from shared_core.settings import Settings

    with ContextMemory(tmp_path, "a", settings=Settings(resident_limit=1)) as memory:
        items = memory.items()
        items.run([PutItem(("a",), "k", {"v": 1})])
        with memory.for_namespace("b") as other:
            other.list()
            other.items().run([PutItem(("b",), "k", {"v": 2})])
            assert items.run([ListPaths()]) == [[("a",)]]
            assert other.items().run([ListPaths()]) == [[("b",)]]


@pytest.mark.slow
def test_a_search_over_ten_thousand_items_takes_milliseconds(memory: ContextMemory) -> None:
    items = memory.items()
    items.run([PutItem(("u", str(i % 100)), str(i), {"n": i}, texts=(f"value {i}",)) for i in range(10_000)])
    for asked, most in ((FindItems((), query="value 77"), 0.02), (GetItem(("u", "7"), "7"), 0.002)):
        times = []
        for _ in range(20):
            begun = time.perf_counter()
            items.run([asked])
            times.append(time.perf_counter() - begun)
        assert sorted(times)[2] < most
