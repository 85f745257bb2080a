"""The lock of an embedded folder: two processes that write to one would lose each other's vectors."""

from __future__ import annotations

import os
from pathlib import Path

from filelock import FileLock, Timeout

from shared_core.errors import StoreError, StoreLockedError


class FolderLock:
    """Holds a folder for this process until released; the operating system lets go of a dead one's.

    Args:
        folder: Made if it is missing.

    Raises:
        StoreLockedError: If another process holds it.
        StoreError: If the folder cannot be made or written.
    """

    def __init__(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._owner = folder / "contextmemory.pid"
            self._lock = FileLock(folder / "contextmemory.lock", thread_local=False)
            self._lock.acquire(timeout=0)
            self._owner.write_text(f"{os.getpid()}\n", encoding="ascii")
        except Timeout as error:
            raise StoreLockedError(
                f"the folder {str(folder)!r} is in use by process {self._owner_id()}: an embedded folder "
                "serves one process at a time. Close it there, or let both use a Chroma server "
                f"(chroma run --path {folder}) through chromadb.HttpClient"
            ) from error
        except OSError as error:
            raise StoreError(f"cannot use the folder {str(folder)!r}: {error}") from error

    def _owner_id(self) -> str:
        try:
            return self._owner.read_text(encoding="ascii").strip() or "unknown"
        except (OSError, UnicodeDecodeError):
            return "unknown"

    def release(self) -> None:
        """Let another process have the folder; harmless when repeated."""
        self._lock.release()
