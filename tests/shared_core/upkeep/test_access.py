from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from shared_core import ContextMemory, Settings
from shared_core.errors import StoreError
from shared_core.upkeep.access import AccessNotes
from tests.reliability.served import is_served
from tests.shared_core.building import NOW, NotesExtractor, days_before, record, said, write


def count(memory: ContextMemory, memory_id: str) -> int:
    """As it is stored."""
    with memory.opened().use() as index:
        return index.stored(memory_id).access_count


@pytest.fixture
def memory(tmp_path: Path) -> ContextMemory:
    return ContextMemory(tmp_path / "memory", extractor=NotesExtractor())


def test_reading_is_counted_when_it_is_flushed(memory: ContextMemory) -> None:
    fact = memory.remember("User rides a red tandem", now=days_before(3))
    memory.search("red tandem", now=days_before(2))
    memory.search("red tandem", now=days_before(1))
    assert count(memory, fact.id) == 0
    memory.flush()
    with memory.opened().use() as index:
        stored = index.stored(fact.id)
    assert (stored.access_count, stored.last_accessed_at) == (2, days_before(1))
    assert stored.updated_at == days_before(3)
    memory.flush()
    assert count(memory, fact.id) == 2
    memory.close()


def test_search_get_and_context_count_and_lists_do_not(memory: ContextMemory) -> None:
    fact = memory.remember("User rides a red tandem", now=NOW)
    memory.search("tandem", now=NOW)
    memory.context("tandem", token_budget=500, now=NOW)
    assert memory.get(fact.id) is not None
    memory.list()
    memory.history(fact.id)
    memory.flush()
    assert count(memory, fact.id) == 3
    memory.close()


def test_a_context_counts_only_what_it_shows_for_its_question(memory: ContextMemory) -> None:
    memory.blocks.set("persona", "A patient tutor")
    held = memory.remember("User works at the tax office", now=NOW)
    memory.focus(held.id, now=NOW)
    for number in range(30):
        memory.remember(f"User read book number {number} about trains", now=NOW)
    context = memory.context("books about trains", token_budget=120, now=NOW)
    shown = {one for block in context.blocks for one in block.memory_ids}
    memory.flush()
    counted = {one.id for one in memory.list(limit=100, now=NOW) if one.access_count}
    assert 0 < len(counted) < 30
    assert counted <= shown
    assert held.id in shown - counted
    memory.close()


def test_reading_writes_nothing_and_changes_no_ranking(memory: ContextMemory) -> None:
    for number in range(20):
        memory.remember(f"User rode tandem number {number}", now=NOW)
    before = memory.search("tandem", limit=20, now=NOW)
    for _ in range(200):
        assert memory.search("tandem", limit=20, now=NOW) == before
    assert {count(memory, hit.memory_id) for hit in before} == {0}
    memory.flush()
    assert {count(memory, hit.memory_id) for hit in before} == {201}
    assert [hit.score for hit in memory.search("tandem", limit=20, now=NOW)] == [hit.score for hit in before]
    memory.close()


def test_readings_are_written_with_the_writes_that_follow_so_many_at_a_time(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, settings=Settings(access_batch=5), extractor=NotesExtractor()) as memory:
        facts = [memory.remember(f"User rode tandem number {number}", now=NOW) for number in range(9)]
        memory.search("tandem", limit=4, now=NOW)
        memory.add(said("Hm."), now=NOW)
        assert sum(count(memory, fact.id) for fact in facts) == 0
        memory.search("tandem", limit=9, now=NOW)
        memory.add(said("Hm."), now=NOW)
        assert sum(count(memory, fact.id) for fact in facts) == 4 * 2 + 1  # of five, read first before others
        memory.flush()
        assert sum(count(memory, fact.id) for fact in facts) == 13


def test_maintenance_counts_what_was_read(memory: ContextMemory) -> None:
    fact = memory.remember("User rides a red tandem", importance=0.1, now=days_before(5))
    for _ in range(2):
        memory.search("tandem", now=NOW)
    report = memory.maintain(now=NOW)
    assert report.accessed == (fact.id,)
    assert [move.after for move in report.moved] == ["mtm"]
    assert memory.maintain(now=NOW).changed_nothing
    memory.close()


