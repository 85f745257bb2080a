from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chromadb.api import ClientAPI
from chromadb.errors import InternalError
from hypothesis import given
from hypothesis import strategies as st

from shared_core import ContextMemory
from shared_core.embedding import OpenAIEmbedder
from shared_core.errors import EmbedderMismatchError, StoreError
from shared_core.stores.base import SCHEMA_VERSION, Change
from shared_core.stores.chroma import NAMESPACE_LENGTH, PAGE_SIZE, ChromaStore, collection_name
from tests.shared_core.building import EMBEDDER, NOW, NotesExtractor, chroma_client, record, said, write

NAMESPACES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40).filter(str.strip)


@pytest.fixture
def client() -> Iterator[ClientAPI]:
    with chroma_client() as made:
        yield made


@contextmanager
def raw_collection(folder: Path) -> Iterator[Any]:
    """The only collection of a folder, as Chroma has it."""
    with chroma_client(folder) as client:
        (collection,) = client.list_collections()
        yield collection


# -- names -----------------------------------------------------------------------------------------------


@given(NAMESPACES, NAMESPACES)
def test_two_namespaces_share_a_collection_just_when_they_are_one(one: str, other: str) -> None:
    assert (collection_name(one) == collection_name(other)) == (one == other)


@given(NAMESPACES)
def test_the_name_of_a_collection_is_one_that_chroma_takes(namespace: str) -> None:
    name = collection_name(namespace)
    assert 3 <= len(name) <= 512
    assert name.isascii()
    assert name[0].isalnum()
    assert name[-1].isalnum()
    assert set(name) <= set("abcdefghijklmnopqrstuvwxyz0123456789-")


LOOKALIKES = [
    "a/b",
    "a_b",
    "A",
    "a",
    "a b",
    "a.b",
    "a\x00b",
    " a",
    "é",
    "e\u0301",
    "ﬁ",
    "fi",
    "١",
    "1",
    "alice@x.org",
]


def test_namespaces_that_look_alike_stay_apart(memory: ContextMemory) -> None:
    assert unicodedata.normalize("NFC", LOOKALIKES[9]) == LOOKALIKES[8]
    for namespace in LOOKALIKES:
        with memory.for_namespace(namespace) as one:
            one.add(said(f"I belong to {namespace!r}.", "m1"))
    assert sorted(memory.namespaces()) == sorted(LOOKALIKES)
    for namespace in LOOKALIKES:
        with memory.for_namespace(namespace) as one:
            one.opened().drop_index()
            assert [m.text for m in one.list(kind="message")] == [f"I belong to {namespace!r}."]


@pytest.mark.parametrize("namespace", ["", "  ", None, 5, b"alice", ["alice"]])
def test_an_empty_namespace_is_refused_and_quoted(
    tmp_path: Path, memory: ContextMemory, namespace: Any
) -> None:
    calls: list[Callable[[], ContextMemory]] = [
        lambda: ContextMemory(tmp_path / "memory", namespace),
        lambda: memory.for_namespace(namespace),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="namespace") as raised:
            call()
        assert repr(namespace) in str(raised.value)
    assert memory.namespaces() == []


def test_an_over_long_namespace_and_a_lone_surrogate_are_refused(memory: ContextMemory) -> None:
    with memory.for_namespace("é" * NAMESPACE_LENGTH) as longest:
        longest.add(said("hello"))
    with pytest.raises(ValueError, match="longer than 512 characters"):
        memory.for_namespace("é" * (NAMESPACE_LENGTH + 1))
    with pytest.raises(ValueError, match="lone surrogate"):
        memory.for_namespace("alice\ud800")
    memory.add(said("hello"))
    assert len(memory.namespaces()) == 2


# -- what stands in Chroma -------------------------------------------------------------------------------


