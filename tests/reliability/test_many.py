"""Many namespaces in one process, under a limit of open files."""

from __future__ import annotations

from pathlib import Path

import pytest

from shared_core import ContextMemory, Settings
from shared_core.namespaces import NamespacePool
from shared_core.stores.chroma import ChromaStore
from tests.reliability.many import OPEN_FILES, open_files, run
from tests.shared_core.building import EMBEDDER, said


def test_namespaces_in_turn_under_a_tight_limit_of_open_files(tmp_path: Path) -> None:
    with open_files(256):  # Chroma keeps a fifth of it loaded: 51 collections
        figures = run(tmp_path, 70, resident_limit=4)
    assert figures.kb_each < 10_000


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
