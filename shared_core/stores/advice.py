"""What to do about a store that fails: the second half of its error messages."""

from __future__ import annotations

from pathlib import Path
from shlex import quote

import httpx

#: What Chroma's messages have in common where the disk is full, where index files are broken, and where the
#: database is.
FULL = ("disk is full", "disk full", "disk I/O error", "No space left", "File too large")
UNAPPLIED = "Failed to apply logs"
BROKEN_INDEX = ("hnsw", "pickle")
BROKEN_DATABASE = ("malformed", "not a database", "no such table", "no such column", "Chroma's core failed")
READ_ONLY = ("readonly database", "read-only", "Permission denied")


def way_out(error: Exception, folder: Path | None) -> str:
    """What to do about an error, as sentences to append to it; nothing where that is not known.

    Args:
        error: What Chroma or its transport raised.
        folder: Of an embedded store; None for a client.
    """
    text = str(error)
    if any(words in text for words in FULL):
        return ". Make room and try again: what was written before is there"
    if UNAPPLIED in text:
        return ". Is the disk full? Make room and try again: what was written before is there"
    if any(words in text for words in BROKEN_INDEX):
        first = "stop the server" if folder is None else "close what uses the folder"
        place = "FOLDER" if folder is None else quote(str(folder))
        return (
            f". The index files are broken, the records are not: {first}, then run "
            f"contextmemory repair --path {place}"
        )
    if folder is not None and any(words in text for words in BROKEN_DATABASE):
        return (
            ". Its database is damaged: keep the folder as it is, restore a copy of it, or import an export "
            "into a new folder (contextmemory import)"
        )
    if folder is not None and any(words in text for words in READ_ONLY):
        return ". A memory writes even when it is only read: make the folder and its files writable"
    if isinstance(error, httpx.TransportError) or "Could not connect" in text:
        return ". The server does not answer; once it does, this memory goes on without being opened again"
    return ""
