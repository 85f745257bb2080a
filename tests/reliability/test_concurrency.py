"""Many at once on one namespace: no lost update, no deadlock, no blocked event loop."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from chromadb import HttpClient
from chromadb.config import Settings as ChromaSettings

from shared_core import ContextMemory
from shared_core.stores.chroma import INDEX, ChromaStore
from shared_core.stores.lease import Lease
from tests.reliability.concurrency_workers import (
    HOLDER,
    SERVED,
    Ticker,
    Written,
    in_threads,
    index_equals_rebuilt,
    mixed_operations,
    python,
    replies,
)
from tests.reliability.event_loop import measure_add, mixed_task
from tests.shared_core.building import EMBEDDER, NotesExtractor, chroma_client, said
from tests.shared_core.stores.test_server import Server

#: A loop that stands still for longer has been blocked by us, not by a busy machine.
GENEROUS_MS = 2_000.0
FIRST = "The bell is silent"

SECOND = """
import sys, time
from shared_core import ContextMemory
from shared_core.errors import StoreLockedError
import shared_core.stores.chroma
started = time.monotonic()
try:
    ContextMemory(sys.argv[1])
except StoreLockedError as error:
    print(time.monotonic() - started, error)
"""


def agree(memory: ContextMemory, fact: str, written: Sequence[Written]) -> None:
    """Nothing that a worker was told is written has gone."""
    stored = {one.message_id for one in memory.list(kind="message", limit=10_000)}
    assert stored == {message for one in written for message in one.messages}
    told = [text for one in written for text in one.texts]
    history = [version.text for version in memory.history(fact)]
    assert history[0] == FIRST
    assert sorted(history[1:]) == sorted(told)
    (lake,) = [
        one for one in memory.list(kind="fact", limit=10_000) if one.text == "Everybody likes the lake"
    ]
    assert lake.mention_count == sum(one.mentions for one in written)
    for worker, one in enumerate(written):
        assert one.own == f"Worker {worker} keeps {one.mentions - 1} bees"
    assert not [one for one in memory.list(limit=10_000) if "sneezed" in one.text]
    assert index_equals_rebuilt(memory)


def run_threads(memory: ContextMemory, *, threads: int, rounds: int) -> None:
    fact = memory.remember(FIRST).id
    written = in_threads(threads, lambda worker: mixed_operations(memory, worker, rounds, fact))
    agree(memory, fact, written)


def test_sixteen_threads_lose_no_update(memory: ContextMemory) -> None:
    run_threads(memory, threads=16, rounds=1)


@pytest.mark.slow
def test_sixteen_threads_lose_no_update_for_long(memory: ContextMemory) -> None:
    run_threads(memory, threads=16, rounds=15)


def test_siblings_of_one_namespace_lose_no_update(memory: ContextMemory) -> None:
    fact = memory.remember(FIRST).id

    def work(worker: int) -> Written:
        with memory.for_namespace(memory.namespace) as sibling:
            return mixed_operations(sibling, worker, 2, fact)

    agree(memory, fact, in_threads(4, work))


async def run_tasks(memory: ContextMemory, tasks: int) -> float:
    """So many tasks at once; for how long the loop stood still, in ms, at most."""
    fact = memory.remember(FIRST).id
    memory.search("warm")
    memory.context("warm")
    async with Ticker() as ticker:
        done = asyncio.gather(*(mixed_task(memory, number, fact) for number in range(tasks)))
        texts = await asyncio.wait_for(done, timeout=120)
    assert memory.history(fact)[0].text == FIRST
    assert sorted(one.text for one in memory.history(fact)[1:]) == sorted(filter(None, texts))
    messages = {one.message_id for one in memory.list(kind="message", limit=10_000)}
    assert messages == {f"t{number}" for number in range(0, tasks, 4)}
    (lake,) = [
        one for one in memory.list(kind="fact", limit=10_000) if one.text == "Everybody likes the lake"
    ]
    assert lake.mention_count == tasks // 4
    assert index_equals_rebuilt(memory)
    return ticker.longest_ms


async def test_two_hundred_tasks_lose_nothing_and_the_loop_goes_on(memory: ContextMemory) -> None:
    blocked = await run_tasks(memory, 200)
    print(f"event loop blocked for {blocked:.1f} ms at most")
    assert blocked < GENEROUS_MS


async def test_a_big_add_leaves_the_loop_alone(memory: ContextMemory) -> None:
    stalls = await measure_add(memory, 300)
    print(f"event loop blocked for {stalls.longest_ms:.1f} ms at most")
    assert stalls.longest_ms < GENEROUS_MS


@pytest.mark.parametrize("records", [1, 20, 300])
async def test_what_chroma_alone_does_to_the_loop_is_told(tmp_path: Path, records: int) -> None:
    """Its core keeps the interpreter's lock for the whole of a write: no design of ours can do better."""
    vectors = EMBEDDER.embed([f"I rode tandem {n} to the lake." for n in range(records)])
    metadatas: Any = [{"kind": "fact", "record": "{}" * 200, "vector": "A" * 1_368} for _ in range(records)]
    with chroma_client(tmp_path) as client:
        collection = client.get_or_create_collection("alone", configuration=INDEX, embedding_function=None)  # type: ignore[arg-type]
        gaps = []
        for turn in range(5):
            ids = [f"{turn}.{n}" for n in range(records)]
            async with Ticker() as ticker:
                await asyncio.to_thread(
                    collection.upsert, ids=ids, documents=ids, embeddings=vectors, metadatas=metadatas
                )
                await asyncio.sleep(0.01)
            gaps.append(ticker.longest_ms)
    print(f"Chroma alone, {records} records: loop blocked for {min(gaps):.1f} to {max(gaps):.1f} ms")
    assert min(gaps) < GENEROUS_MS


