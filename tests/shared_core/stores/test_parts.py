"""A change that is written in parts is whole or absent all the same."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chromadb.errors import InternalError

from shared_core import ContextMemory
from shared_core.embedding import WordLlamaEmbedder
from shared_core.embedding.base import FloatArray
from shared_core.errors import StoreError
from shared_core.stores.base import Change
from shared_core.stores.chroma import ChromaStore, collection_name
from shared_core.stores.parts import PART
from shared_core.stores.redo import REDO
from tests.reliability.concurrency_workers import index_equals_rebuilt
from tests.shared_core.building import EMBEDDER, NotesExtractor, chroma_client, said
from tests.shared_core.stores.chroma_calls import failing

MESSAGES = [said(f"fact: Ada keeps item {n}\nmoment: trip {n}", f"m{n}") for n in range(3 * PART)]
FIRST = said("fact: Ada keeps bees", "first")
DEFAULT = collection_name("default")
FULL = InternalError("disk I/O error")


def opened(folder: Path, **named: Any) -> ContextMemory:
    return ContextMemory(folder, extractor=NotesExtractor(**named))


def store_of(memory: ContextMemory) -> ChromaStore:
    store = memory._open_pool().store
    assert isinstance(store, ChromaStore)
    return store


def files(folder: Path) -> list[str]:
    return sorted(file.name for file in (folder / REDO).glob("*"))


def told(memory: ContextMemory) -> tuple[int, int, int]:
    """How many messages, facts and moments there are."""
    messages, facts, moments = (
        len(memory.list(kind=kind, limit=999)) for kind in ("message", "fact", "bubble")
    )
    return messages, facts, moments


def at(number: int, error: BaseException) -> Callable[[int], BaseException | None]:
    return lambda call: error if call == number else None


def add_in_loop(memory: ContextMemory) -> None:
    asyncio.run(memory.aadd(MESSAGES, "c"))


def cut_off(memory: ContextMemory) -> None:
    """Add messages of which only the first part reaches Chroma."""
    with failing("upsert", when=lambda call: FULL if call > 1 else None):
        add_in_loop(memory)


def test_only_a_loop_has_changes_written_in_parts(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        with failing("upsert", "update") as sizes:
            memory.add(MESSAGES, "c")
        assert len(sizes) == 1
        assert sizes[0] >= 3 * len(MESSAGES)
        with failing("upsert", "update") as sizes:
            asyncio.run(memory.aadd([{**one, "id": f"again {one['id']}"} for one in MESSAGES], "d"))
        assert max(sizes) <= PART
        assert len(sizes) > 2 * len(MESSAGES) / PART
        assert index_equals_rebuilt(memory)
    assert files(tmp_path) == []


def test_what_is_learnt_in_the_background_of_a_loop_is_written_in_parts_as_well(tmp_path: Path) -> None:
    async def tell(memory: ContextMemory) -> None:
        await memory.aadd(MESSAGES, "c", wait=False)
        await memory.aflush()

    with opened(tmp_path, is_slow=True) as memory, failing("upsert", "update") as sizes:
        asyncio.run(tell(memory))
        assert told(memory) == (len(MESSAGES),) * 3
    assert max(sizes) <= PART


@pytest.mark.parametrize("error", [FULL, KeyboardInterrupt()])
@pytest.mark.parametrize("call", [1, 3])
def test_a_change_that_was_cut_off_is_whole_for_whoever_opens_the_folder(
    tmp_path: Path, error: BaseException, call: int
) -> None:
    memory = opened(tmp_path)
    memory.add(FIRST, "c")
    with failing("upsert", when=at(call, error)):
        if isinstance(error, KeyboardInterrupt):
            with pytest.raises(KeyboardInterrupt):
                add_in_loop(memory)
        else:
            add_in_loop(memory)
    assert files(tmp_path) == [f"{DEFAULT}.jsonl"]
    memory.close()
    assert files(tmp_path) == []
    with opened(tmp_path) as memory:
        assert told(memory) == (len(MESSAGES) + 1, len(MESSAGES) + 1, len(MESSAGES))
        assert index_equals_rebuilt(memory)


def test_the_next_write_finishes_what_was_cut_off(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        cut_off(memory)
        assert told(memory) == (len(MESSAGES),) * 3
        assert files(tmp_path) == [f"{DEFAULT}.jsonl"]
        memory.add(FIRST, "c")
        assert files(tmp_path) == []
        assert told(memory)[0] == len(MESSAGES) + 1
        assert index_equals_rebuilt(memory)


@pytest.mark.parametrize("change", ["add", "erase"])
def test_who_cannot_write_reads_the_change_whole(tmp_path: Path, change: str) -> None:
    with opened(tmp_path) as memory:
        memory.add(FIRST, "d")
        if change == "add":
            cut_off(memory)
        else:
            memory.add(MESSAGES, "c")
            with failing("delete", when=lambda call: FULL if call > 1 else None):
                asyncio.run(memory.aerase(conversation_id="c"))
        with failing("upsert", "delete", when=lambda _: FULL):
            with pytest.raises(StoreError, match="Make room") as refused:
                memory.add(said("fact: Bo keeps bees", "later"), "d")
            assert f"{DEFAULT}.jsonl" in str(refused.value)
            more = len(MESSAGES) if change == "add" else 0
            assert told(memory) == (more + 1, more + 1, more)
            memory.opened().drop_index()
            assert told(memory) == (more + 1, more + 1, more)
            assert memory.search("bees").results[0].memory == "Ada keeps bees"
            memory.close()
        assert files(tmp_path) == [f"{DEFAULT}.jsonl"]
    with opened(tmp_path) as memory:
        assert told(memory) == (more + 1, more + 1, more)
        assert files(tmp_path) == []
        assert index_equals_rebuilt(memory)


def test_readings_that_were_cut_off_are_seen_and_written(tmp_path: Path) -> None:
    def read_count(memory: ContextMemory) -> int:
        return sum(one.access_count for one in memory.list(limit=999))

    with opened(tmp_path) as memory:
        memory.add(MESSAGES, "c")
        for _ in range(3):
            memory.search("item", limit=4 * PART)
        with failing("update", when=lambda call: FULL if call > 1 else None), suppress(StoreError):
            asyncio.run(memory.amaintain())  # may have more to write
        before = read_count(memory)
        assert before > 3 * PART
        with failing("update", when=lambda _: FULL):
            memory.opened().drop_index()
            assert read_count(memory) == before
    with opened(tmp_path) as memory:
        assert read_count(memory) == before


def test_what_chroma_does_not_take_is_refused_and_leaves_everything_as_it_was(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.add(FIRST, "c")
        refusal = failing("upsert", when=at(1, ValueError("not that one")))
        with refusal, pytest.raises(StoreError, match="not that one"):
            add_in_loop(memory)
        assert files(tmp_path) == []
        assert told(memory) == (1, 1, 0)


class _Broken(WordLlamaEmbedder):
    """Gives no vector for texts of trip 20."""

    def embed(self, texts: Sequence[str]) -> FloatArray:
        vectors: FloatArray = super().embed(texts).copy()
        vectors[[text == "trip 20" for text in texts]] = np.nan
        return vectors


@pytest.mark.parametrize("add", [add_in_loop, lambda memory: memory.add(MESSAGES, "c")])
def test_a_vector_that_is_none_is_refused_with_the_text_that_it_was_for(
    tmp_path: Path, add: Callable[[ContextMemory], object]
) -> None:
    with ContextMemory(tmp_path, extractor=NotesExtractor(), embedder=_Broken()) as memory:
        with pytest.raises(StoreError, match="the embedder gave 'trip 20' a vector with a NaN"):
            add(memory)
        assert memory.list() == []
        memory.add(FIRST, "c")
        assert told(memory) == (1, 1, 0)


def test_a_log_that_cannot_be_kept_leaves_everything_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with opened(tmp_path) as memory:
        memory.add(FIRST, "c")
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            with pytest.raises(StoreError, match="Make room and try again"):
                add_in_loop(memory)
        assert files(tmp_path) == []
        assert told(memory) == (1, 1, 0)
        add_in_loop(memory)
        assert told(memory)[0] == len(MESSAGES) + 1
        assert index_equals_rebuilt(memory)


def test_a_log_that_cannot_be_removed_is_never_written_over_what_came_later(tmp_path: Path) -> None:
    def held(self: Path, *_: Any, **__: Any) -> None:
        raise PermissionError(errno.EACCES, f"{self.name} is held")

    def held_for_writing(self: Path, mode: str = "r", **named: Any) -> Any:
        return held(self) if mode == "w" and self.suffix == ".jsonl" else open(self, mode, **named)

    with opened(tmp_path) as memory:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Path, "unlink", held)
            patch.setattr(Path, "open", held_for_writing)
            add_in_loop(memory)
            assert told(memory) == (len(MESSAGES),) * 3
            with pytest.raises(StoreError, match="is held"):
                memory.erase(conversation_id="c")
        memory.erase(conversation_id="c")
        assert told(memory) == (0, 0, 0)
    with opened(tmp_path) as memory:
        assert told(memory) == (0, 0, 0)


def left_behind(folder: Path) -> None:
    """A folder with a change that was cut off, as a kill leaves it."""
    memory = opened(folder)
    memory.add(FIRST, "c")
    with failing("upsert", when=lambda call: FULL if call > 1 else None):
        add_in_loop(memory)
        memory.close()
    assert files(folder) == [f"{DEFAULT}.jsonl"]


@pytest.mark.parametrize("is_erased", [False, True])
def test_what_was_cut_off_is_not_written_over_what_others_wrote_since(
    tmp_path: Path, is_erased: bool, caplog: pytest.LogCaptureFixture
) -> None:
    left_behind(tmp_path)
    with chroma_client(tmp_path) as client, ContextMemory(client, extractor=NotesExtractor()) as served:
        if is_erased:
            served.erase(everything=True)
        served.add(said("fact: Bo keeps cows", "served"), "c")
        served.erase(conversation_id="c")
        before = told(served)
    with opened(tmp_path) as memory:
        assert told(memory) == before == (0, 0, 0)
    assert "is given up: others have written since" in caplog.text
    assert files(tmp_path) == []


def test_an_erasure_in_parts_reaches_what_a_reindexing_has_begun(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.add(MESSAGES, "c")
        store = store_of(memory)
        copy = store.open_copy("default", embedder_name="other", dimension=memory.embedder.dimension)
        with memory.opened().use() as index:
            chosen = [index.stored(one) for one in list(index)[: 2 * PART]]
        copy.apply(Change(puts=tuple(chosen), vectors=EMBEDDER.embed([one.text for one in chosen])))
        asyncio.run(memory.aerase(conversation_id="c"))
        assert [one for batch in copy.load() for one in batch.memories] == []


def test_a_store_that_is_closed_between_two_parts_has_the_change_whole(tmp_path: Path) -> None:
    memory = opened(tmp_path)
    store = store_of(memory)

    def close_after(call: int) -> None:
        if call == 2:
            threading.Thread(target=store.close).start()  # waits for the turn that this call has

    with failing("upsert", when=close_after):
        add_in_loop(memory)
    with suppress(StoreError):
        memory.close()
    with opened(tmp_path) as memory:
        assert told(memory) == (len(MESSAGES),) * 3
    assert files(tmp_path) == []


def test_a_namespace_that_is_erased_takes_its_log_with_it(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        cut_off(memory)
        with failing("upsert", when=lambda _: FULL):
            memory.erase(everything=True)
        assert files(tmp_path) == []
        assert memory.list() == []
        memory.add(FIRST, "c")
        assert told(memory) == (1, 1, 0)


def test_a_log_of_a_namespace_that_is_not_there_is_discarded(tmp_path: Path) -> None:
    left_behind(tmp_path)
    file = tmp_path / REDO / f"{DEFAULT}.jsonl"
    file.rename(file.with_name(f"{collection_name('nobody')}.jsonl"))
    store = ChromaStore(tmp_path)
    assert store.finish_all() == []
    store.close()
    assert files(tmp_path) == []


def test_a_repair_finishes_what_was_cut_off_and_tells_what_it_could_not(tmp_path: Path) -> None:
    left_behind(tmp_path)
    unreadable = tmp_path / REDO / f"{collection_name('another')}.jsonl"
    unreadable.write_text(json.dumps({"format": 7}), encoding="utf-8")
    with chroma_client(tmp_path) as client:
        client.create_collection(collection_name("another"))
    store = ChromaStore(tmp_path)
    with pytest.raises(StoreError, match="its format is 7"):
        store.finish_all()
    assert files(tmp_path) == [unreadable.name]
    unreadable.unlink()
    assert store.finish_all() == []
    store.close()
    with opened(tmp_path) as memory:
        assert told(memory)[0] == len(MESSAGES) + 1


def test_a_file_that_cannot_be_read_says_so_and_moving_it_away_helps(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.add(FIRST, "c")
    file = tmp_path / REDO / f"{DEFAULT}.jsonl"
    file.parent.mkdir()
    file.write_text(json.dumps({"format": 7}), encoding="utf-8")
    with opened(tmp_path) as memory:
        with pytest.raises(StoreError, match="its format is 7"):
            memory.list()
        file.unlink()
        assert told(memory) == (1, 1, 0)