def test_a_collection_says_whose_it_is_and_how_it_was_embedded(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, "alice/work") as memory:
        memory.add(said("I moved to Berlin.", "m1"), "c1")
    with raw_collection(tmp_path) as collection:
        assert collection.metadata == {
            "namespace": "alice/work",
            "embedder": "wordllama/l2_supercat-256",
            "dimension": 256,
            "schema_version": SCHEMA_VERSION,
        }
        stored = collection.get(where={"kind": "message"}, include=["documents", "metadatas", "embeddings"])
        assert stored["documents"] == ["I moved to Berlin."]
        assert stored["metadatas"][0]["conversation_id"] == "c1"
        assert np.linalg.norm(stored["embeddings"][0]) == pytest.approx(1.0)


def test_looking_into_a_namespace_does_not_make_it(memory: ContextMemory) -> None:
    with memory.for_namespace("nobody") as nobody:
        assert nobody.list() == []
        assert not nobody.search("anything")
    assert memory.namespaces() == []


def test_records_of_others_in_the_same_collection_are_left_alone(tmp_path: Path) -> None:
    with ContextMemory(tmp_path) as memory:
        memory.add(said("hello", "m1"))
    with raw_collection(tmp_path) as collection:
        collection.upsert(
            ids=["stranger"],
            documents=["I am a stranger."],
            embeddings=np.ones((1, 256)),
            metadatas=[{"a": 1}],
        )
    with ContextMemory(tmp_path) as memory:
        assert [one.text for one in memory.list()] == ["hello"]
        assert all(hit.memory != "I am a stranger." for hit in memory.search("stranger"))


def test_a_record_that_was_changed_by_hand_is_refused_by_name(tmp_path: Path) -> None:
    with ContextMemory(tmp_path) as memory:
        memory.add(said("hello", "m1"))
        (message,) = memory.list()
    with raw_collection(tmp_path) as collection:
        collection.update(
            ids=[message.id], metadatas=[{"record": '{"kind": "dream"}'}], embeddings=np.ones((1, 256))
        )
    with (
        ContextMemory(tmp_path) as memory,
        pytest.raises(StoreError, match=f"record '{message.id}' cannot be read"),
    ):
        memory.list()


def test_a_namespace_of_several_pages_is_complete_after_reopening(tmp_path: Path) -> None:
    count = PAGE_SIZE + 400
    with ContextMemory(tmp_path, extractor=NotesExtractor()) as memory:
        memory.add([said(f"Line {number}.", f"m{number}") for number in range(count)], "c")
        memory.add(said("The last line.", "last"), "c")
        before = [hit.to_dict() for hit in memory.search("the last line", now=NOW)]
    with ContextMemory(tmp_path) as memory:
        assert len(memory.list(kind="message", limit=10_000)) == count + 1
        assert [hit.to_dict() for hit in memory.search("the last line", now=NOW)] == before


# -- refusals --------------------------------------------------------------------------------------------


def test_another_embedder_is_refused_with_the_way_out(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, "alice") as memory:
        memory.add(said("hello"))
    other = OpenAIEmbedder("tiny", dimension=8, base_url="http://127.0.0.1:9/v1", api_key="none")
    with pytest.raises(EmbedderMismatchError, match="namespace 'alice'") as raised:
        ContextMemory(tmp_path, "alice", embedder=other)
    message = str(raised.value)
    assert "wordllama/l2_supercat-256" in message
    assert "of 256 dimensions" in message
    assert other.name in message
    assert "open it with the first, or export it and import it into a new folder" in message
    with ContextMemory(tmp_path, "alice") as memory:
        assert len(memory.list()) == 1


def test_another_embedder_is_refused_while_the_namespace_is_open(
    memory: ContextMemory, tmp_path: Path
) -> None:
    memory.add(said("hello"))
    other = OpenAIEmbedder("tiny", dimension=256, base_url="http://127.0.0.1:9/v1", api_key="none")
    with pytest.raises(EmbedderMismatchError, match="openai/tiny"):
        ContextMemory(tmp_path / "memory", embedder=other)
    assert len(memory.list()) == 1


