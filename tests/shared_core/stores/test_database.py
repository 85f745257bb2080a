from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chromadb.api import ClientAPI

from shared_core import ContextMemory
from shared_core.stores.database import read_pages, unfinished
from tests.shared_core.building import NotesExtractor, chroma_client, said

TEXTS = ["plain", "über 東京 🎈", 'quoted "text" \\ and\nlines', "nul \x00 inside", "x" * 100_000, "{}"]


@pytest.fixture
def client(tmp_path: Path) -> Iterator[ClientAPI]:
    with chroma_client(tmp_path) as made:
        yield made


def write(client: ClientAPI, name: str, texts: list[str], first: int = 0) -> Any:
    collection = client.get_or_create_collection(name, embedding_function=None)
    collection.upsert(
        ids=[f"id-{first + place}" for place in range(len(texts))],
        embeddings=np.ones((len(texts), 2), dtype=np.float32),
        documents=texts,
        metadatas=[
            {"record": f'{{"n": {place}}}', "vector": "AAAA", "kind": "fact"} for place in range(len(texts))
        ],
    )
    return collection


def read(folder: Path, collection: Any, *, size: int = 2) -> dict[str, tuple[str, str, str]]:
    """Text, payload and vector of each record by id."""
    pages = read_pages(folder, str(collection.id), size=size)
    return {
        memory_id: (text, metadata["record"], metadata["vector"])
        for page in pages
        for memory_id, text, metadata in zip(page["ids"], page["documents"], page["metadatas"], strict=True)
    }


def test_what_is_read_is_what_chroma_gives(client: ClientAPI, tmp_path: Path) -> None:
    write(client, "another", ["not asked for"])
    collection = write(client, "asked", TEXTS)
    write(client, "another", ["nor this"], first=1)
    collection.delete(ids=["id-2"])
    write(client, "asked", ["changed"], first=1)
    found = collection.get(include=["documents", "metadatas"])
    assert read(tmp_path, collection) == {
        memory_id: (text, metadata["record"], metadata["vector"])
        for memory_id, text, metadata in zip(
            found["ids"], found["documents"] or [], found["metadatas"] or [], strict=True
        )
    }
    assert list(read(tmp_path, collection)) == found["ids"]


def test_an_empty_collection_has_no_pages(client: ClientAPI, tmp_path: Path) -> None:
    collection = client.create_collection("empty-one", embedding_function=None)
    assert read(tmp_path, collection) == {}


def test_records_of_strangers_have_no_metadata_of_ours(client: ClientAPI, tmp_path: Path) -> None:
    collection = client.create_collection("strange", embedding_function=None)
    collection.add(ids=["a"], embeddings=np.ones((1, 2), dtype=np.float32), documents=["I am a stranger."])
    (page,) = read_pages(tmp_path, str(collection.id), size=10)
    assert (page["ids"], page["documents"], page["metadatas"]) == (["a"], ["I am a stranger."], [None])


def test_a_write_that_was_cut_off_is_seen(client: ClientAPI, tmp_path: Path) -> None:
    whole = write(client, "finished", TEXTS)
    cut = write(client, "unfinished", TEXTS)
    write(client, "finished", TEXTS[:1])
    assert unfinished(tmp_path) == frozenset()
    with sqlite3.connect(tmp_path / "chroma.sqlite3") as connection:  # as a kill between log and records
        (lost,) = connection.execute(
            "SELECT id FROM segments WHERE collection = ? AND scope = 'METADATA'", (str(cut.id),)
        ).fetchone()
        connection.execute("UPDATE max_seq_id SET seq_id = seq_id - 2 WHERE segment_id = ?", (lost,))
    connection.close()
    assert unfinished(tmp_path) == {str(cut.id)} != {str(whole.id)}
    cut.count()
    assert unfinished(tmp_path) == frozenset()  # Chroma has finished it


def test_what_was_cut_off_is_finished_and_then_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with ContextMemory(tmp_path, extractor=NotesExtractor()) as memory:
        memory.add([said("hello", "m1"), said("fact: Ada lives in Bern.", "m2")])
        before = [one.model_dump() for one in memory.list()]
    with sqlite3.connect(tmp_path / "chroma.sqlite3") as connection:
        connection.execute("UPDATE max_seq_id SET seq_id = seq_id - 2")
    connection.close()
    assert len(unfinished(tmp_path)) == 1
    with caplog.at_level("INFO"), ContextMemory(tmp_path, extractor=NotesExtractor()) as memory:
        assert [one.model_dump() for one in memory.list()] == before
    assert unfinished(tmp_path) == frozenset()
    assert "is read through Chroma" not in caplog.text


def test_a_layout_that_is_not_known_is_not_guessed(client: ClientAPI, tmp_path: Path) -> None:
    write(client, "finished", TEXTS)
    with sqlite3.connect(tmp_path / "chroma.sqlite3") as connection:
        connection.execute("UPDATE migrations SET version = 77 WHERE dir = 'metadb' AND version = 6")
    connection.close()
    with pytest.raises(sqlite3.DatabaseError, match=r"its layout is .*77"):
        unfinished(tmp_path)


def test_a_database_of_another_kind_is_read_through_chroma(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, extractor=NotesExtractor()) as memory:
        memory.add([said("hello", "m1"), said("fact: Ada lives in Bern.", "m2")])
        before = [one.model_dump() for one in memory.list()]
    with sqlite3.connect(tmp_path / "chroma.sqlite3") as connection:
        assert connection.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",)
    connection.close()
    with ContextMemory(tmp_path, extractor=NotesExtractor()) as memory:
        assert [one.model_dump() for one in memory.list()] == before


def test_what_is_read_while_others_write_is_whole(client: ClientAPI, tmp_path: Path) -> None:
    collection = write(client, "asked", TEXTS[:4] * 40)
    expected = read(tmp_path, collection)
    done = threading.Event()

    def keep_writing() -> None:
        number = 0
        while not done.is_set():
            write(client, "another", ["y" * 500] * 20, first=20 * number)
            number += 1

    writer = threading.Thread(target=keep_writing)
    writer.start()
    whole = refused = 0
    try:
        for _ in range(10):
            try:
                assert read(tmp_path, collection, size=50) == expected
            except sqlite3.Error:
                refused += 1
            else:
                whole += 1
    finally:
        done.set()
        writer.join()
    assert whole + refused == 10
