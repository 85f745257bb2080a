"""``ContextMemoryRetriever``: memories as nodes, for query engines and fusion."""

from __future__ import annotations

from typing import Any

from llama_index.core.base.base_retriever import BaseRetriever
from llama_index.core.callbacks import CallbackManager
from llama_index.core.schema import (
    NodeRelationship,
    NodeWithScore,
    QueryBundle,
    RelatedNodeInfo,
    RelatedNodeType,
    TextNode,
)
from typing_extensions import Unpack

from llamaindex_contextmemory.messages import EXACT_KEY
from shared_core import ContextMemory
from shared_core.arguments import at_least
from shared_core.asynchronous import run_in_thread
from shared_core.messages import quoted
from shared_core.retrieval.filters import FilterOptions
from shared_core.retrieval.search import SearchHit

__all__ = ["ContextMemoryRetriever", "node_of"]


class ContextMemoryRetriever(BaseRetriever):
    """Finds the memories that answer a question best.

    A node's id is the memory's. Its metadata say when, who and of what kind; ``source_ids`` are the messages
    that it came from, the first of which is the node's source; connected memories are its children. The
    metadata of one memory are the same for every question, so that a fusion knows it again.

    Example:
        >>> retriever = ContextMemoryRetriever(memory=memory, similarity_top_k=5)
        >>> [node.text for node in retriever.retrieve("Where does Alice live?")]

    Args:
        memory: The core memory, which stays the caller's to close.
        similarity_top_k: Most nodes.
        conversation_id: Only what was said or learnt there.
        callback_manager: LlamaIndex's.
        verbose: Whether LlamaIndex prints what it does.
        **filters: As for ``ContextMemory.search``.

    Raises:
        ValueError: If an argument is out of its range; the value is quoted.
    """

    def __init__(
        self,
        memory: ContextMemory,
        similarity_top_k: int = 5,
        conversation_id: str | int | None = None,
        callback_manager: CallbackManager | None = None,
        verbose: bool = False,
        **filters: Unpack[FilterOptions],
    ) -> None:
        if not isinstance(memory, ContextMemory):
            raise ValueError(
                f"memory {quoted(memory)} is not a ContextMemory: pass ContextMemory('./memory')"
            )
        self._memory = memory
        self._similarity_top_k = at_least(1, "similarity_top_k", similarity_top_k)
        self._conversation_id = conversation_id
        self._filters = filters
        super().__init__(callback_manager=callback_manager, verbose=verbose)

    @property
    def similarity_top_k(self) -> int:
        """Most nodes."""
        return self._similarity_top_k

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        query = query_bundle.query_str
        if not query.strip():  # generated queries may be blank
            return []
        hits = self._memory.search(query, self._conversation_id, self._similarity_top_k, **self._filters)
        return [node_of(hit) for hit in hits]

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await run_in_thread(self._retrieve, query_bundle)


def node_of(hit: SearchHit) -> NodeWithScore:
    """The node of a hit."""
    metadata = _metadata(hit)
    node = TextNode(
        id_=hit.memory_id,
        text=hit.memory,
        metadata=metadata,
        relationships=_relationships(hit),
        excluded_embed_metadata_keys=list(metadata),
        excluded_llm_metadata_keys=[key for key in metadata if key not in ("occurred_at", "speaker")],
    )
    return NodeWithScore(node=node, score=hit.score)


def _metadata(hit: SearchHit) -> dict[str, Any]:
    """What is known of a memory, whatever the question; what the caller attached stands apart."""
    record = hit.record
    known = {
        "memory_id": hit.memory_id,
        "kind": record.kind,
        "occurred_at": hit.occurred_at.isoformat() if hit.occurred_at else None,
        "speaker": record.speaker,
        "role": record.role,
        "category": record.category,
        "conversation_id": record.conversation_id,
        "source_ids": list(hit.source_ids),
        "connections": list(hit.connections),
        "metadata": {key: value for key, value in record.metadata.items() if key != EXACT_KEY},
    }
    return {key: value for key, value in known.items() if value not in (None, [], {})}


def _relationships(hit: SearchHit) -> dict[NodeRelationship, RelatedNodeType]:
    related: dict[NodeRelationship, RelatedNodeType] = {}
    if hit.source_ids:
        related[NodeRelationship.SOURCE] = RelatedNodeInfo(
            node_id=hit.source_ids[0], metadata={"source_ids": list(hit.source_ids)}
        )
    if hit.connections:
        related[NodeRelationship.CHILD] = [
            RelatedNodeInfo(node_id=memory_id, metadata={"relation": "connected"})
            for memory_id in hit.connections
        ]
    return related
