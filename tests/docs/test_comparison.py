"""The comparison says of the others what their installed versions say; each is skipped where it is absent."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

from shared_core import ContextMemory
from tests.docs.pages import DOCS

ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in (DOCS / "comparison.md").read_text(encoding="utf-8").splitlines()
    if line.startswith("| ")
]
TABLE = {row[0]: dict(zip(ROWS[0][1:], row[1:], strict=True)) for row in ROWS[1:]}


def said(row: str, column: str) -> str:
    return TABLE[row][column]


def test_every_system_has_a_word_in_every_row() -> None:
    assert len(TABLE) > 15
    for name, cells in TABLE.items():
        assert cells["ContextMemory"], name


def test_ours_works_without_a_key(memory: ContextMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    learnt = memory.add({"role": "user", "content": "I live in Berlin.", "id": "m1"}, "c")
    assert learnt.semantic
    assert memory.search("Berlin").results[0].components
    assert memory.erase(message_id="m1", conversation_id="c") >= 2
    assert not memory.list()


def test_langgraphs_store_in_memory() -> None:
    store_module = pytest.importorskip("langgraph.store.memory")
    store = store_module.InMemoryStore()
    store.put(("a",), "k", {"text": "x"})
    assert store.search(("a",), query="x")[0].score is None, "search by meaning without an embedder"
    assert not store.supports_ttl
    assert "not in memory" in said("expiry", "LangGraph store")
    assert not hasattr(store, "context")


def test_llama_indexs_memory() -> None:
    memory_module = pytest.importorskip("llama_index.core.memory")
    sql = pytest.importorskip("llama_index.core.storage.chat_store.sql")
    assert sql.DEFAULT_ASYNC_DATABASE_URI.endswith(":memory:")
    assert said("survives the process by default", "LlamaIndex `Memory`").startswith("no")
    assert {"token_limit", "session_id"} <= set(memory_module.Memory.model_fields)
    assert "llm" in memory_module.FactExtractionMemoryBlock.model_fields
    assert not hasattr(memory_module.Memory, "history")


def test_mem0(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEM0_DIR", str(tmp_path))
    monkeypatch.setenv("MEM0_TELEMETRY", "False")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    mem0 = pytest.importorskip("mem0")
    from openai import OpenAIError

    with pytest.raises(OpenAIError):
        mem0.Memory()
    parameters = inspect.signature(mem0.Memory.search).parameters
    assert parameters["explain"].default is False
    assert {"infer", "expiration_date"} <= set(inspect.signature(mem0.Memory.add).parameters)
    assert hasattr(mem0.Memory, "history")
    assert not hasattr(mem0.Memory, "context")
    assert mem0.AsyncMemory is not mem0.Memory
    from mem0.memory import telemetry
    from mem0.vector_stores.base import VectorStoreBase
    from mem0.vector_stores.chroma import ChromaDB

    assert '"MEM0_TELEMETRY", "True"' in inspect.getsource(telemetry)
    assert ChromaDB.keyword_search is VectorStoreBase.keyword_search
    stores, models = (Path(mem0.__file__).parent / name for name in ("vector_stores", "llms"))
    assert _providers(stores) > 20
    assert _providers(models) > 15


def _providers(folder: Path) -> int:
    return len({path.stem for path in folder.glob("*.py")} - {"__init__", "base", "configs"})


def test_the_package_of_a_similar_name() -> None:
    other: Any = pytest.importorskip("contextmemory.memory.memory")
    public = {name for name in vars(other.ContextMemory) if not name.startswith("_")}
    assert public == {"add", "delete", "search", "update"}
    assert not any(inspect.iscoroutinefunction(getattr(other.ContextMemory, name)) for name in public)
    source = inspect.getsource(other.ContextMemory.search)
    assert "-0.05 * days_ago" in source
    assert "get_vector_store(conversation_id)" in source
