"""What a change that is written in parts has still to write, kept in a file beside the database.

It is a redo log of one change: written before the first part, removed after the last, and to write it again
changes nothing. It tells what it stands on, so that it is never written over what came later.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from shared_core.errors import StoreError
from shared_core.messages import quoted
from shared_core.stores.codec import VECTOR_KEY, decode_vectors
from shared_core.stores.names import NAME_PREFIX
from shared_core.stores.writing import Writing

__all__ = ["REDO", "Base", "Kept", "RedoLog"]

logger = logging.getLogger(__name__)

#: The folder within that of Chroma, and the version of what stands in its files.
REDO: Final = "contextmemory.redo"
FORMAT: Final = 1
KEPT, BEGUN = ".jsonl", ".begun"


@dataclass(frozen=True)
class Base:
    """What a change stands on.

    Attributes:
        collection: Chroma's id of the collection, which one that is made anew does not have.
        head: The metadata of its head record, which everybody renews who writes through a server.
    """

    collection: str
    head: Mapping[str, Any]


@dataclass(frozen=True)
class Kept:
    """What is still to be written.

    Attributes:
        writing: All of the change; some of it may be written already.
        base: What it stands on.
    """

    writing: Writing
    base: Base


class RedoLog:
    """At most one change of each collection of an embedded folder.

    A file has a line of JSON that says what follows, ``{"format", "collection", "head", "records",
    "keeps_texts", "deletes"}``, and one for each record, ``{"id", "metadata", "text"}``; the vector stands in
    the metadata. An empty file is none.

    Args:
        folder: Of Chroma, which this process has to itself.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / REDO
        for begun in self._folder.glob(f"*{BEGUN}"):  # a kill came before it counted
            _remove(begun)

    def names(self) -> Sequence[str]:
        """The collections of which something is kept, in order."""
        stems = (file.name.removesuffix(KEPT) for file in self._folder.glob(f"{NAME_PREFIX}*{KEPT}"))
        return sorted(stem for stem in stems if "." not in stem)

    def keep(self, name: str, writing: Writing, base: Base) -> None:
        """Put down what is to be written to the collection of that name; on the disk when this returns.

        Raises:
            OSError: If it cannot be written; nothing is kept then.
        """
        if not self._folder.is_dir():
            self._folder.mkdir()
            _sync_folder(self._folder.parent)
        begun = self._file(name, BEGUN)
        try:
            with begun.open("w", encoding="utf-8") as stream:
                head = {"format": FORMAT, "collection": base.collection, "head": dict(base.head)}
                counts = {"records": len(writing.ids), "keeps_texts": writing.texts is None}
                print(json.dumps({**head, **counts, "deletes": list(writing.deletes)}), file=stream)
                for place, record_id in enumerate(writing.ids):
                    record = {"id": record_id, "metadata": writing.metadatas[place]}
                    text = {} if writing.texts is None else {"text": writing.texts[place]}
                    print(json.dumps({**record, **text}), file=stream)
                stream.flush()
                os.fsync(stream.fileno())
            begun.replace(self._file(name))
        except BaseException:
            _remove(begun)
            raise
        _sync_folder(self._folder)

    def kept(self, name: str, *, dimension: int) -> Kept | None:
        """What is still to be written to the collection of that name; None if nothing is.

        Args:
            name: Of the collection.
            dimension: Length of its vectors.

        Raises:
            StoreError: If it cannot be read, or is not one of these.
        """
        try:
            lines = self._file(name).read_text(encoding="utf-8").splitlines()
            return _parsed([json.loads(line) for line in lines], dimension) if lines else None
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError, StoreError) as error:
            raise StoreError(
                f"what was cut off of a change cannot be read: {error}.{self.way_out(name)}"
            ) from error

    def way_out(self, name: str) -> str:
        """What can be done where a change cannot be finished, as the end of an error."""
        return (
            f" It stands in the file {str(self._file(name))!r}: whoever moves that out of its folder goes on "
            "without the rest of the change"
        )

    def discard(self, name: str) -> None:
        """It is written, or is not to be any more; harmless where nothing is kept.

        Raises:
            OSError: If it can neither be removed nor emptied.
        """
        file = self._file(name)
        try:
            file.unlink(missing_ok=True)
        except OSError:  # another program holds it, as on Windows
            with file.open("w") as stream:
                os.fsync(stream.fileno())
        _remove(self._file(name, BEGUN))
        _sync_folder(self._folder)

    def _file(self, name: str, suffix: str = KEPT) -> Path:
        return self._folder / f"{name}{suffix}"


def _parsed(lines: list[Mapping[str, Any]], dimension: int) -> Kept:
    head, records = lines[0], lines[1:]
    if head["format"] != FORMAT:
        raise ValueError(f"its format is {quoted(head['format'])}, and this release knows {FORMAT}")
    if head["records"] != len(records):
        raise ValueError(f"it has {len(records)} of {head['records']} records")
    base = Base(str(head["collection"]), dict(head["head"]))
    ids = [str(record["id"]) for record in records]
    metadatas = [dict(record["metadata"]) for record in records]
    deletes = [str(one) for one in head["deletes"]]
    if head["keeps_texts"]:
        return Kept(Writing(ids, metadatas, deletes=deletes), base)
    vectors = decode_vectors(ids, [str(metadata[VECTOR_KEY]) for metadata in metadatas], dimension)
    texts = [str(record["text"]) for record in records]
    return Kept(Writing(ids, metadatas, texts, vectors, deletes), base)


def _remove(file: Path) -> None:
    try:
        file.unlink(missing_ok=True)
    except OSError as error:
        logger.warning("%s is of no use any more, and cannot be removed: %s", file, error)


def _sync_folder(folder: Path) -> None:
    """Make names of files durable, where a folder can be synced; a power cut is all that it is against."""
    with suppress(OSError):
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
