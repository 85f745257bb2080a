"""Any LangChain ``Embeddings`` as the core's embedder."""

from __future__ import annotations

from langchain_core.embeddings import Embeddings

from shared_core.embedding import ChromaFunctionEmbedder
from shared_core.messages import quoted

__all__ = ["LangChainEmbedder"]

#: Where LangChain's classes keep the name of their model, by how common it is.
_MODEL_FIELDS = ("model", "model_name", "model_id", "repo_id", "model_path")


class LangChainEmbedder(ChromaFunctionEmbedder):
    """Embeds with any LangChain ``Embeddings``: memories as documents, questions as queries.

    The object is called from one thread at a time. Vectors are scaled to length 1, equal texts are embedded
    once, blank ones never.

    Example:
        >>> from langchain_core.embeddings import DeterministicFakeEmbedding
        >>> from shared_core import ContextMemory
        >>> embedder = LangChainEmbedder(DeterministicFakeEmbedding(size=8))
        >>> memory = ContextMemory("./memory", embedder=embedder)  # doctest: +SKIP
    """

    def __init__(
        self,
        embeddings: Embeddings,
        *,
        name: str | None = None,
        connection_threshold: float | None = None,
    ) -> None:
        """An embedder that asks ``embeddings``.

        Args:
            embeddings: From ``langchain-openai``, ``langchain-huggingface``, your own, …
            name: Stored with each namespace, so that another model's vectors never mix with these; by default
                ``langchain/<class>/<model>``. Name it where the class does not tell its model.
            connection_threshold: The cosine similarity from which two memories belong together, 0 to 1;
                by default 0.6, which suits OpenAI's models: measure it for others.

        Raises:
            ValueError: ``embeddings`` are none, or the name is blank.
        """
        if not isinstance(embeddings, Embeddings):
            raise ValueError(
                f"embeddings {quoted(embeddings)} are no langchain_core.embeddings.Embeddings: "
                "pass an object of such a class, for one OpenAIEmbeddings()"
            )
        if name is not None and (not isinstance(name, str) or not name.strip()):
            raise ValueError(f"name {quoted(name)} is not a non-empty string")
        super().__init__(
            _Function(embeddings),
            name=name or f"langchain/{_name_of(embeddings)}",
            connection_threshold=connection_threshold,
        )
        self._embeddings = embeddings

    @property
    def embeddings(self) -> Embeddings:
        """What it asks."""
        return self._embeddings

    def __repr__(self) -> str:
        return f"LangChainEmbedder(name={self.name!r})"


class _Function:
    """``Embeddings`` in the shape of Chroma's embedding functions: both methods take a list."""

    def __init__(self, embeddings: Embeddings) -> None:
        self._embeddings = embeddings

    def __call__(self, texts: list[str]) -> list[list[float]]:
        return self._embeddings.embed_documents(texts)

    def embed_query(self, texts: list[str]) -> list[list[float]]:
        return [self._embeddings.embed_query(text) for text in texts]


def _name_of(embeddings: Embeddings) -> str:
    """``<class>/<model>``, as far as the object tells; of a cache, what stands behind it."""
    behind = getattr(embeddings, "underlying_embeddings", None)
    if isinstance(behind, Embeddings):
        return _name_of(behind)
    parts = [type(embeddings).__name__]
    values = (getattr(embeddings, field, None) for field in _MODEL_FIELDS)
    parts += [value for value in values if isinstance(value, str) and value.strip()][:1]
    # Azure's name of a model; elsewhere the field holds a default that says nothing.
    deployment = getattr(embeddings, "deployment", None)
    if "deployment" in getattr(embeddings, "model_fields_set", ()) and isinstance(deployment, str):
        parts.append(deployment)
    return "/".join(parts)
