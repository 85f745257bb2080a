"""A disk that is full, and folders and files that may not be written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

#: Grows a memory under a limit on the size of a file until it fails; then with the limit lifted.
FULL = """
import resource, signal, sys
from shared_core import ContextMemory
from shared_core.errors import StoreError
from tests.shared_core.building import NotesExtractor, said

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # so that the write fails, as on a full disk
memory = ContextMemory(sys.argv[1], extractor=NotesExtractor())
memory.add(said("moment: before", "before"), "c")
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
kept = ["before"]


def check(memory):
    # All that was acknowledged is there, and each pair whole.
    found = {m.message_id for m in memory.list(kind="message", limit=9_999)}
    assert found >= set(kept), sorted(set(kept) - found)
    assert all(("%s.1" % one[:-2] in found) for one in found if one.endswith(".0")), "a pair is torn"
    assert len(memory.list(kind="bubble", limit=9_999)) == len(found), "a moment is missing"


try:
    for n in range(2_000):
        memory.add([said(f"moment: trip {n}.{part} " + "x" * 500, f"{n}.{part}") for part in (0, 1)], "c")
        kept += [f"{n}.0", f"{n}.1"]
    sys.exit("the disk was never full")
except StoreError as error:
    print(error)
try:
    check(memory)
except StoreError as error:
    assert "Make room and try again" in str(error), error
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
memory.add(said("moment: after", "after"), "c")
kept.append("after")
check(memory)
memory.close()
with ContextMemory(sys.argv[1], extractor=NotesExtractor()) as memory:
    check(memory)
    print(len(kept))
"""

#: The same from four threads, each in a namespace of its own: none waits for what a failed write has left.
FULL_FOR_MANY = """
import resource, signal, sys, threading
from shared_core import ContextMemory
from shared_core.errors import StoreError
from tests.shared_core.building import NotesExtractor, said

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
with ContextMemory(sys.argv[1], extractor=NotesExtractor()) as memory:
    users = [memory.for_namespace(f"user {n}") for n in range(4)]
    for user in users:
        user.add(said("moment: before", "before"), "c")
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
    kept = [{"before"} for _ in users]
    refused = [0] * len(users)

    def write(n):
        for turn in range(2_000):
            try:
                users[n].add(said(f"moment: trip {turn} " + "x" * 500, f"{turn}"), "c")
                kept[n].add(f"{turn}")
            except StoreError:
                refused[n] += 1
                if refused[n] == 3:
                    return

    threads = [threading.Thread(target=write, args=(n,), daemon=True) for n in range(len(users))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads), "a thread still waits"
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    for n, user in enumerate(users):
        user.add(said("moment: after", "after"), "c")
        found = {one.message_id for one in user.list(kind="message", limit=9_999)}
        assert found >= {*kept[n], "after"}, sorted(kept[n] - found)
        assert len(user.list(kind="bubble", limit=9_999)) == len(found), "a moment is missing"
    print(sum(map(len, kept)), sum(refused))
"""

#: Opens a memory as a user who may not write there.
READ_ONLY = """
import os, sys
from shared_core import ContextMemory
from shared_core.errors import StoreError

with ContextMemory(sys.argv[2]) as memory:  # loads everything as long as its files may be read
    memory.add({"role": "user", "content": "I like figs", "id": "m1"})
    embedder = memory.embedder
os.setgid(65534)
os.setuid(65534)
try:
    with ContextMemory(sys.argv[1], embedder=embedder) as memory:
        print("opened", len(memory.list()))
        memory.add({"role": "user", "content": "I like pears", "id": "m2"})
except StoreError as error:
    print(error)
"""

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


def run(script: str, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("limit", [1_000_000, 2_500_000])
def test_on_a_full_disk_nothing_acknowledged_is_lost_and_room_is_all_it_needs(
    tmp_path: Path, limit: int
) -> None:
    error, kept = run(FULL, str(tmp_path / "memory"), str(limit)).splitlines()
    assert str(tmp_path / "memory") in error
    assert "Make room and try again" in error
    assert int(kept) > 10


def test_on_a_full_disk_no_thread_waits_for_ever(tmp_path: Path) -> None:
    kept, refused = run(FULL_FOR_MANY, str(tmp_path / "memory"), "1010000").split()
    assert int(kept) > 10
    assert int(refused) == 12


def make_memory(folder: Path) -> None:
    run(
        "import sys; from shared_core import ContextMemory\n"
        "with ContextMemory(sys.argv[1]) as m: m.add({'role': 'user', 'content': 'I like figs', 'id': 'm1'})",
        str(folder),
    )


@needs_root
@pytest.mark.parametrize(
    "only",
    [
        "folder",
        pytest.param("files", marks=pytest.mark.slow),
        pytest.param("database", marks=pytest.mark.slow),
    ],
)
def test_what_may_not_be_written_is_named(tmp_path: Path, only: str) -> None:
    folder = tmp_path / "memory"
    make_memory(folder)
    for parent in (tmp_path, *tmp_path.parents):
        if parent.stat().st_uid == os.geteuid() and parent.is_relative_to("/tmp") and parent != Path("/tmp"):
            parent.chmod(0o755)
    folder.chmod(0o755 if only == "folder" else 0o777)
    for file in folder.iterdir():
        file.chmod(0o644 if only == "files" or file.suffix == ".sqlite3" else 0o666)
    before = (folder / "chroma.sqlite3").read_bytes()
    told = run(READ_ONLY, str(folder), str(tmp_path / "another"))
    assert str(folder) in told
    assert "cannot " in told
    assert (folder / "chroma.sqlite3").read_bytes() == before
