"""The systems that are measured beside ours: one file each."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from tests.benchmarks.peers.base import Peer, Turn

if TYPE_CHECKING:
    from shared_core.embedding.base import Embedder

__all__ = ["SYSTEMS", "Peer", "System", "Turn", "embedder_named"]


@dataclass(frozen=True)
class System:
    """One of the systems.

    Attributes:
        title: The head of its column.
        target: ``module:class`` of its peer.
        packages: What must be installed for it; their versions stand in the report.
        persistent: Whether what it stores outlives the process.
        note: What has to be known to read its figures.
    """

    title: str
    target: str
    packages: tuple[str, ...]
    persistent: bool
    note: str

    def missing(self) -> str | None:
        """Why it cannot be measured; None if it can."""
        absent = [package for package in self.packages if not _version(package)]
        return f"not installed: {', '.join(absent)}" if absent else None

    def versions(self) -> dict[str, str]:
        """The versions of its packages."""
        return {package: _version(package) or "missing" for package in self.packages}

    def open(self, folder: str, embedder: Embedder) -> Peer:
        """The peer over ``folder``."""
        module, _, name = self.target.partition(":")
        peer: Peer = getattr(import_module(f"tests.benchmarks.peers.{module}"), name)(folder, embedder)
        return peer


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def embedder_named(name: str) -> Embedder:
    """``wordllama``, our default, or ``minilm``."""
    if name == "minilm":
        from tests.benchmarks.peers.minilm import minilm_embedder

        return minilm_embedder()
    from shared_core.embedding.wordllama import WordLlamaEmbedder

    return WordLlamaEmbedder()


SYSTEMS = {
    "ours": System(
        "ContextMemory",
        "ours:Ours",
        ("contextmemory-chroma", "chromadb"),
        True,
        "as it comes: messages, and the facts and moments that rules find in them, each a record more.",
    ),
    "langchain": System(
        "LangChain",
        "langchain:LangChainPeer",
        ("langchain-classic", "langchain-chroma"),
        True,
        "`VectorStoreRetrieverMemory` over `langchain-chroma`, a collection for each namespace; one turn a "
        "document in recall, a pair in one document when timed, as `save_context` makes it.",
    ),
    "llamaindex": System(
        "LlamaIndex",
        "llamaindex:LlamaIndexPeer",
        ("llama-index-core", "llama-index-vector-stores-chroma"),
        True,
        "`VectorMemoryBlock` over its Chroma store, a collection for each namespace and no session filter, "
        "which only slows it; one turn a node in recall, a pair in one node when timed.",
    ),
    "langgraph": System(
        "LangGraph",
        "langgraph:LangGraphPeer",
        ("langgraph",),
        False,
        "`InMemoryStore` with an index configuration: nothing is written to disk.",
    ),
    "mem0": System(
        "mem0",
        "mem0:Mem0Peer",
        ("mem0ai", "langchain"),
        True,
        "`infer=False` on Chroma, namespaces by `user_id` in one collection, as it documents; without an "
        "LLM, spaCy and a store with keyword search it ranks by similarity alone.",
    ),
    "original": System(
        "contextmemory 0.2.0",
        "original:OriginalPeer",
        ("contextmemory", "openai"),
        True,
        "its OpenAI client at a server on loopback, which serves the embedder (padded with zeros to the "
        "1,536 dimensions that are fixed there) and a scripted extraction: each turn verbatim as a bubble.",
    ),
    "chroma": System(
        "Chroma alone",
        "chroma:ChromaPeer",
        ("chromadb",),
        True,
        "a bare collection for each namespace, `upsert` and `query`.",
    ),
    "bm25": System(
        "BM25",
        "bm25:Bm25Peer",
        ("bm25s", "PyStemmer"),
        False,
        "`bm25s`, stemmed, English stop words removed, k1 0.9 and b 0.4; in memory, and built anew at each "
        "add, for there is no other way to add.",
    ),
    "product": System(
        "bare product",
        "product:ProductPeer",
        ("numpy",),
        False,
        "the limit: `float32 [n, 256] @ q` and `argpartition` in memory.",
    ),
}
