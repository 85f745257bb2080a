from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from shared_core import ContextMemory
from shared_core.embedding import ChromaFunctionEmbedder
from shared_core.embedding.base import FloatArray
from shared_core.errors import EmbedderMismatchError, EmbeddingError, StoreError
from shared_core.stores import copies
from shared_core.stores.chroma import ChromaStore, collection_name
from shared_core.transfer.export import export_records
from shared_core.upkeep.reindexing import BATCH_RECORDS, ReindexReport, reindex
from tests.reliability.served import is_served

pytestmark = pytest.mark.skipif(
    is_served(), reason="reindexing is for embedded folders: others export and import"
)

DIMENSION = 16


def hashed(texts: Sequence[str]) -> list[list[float]]:
    """Words as places of a vector: the same text always the same."""
    vectors = np.zeros((len(texts), DIMENSION))
    for row, text in enumerate(texts):
        for word in text.lower().split():
            vectors[row, sum(map(ord, word)) % DIMENSION] += 1.0
    listed: list[list[float]] = vectors.tolist()
    return listed


@pytest.fixture
def other() -> ChromaFunctionEmbedder:
    return ChromaFunctionEmbedder(hashed, name="hashed")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two namespaces; in that of Alice more records than one batch."""
    with ContextMemory(tmp_path / "memory", "alice") as alice, alice.for_namespace("bob") as bob:
        bob.remember("User likes tea.")
        alice.add([{"role": "user", "content": f"I own boat number {n}."} for n in range(BATCH_RECORDS)])
        fact = alice.remember("User works at Acme.", category="work")
        alice.update(fact.id, "User works at Bolt.")
    return tmp_path / "memory"


def records(folder: Path, embedder: ChromaFunctionEmbedder | None = None) -> list[str]:
    with ContextMemory(folder, "alice", embedder=embedder) as memory:
        return list(export_records(memory, vectors=False))[1:]


def names(folder: Path) -> list[str]:
    store = ChromaStore(folder)
    try:
        return sorted(found.name for found in store._client.list_collections())
    finally:
        store.close()


def test_every_record_stays_and_has_the_vector_of_the_new_embedder(
    folder: Path, other: ChromaFunctionEmbedder
) -> None:
    before, seen = records(folder), []
    report = reindex(folder, "alice", other, progress=lambda done, total: seen.append((done, total)))
    assert report == ReindexReport(records=len(before), embedded=len(before))
    assert seen[0] == (BATCH_RECORDS, len(before))
    assert seen[-1] == (len(before), len(before))
    assert records(folder, other) == before
    with ContextMemory(folder, "alice", embedder=other) as memory:
        with memory.opened().use() as index:
            for memory_id in index:
                text = index.stored(memory_id).text
                row = index.row(memory_id)
                assert row is not None
                vector: FloatArray = index.vectors.take([row])[0]
                assert np.allclose(vector, other.embed([text])[0], atol=1e-6)
        assert memory.search("boat number 7").results[0].memory.endswith("boat number 7.")
        assert memory.namespaces() == ["alice", "bob"]
    assert names(folder) == sorted(map(collection_name, ("alice", "bob")))


def test_with_the_embedder_that_it_has_nothing_is_done(folder: Path, other: ChromaFunctionEmbedder) -> None:
    reindex(folder, "alice", other)
    assert reindex(folder, "alice", other) == ReindexReport()


def test_the_old_embedder_is_refused_and_other_namespaces_stay(
    folder: Path, other: ChromaFunctionEmbedder
) -> None:
    reindex(folder, "alice", other)
    with pytest.raises(EmbedderMismatchError, match="contextmemory reindex"):
        ContextMemory(folder, "alice")
    with ContextMemory(folder, "bob") as bob:
        assert bob.list(contains="tea")


def failing_after(batches: int) -> Callable[[Sequence[str]], list[list[float]]]:
    done = 0

    def embed(texts: Sequence[str]) -> list[list[float]]:
        nonlocal done
        done += len(texts) > 1
        if done > batches:
            raise ConnectionError("the server went away")
        return hashed(texts)

    return embed


def test_an_embedder_that_fails_leaves_the_namespace_as_it_was_and_is_resumed(
    folder: Path, other: ChromaFunctionEmbedder
) -> None:
    before = records(folder)
    with pytest.raises(EmbeddingError, match="went away"):
        reindex(folder, "alice", ChromaFunctionEmbedder(failing_after(1), name="hashed"))
    assert records(folder) == before
    report = reindex(folder, "alice", other)
    assert (report.resumed, report.embedded) == (BATCH_RECORDS, len(before) - BATCH_RECORDS)
    assert records(folder, other) == before


def test_what_is_changed_and_erased_between_two_attempts_is_changed_and_erased_in_the_copy(
    folder: Path, other: ChromaFunctionEmbedder
) -> None:
    with pytest.raises(EmbeddingError):
        reindex(folder, "alice", ChromaFunctionEmbedder(failing_after(1), name="hashed"))
    with ContextMemory(folder, "alice") as alice:
        first = alice.messages()[0]
        assert alice.delete(first.id)
        alice.remember("User is new here.")
        before = list(export_records(alice, vectors=False))[1:]
    store = ChromaStore(folder)
    copy = store.find(copies.copy_name(collection_name("alice")))
    assert copy is not None
    assert not copy.get(ids=[first.id])["ids"], "what is erased is erased in the copy at once"
    store.close()
    reindex(folder, "alice", other)
    assert records(folder, other) == before


def test_erasing_everything_erases_the_copy_and_another_embedder_begins_anew(
    folder: Path, other: ChromaFunctionEmbedder
) -> None:
    with pytest.raises(EmbeddingError):
        reindex(folder, "alice", ChromaFunctionEmbedder(failing_after(1), name="unlike"))
    assert reindex(folder, "alice", other).resumed == 0
    with pytest.raises(EmbeddingError):
        reindex(folder, "alice", ChromaFunctionEmbedder(failing_after(1), name="third"))
    with ContextMemory(folder, "alice", embedder=other) as alice:
        alice.erase(everything=True)
    assert names(folder) == [collection_name("bob")]


KILLED = """
import os, signal, sys
from chromadb.api.models.Collection import Collection
from shared_core.embedding import ChromaFunctionEmbedder
from shared_core.upkeep.reindexing import reindex
from tests.shared_core.upkeep.test_reindexing import hashed

