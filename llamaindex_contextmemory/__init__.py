"""LlamaIndex on ``shared_core``: chat memory, memory block, retriever, tools, and models for the core.

Needs ``llama-index-core``, which the extra ``llamaindex`` installs; it is imported when a name is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from llamaindex_contextmemory.block import ContextMemoryBlock
    from llamaindex_contextmemory.embeddings import LlamaIndexEmbedder
    from llamaindex_contextmemory.llm import LlamaIndexLLM
    from llamaindex_contextmemory.memory import ContextChatMemory
    from llamaindex_contextmemory.retriever import ContextMemoryRetriever
    from llamaindex_contextmemory.tools import ContextMemoryToolSpec

__all__ = [
    "ContextChatMemory",
    "ContextMemoryBlock",
    "ContextMemoryRetriever",
    "ContextMemoryToolSpec",
    "LlamaIndexEmbedder",
    "LlamaIndexLLM",
]

_MODULES = {
    "ContextChatMemory": "memory",
    "ContextMemoryBlock": "block",
    "ContextMemoryRetriever": "retriever",
    "ContextMemoryToolSpec": "tools",
    "LlamaIndexEmbedder": "embeddings",
    "LlamaIndexLLM": "llm",
}


def __getattr__(name: str) -> Any:
    """Load a public name on first use, so that importing the package costs next to nothing."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        import_module("llama_index.core")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "llama_index":
            raise
        from shared_core.errors import MissingExtraError

        raise MissingExtraError.of("llama-index-core", "llamaindex") from error
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
