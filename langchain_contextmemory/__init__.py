"""ContextMemory for LangChain: agents, LangGraph stores, retrievers, histories, tools and classic chains.

Each name loads on first use, with the LangChain package that it needs; if that is missing, the error names
the extra that brings it. ``langchain-core`` alone is enough for the retriever, the history, the tools, the
embedder and the model; the rest of ``__all__`` takes the extra ``langchain``. ``ClassicContextMemory`` is for
existing code and stands outside ``__all__``, so that a star import does without ``langchain-classic``.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from langchain_contextmemory.chat_history import ContextMemoryChatHistory
    from langchain_contextmemory.classic import ClassicContextMemory as ClassicContextMemory
    from langchain_contextmemory.embeddings import LangChainEmbedder
    from langchain_contextmemory.llm import LangChainLLM
    from langchain_contextmemory.middleware import ContextMemoryMiddleware
    from langchain_contextmemory.retriever import ContextMemoryRetriever
    from langchain_contextmemory.store import ContextMemoryStore
    from langchain_contextmemory.tools import memory_tools

__all__ = [
    "ContextMemoryChatHistory",
    "ContextMemoryMiddleware",
    "ContextMemoryRetriever",
    "ContextMemoryStore",
    "LangChainEmbedder",
    "LangChainLLM",
    "memory_tools",
]

_HOMES = {
    "ClassicContextMemory": "classic",
    "ContextMemoryChatHistory": "chat_history",
    "ContextMemoryMiddleware": "middleware",
    "ContextMemoryRetriever": "retriever",
    "ContextMemoryStore": "store",
    "LangChainEmbedder": "embeddings",
    "LangChainLLM": "llm",
    "memory_tools": "tools",
}


def __getattr__(name: str) -> Any:
    """Load a public name on first use, so that importing the package costs next to nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from langchain_contextmemory.missing import naming_the_extra

    with naming_the_extra():
        value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
