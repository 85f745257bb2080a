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
from shared_core.stores.lease import Lease, process_name
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
    script = "from shared_core.stores.lease import process_name; print(process_name())"
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


def test_one_that_was_silent_for_too_long_is_told(client: ClientAPI) -> None:
    slow = Lease(ChromaStore(client), NAME, held_seconds=0.2)
    slow.acquire()
    quick = Lease(ChromaStore(client), NAME, held_seconds=0.2)
    quick.acquire()
    with pytest.raises(StoreError, match="another process has begun"):
        slow.confirm()
    slow.release()
    quick.confirm()
    quick.release()
    assert client.list_collections() == []
