"""Async calls and threads: the loop goes on, calls that wait together are done together, nothing is lost."""

from __future__ import annotations

import asyncio
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from langgraph.store.base import GetOp, InvalidNamespaceError, ListNamespacesOp, PutOp, SearchOp

from langchain_contextmemory import ContextMemoryStore
from shared_core import ContextMemory
from shared_core.errors import EmbeddingError
from tests.langchain_contextmemory.store_building import LetterEmbeddings, TableEmbeddings


@pytest.fixture
def store(memory: ContextMemory) -> ContextMemoryStore:
    return ContextMemoryStore(memory)


async def test_each_async_method_does_what_its_twin_does(store: ContextMemoryStore) -> None:
    await store.aput(("n", "x"), "a", {"text": "leek soup"})
    await store.aput(("n", "y"), "b", {"text": "bridge"}, index=False)
    item = await store.aget(("n", "x"), "a")
    assert item is not None
    assert item == store.get(("n", "x"), "a")
    assert await store.asearch(("n",), query="soup") == store.search(("n",), query="soup")
    assert await store.alist_namespaces(prefix=("n",)) == [("n", "x"), ("n", "y")]
    await store.adelete(("n", "x"), "a")
    assert await store.aget(("n", "x"), "a") is None
    with pytest.raises(InvalidNamespaceError):
        await store.aput(("a.b",), "k", {})
    with pytest.raises(InvalidNamespaceError):
        await store.abatch([GetOp(("a.b",), "k")])


async def test_an_async_batch_answers_in_order_from_the_state_before_it(store: ContextMemoryStore) -> None:
    await store.aput(("t", "x"), "a", {"data": 1})
    results = await store.abatch(
        [
            SearchOp(("t",)),
            PutOp(("t", "y"), "b", {"data": 2}),
            GetOp(("t", "y"), "b"),
            ListNamespacesOp(),
            GetOp(("t", "x"), "a"),
        ]
    )
    assert [type(result).__name__ for result in results] == ["list", "NoneType", "NoneType", "list", "Item"]
    assert results[3] == [("t", "x")]


async def test_thousands_of_calls_at_once_are_done_together(store: ContextMemoryStore) -> None:
    calls: list[Any] = []
    for turn in range(5):
        for i in range(100):
            namespace = ("t", "deep", str(turn % 2))
            calls += [
                store.aput(namespace, f"key{i}", {"v": i}, index=False),
                store.aget(namespace, f"key{i}"),
                store.alist_namespaces(max_depth=turn + 1),
                store.asearch(("t",)),
                store.aput(namespace, f"key{i}", {"v": turn}, index=False),
            ]
            if turn < 3:
                calls.append(store.adelete(namespace, f"key{i}"))
    begun = time.monotonic()
    assert len(await asyncio.gather(*calls)) == len(calls) == 2_800
    assert time.monotonic() - begun < 30  # one write each would take longer
    found = await store.asearch(("t",), limit=1_000)
    assert sorted({(item.namespace[-1], item.value["v"]) for item in found}) == [("0", 4), ("1", 3)]
    assert len(found) == 200


async def test_of_calls_done_together_only_the_one_at_fault_fails(memory: ContextMemory) -> None:
    store = ContextMemoryStore(memory, index={"dims": 3, "embed": TableEmbeddings(), "fields": ["text"]})
    results = await asyncio.gather(
        store.aput(("n",), "a", {"text": "near"}),
        store.aput(("n",), "b", {"text": "unknown"}),
        store.asearch(("n",), filter={"v": {"$in": 1}}),
        store.aput(("n",), "c", {"text": "across"}),
        return_exceptions=True,
    )
    assert [type(result) for result in results] == [type(None), EmbeddingError, ValueError, type(None)]
    assert [item.key for item in await store.asearch(("n",))] == ["a", "c"]


async def test_a_value_is_taken_as_it_is_when_the_call_is_made(store: ContextMemoryStore) -> None:
    value = {"v": 1}
    waiting = asyncio.ensure_future(store.aput(("n",), "a", value))
    await asyncio.sleep(0)
    value["v"] = 2
    await waiting
    item = await store.aget(("n",), "a")
    assert item is not None
    assert item.value == {"v": 1}


async def test_a_cancelled_call_leaves_the_others_alone(store: ContextMemoryStore) -> None:
    calls = [asyncio.ensure_future(store.aput(("n",), str(i), {"i": i})) for i in range(5)]
    await asyncio.sleep(0)
    calls[2].cancel()
    results = await asyncio.gather(*calls, return_exceptions=True)
    assert [type(result) for result in results].count(asyncio.CancelledError) == 1
    assert {"0", "1", "3", "4"} <= {item.key for item in await store.asearch(("n",))}


class SlowEmbeddings(LetterEmbeddings):
    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        time.sleep(0.3)
        return super().embed_documents(texts)


async def test_the_event_loop_goes_on_while_a_store_is_slow(memory: ContextMemory) -> None:
    store = ContextMemoryStore(memory, index={"dims": 500, "embed": SlowEmbeddings()})
    put = asyncio.ensure_future(store.aput(("n",), "a", {"text": "x"}))
    longest, ticks = 0.0, 0
    while not put.done():
        begun = time.monotonic()
        await asyncio.sleep(0.005)
        longest, ticks = max(longest, time.monotonic() - begun), ticks + 1
    assert ticks > 10
    assert longest < 0.2


def test_a_store_serves_one_event_loop_after_another(store: ContextMemoryStore) -> None:
    for i in range(3):
        asyncio.run(store.aput(("n",), str(i), {"i": i}))
    assert [item.key for item in asyncio.run(store.asearch(("n",)))] == ["0", "1", "2"]


async def test_sync_calls_work_inside_a_loop_too(store: ContextMemoryStore) -> None:
    store.put(("n",), "a", {"v": 1})
    item = await store.aget(("n",), "a")
    assert item is not None


def test_threads_and_loops_at_once_lose_nothing(store: ContextMemoryStore) -> None:
    def write(mark: str) -> None:
        for i in range(10):
            store.put(("n", mark), str(i), {"i": i})
            assert store.get(("n", mark), str(i)) is not None
            store.search(("n",), query=mark)

    async def write_async() -> None:
        await asyncio.gather(*(store.aput(("n", "async"), str(i), {"i": i}) for i in range(10)))

    with ThreadPoolExecutor(8) as pool:
        done = [pool.submit(write, f"thread{n}") for n in range(6)]
        done += [pool.submit(asyncio.run, write_async())]
        for one in done:
            one.result()
    assert len(store.search(("n",), limit=1_000)) == 70
    assert threading.active_count() < 100
