"""What a process pays that opens a folder: time to the first hit, and memory; each in a fresh process.

The parent calls ``first_result`` and ``resident_bytes``; they run this module as a program.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import io
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.peers import SYSTEMS, embedder_named
from tests.benchmarks.texts import question, turns

TIMEOUT_SECONDS = 300
_STATM = Path("/proc/self/statm")


def first_result(key: str, folder: str, namespace: str, count: int) -> dict[str, float]:
    """Milliseconds to the first hit of a namespace of ``count`` turns.

    Returns:
        ``open``: in a process that has everything imported and has served another folder; ``start``: from
        the start of the interpreter.
    """
    opened = _run("open", key, folder, namespace, count)
    before = time.time()
    return {"open": 1_000 * opened, "start": 1_000 * (_run("start", key, folder, namespace, count) - before)}


def resident_bytes(mode: str, folder: str, namespace: str, count: int) -> int:
    """Resident bytes of a process that has the folder open.

    Args:
        mode: ``client``: Chroma only, open, and asked for nothing but the names of its collections;
            ``query``: Chroma after a query of its own; ``ours``: ours after a search; ``written``: ours
            after an ``add`` as well, for which Chroma loads what it needs for a query.
        folder: Of ours.
        namespace: The one to open.
        count: Its turns.
    """
    return int(_run(mode, "ours", folder, namespace, count))


def can_measure_memory() -> bool:
    """Whether the system tells the resident size of a process in the way that is read here."""
    return _STATM.exists()


def _run(mode: str, key: str, folder: str, namespace: str, count: int) -> float:
    command = [sys.executable, "-m", "tests.benchmarks.cold", mode, key, folder, namespace, str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=TIMEOUT_SECONDS)
    return float(done.stdout)


def _seconds_to_open(key: str, folder: str, namespace: str, count: int) -> float:
    embedder = embedder_named("wordllama")
    with tempfile.TemporaryDirectory() as other:
        warm = SYSTEMS[key].open(other, embedder)
        warm.load("warm-up", turns(0, 20))
        warm.search("warm-up", "What was repaired?", 5)
        warm.close()
        start = time.perf_counter()
        peer = SYSTEMS[key].open(folder, embedder)
        peer.search(namespace, question(0, count)[0], 5)
        return time.perf_counter() - start


def _moment_of_first_result(key: str, folder: str, namespace: str, count: int) -> float:
    peer = SYSTEMS[key].open(folder, embedder_named("wordllama"))
    peer.search(namespace, question(0, count)[0], 5)
    return time.time()


def _bytes_now() -> int:
    gc.collect()
    return int(_STATM.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _bytes_of_chroma(folder: str, query: bool) -> int:
    from tests.benchmarks.peers.base import chroma_client

    vector = embedder_named("wordllama").embed_query("What was repaired?")
    collections = chroma_client(folder).list_collections()
    if query:
        largest = max(collections, key=lambda collection: collection.count())
        largest.query(query_embeddings=vector[None, :], n_results=5)
    return _bytes_now()


def _bytes_of_ours(folder: str, namespace: str, count: int, written: bool) -> int:
    peer = SYSTEMS["ours"].open(folder, embedder_named("wordllama"))
    peer.search(namespace, question(0, count)[0], 5)
    if written:
        peer.add(namespace, turns(count, 2))
    return _bytes_now()


def main() -> None:
    """Print the one number that was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mode", choices=["open", "start", "client", "query", "ours", "written"])
    for name in ("key", "folder", "namespace"):
        parser.add_argument(name)
    parser.add_argument("count", type=int)
    asked = parser.parse_args()
    place = (asked.key, asked.folder, asked.namespace, asked.count)
    with contextlib.redirect_stdout(io.StringIO()):
        if asked.mode == "open":
            answer = _seconds_to_open(*place)
        elif asked.mode == "start":
            answer = _moment_of_first_result(*place)
        elif asked.mode in ("ours", "written"):
            answer = _bytes_of_ours(asked.folder, asked.namespace, asked.count, asked.mode == "written")
        else:
            answer = _bytes_of_chroma(asked.folder, asked.mode == "query")
    print(answer, flush=True)
    os._exit(0)  # what is open closes with the process: nothing of it is measured


if __name__ == "__main__":
    main()
