"""Two processes' worth of memories on a real Chroma server on loopback."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import chromadb
import httpx
import pytest
from chromadb.api import ClientAPI
from chromadb.config import Settings as ChromaSettings

from shared_core import ContextMemory
from shared_core.errors import StoreError
from tests.shared_core.building import NotesExtractor, said

CHROMA = Path(sys.executable).with_name("chroma")
SECONDS_TO_START = 60.0


class Server:
    """A running ``chroma run``."""

    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        command = [str(CHROMA), "run", "--path", str(folder), "--host", "127.0.0.1", "--port", str(self.port)]
        self.process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder
        )

    def wait_until_ready(self) -> None:
        latest = time.monotonic() + SECONDS_TO_START
        while time.monotonic() < latest and self.process.poll() is None:
            try:
                if httpx.get(f"http://127.0.0.1:{self.port}/api/v2/heartbeat", timeout=2).is_success:
                    return
            except httpx.HTTPError:
                time.sleep(0.05)
        raise AssertionError("the Chroma server did not start")

    def client(self) -> ClientAPI:
        settings = ChromaSettings(anonymized_telemetry=False)
        return chromadb.HttpClient("127.0.0.1", self.port, settings=settings)

    def stop(self) -> None:
        self.process.kill()
        self.process.wait(timeout=20)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    running = Server(tmp_path_factory.mktemp("server"))
    try:
        running.wait_until_ready()
        yield running
    finally:
        running.stop()


@pytest.fixture
def pair(server: Server, request: pytest.FixtureRequest) -> Iterator[tuple[ContextMemory, ContextMemory]]:
    """Two memories of one namespace, each on a client of its own."""
    name = request.node.name
    with (
        ContextMemory(server.client(), name, extractor=NotesExtractor()) as one,
        ContextMemory(server.client(), name, extractor=NotesExtractor()) as two,
    ):
        yield one, two


Pair = tuple[ContextMemory, ContextMemory]


def test_each_sees_what_the_other_has_finished_writing(pair: Pair) -> None:
    one, two = pair
    assert two.list() == []
    one.add(said("fact: Ada rides a tandem", "m1"), "c")
    assert two.search("tandem").results[0].source_ids == ("m1",)
    two.add(said("fact: Ada swims", "m2"), "c")
    assert [message.turn for message in one.list(kind="message")] == [1, 0]


def test_each_sees_what_the_other_has_updated(pair: Pair) -> None:
    one, two = pair
    one.add(said("fact: Ada rides a tandem", "m1"))
    (fact,) = two.list(kind="fact")
    two.update(fact.id, "Ada rides a bicycle")
    assert one.search("Ada rides", kind="fact").results[0].memory == "Ada rides a bicycle"
    assert [version.text for version in one.history(fact.id)] == ["Ada rides a tandem", "Ada rides a bicycle"]


def test_each_sees_what_the_other_has_deleted(pair: Pair) -> None:
    one, two = pair
    one.add([said("fact: Ada rides a tandem", "m1"), said("fact: Ada swims", "m2")], "c")
    assert len(two.list()) == 4
    one.erase(message_id="m1")
    assert sorted(memory.text for memory in two.list()) == ["Ada swims", "fact: Ada swims"]
    assert all("tandem" not in hit.memory for hit in two.search("tandem"))
    two.erase(conversation_id="c")
    assert one.list() == []


def test_each_sees_that_the_other_has_erased_everything(pair: Pair) -> None:
    one, two = pair
    one.add(said("fact: Ada rides a tandem", "m1"))
    assert len(two.list()) == 2
    one.erase(everything=True)
    assert two.list() == []
    two.add(said("fact: Ada swims", "m2"))
    assert len(one.list()) == 2


def test_a_message_retried_on_another_server_connection_is_stored_once(pair: Pair) -> None:
    one, two = pair
    for memory in (one, two, one):
        memory.add(said("fact: Ada rides a tandem", "m1"), "c")
    assert len(one.list()) == len(two.list()) == 2
    assert two.list(kind="fact")[0].mention_count == 1


def test_writers_at_the_same_time_lose_nothing(pair: Pair) -> None:
    def write(memory: ContextMemory, mark: str) -> None:
        for n in range(10):
            memory.add(said(f"moment: {mark} said {n}.", f"{mark}{n}"), mark)

    threads = [
        threading.Thread(target=write, args=(memory, mark)) for memory, mark in zip(pair, "ab", strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    wanted = {f"{mark}{n}" for mark in "ab" for n in range(10)}
    for memory in pair:
        assert {message.message_id for message in memory.list(kind="message")} == wanted
        assert len(memory.list(kind="bubble")) == 20
        with memory.opened().use() as index:
            seen = set(index)
        memory.opened().drop_index()
        with memory.opened().use() as index:
            assert set(index) == seen


def test_a_server_that_is_gone_is_named(tmp_path: Path) -> None:
    short_lived = Server(tmp_path)
    try:
        short_lived.wait_until_ready()
        memory = ContextMemory(short_lived.client(), "alice")
        memory.add(said("hello", "m1"))
    finally:
        short_lived.stop()
    with pytest.raises(StoreError, match="the Chroma client"):
        memory.search("hello")
    with pytest.raises(StoreError, match="the Chroma client"):
        memory.add(said("hello again", "m2"))
    memory.close()
