"""Many tasks on one memory: none lost, the loop goes on, and nobody else waits for them."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from contextvars import ContextVar
from pathlib import Path

import pytest

from shared_core import ContextMemory
from shared_core.extraction.schema import Extraction, ExtractionRequest
from tests.reliability.concurrency_workers import index_equals_rebuilt
from tests.reliability.event_loop import FIRST, measure
from tests.shared_core.building import said

#: A loop that stands still for longer has been blocked by us, not by a busy machine.
GENEROUS_MS = 2_000.0
TASKS = 100
TRACE: ContextVar[str] = ContextVar("TRACE", default="none")


async def test_many_tasks_leave_the_loop_and_its_threads_to_others(memory: ContextMemory) -> None:
    stalls = await measure(memory, TASKS)
    print(stalls)
    assert stalls.longest_ms < GENEROUS_MS
    assert max(stalls.waits_ms) < max(stalls.seconds * 1_000 / 2, 200.0)  # the queue is not theirs to wait in
    texts = {f"The bell rang for task {number}" for number in range(1, TASKS, 4)}
    (fact,) = (one for one in memory.list(kind="fact", limit=1_000) if one.text in texts)
    assert {one.text for one in memory.history(fact.id)} == {FIRST, *texts}
    assert {one.message_id for one in memory.list(kind="message", limit=1_000)} == {
        f"t{number}" for number in range(0, TASKS, 4)
    }
    assert index_equals_rebuilt(memory)


class TracingExtractor:
    """Sees the context of whoever called, as a traced model of LangChain does."""

    name, is_slow = "tracing", True

    def __init__(self) -> None:
        self.seen: list[str] = []

    def extract(self, request: ExtractionRequest) -> Extraction:
        self.seen.append(TRACE.get())
        return Extraction()


async def test_what_a_model_is_asked_with_belongs_to_the_callers_context(tmp_path: Path) -> None:
    extractor = TracingExtractor()

    async def tell(memory: ContextMemory, who: str) -> None:
        TRACE.set(who)
        await memory.aadd(said(f"Hello from {who}"), who)

    async with ContextMemory(tmp_path, extractor=extractor) as memory:
        await asyncio.gather(*(tell(memory, who) for who in ("Ada", "Bo", "Cy")))
    assert sorted(extractor.seen) == ["Ada", "Bo", "Cy"]
    assert TRACE.get() == "none"


async def test_one_namespace_that_waits_does_not_hold_up_another(memory: ContextMemory) -> None:
    with memory.for_namespace("other") as other:
        await other.aadd(said("I moved to Rome."))
        with memory.opened().use():  # as whoever has the namespace for long
            waiting = [asyncio.create_task(memory.asearch("lake")) for _ in range(100)]
            await asyncio.sleep(0.05)
            found = await asyncio.wait_for(other.asearch("Where do I live?"), 20)
            assert found.results
            assert not any(task.done() for task in waiting)
        await asyncio.gather(*waiting)


ENDING = """
import asyncio, sys
from shared_core import ContextMemory
async def main(memory):
    said = [{"role": "user", "content": f"I rode tandem {n}.", "id": f"m{n}"} for n in range(40)]
    adding = [asyncio.create_task(memory.aadd(one)) for one in said]
    await adding[0]
with ContextMemory(sys.argv[1]) as memory:
    asyncio.run(main(memory))
    print(len(memory.messages()))
"""


def test_a_program_that_ends_with_adds_under_way_does_not_hang_and_leaves_them_whole(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", ENDING, str(tmp_path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    with ContextMemory(tmp_path) as memory:
        assert len(memory.messages()) == int(ended.stdout) < 40
        assert index_equals_rebuilt(memory)


@pytest.mark.parametrize("pause", [0.0, 0.01, 0.03])
async def test_tasks_cancelled_at_any_moment_leave_each_change_whole_or_absent(
    memory: ContextMemory, pause: float
) -> None:
    tasks = [asyncio.create_task(memory.aadd(said(f"I rode {n}.", f"m{n}"), "c")) for n in range(30)]
    await asyncio.sleep(pause)
    for task in tasks[::2]:
        task.cancel()
    ended = await asyncio.gather(*tasks, return_exceptions=True)
    told = {f"m{n}" for n, one in enumerate(ended) if not isinstance(one, BaseException)}
    assert told >= {f"m{n}" for n in range(1, 30, 2)}
    assert {one.message_id for one in await memory.amessages("c")} >= told
    assert index_equals_rebuilt(memory)
