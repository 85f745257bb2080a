from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time
from contextvars import ContextVar

import pytest

from shared_core.asynchronous import (
    AT_ONCE,
    LONGEST,
    NOTICEABLE,
    THREADS,
    giving_way,
    run_in_thread,
    run_in_turn,
)

WHO: ContextVar[str] = ContextVar("WHO", default="nobody")


class Crowd:
    """Work that waits until it may go on; counts how many are at it at once."""

    def __init__(self) -> None:
        self.go_on = threading.Event()
        self.begun: list[int] = []
        self.ended: list[int] = []
        self.most = 0
        self._lock = threading.Lock()

    def work(self, number: int) -> int:
        with self._lock:
            self.begun.append(number)
            self.most = max(self.most, len(self.begun) - len(self.ended))
        assert self.go_on.wait(20)
        with self._lock:
            self.ended.append(number)
        return number

    async def full(self) -> None:
        while len(self.begun) < AT_ONCE:
            await asyncio.sleep(0.001)


@pytest.fixture
def crowd() -> Crowd:
    return Crowd()


def add(one: int, *, other: int) -> int:
    return one + other


def fail() -> None:
    raise ValueError("no such thing")


async def test_arguments_go_in_and_results_and_errors_come_out() -> None:
    assert await run_in_thread(add, 1, other=2) == 3
    assert await run_in_turn("kind", add, 1, other=2) == 3
    for failing in (run_in_thread(fail), run_in_turn("kind", fail)):
        with pytest.raises(ValueError, match="no such thing"):
            await failing


async def test_the_context_of_the_caller_reaches_the_thread_and_stays_its_own() -> None:
    WHO.set("Ada")

    def seen() -> str:
        before = WHO.get()
        WHO.set("thread")
        return before

    assert await run_in_thread(seen) == await run_in_turn("kind", seen) == "Ada"
    assert WHO.get() == "Ada"


async def test_threads_are_started_before_they_are_needed() -> None:
    await run_in_thread(time.perf_counter)
    assert sum(thread.name.startswith("asyncio_") for thread in threading.enumerate()) >= THREADS


async def test_one_kind_leaves_threads_to_others(crowd: Crowd) -> None:
    waiting = [asyncio.create_task(run_in_turn("slow", crowd.work, n)) for n in range(3 * AT_ONCE)]
    await crowd.full()
    assert await asyncio.wait_for(asyncio.to_thread(add, 1, other=1), 10) == 2
    assert await asyncio.wait_for(run_in_turn("other", add, 1, other=2), 10) == 3
    assert crowd.begun == list(range(AT_ONCE))
    crowd.go_on.set()
    assert await asyncio.gather(*waiting) == list(range(3 * AT_ONCE))
    assert crowd.most == AT_ONCE


async def test_what_is_cancelled_before_it_began_is_never_begun(crowd: Crowd) -> None:
    waiting = [asyncio.create_task(run_in_turn("slow", crowd.work, n)) for n in range(AT_ONCE + 2)]
    await crowd.full()
    waiting[AT_ONCE].cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting[AT_ONCE]
    crowd.go_on.set()
    assert await waiting[AT_ONCE + 1] == AT_ONCE + 1
    assert AT_ONCE not in crowd.begun


async def test_what_is_cancelled_under_way_is_done_to_the_end_and_keeps_its_place(crowd: Crowd) -> None:
    waiting = [asyncio.create_task(run_in_turn("slow", crowd.work, n)) for n in range(AT_ONCE)]
    await crowd.full()
    for task in waiting:
        task.cancel()
    await asyncio.gather(*waiting, return_exceptions=True)
    after = asyncio.create_task(run_in_turn("slow", add, 1, other=1))
    await asyncio.sleep(0.02)
    assert not after.done()
    assert await run_in_turn("other", add, 1, other=1) == 2
    crowd.go_on.set()
    assert await after == 2  # as soon as the first of them has ended
    while len(crowd.ended) < AT_ONCE:
        await asyncio.sleep(0.001)
    assert sorted(crowd.ended) == list(range(AT_ONCE))


