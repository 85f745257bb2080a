"""What an index configuration names as ``embed``, as an embedder of the core."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any

from langchain_core.embeddings import Embeddings
from langgraph.store.base import ensure_embeddings

from langchain_contextmemory.embeddings import LangChainEmbedder
from shared_core.embedding import Embedder

__all__ = ["SizedEmbedder", "calling_loop", "embedder_of"]

#: The event loop that waits for the thread that embeds, so that async functions run where their client lives.
calling_loop: ContextVar[asyncio.AbstractEventLoop | None] = ContextVar("calling_loop", default=None)

Vectors = list[list[float]]


class SizedEmbedder(LangChainEmbedder):
    """A LangChain embedder whose dimension is known, so that nothing has to be embedded to find it.

    Args:
        embeddings: What embeds.
        name: Of the embedder; its class and model if left out.
        dimension: Length of its vectors; vectors of another length are refused.
    """

    def __init__(self, embeddings: Embeddings, *, name: str | None = None, dimension: int) -> None:
        super().__init__(embeddings, name=name)
        self._dimension = dimension


class _AwaitedEmbeddings(Embeddings):
    """An async function in the shape of ``Embeddings``, called from the threads that the store works in."""

    def __init__(self, function: Callable[[list[str]], Awaitable[Vectors]]) -> None:
        self._function = function

    def embed_documents(self, texts: list[str]) -> Vectors:
        loop = calling_loop.get()
        if loop is not None:
            return asyncio.run_coroutine_threadsafe(self._answer(texts), loop).result()
        return asyncio.run(self._answer(texts))

    async def _answer(self, texts: list[str]) -> Vectors:
        return await self._function(texts)

    def embed_query(self, text: str) -> list[float]:
        return self.embed_documents([text])[0]


class _Alike(Embeddings):
    """An object with the methods of ``Embeddings`` that is of no such class."""

    def __init__(self, alike: Any) -> None:
        self._alike = alike

    def embed_documents(self, texts: list[str]) -> Vectors:
        vectors: Vectors = self._alike.embed_documents(texts)
        return vectors

    def embed_query(self, text: str) -> list[float]:
        vector: list[float] = self._alike.embed_query(text)
        return vector


def embedder_of(embed: Any, dimension: int | None) -> tuple[Embedder, Any]:
    """The embedder that ``embed`` stands for, and the object with LangChain's methods behind it, or None.

    Args:
        embed: An embedder of the core, LangChain ``Embeddings`` or what has their methods, the name of such
            (``openai:…``), or a function, async or not, from a list of texts to their vectors.
        dimension: The length of its vectors; found by embedding a word where it is None.

    Raises:
        ValueError: If it is none of these.
    """
    if isinstance(embed, Embedder):
        return embed, None
    name = None
    if isinstance(embed, (str, Embeddings)):
        embeddings = ensure_embeddings(embed)
    elif not isinstance(embed, type) and hasattr(embed, "embed_documents") and hasattr(embed, "embed_query"):
        name, embeddings = f"langchain/{type(embed).__qualname__}", _Alike(embed)
    elif callable(embed) and not isinstance(embed, type):
        name = f"function/{getattr(embed, '__qualname__', type(embed).__qualname__)}"
        embeddings = ensure_embeddings(embed)
        if _is_async(embed):
            embeddings = _AwaitedEmbeddings(embed)
    else:
        raise ValueError(
            f"embed {embed!r:.120} is no Embeddings, no function from texts to vectors and no name of a model"
        )
    if dimension is None:
        embedder = LangChainEmbedder(embeddings, name=name)
    else:
        embedder = SizedEmbedder(embeddings, name=name, dimension=dimension)
    return embedder, embed if isinstance(embeddings, _Alike) else embeddings


def _is_async(function: Any) -> bool:
    return asyncio.iscoroutinefunction(function) or asyncio.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - the method, to see whether it is async
    )
