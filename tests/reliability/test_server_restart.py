"""A Chroma server that dies, comes back, or falls silent under a running client."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from shared_core import ContextMemory
from shared_core.errors import StoreError
from tests.reliability.server import RunningServer
from tests.shared_core.building import NotesExtractor, said

#: An error has to come within so many seconds.
#: Waits for servers to start, fail and come back: over half a minute.
pytestmark = pytest.mark.slow

BOUND = 10.0


def calls_on(memory: ContextMemory) -> list[Callable[[], Any]]:
    return [
        lambda: memory.search("hello"),
        lambda: memory.add(said("fact: Ada swims", "m2"), "c"),
        lambda: memory.context("hello", token_budget=200),
        lambda: memory.list(),
        lambda: memory.erase(message_id="m1"),
        lambda: memory.maintain(),
        lambda: memory.for_namespace("another"),
        lambda: memory.namespaces(),
    ]


def test_without_its_server_each_call_fails_clearly_and_soon_and_then_goes_on(tmp_path: Path) -> None:
    with RunningServer(tmp_path) as server:
        memory = ContextMemory(server.client(), "alice", extractor=NotesExtractor())
        memory.add(said("fact: Ada rides", "m1"), "c")
        server.kill()
        for call in calls_on(memory):
            started = time.monotonic()
            with pytest.raises(StoreError, match=r"the Chroma client .*\. The server does not answer"):
                call()
            assert time.monotonic() - started < BOUND
        server.start()
        assert [fact.text for fact in memory.list(kind="fact")] == ["Ada rides"]
        memory.add(said("fact: Ada swims", "m2"), "c")
        assert len(memory.list(kind="message")) == 2
        memory.close()


def test_a_server_that_is_back_soon_is_not_noticed(tmp_path: Path) -> None:
    with RunningServer(tmp_path) as server:
        memory = ContextMemory(server.client(), "alice", extractor=NotesExtractor())
        memory.add(said("fact: Ada rides", "m1"), "c")
        server.kill()
        returning = threading.Timer(0.2, server.launch)
        returning.start()
        try:
            for _ in range(20):  # a busy machine may take longer to start it than we wait for it
                try:
                    memory.add(said("fact: Ada swims", "m2"), "c")
                    break
                except StoreError:
                    continue
        finally:
            returning.join()
        assert {fact.text for fact in memory.list(kind="fact")} == {"Ada rides", "Ada swims"}
        assert [fact.mention_count for fact in memory.list(kind="fact")] == [1, 1]
        memory.close()


def test_a_server_that_falls_silent_is_given_up_within_the_clients_timeout(tmp_path: Path) -> None:
    with RunningServer(tmp_path) as server:
        client: Any = server.client()
        client._server._session.timeout = httpx.Timeout(1.0)
        memory = ContextMemory(client, "alice", extractor=NotesExtractor())
        memory.add(said("fact: Ada rides", "m1"), "c")
        os.kill(server.process_id, signal.SIGSTOP)
        try:
            started = time.monotonic()
            with pytest.raises(StoreError, match="The server does not answer"):
                memory.search("Ada")
            assert time.monotonic() - started < BOUND
        finally:
            os.kill(server.process_id, signal.SIGCONT)
        assert memory.search("Who rides?").results[0].memory == "Ada rides"
        memory.close()


def test_a_client_without_a_timeout_gets_one(tmp_path: Path) -> None:
    with RunningServer(tmp_path) as server:
        client: Any = server.client()
        assert client._server._session.timeout == httpx.Timeout(None)
        with ContextMemory(client, "alice"):
            assert client._server._session.timeout == httpx.Timeout(120.0)


def test_index_files_broken_under_a_server_are_told_with_the_command_that_mends_them(tmp_path: Path) -> None:
    with RunningServer(tmp_path) as server:
        with ContextMemory(server.client(), "alice", extractor=NotesExtractor()) as memory:
            memory.add([said(f"moment: Ada rode {n} miles", f"m{n}") for n in range(150)], "c")
        server.kill()
        (header,) = tmp_path.glob("*-*-*-*-*/header.bin")
        header.write_bytes(b"")
        server.start()
        memory = ContextMemory(server.client(), "alice", extractor=NotesExtractor())
        with pytest.raises(StoreError, match="stop the server, then run contextmemory repair"):
            memory.list()
        server.kill()
        command = [sys.executable, "-m", "shared_core.cli", "repair", "--path", str(tmp_path)]
        subprocess.run(command, check=True, timeout=60, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        server.start()
        assert len(memory.list(kind="message", limit=1_000)) == 150
        memory.close()