async def test_cancelled_calls_give_every_place_back(crowd: Crowd) -> None:
    crowd.go_on.set()
    for _ in range(20):
        tasks = [asyncio.create_task(run_in_turn("kind", crowd.work, n)) for n in range(3 * AT_ONCE)]
        await asyncio.sleep(0)
        for task in tasks[::2]:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    crowd.go_on.clear()
    crowd.begun.clear()
    crowd.ended.clear()
    full = [asyncio.create_task(run_in_turn("kind", crowd.work, n)) for n in range(AT_ONCE + 1)]
    await asyncio.wait_for(crowd.full(), 10)
    crowd.go_on.set()
    await asyncio.gather(*full)


def test_loops_one_after_another_and_side_by_side_do_not_meet() -> None:
    async def use(number: int) -> list[int]:
        calls = (run_in_turn("kind", add, number, other=n) for n in range(4 * AT_ONCE))
        return await asyncio.gather(*calls)

    wanted = list(range(4 * AT_ONCE))
    for _ in range(3):
        assert asyncio.run(use(0)) == wanted
    answers: list[list[int]] = []
    threads = [threading.Thread(target=lambda: answers.append(asyncio.run(use(0)))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert answers == [wanted] * 3


# -- giving way ------------------------------------------------------------------------------------------


def long_call() -> None:
    with giving_way():
        time.sleep(2 * NOTICEABLE)


async def test_after_a_long_call_the_loop_goes_round_before_the_thread_goes_on() -> None:
    rounds, seen = 0, []

    def twice() -> None:
        for _ in range(2):
            long_call()
            seen.append(rounds)

    task = asyncio.create_task(run_in_thread(twice))
    while not task.done():
        rounds += 1
        await asyncio.sleep(0.001)
    assert seen[0] < seen[1]


async def test_a_loop_that_is_busy_is_not_waited_for_for_long() -> None:
    took: list[float] = []

    def timed() -> None:
        began = time.perf_counter()
        long_call()
        took.append(time.perf_counter() - began)

    task = asyncio.create_task(run_in_thread(timed))
    await asyncio.sleep(0)
    time.sleep(10 * LONGEST)  # the loop stands still
    await task
    assert took[0] < 10 * LONGEST


def test_outside_of_a_loops_threads_nobody_is_waited_for() -> None:
    long_call()
    thread = threading.Thread(target=long_call)
    thread.start()
    thread.join(5)
    assert not thread.is_alive()


def test_an_error_in_the_call_stays_what_it_is() -> None:
    with pytest.raises(ValueError, match="no such thing"), giving_way():
        fail()


# -- the end of the program ------------------------------------------------------------------------------

ENDING = r"""
import asyncio, sys, time
from shared_core.asynchronous import giving_way, run_in_turn
def work(n):
    with giving_way():
        time.sleep(0.3)
    sys.stdout.write(f"done {n}\n")  # in one piece
async def main():
    tasks = [asyncio.create_task(run_in_turn("kind", work, n)) for n in range(50)]
    await asyncio.sleep(0.1)
loop_of_its_own = sys.argv[1] == "closed"
if loop_of_its_own:
    loop = asyncio.new_event_loop()
    loop.run_until_complete(main())
    loop.close()
else:
    asyncio.run(main())
print("end")
"""


@pytest.mark.parametrize("how", ["run", "closed"])
def test_a_program_ends_with_calls_under_way_and_without_those_that_wait(how: str) -> None:
    began = time.monotonic()
    ended = subprocess.run(
        [sys.executable, "-c", ENDING, how], capture_output=True, text=True, timeout=30, check=False
    )
    assert ended.returncode == 0
    assert time.monotonic() - began < 15
    lines = ended.stdout.splitlines()
    assert "end" in lines
    assert sorted(line for line in lines if line != "end") == [f"done {n}" for n in range(AT_ONCE)]
    if how == "run":
        assert ended.stderr == ""