@pytest.mark.parametrize("version", [SCHEMA_VERSION + 1, None])
def test_a_newer_schema_is_refused_with_the_way_out(tmp_path: Path, version: int | None) -> None:
    with ContextMemory(tmp_path, "alice") as memory:
        memory.add(said("hello"))
    with raw_collection(tmp_path) as collection:
        changed = {**collection.metadata, "schema_version": version}
        collection.modify(metadata={key: value for key, value in changed.items() if value is not None})
    with pytest.raises(StoreError, match="upgrade contextmemory-chroma"):
        ContextMemory(tmp_path, "alice")


# -- several memories in one process ---------------------------------------------------------------------


def test_two_memories_on_one_folder_see_each_others_writes(memory: ContextMemory, tmp_path: Path) -> None:
    with ContextMemory(tmp_path / "memory") as other, ContextMemory(str(tmp_path / "memory"), "bob") as bob:
        memory.add(said("I ride a tandem.", "m1"))
        assert other.search("tandem").results[0].source_ids == ("m1",)
        other.erase(message_id="m1")
        assert memory.list() == []
        assert bob.list() == []


def test_a_memory_outlives_its_sibling(memory: ContextMemory) -> None:
    sibling = memory.for_namespace("bob")
    memory.close()
    sibling.add(said("hello"))
    assert len(sibling.list()) == 1
    sibling.close()


def test_after_a_failure_inside_chroma_a_folder_is_opened_again(tmp_path: Path) -> None:
    options: dict[str, Any] = {"embedder_name": EMBEDDER.name, "dimension": EMBEDDER.dimension}
    store = ChromaStore(tmp_path)
    try:
        one, two = (store.open(name, **options) for name in ("one", "two"))
        put = Change(puts=(record("fact-1"),), vectors=EMBEDDER.embed(["one"]))
        one.apply(put)
        reading = one.load()
        with pytest.raises(StoreError, match="Make room"), store.guarded("write to"):
            raise InternalError("database or disk is full")
        assert [memory.id for batch in reading for memory in batch.memories] == ["fact-1"]
        two.apply(put)
        one.apply(Change(deletes=("fact-1",)))
        assert [len(batch.memories) for batch in one.load()] in ([], [0])
        assert store.namespaces() == ["one", "two"]
    finally:
        store.close()


def test_a_wrong_argument_closes_nothing(tmp_path: Path) -> None:
    store = ChromaStore(tmp_path)
    try:
        before = store.openings
        with pytest.raises(StoreError), store.guarded("write to"):
            raise ValueError("a number is missing")
        assert store.openings == before
    finally:
        store.close()


# -- clients ---------------------------------------------------------------------------------------------


def test_an_ephemeral_client_serves_like_a_folder(client: ClientAPI) -> None:
    with ContextMemory(client, "alice", extractor=NotesExtractor()) as memory:
        memory.add(said("fact: Ada rides a tandem", "m1", metadata={"deep": [1, {"a": None}]}), "c1", now=NOW)
        (fact,) = memory.list(kind="fact")
        memory.update(fact.id, "Ada rides a bicycle")
        assert [one.text for one in memory.history(fact.id)] == ["Ada rides a tandem", "Ada rides a bicycle"]
        assert memory.search("bicycle").results[0].source_ids == ("m1",)
        assert memory.namespaces() == ["alice"]
        assert len(memory.list(include_superseded=True)) == 3
        assert memory.erase(message_id="m1") == 3
    assert client.heartbeat() > 0


def test_two_memories_on_one_client_see_each_others_writes_updates_and_deletions(client: ClientAPI) -> None:
    with (
        ContextMemory(client, extractor=NotesExtractor()) as one,
        ContextMemory(client, extractor=NotesExtractor()) as two,
    ):
        assert two.list() == []
        one.add(said("fact: Ada rides a tandem", "m1"))
        (fact,) = two.list(kind="fact")
        two.update(fact.id, "Ada rides a bicycle")
        assert one.search("bicycle", kind="fact").results[0].memory == "Ada rides a bicycle"
        two.add(said("fact: Ada swims", "m2"))
        one.delete(fact.id)
        assert [found.text for found in two.list(kind="fact")] == ["Ada swims"]
        assert two.history(fact.id) == []
        one.erase(everything=True)
        assert two.list() == []
        two.add(said("fact: Ada walks", "m3"))
        assert [found.text for found in one.list(kind="fact")] == ["Ada walks"]


