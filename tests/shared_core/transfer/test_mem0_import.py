from __future__ import annotations

import json
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
import pytest
from chromadb.config import Settings as ChromaSettings

from shared_core import ContextMemory
from shared_core.errors import StoreError
from shared_core.redaction import redact_secrets
from shared_core.transfer.mem0_import import Mem0Report, import_mem0

STAMP = "2025-05-04T10:00:00.130170+00:00"


def item(number: int, text: Any, **more: Any) -> dict[str, Any]:
    """A record as mem0ai 2.2.1 gives it out of ``get_all``."""
    fields = {
        "hash": "0" * 32,
        "metadata": None,
        "created_at": STAMP,
        "updated_at": STAMP,
        "user_id": "alice",
    }
    return {"id": f"id-{number}", "memory": text, **fields, **more}


def payload(text: str, **more: Any) -> dict[str, Any]:
    """A record as mem0ai 2.2.1 keeps it in its vector store."""
    stamps = {"created_at": STAMP, "updated_at": STAMP}
    return {"data": text, "text_lemmatized": text, "hash": "0" * 32, "user_id": "alice", **stamps, **more}


def texts(memory: ContextMemory, kind: Any = "fact") -> list[str]:
    return sorted(one.text for one in memory.list(kind=kind))


def test_each_user_gets_the_namespace_of_their_id(memory: ContextMemory) -> None:
    export = {"results": [item(1, "Likes tea"), item(2, "Likes coffee", user_id="bob")]}
    report = import_mem0(memory, export)
    assert report == Mem0Report(facts=2, namespaces=("alice", "bob"))
    with memory.for_namespace("alice") as alice, memory.for_namespace("bob") as bob:
        assert texts(alice) == ["Likes tea"]
        assert texts(bob) == ["Likes coffee"]
    assert not memory.list()


def test_what_has_no_user_goes_where_the_memory_is(memory: ContextMemory) -> None:
    import_mem0(memory, [item(1, "The API key rotates monthly", user_id=None, agent_id="ops")])
    (fact,) = memory.list()
    assert fact.metadata == {"agent_id": "ops", "mem0_id": "id-1"}


def test_one_user_may_be_taken_into_another_namespace(memory: ContextMemory) -> None:
    report = import_mem0(memory, [item(1, "Likes tea"), item(2, "No", user_id="bob")], user_id="alice")
    assert report == Mem0Report(facts=1, namespaces=("default",))
    assert texts(memory) == ["Likes tea"]
    assert memory.namespaces() == ["default"]


def test_times_expiry_and_metadata_are_kept(memory: ContextMemory) -> None:
    import_mem0(
        memory,
        [item(1, "Trip on Friday", metadata={"topic": "trip"}, run_id="r1", expiration_date="2999-01-31")],
        user_id="alice",
    )
    (fact,) = memory.list(conversation_id="r1")
    assert fact.created_at == datetime(2025, 5, 4, 10, 0, 0, 130170, tzinfo=timezone.utc)
    assert fact.expires_at == datetime(2999, 2, 1, tzinfo=timezone.utc)
    assert fact.metadata == {"topic": "trip", "mem0_id": "id-1"}
    assert memory.search("What trip?").results[0].memory == "Trip on Friday"


def test_what_was_stored_without_inference_becomes_messages_that_are_learnt_from(
    memory: ContextMemory,
) -> None:
    later = {"created_at": "2025-05-04T10:00:01+00:00", "run_id": "r1"}
    export = [
        item(2, "Nice!", role="assistant", **later),
        item(1, "I live in Berlin.", role="user", run_id="r1", actor_id="Ann"),
    ]
    report = import_mem0(memory, export, user_id="alice")
    assert report.messages == 2
    assert [(one.text, one.speaker) for one in memory.messages("r1")] == [
        ("I live in Berlin.", "Ann"),
        ("Nice!", "Assistant"),
    ]
    assert any("Berlin" in text for text in texts(memory))


def test_an_extracted_statement_with_a_role_stays_a_statement(memory: ContextMemory) -> None:
    import_mem0(memory, [item(1, "Likes tea", role="user", attributed_to="user")], user_id="alice")
    assert texts(memory) == ["Likes tea"]