left = int(sys.argv[2])
modify = Collection.modify

def counted(self, *args, **kwargs):
    global left
    if not left:
        os.kill(os.getpid(), signal.SIGKILL)
    left -= 1
    return modify(self, *args, **kwargs)

Collection.modify = counted
reindex(sys.argv[1], "alice", ChromaFunctionEmbedder(hashed, name="hashed"))
"""


@pytest.mark.parametrize(
    "step", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)]
)
def test_a_kill_at_any_step_of_the_exchange_loses_nothing(
    folder: Path, other: ChromaFunctionEmbedder, step: int
) -> None:
    before = records(folder)
    ended = subprocess.run([sys.executable, "-c", KILLED, str(folder), str(step)], check=False)
    assert ended.returncode == -signal.SIGKILL
    store = ChromaStore(folder)
    assert store.namespaces() == ["alice", "bob"]
    store.close()
    if step < 2:
        assert records(folder) == before, "the old one still stands"
        assert reindex(folder, "alice", other).embedded == 0
    assert records(folder, other) == before
    reindex(folder, "alice", other)
    assert names(folder) == sorted(map(collection_name, ("alice", "bob")))


def test_a_kill_in_the_middle_is_resumed(folder: Path, other: ChromaFunctionEmbedder) -> None:
    before = records(folder)
    program = """
import os, signal, sys
from shared_core.embedding import ChromaFunctionEmbedder
from shared_core.upkeep.reindexing import reindex
from tests.shared_core.upkeep.test_reindexing import hashed
reindex(sys.argv[1], "alice", ChromaFunctionEmbedder(hashed, name="hashed"),
        progress=lambda done, total: os.kill(os.getpid(), signal.SIGKILL))
"""
    ended = subprocess.run([sys.executable, "-c", program, str(folder)], check=False)
    assert ended.returncode == -signal.SIGKILL
    assert records(folder) == before
    assert reindex(folder, "alice", other).resumed == BATCH_RECORDS
    assert records(folder, other) == before


def test_what_cannot_be_reindexed_is_refused(folder: Path, other: ChromaFunctionEmbedder) -> None:
    with pytest.raises(StoreError, match="no namespace 'carol'"):
        reindex(folder, "carol", other)
    with pytest.raises(ValueError, match="is not a folder"):
        reindex(object(), "alice", other)  # type: ignore[arg-type]
    with ContextMemory(folder, "bob"), pytest.raises(StoreError, match="close its memories"):
        reindex(folder, "alice", other)
    assert os.path.isdir(folder)
