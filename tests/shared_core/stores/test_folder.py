from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from shared_core import ContextMemory
from shared_core.errors import StoreError, StoreLockedError
from shared_core.stores.folder import FolderLock
from tests.shared_core.building import said

SECOND = """
import sys, time
from shared_core import ContextMemory
from shared_core.errors import StoreLockedError
import shared_core.stores.chroma
started = time.monotonic()
try:
    ContextMemory(sys.argv[1])
except StoreLockedError as error:
    print(time.monotonic() - started)
    print(error)
"""


def test_a_second_process_is_told_at_once_who_holds_the_folder(tmp_path: Path) -> None:
    with ContextMemory(tmp_path) as memory:
        memory.add(said("hello"))
        second = subprocess.run(
            [sys.executable, "-c", SECOND, str(tmp_path)],
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        waited, message = second.stdout.splitlines()
        assert float(waited) < 1.0
        assert f"in use by process {os.getpid()}" in message
        assert f"chroma run --path {tmp_path}" in message
        assert str(tmp_path) in message
    FolderLock(tmp_path).release()


def test_a_folder_is_free_once_its_last_memory_is_closed(tmp_path: Path) -> None:
    one = ContextMemory(tmp_path, "one")
    two = ContextMemory(tmp_path, "two")
    one.close()
    with pytest.raises(StoreLockedError):
        FolderLock(tmp_path)
    two.close()
    FolderLock(tmp_path).release()


@pytest.mark.slow
def test_a_dead_process_holds_no_folder(tmp_path: Path) -> None:
    script = (
        "import os, sys; from shared_core import ContextMemory; m = ContextMemory(sys.argv[1]); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], timeout=60, check=False)
    with ContextMemory(tmp_path) as memory:
        memory.add(said("hello"))


def test_a_lock_may_be_released_twice(tmp_path: Path) -> None:
    lock = FolderLock(tmp_path / "new" / "folder")
    lock.release()
    lock.release()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(StoreError, match="cannot use the folder"):
            ContextMemory(tmp_path / "memory")
    finally:
        tmp_path.chmod(0o700)


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("text")
    with pytest.raises(StoreError, match="cannot use the folder") as raised:
        ContextMemory(file)
    assert str(file) in str(raised.value)


def test_a_folder_that_is_no_database_is_refused_and_left_free(tmp_path: Path) -> None:
    (tmp_path / "chroma.sqlite3").write_bytes(b"this is not a database" * 1_000)
    started = time.monotonic()
    with pytest.raises(StoreError, match="cannot open the Chroma folder"):
        ContextMemory(tmp_path)
    assert time.monotonic() - started < 10
    FolderLock(tmp_path).release()


def test_a_folder_may_be_named_by_its_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with ContextMemory("~/kept/here") as memory:
        memory.add(said("hello"))
    assert (tmp_path / "kept" / "here" / "chroma.sqlite3").exists()
