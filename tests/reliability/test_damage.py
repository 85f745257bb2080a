"""Folders of Chroma that a kill in the middle of a write, or a hand, has damaged."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from shared_core import ContextMemory
from shared_core.errors import StoreError
from shared_core.stores.repair import DATABASE, QUARANTINE, UNFINISHED
from tests.shared_core.building import NotesExtractor, chroma_client, said

#: Enough records for Chroma to write its index files, which it does every 200.
MESSAGES = 150
FILES = ("data_level0.bin", "header.bin", "index_metadata.pickle", "link_lists.bin")


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with index files; to be copied, not opened."""
    folder = tmp_path_factory.mktemp("sound") / "memory"
    with ContextMemory(folder, extractor=NotesExtractor()) as memory:
        memory.add([said(f"moment: Ada rode {n} miles", f"m{n}") for n in range(MESSAGES)], "c")
    return folder


@pytest.fixture
def folder(sound: Path, tmp_path: Path) -> Path:
    """A folder of 150 messages and as many moments, to damage."""
    return shutil.copytree(sound, tmp_path / "memory")


def index_of(folder: Path) -> Path:
    (index,) = (entry for entry in folder.iterdir() if entry.is_dir() and entry.name != QUARANTINE)
    return index


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def empty(file: Path) -> None:
    file.write_bytes(b"")


def scramble(file: Path) -> None:
    file.write_bytes(b"\xa5" * file.stat().st_size)


def has_every_vector(folder: Path) -> bool:
    """Whether Chroma itself finds the records by their vectors, but for a few that its graph passes over."""
    with chroma_client(folder) as client:
        (collection,) = client.list_collections()
        query = np.full((1, 256), 0.1, dtype=np.float32)
        found = collection.query(query_embeddings=query, n_results=1_000, include=[])
        return len(found["ids"][0]) > 0.9 * collection.count() > 1.8 * MESSAGES


def whole_after_opening(folder: Path) -> None:
    with ContextMemory(folder, extractor=NotesExtractor()) as memory:
        assert len(memory.list(kind="message", limit=1_000)) == MESSAGES
        assert len(memory.list(kind="bubble", limit=1_000)) == MESSAGES
        memory.add(said("moment: Ada swam", "new"), "c")
        assert memory.search("Who swam?").results[0].source_ids == ("new",)
    assert has_every_vector(folder)


@pytest.mark.parametrize("damage", [cut, empty, scramble, Path.unlink])
@pytest.mark.parametrize("name", FILES)
def test_broken_index_files_are_set_aside_and_written_anew(
    folder: Path, name: str, damage: Callable[[Path], None], caplog: pytest.LogCaptureFixture
) -> None:
    damaged = index_of(folder)
    damage(damaged / name)
    left = {file.name: file.read_bytes() for file in damaged.iterdir()}
    whole_after_opening(folder)
    assert "were damaged" in caplog.text
    assert str(folder) in caplog.text
    (kept,) = (folder / QUARANTINE).iterdir()
    assert {file.name: file.read_bytes() for file in kept.iterdir()} == left


def test_an_index_that_is_gone_is_written_anew(folder: Path) -> None:
    shutil.rmtree(index_of(folder))
    whole_after_opening(folder)


def test_a_sound_index_is_left_alone(folder: Path) -> None:
    whole_after_opening(folder)
    assert not (folder / QUARANTINE).exists()


def test_a_repair_that_was_interrupted_is_done_by_the_next_open(folder: Path) -> None:
    shutil.rmtree(index_of(folder))
    name = _collection_name(folder)
    (folder / QUARANTINE).mkdir()
    mark = folder / QUARANTINE / f"{name}{UNFINISHED}"
    mark.write_text("a kill\n", encoding="ascii")
    whole_after_opening(folder)
    assert not mark.exists()


def _collection_name(folder: Path) -> str:
    with chroma_client(folder) as client:
        return client.list_collections()[0].name


def run_repair(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "shared_core.cli", "repair", "--path", str(folder), *options],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_command_mends_a_folder_that_nobody_has_opened(folder: Path) -> None:
    empty(index_of(folder) / "header.bin")
    told = run_repair(folder)
    assert told.returncode == 0
    assert "header.bin has 0 bytes" in told.stdout
    assert has_every_vector(folder)
    assert "nothing is wrong" in run_repair(folder).stdout
    assert "asked for" in run_repair(folder, "--all").stdout
    assert has_every_vector(folder)


def test_the_command_makes_no_folder(tmp_path: Path) -> None:
    told = run_repair(tmp_path / "nowhere")
    assert told.returncode == 2
    assert "there is no memory in" in told.stderr
    assert not (tmp_path / "nowhere").exists()


def zeros_inside(file: Path) -> None:
    """Overwrite pages in the middle of the database, as a failing disk does."""
    content = bytearray(file.read_bytes())
    third = len(content) // 3
    content[third : third + 400_000] = os.urandom(400_000)
    file.write_bytes(bytes(content))


@pytest.mark.parametrize("damage", [cut, empty, scramble, zeros_inside, Path.unlink])
def test_a_broken_database_is_refused_by_name_with_the_way_out(
    folder: Path, damage: Callable[[Path], None]
) -> None:
    damage(folder / DATABASE)
    before = {file: file.read_bytes() for file in folder.rglob("*") if file.suffix in (".bin", ".pickle")}
    started = time.monotonic()
    with pytest.raises(StoreError) as raised, ContextMemory(folder, extractor=NotesExtractor()) as memory:
        memory.list()
    assert time.monotonic() - started < 10
    assert str(folder) in str(raised.value)
    assert "import an export" in str(raised.value)
    assert {file: file.read_bytes() for file in before} == before


def test_an_export_is_the_way_out_of_a_broken_database(folder: Path, tmp_path: Path) -> None:
    from shared_core.transfer.export import export_records, import_records, parse_export

    with ContextMemory(folder, extractor=NotesExtractor()) as memory:
        lines = list(export_records(memory))
    scramble(folder / DATABASE)
    with pytest.raises(StoreError, match="import an export"):
        ContextMemory(folder)
    with ContextMemory(tmp_path / "new", extractor=NotesExtractor()) as memory:
        import_records(memory, parse_export(lines))
        assert len(memory.list(kind="message", limit=1_000)) == MESSAGES
