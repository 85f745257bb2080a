from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from llama_index.core.base.embeddings.base import BaseEmbedding
from llama_index.core.embeddings import MockEmbedding

from llamaindex_contextmemory import ContextChatMemory, LlamaIndexEmbedder
from shared_core import ContextMemory
from shared_core.embedding.base import Embedder
from shared_core.errors import EmbedderMismatchError, EmbeddingError, StoreError


class Letters(BaseEmbedding):
    """Counts letters; a question is told apart by its last number."""

    def _get_text_embedding(self, text: str) -> list[float]:
        return [float(text.lower().count(letter)) for letter in "abcdefghijklmnopqrstuvwxyz"] + [0.0]

    def _get_query_embedding(self, query: str) -> list[float]:
        return [*self._get_text_embedding(query)[:-1], 1.0]

    async def _aget_query_embedding(self, query: str) -> list[float]:
        return self._get_query_embedding(query)


class Broken(Letters):
    """Fails."""

    def _get_text_embedding(self, text: str) -> list[float]:
        raise ConnectionError("no route to the model")


def test_it_is_an_embedder_of_the_core() -> None:
    embedder: Embedder = LlamaIndexEmbedder(Letters(model_name="letters-1"))
    assert embedder.name.startswith("llama_index/")
    assert embedder.name.endswith("/letters-1")
    assert embedder.dimension == 27
    vectors = embedder.embed(["abc", "xyz", "abc"])
    assert vectors.shape == (3, 27)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1.0)


def test_questions_are_embedded_as_questions() -> None:
    embedder = LlamaIndexEmbedder(Letters())
    assert embedder.embed(["abc"])[0][-1] == 0.0
    assert embedder.embed_query("abc")[-1] > 0.0


def test_a_memory_works_with_it(tmp_path: Path) -> None:
    embedder = LlamaIndexEmbedder(Letters(model_name="letters"))
    with ContextMemory(tmp_path / "m", embedder=embedder) as memory:
        memory.add([{"role": "user", "content": "I moved to Lisbon."}])
        assert "Lisbon" in memory.search("Where is my home, Lisbon?").results[0].memory
        chat = ContextChatMemory.from_defaults(memory=memory)
        written = chat.to_dict()
    with pytest.raises(EmbedderMismatchError):
        ContextMemory(tmp_path / "m").add([{"role": "user", "content": "Hello."}])
    with pytest.raises(StoreError, match=r"embedder llama_index.*attach"):
        ContextChatMemory.from_dict(written).get_all()


def test_two_models_have_two_names() -> None:
    assert (
        LlamaIndexEmbedder(Letters(model_name="a")).name != LlamaIndexEmbedder(Letters(model_name="b")).name
    )
    assert LlamaIndexEmbedder(MockEmbedding(embed_dim=3), name="mine").name == "mine"


def test_a_model_that_fails_is_named() -> None:
    with pytest.raises(EmbeddingError, match="no route to the model"):
        LlamaIndexEmbedder(Broken()).embed(["hello"])


def test_something_else_than_a_model_is_refused() -> None:
    with pytest.raises(ValueError, match="'mini' is not a BaseEmbedding"):
        LlamaIndexEmbedder("mini")  # type: ignore[arg-type]
