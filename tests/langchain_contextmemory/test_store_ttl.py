"""Times to live: when items go, what a read renews, and who deletes them."""

from __future__ import annotations

import gc
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import GetOp, PutOp

from langchain_contextmemory import ContextMemoryStore
from shared_core import ContextMemory
from shared_core import items as core
from shared_core.items import GetItem

#: Minutes of a time to live that is over before the next line.
AT_ONCE = 1e-6
LONG = 60.0


def store_of(memory: ContextMemory, **ttl: Any) -> ContextMemoryStore:
    return ContextMemoryStore(memory, ttl=ttl or None)  # type: ignore[arg-type]


def keys(store: ContextMemoryStore, **options: Any) -> list[str]:
    return [item.key for item in store.search((), refresh_ttl=False, **options)]


def expiry_of(memory: ContextMemory, key: str) -> float:
    """When the item of namespace ``n`` and that key expires, in seconds, as it is stored."""
    (item,) = memory.items().run([GetItem(("n",), key, refresh=False)])
    assert isinstance(item, core.Item)
    assert item.expires_at is not None
    return item.expires_at.timestamp()


def pause() -> None:
    time.sleep(0.005)


def test_the_store_says_that_it_knows_times_to_live(memory: ContextMemory) -> None:
    assert ContextMemoryStore.supports_ttl
    assert store_of(memory).ttl_config is None
    assert store_of(memory, default_ttl=3).ttl_config == {"default_ttl": 3}


def test_an_expired_item_goes_with_the_next_sweep(memory: ContextMemory) -> None:
    store = store_of(memory)
    store.put(("n",), "short", {"v": "apple"}, ttl=AT_ONCE)
    store.put(("n",), "long", {"v": "apple"}, ttl=LONG)
    store.put(("n",), "ever", {"v": "apple"})
    pause()
    assert keys(store) == ["short", "long", "ever"]
    assert store.sweep_ttl() == 1
    assert store.sweep_ttl() == 0
    assert keys(store, filter={"v": "apple"}) == ["long", "ever"]
    assert store.get(("n",), "short") is None


def test_the_default_holds_where_a_put_says_nothing(memory: ContextMemory) -> None:
    store = store_of(memory, default_ttl=AT_ONCE)
    store.put(("n",), "default", {})
    store.put(("n",), "none", {}, ttl=None)
    store.put(("n",), "own", {}, ttl=LONG)
    pause()
    assert store.sweep_ttl() == 1
    assert keys(store) == ["none", "own"]


def test_a_put_without_time_to_live_ends_the_earlier_one(memory: ContextMemory) -> None:
    store = store_of(memory)
    store.put(("n",), "a", {}, ttl=AT_ONCE)
    store.put(("n",), "a", {})
    pause()
    assert store.sweep_ttl() == 0


@pytest.mark.parametrize("how", ["get", "search"])
def test_a_read_begins_the_time_to_live_anew_unless_told_not_to(memory: ContextMemory, how: str) -> None:
    def read(store: ContextMemoryStore, **options: Any) -> None:
        if how == "get":
            assert store.get(("n",), "a", **options) is not None
        else:
            assert len(store.search(("n",), **options)) == 1

    store, lazy = store_of(memory), store_of(memory, refresh_on_read=False)
    store.put(("n",), "a", {"v": 1}, ttl=0.01)
    before = store.get(("n",), "a", refresh_ttl=False)
    first = expiry_of(memory, "a")
    time.sleep(0.05)
    read(store, refresh_ttl=False)
    read(lazy)
    assert expiry_of(memory, "a") == first
    read(store)
    assert expiry_of(memory, "a") > first + 0.03
    second = expiry_of(memory, "a")
    time.sleep(0.02)
    read(lazy, refresh_ttl=True)
    assert expiry_of(memory, "a") > second
    after = store.get(("n",), "a", refresh_ttl=False)
    assert before == after  # a read changes no date of the item


def test_a_read_right_after_another_writes_nothing(memory: ContextMemory) -> None:
    store = store_of(memory)
    store.put(("n",), "a", {"v": 1}, ttl=LONG)
    first = expiry_of(memory, "a")
    for _ in range(3):
        store.get(("n",), "a")
    assert expiry_of(memory, "a") == first


def test_a_renewed_item_keeps_its_vectors_and_survives_the_process(tmp_path: Path) -> None:
    with ContextMemory(tmp_path) as memory:
        store = store_of(memory)
        store.put(("n",), "a", {"x": "leek soup", "y": "bridge"}, index=["x", "y"], ttl=0.02)
        before = [item.score for query in ("soup", "bridge") for item in store.search((), query=query)]
        time.sleep(0.02)
        store.get(("n",), "a")
        renewed = expiry_of(memory, "a")
    with ContextMemory(tmp_path) as memory:
        store = store_of(memory)
        assert expiry_of(memory, "a") == renewed
        after = [
            item.score
            for query in ("soup", "bridge")
            for item in store.search((), query=query, refresh_ttl=False)
        ]
        assert after == before


def test_a_put_in_the_same_batch_goes_before_the_renewal_by_a_read(memory: ContextMemory) -> None:
    store = store_of(memory)
    store.batch([PutOp(("n",), key, {"v": 1}, ttl=0.001) for key in "ab"])
    time.sleep(0.01)
    store.batch(
        [GetOp(("n",), "a"), PutOp(("n",), "a", {"v": 2}), GetOp(("n",), "b"), PutOp(("n",), "b", None)]
    )
    assert [item.value for item in store.search(())] == [{"v": 2}]