def test_what_was_deleted_or_erased_meanwhile_stays_so(memory: ContextMemory) -> None:
    fact = memory.remember("User rides a red tandem", now=NOW)
    memory.add(said("moment: User swam in the lake.", "m1"), now=NOW)
    memory.search("tandem lake", now=NOW)
    memory.delete(fact.id)
    memory.erase(message_id="m1")
    memory.flush()
    assert memory.list() == []
    memory.search("tandem", now=NOW)
    memory.erase(everything=True)
    memory.flush()
    memory.close()


def test_closing_the_last_of_a_family_writes_and_a_sibling_does_not(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, "alice") as alice:
        with alice.for_namespace("bob") as bob:
            fact = bob.remember("User rides a red tandem", now=NOW)
            bob.search("tandem", now=NOW)
        with alice.for_namespace("bob") as bob:
            assert count(bob, fact.id) == 0
            bob.search("tandem", now=NOW)
    with ContextMemory(tmp_path, "bob") as bob:
        assert count(bob, fact.id) == 2


READER = """
import json, sys
from shared_core import ContextMemory
from tests.reliability.served import serve_folders
serve_folders()
with ContextMemory(sys.argv[1]) as memory:
    if sys.argv[2] == "read":
        memory.search("tandem")
    print(json.dumps([one.access_count for one in memory.list()]))
"""


def test_another_process_sees_what_was_flushed(tmp_path: Path) -> None:
    def run(what: str) -> list[int]:
        done = subprocess.run(
            [sys.executable, "-c", READER, str(tmp_path), what], capture_output=True, text=True, check=True
        )
        counts: list[int] = json.loads(done.stdout)
        return counts

    with ContextMemory(tmp_path) as memory:
        memory.remember("User rides a red tandem")
    assert run("read") == [0]
    assert run("read") == [1]
    assert run("look") == [2]


def test_many_threads_lose_no_reading(memory: ContextMemory) -> None:
    fact = memory.remember("User rides a red tandem", now=NOW)

    def read() -> None:
        for _ in range(25):
            memory.get(fact.id)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for _ in range(5):
        memory.flush()
    for thread in threads:
        thread.join()
    memory.flush()
    assert count(memory, fact.id) == 100
    memory.close()


async def test_async_reading_counts_too(memory: ContextMemory) -> None:
    fact = await memory.aremember("User rides a red tandem", now=NOW)
    await asyncio.gather(*(memory.asearch("tandem", now=NOW) for _ in range(5)))
    await memory.aflush()
    assert count(memory, fact.id) == 5
    await memory.aclose()


def test_the_notes_are_bounded(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, settings=Settings(access_limit=3)) as memory:
        facts = [memory.remember(f"User rode tandem number {number}", now=NOW) for number in range(9)]
        memory.search("tandem", limit=9, now=NOW)
        memory.search("tandem", limit=9, now=NOW)
        memory.flush()
        assert sorted(count(memory, fact.id) for fact in facts) == [0] * 6 + [2] * 3


@pytest.mark.skipif(is_served(), reason="a client is its owner's to close, and stays open for writing")
def test_what_could_not_be_written_stays_noted(tmp_path: Path) -> None:
    notes = AccessNotes(10)
    with ContextMemory(tmp_path) as memory:
        namespace = memory.opened()
        write(namespace, record("fact-1"))
        notes.note(namespace, ["fact-1"], NOW)
    with pytest.raises((StoreError, AttributeError)):  # a closed client says the latter
        notes.flush(namespace)
    assert notes.waiting(namespace) == 1


def test_a_closed_memory_that_cannot_write_its_notes_closes_all_the_same(tmp_path: Path) -> None:
    memory = ContextMemory(tmp_path)
    memory.remember("User rides a red tandem", now=NOW)
    memory.search("tandem", now=NOW)
    memory.close()
    memory.close()
    assert memory.is_closed
