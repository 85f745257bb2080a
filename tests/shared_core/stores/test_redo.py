"""A change that is written in parts is whole or absent all the same."""

from __future__ import annotations

import asyncio
import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chromadb.errors import InternalError

from shared_core import ContextMemory
from shared_core.errors import StoreError
from shared_core.stores.chroma import ChromaStore, collection_name
from shared_core.stores.codec import VECTOR_KEY, Metadata, metadata_of
from shared_core.stores.collection import PART
from shared_core.stores.redo import REDO, RedoLog
from shared_core.stores.writing import Writing
from tests.reliability.concurrency_workers import index_equals_rebuilt
from tests.shared_core.building import NotesExtractor, record, said

NAME = "contextmemory-abc"
MESSAGES = [said(f"fact: Ada keeps item {n}\nmoment: trip {n}", f"m{n}") for n in range(3 * PART)]


def writing() -> Writing:
    memories = [record("m1", text="a text\nof two lines\u2028or three"), record("m2", text="é")]
    vectors = np.eye(2, 4, dtype=np.float32)
    metadatas = [
        metadata_of(one, '{"kind":"fact"}', vector) for one, vector in zip(memories, vectors, strict=True)
    ]
    return Writing(["m1", "m2"], metadatas, [one.text for one in memories], vectors, ["m0"])


def opened(folder: Path, **named: Any) -> ContextMemory:
    return ContextMemory(folder, extractor=NotesExtractor(**named))


def kept_in(folder: Path) -> list[str]:
    return sorted(file.name for file in (folder / REDO).glob("*"))


def count_puts(monkeypatch: pytest.MonkeyPatch, fail: Callable[[int], BaseException | None]) -> list[int]:
    """Note how many records each call puts, and fail in the call for which ``fail`` gives an error."""
    sizes: list[int] = []
    put = Writing.put

    def noted(self: Writing, collection: Any) -> None:
        sizes.append(len(self.ids))
        error = fail(len(sizes))
        if error is not None:
            raise error
        put(self, collection)

    monkeypatch.setattr(Writing, "put", noted)
    return sizes


def told(memory: ContextMemory) -> tuple[int, int, int]:
    """How many messages, facts and moments there are."""
    messages, facts, moments = (
        len(memory.list(kind=kind, limit=999)) for kind in ("message", "fact", "bubble")
    )
    return messages, facts, moments


# -- the log ---------------------------------------------------------------------------------------------


def test_what_is_kept_is_read_as_it_was(tmp_path: Path) -> None:
    log, kept = RedoLog(tmp_path), writing()
    assert log.kept(NAME, dimension=4) is None
    log.keep(NAME, kept)
    read = RedoLog(tmp_path).kept(NAME, dimension=4)
    assert read is not None
    assert read.vectors is not None
    np.testing.assert_array_equal(read.vectors, kept.vectors)
    assert (read.ids, read.metadatas, read.texts, read.deletes) == (
        kept.ids,
        kept.metadatas,
        kept.texts,
        kept.deletes,
    )
    log.discard(NAME)
    log.discard(NAME)
    assert log.kept(NAME, dimension=4) is None
    assert kept_in(tmp_path) == []


def test_a_change_that_keeps_texts_needs_no_vectors(tmp_path: Path) -> None:
    log = RedoLog(tmp_path)
    metadatas: list[Metadata] = [{"record": "{}"}]
    log.keep(NAME, Writing(["m1"], metadatas))
    read = log.kept(NAME, dimension=4)
    assert read == Writing(["m1"], metadatas, deletes=[])