def test_expired_items_are_hidden_from_every_read_where_wanted(memory: ContextMemory) -> None:
    store = store_of(memory, omit_expired=True, default_ttl=LONG)
    store.put(("old",), "a", {"v": 1}, ttl=AT_ONCE)
    store.put(("new",), "b", {"v": 1}, ttl=None)
    pause()
    for _ in range(2):
        assert store.get(("old",), "a", refresh_ttl=True) is None
        assert [item.key for item in store.search((), refresh_ttl=True)] == ["b"]
        assert [item.key for item in store.search((), query="v", filter={"v": 1})] == ["b"]
        assert store.list_namespaces() == [("new",)]
    assert keys(store_of(memory)) == ["a", "b"]  # it still stands there, and no read has revived it
    assert store.sweep_ttl() == 1


@pytest.mark.parametrize("ttl", [{}, {"omit_expired": False}])
def test_expired_items_are_read_until_swept_otherwise(memory: ContextMemory, ttl: dict[str, Any]) -> None:
    store = store_of(memory, **ttl)
    store.put(("n",), "a", {"v": 1}, ttl=AT_ONCE)
    pause()
    assert store.get(("n",), "a", refresh_ttl=False) is not None
    assert keys(store) == ["a"]
    assert store.list_namespaces() == [("n",)]


def test_hidden_items_take_no_place_on_a_page(memory: ContextMemory) -> None:
    store = store_of(memory, omit_expired=True)
    for key in ("a", "x", "b", "y", "c"):
        store.put(("n",), key, {"k": key}, ttl=AT_ONCE if key in "xy" else None)
    pause()
    pages = [keys(store, limit=2, offset=offset) for offset in (0, 2)]
    assert pages == [["a", "b"], ["c"]]


@pytest.mark.parametrize("ttl", [-1, float("nan"), float("inf"), 1e300, "5", True, timedelta(minutes=1)])
def test_a_time_to_live_that_is_no_number_of_minutes_is_refused(memory: ContextMemory, ttl: Any) -> None:
    store = store_of(memory)
    with pytest.raises(ValueError, match="ttl"):
        store.put(("n",), "a", {}, ttl=ttl)
    assert keys(store) == []


def wait_until_gone(store: ContextMemoryStore, seconds: float = 10.0) -> None:
    latest = time.monotonic() + seconds
    while keys(store):
        assert time.monotonic() < latest, "the sweeper did not come"
        time.sleep(0.01)


def test_the_sweeper_deletes_at_intervals_until_stopped(memory: ContextMemory) -> None:
    store = store_of(memory, default_ttl=AT_ONCE, sweep_interval_minutes=0.0005)
    ended = store.start_ttl_sweeper()
    assert store.start_ttl_sweeper() is ended
    store.put(("n",), "a", {})
    wait_until_gone(store)
    assert store.stop_ttl_sweeper(timeout=10)
    assert ended.done()
    store.put(("n",), "b", {})
    time.sleep(0.1)
    assert keys(store) == ["b"]
    again = store.start_ttl_sweeper(0.0005)
    wait_until_gone(store)
    assert not again.done()
    again.cancel()
    assert store.stop_ttl_sweeper(timeout=10)
    assert store.stop_ttl_sweeper()


def test_leaving_the_store_stops_the_sweeper(memory: ContextMemory) -> None:
    with store_of(memory) as store:
        ended = store.start_ttl_sweeper(0.0005)
    assert ended.done()
    assert not [thread for thread in threading.enumerate() if thread.name == "contextmemory-sweeper"]


def test_a_sweeper_whose_memory_was_closed_logs_it_and_can_be_stopped(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    memory = ContextMemory(tmp_path)
    store = store_of(memory)
    memory.close()
    store.start_ttl_sweeper(0.0002)
    latest = time.monotonic() + 10
    while "is closed" not in caplog.text and time.monotonic() < latest:
        time.sleep(0.01)
    assert "is closed" in caplog.text
    assert store.stop_ttl_sweeper(10)


def test_a_store_that_is_let_go_of_takes_its_sweeper_along(memory: ContextMemory) -> None:
    store = store_of(memory)
    ended = store.start_ttl_sweeper(0.0005)
    del store
    gc.collect()
    ended.result(timeout=10)


@pytest.mark.parametrize("minutes", [-1, "1"])
def test_an_interval_that_is_no_number_is_refused(memory: ContextMemory, minutes: Any) -> None:
    with pytest.raises(ValueError, match="sweep_interval_minutes"):
        store_of(memory).start_ttl_sweeper(minutes)


async def test_times_to_live_hold_for_async_calls(memory: ContextMemory) -> None:
    async with store_of(memory, default_ttl=AT_ONCE, omit_expired=True) as store:
        await store.aput(("n",), "a", {"v": 1})
        await store.aput(("n",), "b", {"v": 1}, ttl=LONG)
        pause()
        assert await store.aget(("n",), "a") is None
        assert [item.key for item in await store.asearch(())] == ["b"]
        assert await store.alist_namespaces() == [("n",)]
        assert await store.asweep_ttl() == 1
