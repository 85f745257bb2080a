"""Stores of earlier releases, as their schema wrote them: ``scripts/schema_fixture.py`` made them."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from shared_core import ContextMemory
from shared_core.errors import StoreError
from shared_core.stores.base import SCHEMA_VERSION
from tests.shared_core.building import chroma_client, said

FIXTURES = Path(__file__).parents[1] / "shared_core" / "stores" / "fixtures"


def unpacked(version: int, folder: Path) -> Path:
    with zipfile.ZipFile(FIXTURES / f"schema-{version}.zip") as archive:
        archive.extractall(folder)
    return folder


def test_each_schema_that_was_ever_written_is_kept() -> None:
    kept = {file.name for file in FIXTURES.iterdir()}
    assert kept == {f"schema-{version}.zip" for version in range(1, SCHEMA_VERSION + 1)}
    assert all(file.stat().st_size < 200_000 for file in FIXTURES.iterdir())


@pytest.mark.parametrize("version", range(1, SCHEMA_VERSION + 1))
def test_a_store_of_an_earlier_release_is_read_searched_and_written(tmp_path: Path, version: int) -> None:
    folder = unpacked(version, tmp_path / "memory")
    with ContextMemory(folder, "alice") as memory:
        messages = memory.messages("c1")
        assert [message.message_id for message in messages] == [f"m{turn}" for turn in range(6)]
        assert [message.metadata["turn"] for message in messages] == list(range(6))
        assert memory.list(kind="bubble")
        assert memory.list(kind="fact")
        assert any(triplet.subject == "Alice" for triplet in memory.list(kind="triplet"))
        assert memory.search("Which city did she move to?", limit=3).results
        memory.add(said("I like figs.", "m6"), "c1")
        memory.maintain()
        memory.erase(message_id="m3")
        assert len(memory.messages("c1")) == 6
    with ContextMemory(folder, "alice") as memory:
        assert [message.message_id for message in memory.messages("c1")][-1] == "m6"


def test_a_store_of_a_later_release_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    folder = unpacked(SCHEMA_VERSION, tmp_path / "memory")
    with chroma_client(folder) as client:
        (collection,) = client.list_collections()
        collection.modify(metadata={**collection.metadata, "schema_version": SCHEMA_VERSION + 1})
        before = collection.get(include=["documents", "metadatas"])
    with pytest.raises(StoreError, match="upgrade contextmemory-chroma"):
        ContextMemory(folder, "alice")
    with chroma_client(folder) as client:
        (collection,) = client.list_collections()
        assert collection.get(include=["documents", "metadatas"]) == before