async def test_a_cancelled_task_leaves_the_memory_usable(memory: ContextMemory) -> None:
    tasks = [
        asyncio.create_task(memory.aadd(said(f"Hello {n}, I like tea.", f"m{n}"), "c")) for n in range(20)
    ]
    await asyncio.sleep(0.02)
    for task in tasks[::2]:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    stored = {one.message_id for one in await memory.amessages("c")}
    assert stored >= {f"m{n}" for n in range(1, 20, 2)}
    assert index_equals_rebuilt(memory)


# -- several processes -----------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    running = Server(tmp_path_factory.mktemp("server"))
    try:
        running.wait_until_ready()
        yield running.port
    finally:
        running.stop()


@contextmanager
def processes(port: int, names: str, namespace: str = "shared") -> Iterator[list[subprocess.Popen[str]]]:
    started = [python(SERVED, port, name, namespace) for name in names]
    try:
        yield started
    finally:
        for process in started:
            process.kill()
            process.communicate()


def holding(port: int) -> Lease:
    """The right to change something on the server, taken over from who is silent for 0.6 s."""
    client = HttpClient("127.0.0.1", port, settings=ChromaSettings(anonymized_telemetry=False))
    return Lease(ChromaStore(client), "contextmemory-held", held_seconds=0.6, wait_seconds=20)


@contextmanager
def leaseholder(port: int) -> Iterator[subprocess.Popen[str]]:
    process = python(HOLDER, port)
    try:
        yield process
    finally:
        process.kill()
        process.wait(20)
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def test_four_processes_on_a_server_see_what_each_other_has_written(port: int) -> None:
    with processes(port, "abcd") as four:
        written = []
        for round_number in range(2):
            written += replies(four, f"add lake{round_number}")
            assert replies(four, "seen") == [sorted(written)] * 4
        assert len(written) == 8
        for found in replies(four, "found Who rode to lake1?"):
            assert {f"{name}-lake1" for name in "abcd"} <= set(found)


def test_two_processes_that_change_one_fact_end_as_if_one_had_come_first(port: int) -> None:
    client = HttpClient("127.0.0.1", port, settings=ChromaSettings(anonymized_telemetry=False))
    with ContextMemory(client, "shared", extractor=NotesExtractor()) as memory, processes(port, "xy") as two:
        facts = [memory.remember(f"{FIRST} number {n}").id for n in range(4)]
        for number, fact in enumerate(facts):
            texts = replies(two, f"update {fact}")
            one, other = replies(two, f"history {fact}")
            assert one == other == [version.text for version in memory.history(fact)]
            assert one[0] == f"{FIRST} number {number}"
            assert sorted(one[1:]) == sorted(texts)


