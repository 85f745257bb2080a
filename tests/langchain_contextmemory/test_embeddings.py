from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from langchain_classic.embeddings import CacheBackedEmbeddings
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings
from langchain_core.stores import InMemoryByteStore
from langchain_openai import AzureOpenAIEmbeddings, OpenAIEmbeddings
from pydantic import SecretStr

from langchain_contextmemory import LangChainEmbedder
from shared_core import ContextMemory
from shared_core.embedding import Embedder, EmbeddingError, as_embedder
from shared_core.errors import EmbedderMismatchError
from tests.openai_server import Reply, serving

FAKE = DeterministicFakeEmbedding(size=16)
MESSAGES = [
    {"role": "user", "content": "I moved to Berlin in spring.", "id": "m1"},
    {"role": "user", "content": "I work at Acme.", "id": "m2"},
]


class Recording(Embeddings):
    """Vectors from lengths; keeps what it was asked."""

    def __init__(self, model: str = "lengths") -> None:
        self.model = model
        self.documents: list[list[str]] = []
        self.queries: list[str] = []

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.documents.append(texts)
        return [[float(len(text)), 3.0] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        self.queries.append(text)
        return [1.0, 0.0]


def openai_embeddings(url: str, model: str = "text-embedding-3-small", **options: Any) -> OpenAIEmbeddings:
    return OpenAIEmbeddings(
        model=model,
        openai_api_base=url,
        openai_api_key=SecretStr("none"),
        check_embedding_ctx_length=False,
        max_retries=0,
        **options,
    )


def test_it_is_an_embedder_of_the_core() -> None:
    embedder = LangChainEmbedder(FAKE)
    assert isinstance(embedder, Embedder)
    assert as_embedder(embedder) is embedder
    assert embedder.dimension == 16
    assert embedder.embeddings is FAKE


def test_rows_have_length_one_and_the_direction_of_the_model() -> None:
    rows = LangChainEmbedder(FAKE).embed(["one", "two", "one", " "])
    assert rows.shape == (4, 16)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), [1, 1, 1, 0], rtol=1e-5)
    raw = np.array(FAKE.embed_documents(["one"])[0])
    np.testing.assert_allclose(rows[0], raw / np.linalg.norm(raw), rtol=1e-5)
    np.testing.assert_array_equal(rows[0], rows[2])


def test_memories_are_documents_and_questions_queries() -> None:
    recording = Recording()
    embedder = LangChainEmbedder(recording)
    embedder.embed(["a", "bb", "a"])
    np.testing.assert_allclose(embedder.embed_query("a"), [1.0, 0.0])
    assert recording.documents[-1] == ["a", "bb"]
    assert recording.queries == ["a"]


@pytest.mark.parametrize(
    ("embeddings", "name"),
    [
        (FAKE, "langchain/DeterministicFakeEmbedding"),
        (Recording("m-7"), "langchain/Recording/m-7"),
        (Recording(""), "langchain/Recording"),
        (openai_embeddings("http://127.0.0.1:1"), "langchain/OpenAIEmbeddings/text-embedding-3-small"),
        (
            AzureOpenAIEmbeddings(
                deployment="ours",
                azure_endpoint="http://127.0.0.1:1",
                openai_api_key=SecretStr("none"),
                openai_api_version="1",
            ),
            "langchain/AzureOpenAIEmbeddings/text-embedding-ada-002/ours",
        ),
    ],
)
def test_its_name_tells_the_model(embeddings: Embeddings, name: str) -> None:
    assert LangChainEmbedder(embeddings).name == name
    assert LangChainEmbedder(embeddings, name="mine").name == "mine"


def test_a_cache_has_the_name_of_what_it_caches() -> None:
    cached = CacheBackedEmbeddings.from_bytes_store(
        Recording("m-7"), InMemoryByteStore(), namespace="m-7", key_encoder="sha256"
    )
    assert LangChainEmbedder(cached).name == "langchain/Recording/m-7"


def test_a_memory_works_with_it(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, embedder=LangChainEmbedder(FAKE)) as memory:
        memory.add(MESSAGES, "c1")
        assert "Berlin" in memory.search("Who moved to Berlin?").results[0].memory
    with ContextMemory(tmp_path, embedder=LangChainEmbedder(FAKE)) as memory:
        assert len(memory.messages("c1")) == 2


def test_another_model_is_noticed(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, embedder=LangChainEmbedder(Recording("one"))) as memory:
        memory.add(MESSAGES, "c1")
    with pytest.raises(EmbedderMismatchError, match="langchain/Recording/one"):
        ContextMemory(tmp_path, embedder=LangChainEmbedder(Recording("two")))


def test_another_size_of_one_model_is_noticed(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, embedder=LangChainEmbedder(FAKE)) as memory:
        memory.add(MESSAGES, "c1")
    with pytest.raises(EmbedderMismatchError):
        ContextMemory(tmp_path, embedder=LangChainEmbedder(DeterministicFakeEmbedding(size=32)))


def test_openai_embeddings_on_a_real_server(tmp_path: Path) -> None:
    with serving() as server:
        embedder = LangChainEmbedder(openai_embeddings(server.url))
        with ContextMemory(tmp_path, embedder=embedder) as memory:
            memory.add(MESSAGES, "c1")
            assert memory.search("Where does she work?")
        assert embedder.dimension == 1536
        sent = {text for request in server.requests for text in request.body["input"]}
        assert {"I moved to Berlin in spring.", "I work at Acme."} <= sent


def test_a_server_that_fails_is_an_embedding_error() -> None:
    with serving() as server:
        server.script.append(Reply({"error": {"message": "out of order"}}, status=500))
        with pytest.raises(EmbeddingError, match=r"langchain/OpenAIEmbeddings.*out of order"):
            LangChainEmbedder(openai_embeddings(server.url)).embed(["one"])


class Broken(Recording):
    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.answer = answer

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        answer: list[list[float]] = self.answer
        return answer


@pytest.mark.parametrize("answer", [None, [], [[1.0], [2.0]], [["a"]], [[float("nan")]], [[]]])
def test_an_answer_that_is_no_vector_is_an_embedding_error(answer: Any) -> None:
    with pytest.raises(EmbeddingError, match="langchain/Broken/lengths"):
        LangChainEmbedder(Broken(answer)).embed(["one"])


@pytest.mark.parametrize("value", [None, "model", len, DeterministicFakeEmbedding])
def test_what_is_no_embeddings_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"langchain_core.embeddings.Embeddings"):
        LangChainEmbedder(value)


@pytest.mark.parametrize("options", [{"name": ""}, {"name": " "}, {"name": 3}, {"connection_threshold": 2.0}])
def test_a_wrong_option_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        LangChainEmbedder(FAKE, **options)


def test_its_threshold_may_be_calibrated() -> None:
    assert LangChainEmbedder(FAKE).connection_threshold == 0.6
    assert LangChainEmbedder(FAKE, connection_threshold=0.4).connection_threshold == 0.4
