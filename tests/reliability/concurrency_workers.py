"""What the tests of concurrency run in threads, in tasks and in processes of their own."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shared_core import ContextMemory
from tests.shared_core.building import said
from tests.shared_core.index.dump import dump

__all__ = [
    "HOLDER",
    "SERVED",
    "Ticker",
    "in_threads",
    "index_equals_rebuilt",
    "mixed_operations",
    "python",
    "replies",
]

#: Nothing in these tests takes a tenth of it: what does is a deadlock.
SECONDS = 120.0

# A process of its own on a Chroma server: obeys lines, answers each with a line of JSON.
SERVED = """
import json, sys
import chromadb
from chromadb.config import Settings
from shared_core import ContextMemory
client = chromadb.HttpClient("127.0.0.1", int(sys.argv[1]), settings=Settings(anonymized_telemetry=False))
memory, me = ContextMemory(client, sys.argv[3]), sys.argv[2]
for line in sys.stdin:
    verb, _, rest = line.strip().partition(" ")
    if verb == "add":
        memory.add({"role": "user", "content": f"Process {me} rode to {rest}.", "id": f"{me}-{rest}"}, me)
        answer = f"{me}-{rest}"
    elif verb == "say":
        memory.add({"role": "user", "content": f"Hello {rest} from {me}"}, "one for all")
        answer = rest
    elif verb == "seen":
        answer = sorted(one.message_id for one in memory.list(kind="message", limit=1_000))
    elif verb == "found":
        answer = sorted({hit.source_ids[0] for hit in memory.search(rest, limit=20) if hit.source_ids})
    elif verb == "update":
        answer = memory.update(rest, f"The bell rang for process {me}").text
    elif verb == "remember":
        answer = memory.remember(rest).id
    elif verb == "history":
        answer = [one.text for one in memory.history(rest)]
    elif verb == "hold":
        change = memory.opened().alone()
        change.__enter__()
        answer = True
    elif verb == "let":
        change.__exit__(None, None, None)
        answer = True
    print(json.dumps(answer), flush=True)
"""

# Another one, which has the right to change something or wants it.
HOLDER = """
import json, sys
import chromadb
from chromadb.config import Settings
from shared_core.errors import StoreError
from shared_core.stores.chroma import ChromaStore
from shared_core.stores.lease import Lease
client = chromadb.HttpClient("127.0.0.1", int(sys.argv[1]), settings=Settings(anonymized_telemetry=False))
store = ChromaStore(client)
for line in sys.stdin:
    verb, _, seconds = line.strip().partition(" ")
    answer = True
    try:
        if verb == "acquire":
            wait = float(seconds or 20)
            lease = Lease(store, "contextmemory-held", held_seconds=0.6, wait_seconds=wait)
            lease.acquire()
        elif verb == "confirm":
            lease.confirm()
        elif verb == "release":
            lease.release()
    except StoreError as error:
        answer = False if verb == "acquire" else str(error)
    print(json.dumps(answer), flush=True)
"""


class Ticker:
    """Measures for how long an event loop does not get to run: the longest gap beyond what was slept.

    Example:
        >>> async with Ticker() as ticker: ...
        >>> ticker.longest_ms
    """

    def __init__(self, every_ms: float = 2.0) -> None:
        self.every = every_ms / 1_000
        self.gaps_ms: list[float] = []

    @property
    def longest_ms(self) -> float:
        """The longest time for which the loop was blocked."""
        return max(self.gaps_ms, default=0.0)

    async def __aenter__(self) -> Ticker:
        self._task = asyncio.create_task(self._tick())
        await asyncio.sleep(0)
        return self

    async def __aexit__(self, *exception: object) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)

    async def _tick(self) -> None:
        while True:
            before = time.perf_counter()
            await asyncio.sleep(self.every)
            self.gaps_ms.append((time.perf_counter() - before - self.every) * 1_000)


@dataclass(frozen=True)
class Written:
    """What a worker has seen written.

    Attributes:
        messages: The ids of the messages that it has added.
        texts: The texts that it gave to the fact that all share.
        own: Its own fact, as it stands now; "" where it was deleted.
        mentions: How often it said what all say.
    """

    messages: tuple[str, ...]
    texts: tuple[str, ...]
    own: str
    mentions: int


def mixed_operations(memory: ContextMemory, worker: int, rounds: int, shared_fact: str) -> Written:
    """Add, remember, update, read, search and delete in turns, as one of many."""
    messages, texts = [], []
    own = memory.remember(f"Worker {worker} keeps bees")
    for turn in range(rounds):
        message_id = f"w{worker}-{turn}"
        memory.add(said(f"Worker {worker} rode tandem number {turn} to the lake.", message_id), f"c{worker}")
        messages.append(message_id)
        memory.remember("Everybody likes the lake")
        texts.append(f"The bell rang for worker {worker} in round {turn}")
        memory.update(shared_fact, texts[-1])
        memory.update(own.id, f"Worker {worker} keeps {turn} bees")
        memory.search("Who rode to the lake?", limit=3)
        memory.context("tandem", token_budget=200, conversation_id=f"c{worker}")
        short_lived = memory.remember(f"Worker {worker} sneezed in round {turn}")
        assert memory.get(short_lived.id) is not None
        assert memory.delete(short_lived.id)
        assert len(memory.messages(f"c{worker}")) == turn + 1
        if turn == rounds // 2:
            memory.maintain()
    kept = memory.get(own.id)
    return Written(tuple(messages), tuple(texts), kept.text if kept else "", rounds)


def in_threads(count: int, work: Callable[[int], Any]) -> list[Any]:
    """The results of ``work`` in so many threads at once; fails where one does not end in time."""
    pool = ThreadPoolExecutor(count, thread_name_prefix="worker")
    futures = [pool.submit(work, number) for number in range(count)]
    waiting = wait(futures, timeout=SECONDS).not_done
    pool.shutdown(wait=not waiting, cancel_futures=True)
    assert not waiting, f"{len(waiting)} of {count} threads still wait after {SECONDS:.0f} s"
    return [future.result() for future in futures]


def index_equals_rebuilt(memory: ContextMemory) -> bool:
    """Whether what is in memory is what Chroma holds."""
    namespace = memory.opened()
    with namespace.use() as index:
        kept = dump(index)
    namespace.drop_index()
    with namespace.use() as index:
        return dump(index) == kept


def python(script: str, *arguments: str | Path | int) -> subprocess.Popen[str]:
    """A process of its own that runs ``script``."""
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def replies(processes: Sequence[subprocess.Popen[str]], line: str) -> list[Any]:
    """Tell each process a line at once, and read the line of JSON that each answers."""
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(line + "\n")
        process.stdin.flush()
    answers = []
    for process in processes:
        assert process.stdout is not None
        answer = process.stdout.readline()
        assert answer, process.communicate(timeout=20)[1]
        answers.append(json.loads(answer))
    return answers
