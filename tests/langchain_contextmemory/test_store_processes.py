"""The store across processes: one folder after another process, a Chroma server at the same time."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from langchain_contextmemory import ContextMemoryStore
from shared_core import ContextMemory
from shared_core.errors import EmbedderMismatchError, StoreError, StoreLockedError
from tests.langchain_contextmemory.store_building import LetterEmbeddings
from tests.shared_core.stores.test_server import Server

WRITER = """
import sys
from shared_core import ContextMemory
from langchain_contextmemory import ContextMemoryStore
memory = ContextMemory(sys.argv[1])
store = ContextMemoryStore(memory)
store.put(("users", "ada"), "diet", {"text": "Ada eats no meat", "n": {"é": [1, None]}}, ttl=60)
store.put(("users", "adam"), "diet", {"text": "Adam eats meat"}, index=False)
store.put(("users", "ada"), "gone", {"text": "x"})
store.delete(("users", "ada"), "gone")
print("written", flush=True)
sys.stdin.readline()
"""


def test_what_a_killed_process_had_put_is_there_for_the_next(tmp_path: Path) -> None:
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "written\n"
        with pytest.raises(StoreLockedError):
            ContextMemory(tmp_path)
    finally:
        writer.kill()
        writer.communicate()
    with ContextMemory(tmp_path) as memory:
        store = ContextMemoryStore(memory)
        found = store.search(("users", "ada"), query="vegetarian")
        assert [(item.key, item.value) for item in found] == [
            ("diet", {"text": "Ada eats no meat", "n": {"é": [1, None]}})
        ]
        assert found[0].score is not None
        assert store.search(("users", "adam"), query="vegetarian")[0].score is None
        assert store.list_namespaces() == [("users", "ada"), ("users", "adam")]
        assert memory.namespaces() == []


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("server"))
    try:
        running.wait_until_ready()
        yield running
    finally:
        running.stop()


Pair = tuple[ContextMemoryStore, ContextMemoryStore]


@pytest.fixture
def pair(server: Server, request: pytest.FixtureRequest) -> Iterator[Pair]:
    """Two stores of one namespace, each on a client of its own."""
    name = request.node.name
    with ContextMemory(server.client(), name) as one, ContextMemory(server.client(), name) as two:
        yield ContextMemoryStore(one), ContextMemoryStore(two)


def test_each_client_sees_what_the_other_has_put_changed_and_deleted(pair: Pair) -> None:
    one, two = pair
    assert two.search(()) == []
    one.put(("n",), "a", {"text": "leek soup"})
    seen = two.search((), query="soup")
    assert [item.value for item in seen] == [{"text": "leek soup"}]
    two.put(("n",), "a", {"text": "pea soup"})
    two.put(("m",), "b", {"text": "bridge"})
    item = one.get(("n",), "a")
    assert item is not None
    assert item.value == {"text": "pea soup"}
    assert item.created_at == seen[0].created_at
    assert one.list_namespaces() == [("m",), ("n",)]
    one.delete(("n",), "a")
    assert two.get(("n",), "a") is None
    assert [item.key for item in two.search(())] == [item.key for item in one.search(())] == ["b"]


@pytest.mark.slow
def test_a_time_to_live_renewed_by_one_holds_for_the_other(pair: Pair) -> None:
    one, two = pair
    one.put(("n",), "a", {"v": 1}, ttl=0.02)
    for _ in range(4):
        assert two.get(("n",), "a") is not None
        threading.Event().wait(0.5)
        assert one.sweep_ttl() == 0
    threading.Event().wait(1.5)
    assert one.sweep_ttl() == 1
    assert two.get(("n",), "a") is None


def test_clients_that_write_at_once_lose_nothing_and_agree_on_the_order(pair: Pair) -> None:
    def write(store: ContextMemoryStore, mark: str) -> None:
        for i in range(15):
            store.put(("n", mark), str(i), {"i": i})
            store.put(("n", "both"), str(i), {"by": mark})

    threads = [
        threading.Thread(target=write, args=(store, mark)) for store, mark in zip(pair, "xy", strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    one, two = (store.search(("n",), limit=100) for store in pair)
    assert one == two
    assert len(one) == 45


def test_another_embedder_on_the_server_is_refused(server: Server) -> None:
    with ContextMemory(server.client(), "stamped") as one, ContextMemory(server.client(), "stamped") as two:
        early = ContextMemoryStore(two, index={"dims": 8, "embed": LetterEmbeddings(8)})
        ContextMemoryStore(one).put(("n",), "a", {})
        with pytest.raises(EmbedderMismatchError):
            early.put(("n",), "a", {})


def test_a_server_that_is_gone_is_named(tmp_path: Path) -> None:
    running = Server(tmp_path)
    try:
        running.wait_until_ready()
        memory = ContextMemory(running.client())
        store = ContextMemoryStore(memory)
        store.put(("n",), "a", {})
    finally:
        running.stop()
    with pytest.raises(StoreError, match="Chroma client"):
        store.put(("n",), "b", {})
    with pytest.raises(StoreError, match="Chroma client"):
        store.get(("n",), "a")
    memory.close()
