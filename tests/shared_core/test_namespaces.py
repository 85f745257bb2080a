from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from shared_core import ContextMemory, Settings
from shared_core.errors import StoreError
from shared_core.namespaces import Namespace, acquire_pool, release_pool, retain_pool
from shared_core.stores.base import Change
from tests.shared_core.building import (
    EMBEDDER,
    NotesExtractor,
    chroma_client,
    opened_namespace,
    record,
    said,
    write,
)


def test_a_namespace_sees_its_own_writes(tmp_path: Path) -> None:
    with opened_namespace(tmp_path) as namespace:
        write(namespace, record("fact-1", text="Ada rides"))
        with namespace.use() as index:
            assert list(index) == ["fact-1"]
        namespace.drop_index()
        with namespace.use() as index:
            assert index.stored("fact-1").text == "Ada rides"


def test_a_change_may_write_and_delete(tmp_path: Path) -> None:
    with opened_namespace(tmp_path) as namespace:
        write(namespace, record("fact-1"), record("fact-2"))
        with namespace.use() as index:
            namespace.apply(
                Change(
                    puts=(record("fact-3"),), vectors=EMBEDDER.embed(["three"]), deletes=("fact-1", "none")
                )
            )
            assert set(index) == {"fact-2", "fact-3"}
        namespace.drop_index()
        with namespace.use() as index:
            assert set(index) == {"fact-2", "fact-3"}


def test_a_write_that_fails_leaves_what_was_stored(tmp_path: Path) -> None:
    with opened_namespace(tmp_path) as namespace:
        write(namespace, record("fact-1"))
        with namespace.use(), pytest.raises(StoreError):
            namespace.apply(Change(puts=(record("fact-2"),), vectors=EMBEDDER.embed(["one", "two"])[:, :7]))
        with namespace.use() as index:
            assert set(index) == {"fact-1"}


def test_a_pool_serves_one_folder_and_closes_with_its_last_user(tmp_path: Path) -> None:
    options: dict[str, Any] = {"resident_limit": 4, "idle_seconds": 60}
    first = acquire_pool(tmp_path, **options)
    second = acquire_pool(str(tmp_path / "." / "x" / ".."), **options)
    assert first is second
    third = retain_pool(first)
    assert first.open("a", EMBEDDER) is third.open("a", EMBEDDER)
    release_pool(first)
    release_pool(second)
    assert third.open("a", EMBEDDER)
    release_pool(third)
    fresh = acquire_pool(tmp_path, **options)
    assert fresh is not first
    release_pool(fresh)


def test_only_as_many_indexes_stay_in_memory_as_the_limit_allows(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, settings=Settings(resident_limit=2)) as memory:
        siblings = [memory.for_namespace(f"user {n}") for n in range(5)]
        for n, sibling in enumerate(siblings):
            sibling.add(said(f"I am number {n}.", "m1"))
        resident = [one for one in map(ContextMemory.opened, siblings[:2]) if _is_resident(one)]
        assert resident == []
        for n, sibling in enumerate(siblings):
            assert [one.text for one in sibling.list(kind="message")] == [f"I am number {n}."]
            sibling.close()


def _is_resident(namespace: Namespace) -> bool:
    return namespace.__dict__["_index"] is not None


def test_an_idle_index_leaves_memory_and_comes_back(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, settings=Settings(idle_seconds=1e-6)) as memory:
        memory.add(said("I ride a tandem.", "m1"))
        idle = memory.opened()
        with memory.for_namespace("bob") as bob:
            bob.add(said("hello"))
        assert not _is_resident(idle)
        assert memory.search("tandem").results[0].source_ids == ("m1",)


def test_threads_take_turns_in_one_namespace(tmp_path: Path) -> None:
    inside = threading.Semaphore(1)
    overlaps: list[int] = []
    with opened_namespace(tmp_path) as namespace:

        def enter(number: int) -> None:
            for _ in range(50):
                with namespace.use():
                    if not inside.acquire(blocking=False):
                        overlaps.append(number)
                    inside.release()

        threads = [threading.Thread(target=enter, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert overlaps == []


def test_a_worker_lasts_no_longer_than_its_work(tmp_path: Path) -> None:
    def working() -> list[str]:
        return [one.name for one in threading.enumerate() if one.name.startswith("contextmemory-learn")]

    with ContextMemory(tmp_path, extractor=NotesExtractor(is_slow=True)) as memory:
        for n in range(6):
            with memory.for_namespace(f"user {n}") as one:
                for turn in range(3):
                    one.add(said(f"fact: Ada has {turn} bells", f"m{turn}"), wait=False)
                one.flush()
                assert len(one.list(kind="fact")) == 3
        latest = time.monotonic() + 10
        while working() and time.monotonic() < latest:
            time.sleep(0.01)
        assert working() == []


def test_what_is_read_to_be_changed_may_be_entered_again(tmp_path: Path) -> None:
    with opened_namespace(tmp_path) as namespace, namespace.alone(), namespace.alone() as index:
        write(namespace, record("fact-1"))
        with namespace.use() as same:
            assert same is index
            assert list(same) == ["fact-1"]


def test_who_reads_does_not_wait_for_the_turn_of_who_changes() -> None:
    found: list[str] = []
    with (
        chroma_client() as client,
        ContextMemory(client, "shared") as one,
        ContextMemory(client, "shared") as two,
    ):
        one.remember("Ada rides a red tandem")
        two.search("tandem")

        def read() -> None:
            found.extend(hit.memory for hit in two.search("tandem"))

        with one.opened().alone():  # as another process would
            changing = threading.Thread(target=two.remember, args=("Ada swims",))
            changing.start()
            time.sleep(0.2)
            reading = threading.Thread(target=read)
            reading.start()
            reading.join(5)
            assert found == ["Ada rides a red tandem"]
            assert changing.is_alive()
        changing.join(10)
        reading.join(10)
        assert {memory.text for memory in one.list()} == {"Ada rides a red tandem", "Ada swims"}


def test_changing_inside_a_reading_is_refused_and_harms_nothing(tmp_path: Path) -> None:
    with opened_namespace(tmp_path) as namespace:
        with namespace.use(), pytest.raises(RuntimeError, match="in the place of use"), namespace.alone():
            pass
        with namespace.alone(), namespace.use(), namespace.alone():
            write(namespace, record("fact-1"))
        with namespace.use() as index:
            assert list(index) == ["fact-1"]


def test_one_that_reads_in_another_thread_does_not_stop_who_changes(tmp_path: Path) -> None:
    inside, go_on = threading.Event(), threading.Event()
    with opened_namespace(tmp_path) as namespace:

        def read() -> None:
            with namespace.use():
                inside.set()
                go_on.wait(10)

        reading = threading.Thread(target=read)
        reading.start()
        assert inside.wait(10)
        threading.Timer(0.2, go_on.set).start()
        with namespace.alone():
            write(namespace, record("fact-1"))
        reading.join(10)


def test_no_search_crosses_a_namespace(memory: ContextMemory) -> None:
    memory.add(said("I ride a red tandem.", "m1"), "c1")
    with memory.for_namespace("bob") as bob:
        assert not bob.search("red tandem")
        assert bob.list(conversation_id="c1") == []
        assert bob.get("m1") is None
        assert bob.context("red tandem", conversation_id="c1").blocks == ()
        assert bob.erase(conversation_id="c1") == 0
    assert len(memory.list(kind="message")) == 1
