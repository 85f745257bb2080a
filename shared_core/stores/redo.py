"""What a change that is written in parts has still to write, kept in a file beside the database.

An embedded Chroma holds the interpreter's lock for the whole of a write, which takes about 1 ms a record, and
no event loop of the process goes on meanwhile. So a big change is written in parts where a loop waits. To be
whole or absent all the same, it is first put down here: from then on it counts as written, and whoever opens
the collection after a kill writes it before anything else. It is a redo log of one change: writing it again
changes nothing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from shared_core.errors import StoreError
from shared_core.messages import quoted
from shared_core.stores.codec import VECTOR_KEY, decode_vectors
from shared_core.stores.writing import Writing

__all__ = ["REDO", "RedoLog"]

#: The folder within that of Chroma, and the version of what stands in its files.
REDO: Final = "contextmemory.redo"
FORMAT: Final = 1


class RedoLog:
    """At most one change of each collection of an embedded folder.

    A file has a line of JSON that says what follows, ``{"format", "records", "keeps_texts", "deletes"}``, and
    one for each record, ``{"id", "metadata", "text"}``; the vector stands in the metadata.

    Args:
        folder: Of Chroma, which this process has to itself.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder / REDO

    def names(self) -> Sequence[str]:
        """The collections of which something is kept."""
        return sorted(file.stem for file in self._folder.glob("*.jsonl"))

    def keep(self, name: str, writing: Writing) -> None:
        """Put down what is to be written to the collection of that name; on the disk when this returns.

        Raises:
            OSError: If it cannot be written; nothing is kept then.
        """
        self._folder.mkdir(exist_ok=True)
        begun = self._file(name).with_suffix(".begun")
        try:
            with begun.open("w", encoding="utf-8") as stream:
                keeps_texts = writing.texts is None
                head = {"format": FORMAT, "records": len(writing.ids), "keeps_texts": keeps_texts}
                print(json.dumps({**head, "deletes": list(writing.deletes)}), file=stream)
                for place, record_id in enumerate(writing.ids):
                    record = {"id": record_id, "metadata": writing.metadatas[place]}
                    text = {} if writing.texts is None else {"text": writing.texts[place]}
                    print(json.dumps({**record, **text}), file=stream)
                stream.flush()
                os.fsync(stream.fileno())
            begun.replace(self._file(name))
            _sync_folder(self._folder)
        except OSError:
            begun.unlink(missing_ok=True)
            raise

    def kept(self, name: str, *, dimension: int) -> Writing | None:
        """What is still to be written to the collection of that name; None if nothing is.

        Args:
            name: Of the collection.
            dimension: Length of its vectors.

        Raises:
            StoreError: If the file is not one of these.
        """
        file = self._file(name)
        try:
            lines = file.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            raise _unreadable(file, str(error)) from error
        try:
            return _parsed([json.loads(line) for line in lines], dimension)
        except (ValueError, KeyError, TypeError, IndexError) as error:
            raise _unreadable(file, str(error)) from error

    def discard(self, name: str) -> None:
        """It is written, or the collection is gone; harmless where nothing is kept."""
        self._file(name).unlink(missing_ok=True)

    def _file(self, name: str) -> Path:
        return self._folder / f"{name}.jsonl"


def _parsed(lines: list[Mapping[str, Any]], dimension: int) -> Writing:
    head, records = lines[0], lines[1:]
    if head["format"] != FORMAT:
        raise ValueError(f"its format is {quoted(head['format'])}, and this release knows {FORMAT}")
    if head["records"] != len(records):
        raise ValueError(f"it has {len(records)} of {head['records']} records")
    ids = [str(record["id"]) for record in records]
    metadatas = [record["metadata"] for record in records]
    deletes = [str(one) for one in head["deletes"]]
    if head["keeps_texts"]:
        return Writing(ids, metadatas, deletes=deletes)
    vectors = decode_vectors(ids, [str(metadata[VECTOR_KEY]) for metadata in metadatas], dimension)
    return Writing(ids, metadatas, [str(record["text"]) for record in records], vectors, deletes)


def _unreadable(file: Path, reason: str) -> StoreError:
    return StoreError(
        f"the file {str(file)!r} cannot be read: {reason}. It holds one change that was cut off while it was "
        "written; whoever moves the file away opens the namespace without the rest of that change"
    )


def _sync_folder(folder: Path) -> None:
    """Make a new name of a file durable, where a folder can be opened for that."""
    if os.name == "posix":
        opened = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)
