from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest
from chromadb.api import ClientAPI

from shared_core.errors import StoreError
from shared_core.stores.chroma import ChromaStore
from shared_core.stores.lease import Lease
from shared_core.stores.leaseholder import process_name
from tests.shared_core.building import chroma_client

NAME = "contextmemory-test"


@pytest.fixture
def client() -> Iterator[ClientAPI]:
    with chroma_client() as made:
        yield made


def left_by(client: ClientAPI, process: str) -> None:
    """A lease that nobody will give back."""
    client.create_collection(
        f"{NAME}-lease", metadata={"writer": "another", "process": process}, embedding_function=None
    )


def test_one_waits_for_the_other(client: ClientAPI) -> None:
    one, two = (Lease(ChromaStore(client), NAME) for _ in range(2))
    order: list[str] = []
    one.acquire()

    def wait() -> None:
        two.acquire()
        order.append("two")
        two.release()

    waiting = threading.Thread(target=wait)
    waiting.start()
    time.sleep(0.2)
    order.append("one")
    one.release()
    waiting.join(10)
    assert order == ["one", "two"]
    assert client.list_collections() == []


def test_many_that_want_it_have_it_one_at_a_time(client: ClientAPI) -> None:
    inside, overlaps = threading.Semaphore(1), []

    def work() -> None:
        lease = Lease(ChromaStore(client), NAME)
        for _ in range(10):
            lease.acquire()
            if not inside.acquire(blocking=False):
                overlaps.append(1)
            time.sleep(0.001)
            inside.release()
            lease.release()

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert overlaps == []


@pytest.mark.skipif(process_name().startswith("/"), reason="this system does not name the machine")
def test_what_a_dead_process_has_left_is_taken_over_at_once(client: ClientAPI) -> None:
    script = "from shared_core.stores.leaseholder import process_name; print(process_name())"
    dead = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    left_by(client, dead.stdout.strip())
    lease = Lease(ChromaStore(client), NAME)
    started = time.monotonic()
    lease.acquire()
    assert time.monotonic() - started < 5
    lease.release()
    assert client.list_collections() == []


def test_what_a_silent_process_elsewhere_has_left_is_taken_over_after_a_while(client: ClientAPI) -> None:
    left_by(client, "another machine/1")
    lease = Lease(ChromaStore(client), NAME, held_seconds=0.5)
    started = time.monotonic()
    lease.acquire()
    assert time.monotonic() - started > 0.5
    lease.release()
    assert client.list_collections() == []


def test_waiting_has_an_end_that_says_what_to_do(client: ClientAPI) -> None:
    left_by(client, process_name())
    lease = Lease(ChromaStore(client), NAME, wait_seconds=0.3)
    with pytest.raises(StoreError, match="nothing was changed, try again"):
        lease.acquire()


def waiting_for(lease: Lease) -> tuple[threading.Thread, threading.Event]:
    """A thread that waits for a lease, and whether it has it."""
    has_it = threading.Event()

    def wait() -> None:
        lease.acquire()
        has_it.set()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread, has_it


def renewing() -> list[str]:
    return [one.name for one in threading.enumerate() if one.name == "contextmemory-lease"]


def test_a_change_that_takes_long_keeps_its_right(client: ClientAPI) -> None:
    slow, other = (Lease(ChromaStore(client), NAME, held_seconds=0.6) for _ in range(2))
    slow.acquire()
    thread, has_it = waiting_for(other)
    assert not has_it.wait(2.0), "it was taken over although its holder lives"
    slow.confirm()
    slow.release()
    assert has_it.wait(10)
    thread.join(10)
    other.release()
    assert client.list_collections() == []
    assert renewing() == []


def test_a_change_that_hangs_does_not_keep_others_out_for_ever(client: ClientAPI) -> None:
    hung = Lease(ChromaStore(client), NAME, held_seconds=0.3, stuck_seconds=0.5)
    hung.acquire()
    other = Lease(ChromaStore(client), NAME, held_seconds=0.3)
    started = time.monotonic()
    other.acquire()
    assert 0.5 < time.monotonic() - started < 10
    with pytest.raises(StoreError, match="another process has begun"):
        hung.confirm()
    other.release()


def test_a_change_that_writes_now_and_then_does_not_hang(client: ClientAPI) -> None:
    busy = Lease(ChromaStore(client), NAME, held_seconds=0.6, stuck_seconds=0.5)
    busy.acquire()
    thread, has_it = waiting_for(Lease(ChromaStore(client), NAME, held_seconds=0.6))
    for _ in range(8):
        assert not has_it.wait(0.25)
        busy.confirm()
    busy.release()
    assert has_it.wait(10)
    thread.join(10)


def test_what_this_store_has_left_itself_is_its_own_again_and_nobody_takes_it(client: ClientAPI) -> None:
    store = ChromaStore(client)
    left = {"writer": store.writer, "process": "another machine/1"}
    client.create_collection(f"{NAME}-lease", metadata=left, embedding_function=None)
    thread, has_it = waiting_for(Lease(ChromaStore(client), NAME, held_seconds=1.0))
    time.sleep(0.7)
    again = Lease(store, NAME, held_seconds=30.0)
    again.acquire()
    assert not has_it.wait(0.8), "it was taken over as if it had been silent all the time"
    again.release()
    assert has_it.wait(10)
    thread.join(10)


def test_one_that_never_had_it_takes_nothing_from_who_has(client: ClientAPI) -> None:
    holder = Lease(ChromaStore(client), NAME)
    holder.acquire()
    Lease(ChromaStore(client), NAME).release()
    assert [one.name for one in client.list_collections()] == [f"{NAME}-lease"]
    holder.release()


def test_without_a_thread_a_right_is_renewed_where_it_is_confirmed(client: ClientAPI) -> None:
    lease = Lease(ChromaStore(client), NAME, held_seconds=0.4)
    usual = threading.stack_size(2**46)  # more than any machine gives: no thread can be started
    try:
        lease.acquire()
    finally:
        threading.stack_size(usual)
    watcher = ChromaStore(client)
    before = watcher.lookup(f"{NAME}-lease")
    time.sleep(0.3)
    lease.confirm()
    after = watcher.lookup(f"{NAME}-lease")
    assert before is not None
    assert after is not None
    assert after.metadata != before.metadata
    lease.release()
    assert client.list_collections() == []


def test_one_that_was_silent_for_too_long_is_told(client: ClientAPI) -> None:
    slow = Lease(ChromaStore(client), NAME, held_seconds=0.2, stuck_seconds=0.0)
    slow.acquire()
    quick = Lease(ChromaStore(client), NAME, held_seconds=0.2)
    quick.acquire()
    with pytest.raises(StoreError, match="another process has begun"):
        slow.confirm()
    slow.release()
    quick.confirm()
    quick.release()
    assert client.list_collections() == []
