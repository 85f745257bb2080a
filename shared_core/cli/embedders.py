"""Embedders by name: the one that a namespace was written with, and the one that it shall have."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shared_core.embedding.base import Embedder
    from shared_core.stores.chroma import ChromaStore

__all__ = ["EMBEDDERS", "embedder_named", "embedder_of"]

#: What the command line can embed with.
EMBEDDERS = ("bundled", "openai")
_OPENAI = "openai/"


def embedder_of(store: ChromaStore, namespace: str) -> Embedder | None:
    """The embedder that a namespace was written with; None for the bundled one, and any unknown here.

    OpenAI's takes its address and key from ``OPENAI_BASE_URL`` and ``OPENAI_API_KEY``.
    """
    stamp = store.stamp(namespace)
    if stamp is None or not stamp[0].startswith(_OPENAI):
        return None
    from shared_core.embedding.openai import OpenAIEmbedder

    model = stamp[0].removeprefix(_OPENAI).removesuffix(f"-{stamp[1]}")
    return OpenAIEmbedder(model, dimension=stamp[1])


def embedder_named(name: str, *, model: str | None, dimension: int | None, base_url: str | None) -> Embedder:
    """An embedder by its name in ``EMBEDDERS``.

    Raises:
        ValueError: If there is none of that name, or it takes no such options.
    """
    if name == "openai":
        from shared_core.embedding.openai import OpenAIEmbedder

        return OpenAIEmbedder(model or "text-embedding-3-small", dimension=dimension, base_url=base_url)
    if name != "bundled":
        raise ValueError(f"embedder {name!r} is none of {', '.join(EMBEDDERS)}")
    if (model, dimension, base_url) != (None, None, None):
        raise ValueError("--model, --dimension and --base-url are for the embedder openai")
    from shared_core.embedding.wordllama import WordLlamaEmbedder

    return WordLlamaEmbedder()
