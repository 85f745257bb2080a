"""``LlamaIndexEmbedder``: any embedding model of LlamaIndex as the core's embedder."""

from __future__ import annotations

from typing import Any

from llama_index.core.base.embeddings.base import BaseEmbedding

from shared_core.embedding.chroma import ChromaFunctionEmbedder
from shared_core.messages import quoted

__all__ = ["LlamaIndexEmbedder"]


class _Function:
    """A model of LlamaIndex as the function that the core's adapter calls."""

    def __init__(self, model: BaseEmbedding) -> None:
        self._model = model

    def __call__(self, texts: list[str]) -> Any:
        return self._model.get_text_embedding_batch(texts)

    def embed_query(self, texts: list[str]) -> Any:
        return [self._model.get_query_embedding(text) for text in texts]


class LlamaIndexEmbedder(ChromaFunctionEmbedder):
    """Embeds with a model of LlamaIndex; memories and questions each by the method that it has for them.

    Example:
        >>> embedder = LlamaIndexEmbedder(MockEmbedding(embed_dim=8))
        >>> ContextMemory("./memory", embedder=embedder)
    """

    def __init__(
        self,
        model: BaseEmbedding,
        *,
        name: str | None = None,
        connection_threshold: float | None = None,
    ) -> None:
        """An embedder that asks ``model``.

        Args:
            model: Any embedding model of LlamaIndex.
            name: Stored with each namespace; ``llama_index/<class>/<model>`` if left out.
            connection_threshold: The cosine similarity from which two memories belong together, 0 to 1;
                0.6 if left out.

        Raises:
            ValueError: If ``model`` is not such a model, or the threshold is out of range.
        """
        if not isinstance(model, BaseEmbedding):
            raise ValueError(f"model {quoted(model)} is not a BaseEmbedding of LlamaIndex")
        super().__init__(
            _Function(model),
            name=name or f"llama_index/{model.class_name()}/{model.model_name}",
            connection_threshold=connection_threshold,
        )
