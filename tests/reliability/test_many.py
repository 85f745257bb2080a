"""Many namespaces in one process, under a limit of open files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from shared_core import ContextMemory, Settings
from shared_core.namespaces import NamespacePool
from shared_core.stores.chroma import ChromaStore
from tests.reliability import million
from tests.reliability.many import OPEN_FILES, open_files, run
from tests.shared_core.building import EMBEDDER, said

ROOT = Path(__file__).parents[2]


#: Chroma keeps a fifth of the open files loaded: 51 collections.
TIGHT = """
import sys
from pathlib import Path
from tests.reliability.many import open_files, run
with open_files(256):
    print(run(Path(sys.argv[1]), 70, resident_limit=4).kb_each)
"""


def test_namespaces_in_turn_under_a_tight_limit_of_open_files(tmp_path: Path) -> None:
    """In a process of its own, for this one may hold many files already."""
    done = subprocess.run(
        [sys.executable, "-c", TIGHT, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout.splitlines()[-1]) < 10_000


@pytest.mark.slow
def test_thousands_of_namespaces_in_turn(tmp_path: Path) -> None:
    with open_files(OPEN_FILES):
        figures = run(tmp_path, 1_500)
    assert figures.searched_mb - figures.base_mb < 2_000


def test_a_pool_forgets_namespaces_that_nobody_holds(tmp_path: Path) -> None:
    store = ChromaStore(tmp_path)
    pool = NamespacePool(store, resident_limit=3, idle_seconds=900)
    held = pool.open("held", EMBEDDER)
    for number in range(20):
        pool.open(f"user {number}", EMBEDDER)
    assert len(pool.__dict__["_open"]) == 3
    assert len(pool.__dict__["_held"]) == 4
    assert pool.open("held", EMBEDDER) is held
    pool.close()


def test_a_namespace_in_use_keeps_its_lock_however_many_are_opened(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, settings=Settings(resident_limit=1)) as memory:
        fact = memory.remember("The bell is silent")
        namespace = memory.opened()
        with namespace.use() as index:
            for number in range(5):
                with memory.for_namespace(f"user {number}") as other:
                    other.add(said("hello"))
            assert fact.id in index
            assert memory.opened() is namespace
        assert memory.update(fact.id, "The bell rang").text == "The bell rang"


def test_an_update_under_eviction_is_not_lost(tmp_path: Path) -> None:
    from tests.reliability.concurrency_workers import in_threads

    with ContextMemory(tmp_path, settings=Settings(resident_limit=1)) as memory:

        def work(worker: int) -> None:
            for _ in range(5):
                for name in ("a", "b", "c"):
                    with memory.for_namespace(name) as own:
                        own.remember("The bell rang")

        in_threads(4, work)
        for name in ("a", "b", "c"):
            with memory.for_namespace(name) as own:
                (fact,) = own.list(kind="fact")
                assert fact.mention_count == 20


def test_a_large_namespace_is_loaded_asked_and_opened_again(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, million.NAME) as memory:
        million.load(memory, 0, 200)
        million.load(memory, 200, 100)
        figures = million.measured(memory, 300)
        assert len(memory.list(kind="fact", limit=1_000)) == 75 + 1  # the second move replaced the first
    assert figures["found_of_questions"] == 1.0
    assert million.reopened(tmp_path)["open_and_first_search_s"] > 0


def test_a_large_namespace_that_was_kept_is_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(million, "PART", 100)
    assert million.run(tmp_path, 150, 60.0) == 150
    assert million.run(tmp_path, 300, 60.0) == 300  # 50 of them were loaded before
    with ContextMemory(tmp_path, million.NAME) as memory:
        assert len(memory.list(kind="message", limit=1_000)) >= 225
