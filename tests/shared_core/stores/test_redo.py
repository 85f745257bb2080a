"""The log of a change that is written in parts, as a file."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from shared_core.errors import StoreError
from shared_core.stores.codec import Metadata, metadata_of
from shared_core.stores.redo import REDO, Base, RedoLog
from shared_core.stores.writing import Writing
from tests.shared_core.building import record

NAME = "contextmemory-abc"
BASE = Base("an id", {"puts:me": 3})


def writing() -> Writing:
    memories = [record("m1", text="a text\nof two lines\u2028or three"), record("m2", text="é")]
    vectors = np.eye(2, 4, dtype=np.float32)
    metadatas = [
        metadata_of(one, '{"kind":"fact"}', vector) for one, vector in zip(memories, vectors, strict=True)
    ]
    return Writing(["m1", "m2"], metadatas, [one.text for one in memories], vectors, ["m0"])


def files(folder: Path) -> list[str]:
    return sorted(file.name for file in (folder / REDO).glob("*"))


def test_what_is_kept_is_read_as_it_was(tmp_path: Path) -> None:
    log, kept = RedoLog(tmp_path), writing()
    assert log.kept(NAME, dimension=4) is None
    log.keep(NAME, kept, BASE)
    assert log.names() == [NAME]
    read = RedoLog(tmp_path).kept(NAME, dimension=4)
    assert read is not None
    assert read.base == BASE
    assert read.writing.vectors is not None
    np.testing.assert_array_equal(read.writing.vectors, kept.vectors)
    for field in ("ids", "metadatas", "texts", "deletes"):
        assert getattr(read.writing, field) == getattr(kept, field)
    log.discard(NAME)
    log.discard(NAME)
    assert log.kept(NAME, dimension=4) is None
    assert files(tmp_path) == []


def test_a_change_that_keeps_texts_needs_no_vectors(tmp_path: Path) -> None:
    log = RedoLog(tmp_path)
    metadatas: list[Metadata] = [{"record": "{}"}]
    log.keep(NAME, Writing(["m1"], metadatas), BASE)
    read = log.kept(NAME, dimension=4)
    assert read is not None
    assert (read.writing.ids, read.writing.metadatas) == (["m1"], metadatas)
    assert (read.writing.texts, read.writing.vectors, read.writing.deletes) == (None, None, [])


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
        (lambda text: text.replace('"format": 1', '"format": 2'), "format is 2, and this release knows 1"),
        (lambda _: "[]\n", "list indices"),
        (lambda text: text.replace('"vector": "', '"vector": "AA'), "vector of record 'm1'"),
    ],
)
def test_a_file_that_is_not_one_of_these_is_named(
    tmp_path: Path, spoil: Callable[[str], str], reason: str
) -> None:
    log = RedoLog(tmp_path)
    log.keep(NAME, writing(), BASE)
    file = tmp_path / REDO / files(tmp_path)[0]
    file.write_text(spoil(file.read_text(encoding="utf-8")), encoding="utf-8")
    with pytest.raises(StoreError, match=reason) as raised:
        log.kept(NAME, dimension=4)
    assert str(file) in str(raised.value)
    assert "moves that out of its folder" in str(raised.value)


def test_a_log_that_was_only_begun_is_none_and_is_removed(tmp_path: Path) -> None:
    log = RedoLog(tmp_path)
    log.keep(NAME, writing(), BASE)
    file = tmp_path / REDO / files(tmp_path)[0]
    file.rename(file.with_suffix(".begun"))
    assert log.kept(NAME, dimension=4) is None
    RedoLog(tmp_path)
    assert files(tmp_path) == []


def test_what_somebody_else_has_put_there_is_no_log(tmp_path: Path) -> None:
    log = RedoLog(tmp_path)
    log.keep(NAME, writing(), BASE)
    file = tmp_path / REDO / files(tmp_path)[0]
    file.rename(file.with_name(f"{NAME}.old.jsonl"))
    (tmp_path / REDO / "notes.jsonl").write_text("mine", encoding="utf-8")
    assert log.names() == []


def test_a_log_that_cannot_be_written_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    log = RedoLog(tmp_path)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        log.keep(NAME, writing(), BASE)
    assert files(tmp_path) == []


def test_a_folder_that_cannot_be_synced_does_no_harm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fsync = os.fsync

    def on_some_file_systems(opened: int) -> None:
        if os.path.isdir(f"/proc/self/fd/{opened}"):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        fsync(opened)

    log = RedoLog(tmp_path)
    monkeypatch.setattr(os, "fsync", on_some_file_systems)
    log.keep(NAME, writing(), BASE)
    assert log.kept(NAME, dimension=4) is not None
    log.discard(NAME)
    assert files(tmp_path) == []


def test_a_file_that_another_program_holds_is_emptied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def held(self: Path, missing_ok: bool = False) -> None:
        raise PermissionError(errno.EACCES, "held")

    log = RedoLog(tmp_path)
    log.keep(NAME, writing(), BASE)
    monkeypatch.setattr(Path, "unlink", held)
    log.discard(NAME)
    assert files(tmp_path) == [f"{NAME}.jsonl"]
    assert log.kept(NAME, dimension=4) is None