def test_a_repeated_import_changes_nothing(memory: ContextMemory) -> None:
    export = [item(1, "Likes tea"), item(2, "likes  TEA"), item(3, "I moved.", role="user"), item(4, "  ")]
    first = import_mem0(memory, export, user_id="alice")
    assert first == Mem0Report(facts=1, known=1, messages=1, skipped=1, namespaces=("default",))
    before = memory.list()
    again = import_mem0(memory, export, user_id="alice")
    assert again == Mem0Report(known=3, skipped=1, namespaces=("default",))
    assert memory.list() == before
    assert memory.list(contains="likes")[0].mention_count == 2


@pytest.mark.parametrize("name", ["export.json", "bare.json", "export.jsonl"])
def test_files_are_read(name: str, memory: ContextMemory, tmp_path: Path) -> None:
    records = [item(1, "Likes tea"), item(2, "Lives in Köln")]
    path = tmp_path / name
    lines = "\n".join(map(json.dumps, records)) + "\n"
    whole = json.dumps({"results": records} if name.startswith("export") else records, ensure_ascii=False)
    path.write_text(lines if path.suffix == ".jsonl" else whole, encoding="utf-8")
    assert import_mem0(memory, path, user_id="alice").facts == 2


def test_its_chroma_folder_and_collection_are_read(memory: ContextMemory, tmp_path: Path) -> None:
    folder = tmp_path / "mem0"
    client = chromadb.PersistentClient(str(folder), settings=ChromaSettings(anonymized_telemetry=False))
    collection = client.create_collection("mem0", embedding_function=None)
    collection.add(
        ids=["a", "b"],
        embeddings=np.eye(2, dtype=np.float32),
        metadatas=[payload("Likes tea", topic="drinks"), payload("I live in Berlin.", role="user")],
    )
    report = import_mem0(memory, collection, user_id="alice")
    assert (report.facts, report.messages) == (1, 1)
    assert memory.list(contains="Likes tea")[0].metadata == {"topic": "drinks", "mem0_id": "a"}
    client.close()  # type: ignore[attr-defined]
    assert import_mem0(memory, folder, user_id="alice").known == 2
    with pytest.raises(StoreError, match="no collection 'other'"):
        import_mem0(memory, folder, collection="other")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (7, "source 7 is neither"),
        ({"memory": "x"}, "no list of memories"),
        ([item(1, "fine"), "text"], "memory 2: 'text' is not a mapping"),
        ([item(1, None)], "has no text"),
        ([item(1, 7)], "has no text"),
        ([{"memory": "x"}], "has no id"),
        ([item(1, "x", created_at="yesterday")], "memory 1: timestamp 'yesterday'"),
        ([item(1, "x", expiration_date="soon")], "expiration_date 'soon'"),
        ([item(1, "x", user_id=["a"])], "user_id"),
        ([item(1, "x", metadata={"at": float("nan")})], "not plain JSON"),
    ],
)
def test_what_is_not_mem0s_is_refused_and_nothing_is_written(
    source: Any, message: str, memory: ContextMemory
) -> None:
    with pytest.raises(ValueError, match=message):
        import_mem0(memory, source)
    assert not memory.list()


def test_a_large_import_is_written_in_batches(memory: ContextMemory) -> None:
    report = import_mem0(memory, (item(i, f"Fact number {i}") for i in range(1_200)), user_id="alice")
    assert report.facts == 1_200
    assert len(memory.list(limit=2_000)) == 1_200


def test_secrets_are_left_out_of_facts_and_messages(tmp_path: Path) -> None:
    export = [item(1, "Mail: ada@example.com", metadata={"to": "ada@example.com"})]
    export += [item(2, "Write to ada@example.com.", role="user")]
    with ContextMemory(tmp_path / "memory", redact=redact_secrets) as memory:
        import_mem0(memory, export, user_id="alice")
        assert len(memory.list()) >= 2
        assert not [one for one in memory.list() if "ada@" in one.model_dump_json()]


def test_what_mem0_itself_wrote_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With mem0 installed: both its ``get_all`` and its collection."""
    monkeypatch.setenv("MEM0_TELEMETRY", "False")
    monkeypatch.setenv("MEM0_DIR", str(tmp_path))
    pytest.importorskip("mem0")
    from tests.benchmarks.peers.mem0 import Mem0Peer
    from tests.shared_core.building import EMBEDDER

    theirs = Mem0Peer(str(tmp_path), EMBEDDER)._memory
    theirs.add([{"role": "user", "content": "I live in Berlin."}], user_id="alice", infer=False)
    with ContextMemory(tmp_path / "ours") as memory:
        assert import_mem0(memory, theirs.get_all(filters={"user_id": "alice"})).messages == 1
        assert import_mem0(memory, theirs.vector_store.collection).known == 1
    theirs.close()
