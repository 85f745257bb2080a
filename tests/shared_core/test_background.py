"""Adding without waiting: messages are durable at once, a worker learns from them in order."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from shared_core import ContextMemory, Settings
from shared_core.background import Background
from shared_core.errors import ExtractionError
from shared_core.extraction.rules import RuleExtractor
from shared_core.extraction.schema import Extraction, ExtractionRequest
from tests.shared_core.building import said


class Held(RuleExtractor):
    """Waits until it may go on, and fails when told so; notes what it was shown."""

    def __init__(self) -> None:
        super().__init__()
        self.may_go_on = threading.Event()
        self.fails = False
        self.seen: list[str] = []

    def extract(self, request: ExtractionRequest) -> Extraction:
        assert self.may_go_on.wait(20)
        self.seen.extend(message.content for message in request.messages)
        if self.fails:
            raise ExtractionError("the model is out")
        return super().extract(request)


def test_add_returns_once_the_messages_are_durable(tmp_path: Path) -> None:
    extractor = Held()
    with ContextMemory(tmp_path, extractor=extractor) as memory:
        result = memory.add(said("I live in Paris.", "m1"), wait=False)
        assert result.memories == ()
        assert [message.text for message in memory.messages()] == ["I live in Paris."]
        assert memory.list(kind="fact") == []
        extractor.may_go_on.set()
        memory.flush()
        assert [fact.text for fact in memory.list(kind="fact")] == ["User lives in Paris"]


def test_batches_are_learnt_in_the_order_in_which_they_came(tmp_path: Path) -> None:
    extractor = Held()
    cities = ["Paris", "Berlin", "Rome", "Oslo"]
    with ContextMemory(tmp_path, extractor=extractor, settings=Settings(background=True)) as memory:
        for city in cities:
            memory.add(said(f"I live in {city}."))
        extractor.may_go_on.set()
        memory.flush()
        assert extractor.seen == [f"I live in {city}." for city in cities]
        assert [fact.object for fact in memory.list(kind="fact")] == ["Oslo"]
        assert memory.add(said("I live in Bern."), wait=True).semantic == ("User lives in Bern",)


def test_an_error_of_the_worker_is_kept_for_flush_and_the_next_one_tries_again(tmp_path: Path) -> None:
    extractor = Held()
    extractor.may_go_on.set()
    extractor.fails = True
    with ContextMemory(tmp_path, extractor=extractor) as memory:
        memory.add(said("I live in Paris."), wait=False)
        with pytest.raises(ExtractionError, match="the model is out"):
            memory.flush()
        extractor.fails = False
        memory.flush()
        assert [fact.text for fact in memory.list(kind="fact")] == ["User lives in Paris"]


def test_close_drains_the_queue(tmp_path: Path) -> None:
    extractor = Held()
    memory = ContextMemory(tmp_path, extractor=extractor)
    memory.add(said("I live in Paris."), wait=False)
    threading.Timer(0.2, extractor.may_go_on.set).start()
    memory.close()
    with ContextMemory(tmp_path) as again:
        assert [fact.text for fact in again.list(kind="fact")] == ["User lives in Paris"]


def test_the_end_of_the_interpreter_drains_the_queue(tmp_path: Path) -> None:
    program = f"""
from shared_core import ContextMemory
memory = ContextMemory({str(tmp_path)!r})
for number in range(20):
    memory.add({{"role": "user", "content": f"I like cocoa number {{number}}."}}, wait=False)
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
    with ContextMemory(tmp_path) as memory:
        assert len(memory.messages()) == 20
        with memory.opened().use() as index:
            assert not index.pending


@contextmanager
def no_new_threads() -> Iterator[None]:
    """The system refuses to start another thread, as it does at its limit."""
    usual = threading.stack_size(2**46)  # more than any machine gives
    try:
        yield
    finally:
        threading.stack_size(usual)


def test_where_no_thread_can_be_started_the_caller_does_the_task() -> None:
    worker, done = Background("test"), []
    with no_new_threads():
        worker.submit(lambda: done.append(threading.current_thread()))
        worker.submit(lambda: done.append(threading.current_thread()))
    assert done == [threading.current_thread()] * 2
    worker.submit(lambda: done.append(threading.current_thread()))
    assert worker.drain() == []
    assert done[2] is not threading.current_thread()
    worker.close()


def test_a_task_that_fails_in_the_thread_of_its_caller_is_told_by_drain() -> None:
    worker = Background("test")
    with no_new_threads():
        worker.submit(lambda: 1 // 0)
    (error,) = worker.drain()
    assert isinstance(error, ZeroDivisionError)
    worker.close()


def test_messages_are_learnt_from_where_no_thread_can_be_started(tmp_path: Path) -> None:
    with ContextMemory(tmp_path) as memory:
        assert memory.messages() == []  # its records are read with a thread of their own
        with no_new_threads():
            memory.add(said("I live in Paris.", "m1"), wait=False)
        assert [fact.text for fact in memory.list(kind="fact")] == ["User lives in Paris"]
        memory.flush()


def test_what_is_added_while_the_interpreter_ends_is_learnt_from(tmp_path: Path) -> None:
    program = f"""
import atexit
from shared_core import ContextMemory
memory = ContextMemory({str(tmp_path)!r})
memory.messages()
atexit.register(memory.add, {{"role": "user", "content": "I live in Paris."}}, wait=False)
"""
    ended = subprocess.run([sys.executable, "-c", program], check=False, timeout=60, capture_output=True)
    assert ended.returncode == 0, ended.stderr
    assert b"Traceback" not in ended.stderr
    with ContextMemory(tmp_path) as memory, memory.opened().use() as index:
        assert not index.pending


def test_a_full_queue_makes_the_caller_wait() -> None:
    go_on, entered = threading.Event(), threading.Event()
    worker = Background("test", limit=2)
    worker.submit(lambda: go_on.wait(20))
    worker.submit(lambda: None)

    def third() -> None:
        worker.submit(lambda: None)
        entered.set()

    caller = threading.Thread(target=third)
    caller.start()
    assert not entered.wait(0.2)
    go_on.set()
    assert entered.wait(20)
    caller.join()
    assert worker.drain() == []
    worker.close()
