"""ContextMemory: long-term memory for LLM applications, kept in Chroma, within a token budget."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shared_core.context.assembly import Context
    from shared_core.embedding import OpenAIEmbedder, WordLlamaEmbedder
    from shared_core.errors import ContextMemoryError
    from shared_core.memory import ContextMemory
    from shared_core.records import AddResult, Memory
    from shared_core.retrieval.search import SearchHit, SearchResult
    from shared_core.settings import Settings

__version__ = "0.1.0"

__all__ = [
    "AddResult",
    "Context",
    "ContextMemory",
    "ContextMemoryError",
    "Memory",
    "OpenAIEmbedder",
    "SearchHit",
    "SearchResult",
    "Settings",
    "WordLlamaEmbedder",
]

_HOMES = {
    "AddResult": "records",
    "Context": "context.assembly",
    "ContextMemory": "memory",
    "ContextMemoryError": "errors",
    "Memory": "records",
    "OpenAIEmbedder": "embedding",
    "SearchHit": "retrieval.search",
    "SearchResult": "retrieval.search",
    "Settings": "settings",
    "WordLlamaEmbedder": "embedding",
}


def __getattr__(name: str) -> Any:
    """Load a public name on first use, so that importing the package costs next to nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
