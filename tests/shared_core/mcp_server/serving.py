"""A real server process, and the SDK's own clients for it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client

#: How to start the command line.
COMMAND = (sys.executable, "-m", "shared_core.cli")
ADDRESS = re.compile(r"http://\S+/mcp")
TIMEOUT_SECONDS = 60


def at_stdio(folder: Path, namespace: str, *options: str) -> Client:
    """A client that starts a server of its own, over standard input and output."""
    arguments = [*COMMAND[1:], "mcp", str(folder), "--namespace", namespace, *options]
    parameters = StdioServerParameters(command=COMMAND[0], args=arguments, env={**os.environ})
    return Client(parameters, read_timeout_seconds=TIMEOUT_SECONDS)


@dataclass
class HttpServer:
    """A server process that listens on loopback."""

    url: str
    process: subprocess.Popen[str]

    @asynccontextmanager
    async def client(self, token: str | None = None) -> AsyncIterator[Client]:
        """A client, with a token if one is given."""
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=TIMEOUT_SECONDS) as http:
            transport = streamable_http_client(self.url, http_client=http)
            async with Client(transport, read_timeout_seconds=TIMEOUT_SECONDS) as client:
                yield client


@contextmanager
def http_server(folder: Path, namespace: str, *options: str, **environment: str) -> Iterator[HttpServer]:
    """A server process over HTTP, ended by SIGTERM."""
    process = subprocess.Popen(
        [
            *COMMAND,
            "mcp",
            str(folder),
            "-n",
            namespace,
            "--transport",
            "streamable-http",
            "--port",
            "0",
            *options,
        ],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    try:
        assert process.stderr is not None
        told = process.stderr.readline()
        found = ADDRESS.search(told)
        assert found, told + process.stderr.read()
        yield HttpServer(found[0], process)
    finally:
        process.terminate()
        process.communicate(timeout=TIMEOUT_SECONDS)


async def value(client: Client, tool: str, **arguments: Any) -> dict[str, Any]:
    """The structured result of a tool that succeeds; its text says the same."""
    result = await client.call_tool(tool, arguments)
    said = result.content[0]
    assert said.type == "text"
    assert not result.is_error, said.text
    assert result.structured_content is not None
    if tool != "context":
        assert json.loads(said.text) == result.structured_content
    return dict(result.structured_content)


async def refusal(client: Client, tool: str, **arguments: Any) -> str:
    """What a tool that fails says."""
    result = await client.call_tool(tool, arguments)
    said = result.content[0]
    assert said.type == "text"
    assert result.is_error, said.text
    return said.text
