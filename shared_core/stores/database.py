"""The records of one collection, read straight from the database of an embedded folder.

Chroma's own ``get`` takes 70 µs of a processor for each record, whatever is asked of it (1.5.9, 2 cores);
its database gives the same in 10. Whatever Chroma is asked of a collection, it first loads the file of its
vectors, which of 142,000 records takes half a second and 220 MB; nothing here needs that file. Chroma writes
a log and then the records, both before a write returns: where the log is ahead, a write was cut off, and
Chroma finishes it when it is asked. Nothing but reading is done here, and whoever finds the database
otherwise than expected asks Chroma.

SQLite keeps a reader and a writer apart by locks that belong to a process, and Chroma brings a SQLite of its
own: within one process the two do not see each other's, and closing the file here gives up Chroma's. So each
page is read between two looks at the database, and counts only if nothing was written in between; and this is
for a folder that one process has to itself, where SQLite's own account keeps Chroma's connections apart.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, BinaryIO

from pydantic_core import from_json

from shared_core.stores.codec import RECORD_KEY, VECTOR_KEY
from shared_core.stores.repair import DATABASE

#: How often a page is read again because of a write meanwhile, and the pause before, in seconds.
ATTEMPTS, PAUSE = 20, 0.005
#: SQLite's file format: bytes 18 and 19 are 1 where writing goes through a journal beside the file, which is
#: there while a write is under way; bytes 24 to 27 count the writes.
_HEADER_SIZE, _MODE, _WRITES = 28, slice(18, 20), slice(24, 28)
_JOURNALLED = b"\x01\x01"
#: Under this key Chroma keeps the text of a record.
_DOCUMENT_KEY = "chroma:document"
#: Steps of each part of the database's layout that are known: with others, the log may mean something else.
_LAYOUT = {"embeddings_queue": 2, "metadb": 6, "sysdb": 10}
#: Each answer is one row: Python hands its lock over at every row, and gets it back late from busy threads.
_IDS = """
    SELECT json_group_array(id), json_group_array(embedding_id) FROM (
        SELECT embeddings.id, embeddings.embedding_id FROM embeddings
        JOIN segments ON segments.id = embeddings.segment_id
        WHERE segments.collection = ? AND segments.scope = 'METADATA' ORDER BY embeddings.id
    )
"""
_STEPS = """
    SELECT json_group_array(dir), json_group_array(version)
    FROM (SELECT dir, max(version) AS version FROM migrations GROUP BY dir)
"""
_UNFINISHED = """
    SELECT json_group_array(log.collection) FROM (
        SELECT substr(topic, -36) AS collection, max(seq_id) AS logged FROM embeddings_queue GROUP BY topic
    ) AS log
    LEFT JOIN (
        SELECT segments.collection AS collection, max_seq_id.seq_id AS applied FROM segments
        JOIN max_seq_id ON max_seq_id.segment_id = segments.id WHERE segments.scope = 'METADATA'
    ) AS done ON done.collection = log.collection
    WHERE log.logged > coalesce(done.applied, 0)
"""
_VALUES = """
    SELECT json_group_array(id), json_group_array(string_value) FROM embedding_metadata
    WHERE key = ? AND id IN (SELECT value FROM json_each(?))
"""


class Database:
    """The database of a folder; close it after use.

    Args:
        folder: The embedded folder, which no other process writes to.

    Raises:
        sqlite3.Error: Here and below, if the database cannot be read in this way.
    """

    def __init__(self, folder: Path) -> None:
        file = folder / DATABASE
        self._journal = folder / f"{DATABASE}-journal"
        # Only for reading: SQLite would take the journal of a write of Chroma's for that of a dead process.
        self._uri = f"{file.as_uri()}?mode=ro"
        self._connection = self._connected()
        self._file: BinaryIO = file.open("rb", buffering=0)

    def _connected(self) -> sqlite3.Connection:
        return sqlite3.connect(self._uri, uri=True, timeout=0.0, check_same_thread=False)

    def close(self) -> None:
        """Let go of the database."""
        self._connection.close()
        self._file.close()

    def unfinished(self) -> frozenset[str]:
        """Chroma's ids of the collections whose log is ahead of their records."""
        (steps,) = self._settled([(_STEPS, ())])
        layout = dict(zip(*steps, strict=True))
        if layout != _LAYOUT:
            raise sqlite3.DatabaseError(f"its layout is {layout}, not {_LAYOUT}")
        ((collection_ids,),) = self._settled([(_UNFINISHED, ())])
        return frozenset(collection_ids)

    def pages(self, collection_id: str, *, size: int) -> Iterator[Mapping[str, Any]]:
        """Every record in the order in which they were first written, in pages as ``get`` gives them.

        Args:
            collection_id: Chroma's own id of the collection.
            size: Records of a page.
        """
        ((rows, ids),) = self._settled([(_IDS, (collection_id,))])
        for start in range(0, len(rows), size):
            yield self._page(rows[start : start + size], ids[start : start + size])

    def _page(self, rows: Sequence[int], ids: Sequence[str]) -> Mapping[str, Any]:
        wanted = json.dumps(rows)
        keys = (_DOCUMENT_KEY, RECORD_KEY, VECTOR_KEY)
        answers = self._settled([(_VALUES, (key, wanted)) for key in keys])
        texts, payloads, vectors = (dict(zip(*answer, strict=True)) for answer in answers)
        return {
            "ids": ids,
            "documents": [texts.get(row) for row in rows],
            "metadatas": [
                {RECORD_KEY: payloads[row], VECTOR_KEY: vectors.get(row, "")} if row in payloads else None
                for row in rows
            ],
        }

    def _settled(self, statements: Sequence[tuple[str, tuple[str, ...]]]) -> list[list[list[Any]]]:
        """The columns that each statement answers, between which nothing was written."""
        failure = sqlite3.OperationalError("it is written to all the time")
        for _ in range(ATTEMPTS):
            before = self._state()
            if before is not None:
                try:
                    answers = [self._connection.execute(*statement).fetchone() for statement in statements]
                except sqlite3.OperationalError as error:  # a write has begun meanwhile
                    failure = error
                else:
                    if self._state() == before:
                        return [[from_json(column) for column in answer] for answer in answers]
            time.sleep(PAUSE)
            self._connection.close()  # with the pages that it keeps, of which some may be older
            self._connection = self._connected()
        raise failure

    def _state(self) -> bytes | None:
        """What every write changes; None while one is under way."""
        self._file.seek(0)
        header = self._file.read(_HEADER_SIZE)
        if header[_MODE] != _JOURNALLED:
            raise sqlite3.DatabaseError("its journal is of another kind")
        return None if self._journal.exists() else header[_WRITES]


def read_pages(folder: Path, collection_id: str, *, size: int) -> Iterator[Mapping[str, Any]]:
    """Every record of a collection: see ``Database.pages``."""
    with closing(Database(folder)) as database:
        yield from database.pages(collection_id, size=size)


def unfinished(folder: Path) -> frozenset[str]:
    """The collections that Chroma has yet to finish: see ``Database.unfinished``."""
    with closing(Database(folder)) as database:
        return database.unfinished()
