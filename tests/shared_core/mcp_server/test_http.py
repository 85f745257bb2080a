from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import httpx2
import pytest

from shared_core import ContextMemory
from tests.shared_core.mcp_server.serving import (
    COMMAND,
    TIMEOUT_SECONDS,
    HttpServer,
    http_server,
    refusal,
    value,
)

TOKEN = "correct-horse-battery"
PING: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
ACCEPTED = {"Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    """A server without a token, for Alice; Bob has a memory in the same folder."""
    folder = tmp_path_factory.mktemp("open") / "memory"
    with ContextMemory(folder, "bob") as bob:
        bob.remember("User's safe opens with 4711.", category="possession")
    with http_server(folder, "alice") as running:
        yield running


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    """A server that asks for a token."""
    folder = tmp_path_factory.mktemp("guarded") / "memory"
    with http_server(folder, "alice", CONTEXTMEMORY_MCP_TOKEN=TOKEN) as running:
        yield running


async def test_two_clients_at_once_share_the_memory_and_nothing_gets_mixed_up(server: HttpServer) -> None:
    async def one(name: str) -> list[str]:
        async with server.client() as client:
            made = await asyncio.gather(
                *(value(client, "remember", text=f"{name} owns boat number {n}.") for n in range(10))
            )
            assert [fact["text"] for fact in made] == [f"{name} owns boat number {n}." for n in range(10)]
            return [fact["id"] for fact in made]

    ids = list(chain(*await asyncio.gather(one("Ada"), one("Bo"))))
    assert len(set(ids)) == 20
    async with server.client() as client:
        listed = await value(client, "list", contains="owns boat number", limit=50)
        assert {one["id"] for one in listed["memories"]} == set(ids)
        assert (await value(client, "search", query="Who owns boat number 7?"))["results"]


async def test_another_namespace_of_the_folder_cannot_be_reached(server: HttpServer) -> None:
    async with server.client() as client:
        found = await value(client, "search", query="With what does the safe open?", limit=50)
        assert "4711" not in str(found)
        assert "namespace" in await refusal(client, "list", namespace="bob")


@pytest.mark.parametrize(
    "header",
    [
        None,
        "Bearer wrong-horse-battery",
        "Bearer",
        f"Basic {TOKEN}",
        f"Bearer {TOKEN}x",
        TOKEN,
        "Bearer é",
    ],
)
async def test_without_the_token_nothing_is_answered(guarded: HttpServer, header: str | None) -> None:
    headers = {} if header is None else {"Authorization": header.encode("latin-1")}
    async with httpx2.AsyncClient() as http:
        for method in ("POST", "GET", "DELETE", "OPTIONS"):
            answer = await http.request(method, guarded.url, json=PING, headers={**ACCEPTED, **headers})
            assert answer.status_code == 401
            assert answer.headers["www-authenticate"] == "Bearer"
            assert TOKEN not in answer.text


async def test_with_a_wrong_token_no_client_connects_and_with_the_right_one_it_does(
    guarded: HttpServer,
) -> None:
    with pytest.raises(Exception) as refused:  # noqa: PT011 - a group of the client's own errors
        async with guarded.client("wrong-horse-battery"):
            pass
    assert not isinstance(refused.value, AssertionError)
    async with guarded.client(TOKEN) as client:
        assert (await value(client, "remember", text="User likes tea."))["text"] == "User likes tea."


async def test_a_page_whose_name_was_bound_to_this_machine_gets_no_answer(server: HttpServer) -> None:
    async with httpx2.AsyncClient() as http:
        for headers, status in (
            ({"Host": "evil.example:8765"}, 421),
            ({"Host": "127.0.0.1.evil.example"}, 421),
            ({"Origin": "http://evil.example"}, 403),
        ):
            answer = await http.post(server.url, json=PING, headers={**ACCEPTED, **headers})
            assert answer.status_code == status


async def test_hostile_requests_are_refused_and_the_server_goes_on(server: HttpServer) -> None:
    async with httpx2.AsyncClient() as http:
        for body, kind in (
            (b"x" * 5_000_000, "application/json"),
            (b"[" * 100_000, "application/json"),
            (b"\xff\xfe\x00", "application/json"),
            (b"{}", "application/json"),
            (b"{}", "text/plain"),
            (b"", "application/json"),
        ):
            answer = await http.post(server.url, content=body, headers={**ACCEPTED, "Content-Type": kind})
            assert 400 <= answer.status_code < 500
            assert "Traceback" not in answer.text
        assert (await http.get(server.url.replace("/mcp", "/../etc/passwd"))).status_code == 404
    async with server.client() as client:
        assert await value(client, "remember", text="User is still here.")


CLIENT = """
import asyncio, sys
from tests.shared_core.mcp_server.serving import HttpServer, value

async def main():
    async with HttpServer(sys.argv[1], None).client() as client:
        print("ready", flush=True)
        while True:
            await value(client, "remember", text="User reads.")

asyncio.run(main())
"""


async def test_a_client_that_is_killed_disturbs_nobody(server: HttpServer) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", CLIENT, server.url], stdout=subprocess.PIPE, text=True
    ) as killed:
        assert killed.stdout is not None
        assert killed.stdout.readline() == "ready\n"
        os.kill(killed.pid, signal.SIGKILL)
    async with server.client() as client:
        assert await value(client, "remember", text="User writes.")


@pytest.mark.slow
def test_a_server_that_is_told_to_stop_lets_the_folder_go(tmp_path: Path) -> None:
    with http_server(tmp_path / "memory", "alice") as running:
        running.process.send_signal(signal.SIGTERM)
        out, err = running.process.communicate(timeout=TIMEOUT_SECONDS)
    assert (out, "Traceback" in err) == ("", False)
    with ContextMemory(tmp_path / "memory", "alice"):
        pass


@pytest.mark.slow
async def test_while_nobody_talks_the_memory_is_maintained(tmp_path: Path) -> None:
    with http_server(tmp_path / "memory", "alice", "--idle-minutes", "0.01") as running:
        async with running.client() as client:
            await value(client, "remember", text="User works at Acme.", category="work")
            for _ in range(100):
                listed = (await client.list_resources()).resources
                if "memory://blocks/user_profile" in {str(one.uri) for one in listed}:
                    return
                await asyncio.sleep(0.2)
    raise AssertionError("no block was written")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--host", "0.0.0.0"], "CONTEXTMEMORY_MCP_TOKEN"),
        (["--host", "memory.example"], "CONTEXTMEMORY_MCP_TOKEN"),
        (["--host", "0.0.0.0", "--token", "short"], "16 printable"),
        (["--host", " "], "is empty"),
        (["--port", "70000"], "70000"),
        (["--transport", "sse"], "sse"),
        (["--idle-minutes", "-1"], "idle_minutes"),
        (["--namespace", ""], "namespace"),
    ],
)
def test_what_would_be_unsafe_is_refused_in_one_line(tmp_path: Path, options: list[str], told: str) -> None:
    transport = [] if "--transport" in options else ["--transport", "streamable-http"]
    ended = in_a_process(tmp_path / "memory", *transport, *options)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.count("\n") == 1
    assert told in ended.stderr


@pytest.mark.slow
def test_a_port_that_is_taken_is_told_in_one_line(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        ended = in_a_process(tmp_path / "memory", "--transport", "streamable-http", "--port", port)
    assert ended.returncode == 2
    assert ended.stderr == f"error: Address already in use: '127.0.0.1:{port}'\n"


def in_a_process(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, "mcp", str(folder), *options],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )
