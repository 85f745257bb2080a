"""A server on loopback that speaks OpenAI's protocol, and adds as little time as it can."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

#: From the path and the body of a request to the body of its answer.
Answer = Callable[[str, dict[str, Any]], dict[str, Any]]


@contextmanager
def loopback(answer: Answer) -> Iterator[str]:
    """The ``base_url`` of a server that answers so, as long as the block lasts."""
    http = _Server(("127.0.0.1", 0), _Handler)
    http.answer = answer
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{http.server_address[1]}/v1"
    finally:
        http.shutdown()
        http.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    answer: Answer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    #: Else the body waits for the head's acknowledgement: 40 ms a request that a real service does not take.
    disable_nagle_algorithm = True
    wbufsize = -1
    server: _Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        text = json.dumps(self.server.answer(self.path, body)).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *args: Any, **kwargs: Any) -> None:
        """Print nothing."""
