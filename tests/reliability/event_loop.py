"""How long a loop stands still while tasks use one memory: ``python -m tests.reliability.event_loop``."""

from __future__ import annotations

import argparse
import asyncio
import gc
import tempfile
import time
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from shared_core import ContextMemory
from shared_core.stores.chroma import INDEX
from tests.reliability.concurrency_workers import Ticker
from tests.reliability.server import RunningServer
from tests.shared_core.building import EMBEDDER, chroma_client, said

__all__ = ["Stalls", "measure", "measure_add", "measure_chroma", "mixed_task"]

#: The promise, in ms.
BOUND_MS = 50.0
FIRST = "The bell is silent"


@dataclass(frozen=True)
class Stalls:
    """How long a loop stood still, each time that it wanted to go on, in ms.

    Attributes:
        gaps_ms: The stalls, shortest first.
        collections_ms: The pauses of the garbage collector: those stop every thread, whoever caused them.
        waits_ms: How long somebody else's call of ``asyncio.to_thread`` waited for its turn.
        seconds: How long all tasks took.
    """

    gaps_ms: tuple[float, ...]
    collections_ms: tuple[float, ...]
    waits_ms: tuple[float, ...]
    seconds: float

    @property
    def longest_ms(self) -> float:
        """The longest stall."""
        return self.gaps_ms[-1]

    def percentile(self, share: float) -> float:
        """The stall that this share of all does not exceed, 0 to 1."""
        return self.gaps_ms[min(len(self.gaps_ms) - 1, int(len(self.gaps_ms) * share))]

    def __str__(self) -> str:
        over = sum(gap > BOUND_MS for gap in self.gaps_ms)
        return (
            f"longest {self.longest_ms:6.1f} ms   p99 {self.percentile(0.99):5.1f}   "
            f"p95 {self.percentile(0.95):5.1f}   p50 {self.percentile(0.5):5.1f}   over {BOUND_MS:.0f} ms: "
            f"{over:2d}   longest collection {max(self.collections_ms, default=0.0):5.1f} ms   others "
            f"wait {max(self.waits_ms, default=0.0):6.1f} ms   all {self.seconds:.1f} s"
        )


async def mixed_task(memory: ContextMemory, number: int, fact: str) -> str:
    """What one of many tasks does; the text that it gave to the fact of all, or ``""``."""
    kind = number % 4
    if kind == 0:
        await memory.aadd(said(f"Task {number} rode a tandem to the lake.", f"t{number}"), f"c{number % 8}")
    elif kind == 1:
        text = f"The bell rang for task {number}"
        await memory.aupdate(fact, text)
        return text
    elif kind == 2:
        await memory.aremember("Everybody likes the lake")
        await memory.asearch("Who rode to the lake?", limit=3)
    else:
        await memory.acontext("tandem", token_budget=200, conversation_id=f"c{number % 8}")
        kept = await memory.aremember(f"Task {number} sneezed")
        assert await memory.adelete(kept.id)
    return ""


async def measure(memory: ContextMemory, tasks: int) -> Stalls:
    """Run so many mixed tasks at once on one memory.

    Raises:
        AssertionError: If one of them did not do what it was to do.
    """
    fact = memory.remember(FIRST).id
    memory.search("warm")
    memory.context("warm")

    async def all_of_them() -> None:
        await asyncio.gather(*(mixed_task(memory, number, fact) for number in range(tasks)))

    return await _watched(all_of_them())


async def measure_add(memory: ContextMemory, messages: int) -> Stalls:
    """Add so many messages in one call."""
    batch = [said(f"I rode tandem {n} to the lake on day {n}.", f"m{n}") for n in range(messages)]
    memory.search("warm")
    return await _watched(memory.aadd(batch, "c"))


async def measure_chroma(folder: Path, writes: int) -> Stalls:
    """Write so many records with Chroma alone, one in a call: no design of ours stops a loop for less."""
    (vector,) = EMBEDDER.embed(["I rode my tandem to the lake."])
    metadata: Any = {"kind": "fact", "record": "{}" * 200, "vector": "A" * 1_368}
    with chroma_client(folder) as client:
        found = client.get_or_create_collection(
            "alone", configuration=cast(Any, INDEX), embedding_function=None
        )

        async def write() -> None:
            for number in range(writes):
                await asyncio.to_thread(
                    found.upsert,
                    str(number),
                    documents=f"text {number}",
                    embeddings=vector,
                    metadatas=metadata,
                )

        return await _watched(write())


async def _watched(work: Coroutine[Any, Any, object]) -> Stalls:
    """How long the loop stands still while it waits for ``work``."""
    waits: list[float] = []
    began = time.perf_counter()
    with _collections() as collections:
        async with Ticker() as ticker:
            other = asyncio.create_task(_wait_in_turn(waits))
            await asyncio.wait_for(work, timeout=120)
            other.cancel()
    seconds = time.perf_counter() - began
    return Stalls(tuple(sorted(ticker.gaps_ms)), tuple(collections), tuple(waits), seconds)


async def _wait_in_turn(waits: list[float]) -> None:
    """What another library does, such as looking up a name."""
    while True:
        asked = time.perf_counter()
        try:
            await asyncio.to_thread(time.perf_counter)
        finally:
            waits.append((time.perf_counter() - asked) * 1_000)
        await asyncio.sleep(0.05)


@contextmanager
def _collections() -> Iterator[list[float]]:
    """The pauses of the garbage collector within the block, in ms."""
    pauses: list[float] = []
    began = 0.0

    def note(phase: str, _: Any) -> None:
        nonlocal began
        if phase == "start":
            began = time.perf_counter()
        else:
            pauses.append((time.perf_counter() - began) * 1_000)

    gc.callbacks.append(note)
    try:
        yield pauses
    finally:
        gc.callbacks.remove(note)


def _run(tasks: int, messages: int, folder: Path | None, *, on_server: bool) -> Stalls:
    with tempfile.TemporaryDirectory(dir=folder) as made:
        if not on_server:
            with ContextMemory(made) as memory:
                return asyncio.run(_measured(memory, tasks, messages))
        with RunningServer(Path(made)) as server, ContextMemory(server.client()) as memory:
            return asyncio.run(_measured(memory, tasks, messages))


async def _measured(memory: ContextMemory, tasks: int, messages: int) -> Stalls:
    return await (measure_add(memory, messages) if messages else measure(memory, tasks))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure several times: a line for each, and one of Chroma alone behind each that is embedded."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=200)
    parser.add_argument("--messages", type=int, default=0, help="add so many in one call instead")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--folder", type=Path, help="where to make the stores: /dev/shm syncs at no cost")
    parser.add_argument("--server", action="store_true", help="on a Chroma server instead of embedded")
    parser.add_argument(
        "--freeze",
        action="store_true",
        help="keep what is imported out of garbage collections, as gc.freeze does",
    )
    chosen = parser.parse_args(arguments)
    _run(4, 0, chosen.folder, on_server=False)  # imports everything
    if chosen.freeze:
        gc.collect()
        gc.freeze()
    for _ in range(chosen.runs):
        print(_run(chosen.tasks, chosen.messages, chosen.folder, on_server=chosen.server), flush=True)
        if not chosen.server:
            with tempfile.TemporaryDirectory(dir=chosen.folder) as made:
                print(asyncio.run(measure_chroma(Path(made), 200)), " Chroma alone", flush=True)


if __name__ == "__main__":
    main()
