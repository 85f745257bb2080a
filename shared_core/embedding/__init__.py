"""Embedders: texts to vectors."""

from shared_core.embedding.base import Embedder, FloatArray, unit_rows
from shared_core.embedding.chroma import ChromaFunctionEmbedder, as_embedder
from shared_core.embedding.openai import EmbeddingUsage, OpenAIEmbedder
from shared_core.embedding.wordllama import WordLlamaEmbedder
from shared_core.errors import EmbeddingError

__all__ = [
    "ChromaFunctionEmbedder",
    "Embedder",
    "EmbeddingError",
    "EmbeddingUsage",
    "FloatArray",
    "OpenAIEmbedder",
    "WordLlamaEmbedder",
    "as_embedder",
    "unit_rows",
]