def test_a_namespace_erased_elsewhere_can_be_written_to_at_once(client: ClientAPI) -> None:
    with ContextMemory(client) as one, ContextMemory(client) as two:
        one.add(said("hello", "m1"))
        assert len(two.list()) == 1
        one.erase(everything=True)
        two.add(said("hello again", "m2"))
        assert [found.message_id for found in one.list()] == ["m2"]
        assert [found.message_id for found in two.list()] == ["m2"]


def test_a_namespace_erased_and_filled_elsewhere_is_seen_at_the_next_look(client: ClientAPI) -> None:
    with ContextMemory(client) as one, ContextMemory(client) as two:
        one.add(said("hello", "m1"))
        assert len(two.list()) == 1
        one.erase(everything=True)
        one.add(said("hello again", "m2"))
        assert [found.message_id for found in two.list()] == ["m2"]


def test_a_namespace_erased_elsewhere_is_empty_where_its_index_was_dropped(client: ClientAPI) -> None:
    with ContextMemory(client) as one, ContextMemory(client) as two:
        one.add(said("hello", "m1"))
        assert len(two.list()) == 1
        two.opened().drop_index()
        one.erase(everything=True)
        assert two.list() == []
        two.add(said("hello again", "m2"))
        assert [found.message_id for found in two.list()] == ["m2"]


def test_a_record_that_cannot_be_read_is_reported_until_it_can(client: ClientAPI) -> None:
    with ContextMemory(client) as one, ContextMemory(client) as two:
        one.add(said("hello", "m1"))
        (message,) = two.list()
        (collection,) = client.list_collections()
        good = collection.get(ids=[message.id])["metadatas"]
        assert good is not None
        one.add(said("a second", "m2"))
        collection.update(ids=[message.id], metadatas=[{**good[0], "record": "{}", "revision": 2}])
        for _ in range(2):
            with pytest.raises(StoreError, match="cannot be read"):
                two.list()
        collection.update(ids=[message.id], metadatas=[{**good[0], "revision": 2}])
        assert len(two.list()) == 2


def test_hundreds_of_records_of_another_process_are_loaded(client: ClientAPI) -> None:
    with ContextMemory(client) as one, ContextMemory(client) as two:
        assert two.list() == []
        write(one.opened(), *(record(f"fact-{n}") for n in range(700)))
        assert len(two.list(limit=1_000)) == 700


def test_a_record_that_keeps_its_text_keeps_its_vector_and_everything_else(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, extractor=NotesExtractor()) as memory:
        memory.add([said("fact: Ada lives in Bern.", "m1")], "talk")
        memory.add([said("fact: Bea lives in Rome.", "m2")], "talk")
        (found,) = [one for one in memory.list() if one.text == "Ada lives in Bern."]
    with raw_collection(tmp_path) as collection:
        before = collection.get(include=["documents", "metadatas", "embeddings"])
    with ContextMemory(tmp_path, extractor=NotesExtractor()) as memory:
        with memory.opened().alone() as index:
            changed = found.revised(importance=0.9, pinned=True)
            assert index.holds(changed)
            assert not index.holds(found.revised(text="Ada lives in Basel."))
            assert not index.holds(found.revised(conversation_id="another"))
            memory.opened().apply(
                Change(puts=(changed,), vectors=index.vectors.take([index.row(found.id) or 0]))
            )
        assert changed in memory.list()
    with raw_collection(tmp_path) as collection:
        after = collection.get(include=["documents", "metadatas", "embeddings"])
    with ContextMemory(tmp_path, extractor=NotesExtractor()) as memory:
        assert changed in memory.list()
    assert (after["ids"], after["documents"]) == (before["ids"], before["documents"])
    assert np.array_equal(after["embeddings"], before["embeddings"])
    for memory_id, now, then in zip(after["ids"], after["metadatas"], before["metadatas"], strict=True):
        same = memory_id != found.id
        assert (now["record"] == then["record"]) == same
        assert {**now, "record": ""} == {**then, "record": ""}