def test_four_processes_that_say_one_thing_at_once_are_all_counted(port: int) -> None:
    client = HttpClient("127.0.0.1", port, settings=ChromaSettings(anonymized_telemetry=False))
    with ContextMemory(client, "shared") as memory, processes(port, "stuv") as four:
        for _ in range(3):
            replies(four, "remember The lake is cold in May")
        (fact,) = (one for one in memory.list(kind="fact", limit=1_000) if one.text.startswith("The lake is"))
        assert fact.mention_count == 12
        assert memory.namespaces() == ["shared"]


def test_processes_that_write_one_conversation_share_no_turn(port: int) -> None:
    client = HttpClient("127.0.0.1", port, settings=ChromaSettings(anonymized_telemetry=False))
    with ContextMemory(client, "shared") as memory, processes(port, "jkl") as three:
        for n in range(3):
            replies(three, f"say {n}")
        assert [one.turn for one in memory.messages("one for all")] == list(range(9))


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="a process cannot be stopped here")
def test_a_process_that_stood_still_for_too_long_is_told_and_takes_nothing_back(port: int) -> None:
    ours = holding(port)
    with leaseholder(port) as other:
        assert replies([other], "acquire") == [True]
        other.send_signal(signal.SIGSTOP)
        try:
            ours.acquire()  # its time is over, although its process lives
        finally:
            other.send_signal(signal.SIGCONT)
        assert "another process has begun" in replies([other], "confirm")[0]
        assert replies([other], "release") == [True]
        ours.confirm()
        assert replies([other], "acquire 0.3") == [False]
        ours.release()
        assert replies([other], "acquire 5") == [True]


def test_a_change_that_takes_long_is_not_taken_over_by_another_process(port: int) -> None:
    ours = holding(port)
    ours.acquire()
    with leaseholder(port) as other:
        assert replies([other], "acquire 2.5") == [False]
        ours.confirm()
        ours.release()
        assert replies([other], "acquire 5") == [True]
        other.kill()
        other.wait(20)
    started = time.monotonic()
    ours.acquire()  # what a dead process has left
    assert time.monotonic() - started < 5
    ours.release()


def test_a_process_that_ends_in_the_middle_of_a_change_ends_in_time(port: int) -> None:
    with leaseholder(port) as other:
        assert replies([other], "acquire") == [True]
        started = time.monotonic()
        _, errors = other.communicate(timeout=20)
        assert (other.returncode, errors) == (0, "")
        assert time.monotonic() - started < 10


def test_who_reads_does_not_wait_for_what_another_process_changes(port: int) -> None:
    client = HttpClient("127.0.0.1", port, settings=ChromaSettings(anonymized_telemetry=False))
    with ContextMemory(client, "read and changed") as memory, processes(port, "r", "read and changed") as one:
        memory.remember("The lake is cold in May")
        assert replies(one, "hold") == [True]
        changing = threading.Thread(target=memory.remember, args=("The lake is warm in August",))
        changing.start()
        time.sleep(0.2)
        reading = ThreadPoolExecutor(1)
        asked = reading.submit(memory.search, "How cold is the lake?")
        done = wait([asked], timeout=5).done
        is_changing = changing.is_alive()
        assert replies(one, "let go") == [True]
        changing.join(20)
        reading.shutdown()
        assert done, "reading waited for the turn of who changes"
        assert is_changing
        assert len(memory.list(kind="fact")) == 2


def test_a_second_process_on_a_folder_is_refused_within_a_second(tmp_path: Path) -> None:
    with ContextMemory(tmp_path) as memory:
        memory.add(said("hello"))
        second = python(SECOND, tmp_path)
        out, err = second.communicate(timeout=60)
        waited, _, message = out.partition(" ")
        assert float(waited) < 1.0, err
        assert f"process {os.getpid()}" in message
        started = time.monotonic()
        assert memory.search("hello")
        assert time.monotonic() - started < 5