def test_parts_are_the_whole_in_order() -> None:
    whole = Writing([f"m{n}" for n in range(5)], [{"n": n} for n in range(5)], deletes=["a", "b", "c"])
    parts = list(whole.parts(2))
    assert [list(part.ids) for part in parts] == [["m0", "m1"], ["m2", "m3"], ["m4"], [], []]
    assert [list(part.deletes) for part in parts] == [[], [], [], ["a", "b"], ["c"]]
    assert [metadata["n"] for part in parts for metadata in part.metadatas] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (lambda text: text[: len(text) // 2], "line 1 column"),
        (lambda text: text.rpartition('{"id"')[0], "it has 1 of 2 records"),
        (lambda _: "", "list index"),
        (
            lambda text: text.replace('"format": 1', '"format": 2'),
            "its format is 2, and this release knows 1",
        ),
        (lambda _: "[]\n", "list indices"),
    ],
)
def test_a_file_that_is_not_one_of_these_is_named(
    tmp_path: Path, spoil: Callable[[str], str], reason: str
) -> None:
    log = RedoLog(tmp_path)
    log.keep(NAME, writing())
    (name,) = kept_in(tmp_path)
    file = tmp_path / REDO / name
    file.write_text(spoil(file.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(StoreError, match=reason) as raised:
        log.kept(NAME, dimension=4)
    assert str(file) in str(raised.value)
    assert "moves the file away" in str(raised.value)


# -- changes in parts ------------------------------------------------------------------------------------


def test_only_a_loop_has_changes_written_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = count_puts(monkeypatch, lambda _: None)
    with opened(tmp_path) as memory:
        memory.add(MESSAGES, "c")
        assert len(sizes) == 1
        assert sizes[0] >= 3 * len(MESSAGES)
        sizes.clear()
        asyncio.run(memory.aadd([said("moment: later", "later")], "c"))
        asyncio.run(memory.aadd([{**one, "id": f"again {one['id']}"} for one in MESSAGES], "d"))
        assert max(sizes) <= PART
        assert len(sizes) > 2 * len(MESSAGES) / PART
        assert index_equals_rebuilt(memory)
    assert kept_in(tmp_path) == []


def test_what_is_learnt_in_the_background_of_a_loop_is_written_in_parts_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = count_puts(monkeypatch, lambda _: None)

    async def tell(memory: ContextMemory) -> None:
        await memory.aadd(MESSAGES, "c", wait=False)
        await memory.aflush()

    with opened(tmp_path, is_slow=True) as memory:
        asyncio.run(tell(memory))
        assert told(memory) == (len(MESSAGES),) * 3
    assert max(sizes) <= PART


@pytest.mark.parametrize("error", [InternalError("torn"), KeyboardInterrupt()])
@pytest.mark.parametrize("call", [1, 3])
def test_a_change_that_was_cut_off_is_whole_for_whoever_opens_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, call: int
) -> None:
    memory = opened(tmp_path)
    memory.add(said("fact: Ada keeps bees", "first"), "c")
    with monkeypatch.context() as patch:
        count_puts(patch, lambda number: error if number == call else None)
        if isinstance(error, KeyboardInterrupt):
            with pytest.raises(KeyboardInterrupt):
                asyncio.run(memory.aadd(MESSAGES, "c"))
        else:
            asyncio.run(memory.aadd(MESSAGES, "c"))
    assert len(kept_in(tmp_path)) == 1
    memory.close()
    with opened(tmp_path) as memory:
        assert told(memory) == (len(MESSAGES) + 1, len(MESSAGES) + 1, len(MESSAGES))
        assert kept_in(tmp_path) == []
        assert index_equals_rebuilt(memory)


def test_a_change_that_was_cut_off_is_finished_by_the_same_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(tmp_path) as memory:
        with monkeypatch.context() as patch:
            count_puts(patch, lambda number: InternalError("torn") if number == 2 else None)
            asyncio.run(memory.aadd(MESSAGES, "c"))
        assert told(memory) == (len(MESSAGES),) * 3
        assert len(kept_in(tmp_path)) == 1
        memory.add(said("fact: Ada keeps bees", "last"), "c")
        assert kept_in(tmp_path) == []
        assert told(memory)[0] == len(MESSAGES) + 1
        assert index_equals_rebuilt(memory)


def test_what_was_to_go_goes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = opened(tmp_path)
    memory.add(MESSAGES, "c")
    memory.add(said("fact: Ada keeps bees", "stays"), "d")
    delete, calls = Writing.delete, 0

    def torn(self: Writing, collection: Any) -> None:
        nonlocal calls
        calls += bool(self.deletes)
        if calls == 3:
            raise KeyboardInterrupt
        delete(self, collection)

    with monkeypatch.context() as patch:
        patch.setattr(Writing, "delete", torn)
        with pytest.raises(KeyboardInterrupt):
            asyncio.run(memory.aerase(conversation_id="c"))
    memory.close()
    with opened(tmp_path) as memory:
        assert told(memory) == (1, 1, 0)
        assert index_equals_rebuilt(memory)


def test_a_log_that_cannot_be_kept_leaves_everything_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with opened(tmp_path) as memory:
        memory.add(said("fact: Ada keeps bees", "first"), "c")
        with monkeypatch.context() as patch:
            patch.setattr("shared_core.stores.redo.os.fsync", full)
            with pytest.raises(StoreError, match="Make room and try again"):
                asyncio.run(memory.aadd(MESSAGES, "c"))
        assert kept_in(tmp_path) == []
        assert told(memory) == (1, 1, 0)
        asyncio.run(memory.aadd(MESSAGES, "c"))
        assert told(memory)[0] == len(MESSAGES) + 1
        assert index_equals_rebuilt(memory)


def left_in(folder: Path, namespace: str) -> RedoLog:
    """The log of a folder, with a change of that namespace that puts one record."""
    log = RedoLog(folder)
    metadatas: list[Metadata] = [{"record": "{}", VECTOR_KEY: ""}]
    log.keep(collection_name(namespace), Writing(["gone"], metadatas))
    return log


def test_a_namespace_that_is_erased_takes_its_log_with_it(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.add(said("fact: Ada keeps bees", "first"), "c")
        left_in(tmp_path, memory.namespace)
        memory.erase(everything=True)
        assert kept_in(tmp_path) == []
        assert memory.list() == []


def test_a_log_of_a_namespace_that_is_not_there_is_discarded(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        left_in(tmp_path, "nobody")
        with memory.for_namespace("nobody") as nobody:
            assert nobody.list() == []
    assert kept_in(tmp_path) == []


def test_a_repair_finishes_what_was_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with opened(tmp_path) as memory, monkeypatch.context() as patch:
        count_puts(patch, lambda number: InternalError("torn") if number == 2 else None)
        asyncio.run(memory.aadd(MESSAGES, "c"))
    assert RedoLog(tmp_path).names() == [collection_name("default")]
    store = ChromaStore(tmp_path)
    assert store.mend() == {}
    store.close()
    assert RedoLog(tmp_path).names() == []
    with opened(tmp_path) as memory:
        assert told(memory) == (len(MESSAGES),) * 3


def test_a_log_that_was_only_begun_is_no_log(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.add(said("fact: Ada keeps bees", "first"), "c")
    log = left_in(tmp_path, "default")
    (name,) = kept_in(tmp_path)
    (tmp_path / REDO / name).rename(tmp_path / REDO / name.replace(".jsonl", ".begun"))
    assert log.kept(collection_name("default"), dimension=4) is None
    with opened(tmp_path) as memory:
        asyncio.run(memory.aadd(MESSAGES, "c"))
        assert told(memory)[0] == len(MESSAGES) + 1
    assert kept_in(tmp_path) == []


def test_a_file_that_cannot_be_read_says_so_and_moving_it_away_helps(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.add(said("fact: Ada keeps bees", "first"), "c")
        file = tmp_path / REDO / f"{collection_name(memory.namespace)}.jsonl"
    file.parent.mkdir()
    file.write_text(json.dumps({"format": 7}), encoding="utf-8")
    with pytest.raises(StoreError, match="its format is 7"):
        opened(tmp_path)
    file.unlink()
    with opened(tmp_path) as memory:
        assert told(memory) == (1, 1, 0)
