from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from shared_core import ContextMemory
from shared_core.scheduler import MaintenanceScheduler
from tests.shared_core.building import NOW, NotesExtractor, days_before, record, said, write

HOUR = timedelta(hours=1)


class Clock:
    """Tells the time that a test wishes."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[ContextMemory]:
    with ContextMemory(tmp_path, extractor=NotesExtractor()) as opened:
        yield opened


def wait_until(is_so: Callable[[], bool], seconds: float = 10.0) -> bool:
    end = time.monotonic() + seconds
    while not is_so() and time.monotonic() < end:
        time.sleep(0.005)
    return is_so()


def test_it_runs_after_an_hour_without_messages(memory: ContextMemory, clock: Clock) -> None:
    scheduler = MaintenanceScheduler(memory, clock=clock)
    memory.add(said("moment: Ada swam."), now=NOW + timedelta(minutes=30))
    clock.now = NOW + timedelta(minutes=89)
    assert scheduler.run_if_due() is None
    clock.now = NOW + timedelta(minutes=90)
    assert scheduler.run_if_due() is not None
    assert scheduler.run_if_due() is None
    assert scheduler.runs == 1


def test_it_runs_again_each_hour_while_it_stays_quiet(memory: ContextMemory, clock: Clock) -> None:
    scheduler = MaintenanceScheduler(memory, clock=clock)
    for _ in range(300):
        clock.now += timedelta(minutes=2)
        scheduler.run_if_due()
    assert scheduler.runs == 10


def test_reading_does_not_keep_it_awake(memory: ContextMemory, clock: Clock) -> None:
    memory.add(said("moment: Ada swam."), now=NOW)
    scheduler = MaintenanceScheduler(memory, clock=clock)
    for _ in range(6):
        clock.now += timedelta(minutes=10)
        memory.search("swam", now=clock.now)
        memory.flush()
        scheduler.run_if_due()
    assert scheduler.runs == 1


def test_a_memory_that_was_quiet_for_long_is_tended_at_once(memory: ContextMemory, clock: Clock) -> None:
    memory.add(said("moment: Ada swam."), now=days_before(100))
    scheduler = MaintenanceScheduler(memory, clock=clock)
    report = scheduler.run_if_due()
    assert report is not None
    assert len(report.archived) == 1


def test_an_interval_takes_no_notice_of_messages(memory: ContextMemory, clock: Clock) -> None:
    scheduler = MaintenanceScheduler(memory, interval_minutes=10, clock=clock)
    for minute in range(1, 61):
        clock.now = NOW + timedelta(minutes=minute)
        memory.add(said("Hm.", f"m{minute}"), now=clock.now)
        scheduler.run_if_due()
    assert scheduler.runs == 6


def test_its_thread_runs_and_stops(memory: ContextMemory, clock: Clock) -> None:
    write(memory.opened(), record("fact-1", expires_at=NOW + HOUR))
    with MaintenanceScheduler(memory, clock=clock, longest_wait_seconds=0.01) as scheduler:
        assert scheduler.is_running
        assert scheduler.runs == 0
        clock.now += HOUR
        assert wait_until(lambda: scheduler.runs == 1)
        report = scheduler.last_report
        assert report is not None
        assert report.expired == ("fact-1",)
    assert scheduler.stop()  # which it has
    clock.now += 9 * HOUR
    time.sleep(0.05)
    assert scheduler.runs == 1
    with scheduler:  # it may begin again
        assert wait_until(lambda: scheduler.runs == 2)


def test_stopping_does_not_wait_for_the_next_run(memory: ContextMemory) -> None:
    scheduler = MaintenanceScheduler(memory).start()
    began = time.monotonic()
    assert scheduler.stop()
    assert time.monotonic() - began < 5
    assert scheduler.start().start().is_running
    scheduler.stop()


def test_a_closed_memory_ends_it(tmp_path: Path, clock: Clock) -> None:
    memory = ContextMemory(tmp_path)
    scheduler = MaintenanceScheduler(memory, clock=clock, longest_wait_seconds=0.01).start()
    memory.close()
    clock.now += HOUR
    assert wait_until(lambda: not scheduler.is_running)
    assert (scheduler.failures, list(scheduler.errors)) == (0, [])


def test_an_error_is_kept_logged_and_tried_again(
    tmp_path: Path, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    class Mute:
        """An embedder that fails as often as it is told to."""

        name, dimension, connection_threshold = "mute", 4, 0.5
        failures = 0

        def embed(self, texts: Any) -> Any:
            import numpy as np

            if self.failures:
                self.failures -= 1
                raise ConnectionError("the embedder is out")
            return np.full((len(texts), 4), 0.5, dtype=np.float32)

        def embed_query(self, text: str) -> Any:
            return self.embed([text])[0]

    embedder = Mute()
    with ContextMemory(tmp_path, embedder=embedder) as memory:
        memory.remember("User's name is Alex", category="name", now=NOW)
        scheduler = MaintenanceScheduler(memory, clock=clock)
        clock.now += HOUR
        embedder.failures = 1
        assert scheduler.run_if_due() is None
        assert (scheduler.failures, str(scheduler.errors[0])) == (1, "the embedder is out")
        assert "maintenance failed" in caplog.text
        assert scheduler.run_if_due() is None  # not due again yet
        clock.now += HOUR
        report = scheduler.run_if_due()
        assert report is not None
        assert report.blocks == ("user_profile",)


@pytest.mark.parametrize("name", ["idle_minutes", "interval_minutes", "longest_wait_seconds"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), "60", True])
def test_bad_numbers_are_refused_by_name(memory: ContextMemory, name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=name):
        MaintenanceScheduler(memory, **{name: value})


def test_many_threads_may_ask_and_it_runs_once(memory: ContextMemory, clock: Clock) -> None:
    scheduler = MaintenanceScheduler(memory, clock=clock)
    clock.now += HOUR
    threads = [threading.Thread(target=scheduler.run_if_due) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert scheduler.runs == 1


LEFT_RUNNING = """
import sys
from shared_core import ContextMemory
from shared_core.scheduler import MaintenanceScheduler
memory = ContextMemory(sys.argv[1])
memory.add([{"role": "user", "content": "I moved to Berlin."}])
scheduler = MaintenanceScheduler(memory, interval_minutes=0.0001).start()
while not scheduler.runs:
    pass
print("over")
"""


def test_the_end_of_the_interpreter_ends_it_cleanly(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", LEFT_RUNNING, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "over\n", "")
    with ContextMemory(tmp_path) as memory:
        assert len(memory.list(kind="message")) == 1
