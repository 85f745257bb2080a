"""A real HTTP server on loopback that speaks OpenAI's protocol, and fails in the ways that servers do."""

from __future__ import annotations

import base64
import hashlib
import json
import struct
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072}


@dataclass(frozen=True)
class Request:
    """What a client sent: its path, headers (lower case) and JSON body."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


@dataclass(frozen=True)
class Reply:
    """What the server answers: JSON, or text as it stands; after a delay; or a connection cut off."""

    body: Any = None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_seconds: float = 0.0
    drop: bool = False


Answer = Callable[[Request], Reply]


@dataclass
class OpenAIServer:
    """What a test sees of the running server.

    Attributes:
        url: The ``base_url`` for a client.
        requests: Each request so far, oldest first.
        script: Replies for the next requests, used up first; a function makes its reply from the request.
        chat: Makes the content of a chat completion from the request's body.
    """

    url: str
    requests: list[Request] = field(default_factory=list)
    script: deque[Reply | Answer] = field(default_factory=deque)
    chat: Callable[[dict[str, Any]], str] = lambda body: str(body["messages"][-1]["content"])
    closing: threading.Event = field(default_factory=threading.Event)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, request: Request) -> Reply:
        """The next reply of the script, else a good one."""
        with self.lock:
            self.requests.append(request)
            scripted = self.script.popleft() if self.script else None
        if isinstance(scripted, Reply):
            return scripted
        if scripted is not None:
            return scripted(request)
        if request.path == "/v1/embeddings":
            return Reply(embeddings(request.body))
        if request.path == "/v1/chat/completions":
            return Reply(completion(request.body, self.chat(request.body)))
        return Reply({"error": {"message": f"no such path: {request.path}"}}, status=404)


def vector(text: str, dimension: int) -> list[float]:
    """The vector of ``text``: numbers from its hash, the same each time; not of length 1."""
    seed = hashlib.sha256(text.encode()).digest()
    return [seed[i % 32] / 255.0 + (i // 32) * 0.001 for i in range(dimension)]


def embeddings(body: Mapping[str, Any]) -> dict[str, Any]:
    """A good answer to a request for embeddings, in the encoding that it asks for."""
    dimension = body.get("dimensions") or DIMENSIONS.get(body["model"], 8)
    vectors = [vector(text, dimension) for text in body["input"]]
    as_bytes = body.get("encoding_format") == "base64"
    return {
        "object": "list",
        "model": body["model"],
        "data": [
            {"object": "embedding", "index": index, "embedding": encoded(row) if as_bytes else row}
            for index, row in enumerate(vectors)
        ],
        "usage": dict.fromkeys(("prompt_tokens", "total_tokens"), sum(len(t.split()) for t in body["input"])),
    }


def encoded(row: list[float]) -> str:
    """``row`` as OpenAI sends it: little-endian floats in base64."""
    return base64.b64encode(struct.pack(f"<{len(row)}f", *row)).decode()


def completion(body: Mapping[str, Any], content: str) -> dict[str, Any]:
    """A good answer to a request for a chat completion."""
    prompt = sum(len(str(message["content"]).split()) for message in body["messages"])
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}
        ],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": len(content.split()),
            "total_tokens": prompt + len(content.split()),
        },
    }


@contextmanager
def serving() -> Iterator[OpenAIServer]:
    """A running server on a free port of 127.0.0.1, stopped at the end."""
    http = _Server(("127.0.0.1", 0), _Handler)
    http.state = OpenAIServer(url=f"http://127.0.0.1:{http.server_address[1]}/v1")
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield http.state
    finally:
        http.state.closing.set()
        http.shutdown()
        http.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    state: OpenAIServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: clients of these tests hang up on purpose."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.server.state.answer(Request(self.path, headers, json.loads(raw)))
        if reply.delay_seconds:
            self.server.state.closing.wait(reply.delay_seconds)
        if reply.drop:
            self.close_connection = True
            return
        text = reply.body if isinstance(reply.body, str) else json.dumps(reply.body)
        self.send_response(reply.status)
        kind = "text/html" if isinstance(reply.body, str) else "application/json"
        for name, value in {"content-type": kind, "content-length": str(len(text.encode()))}.items():
            self.send_header(name, value)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *args: Any, **kwargs: Any) -> None:
        """Keep the test's output clean."""
