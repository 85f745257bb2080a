"""LlamaIndex's ``VectorMemoryBlock`` over its Chroma vector store."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tests.benchmarks.peers.base import Peer, Turn, TurnIds, batches, chroma_client, rows

if TYPE_CHECKING:
    from shared_core.embedding.base import Embedder

_MESSAGE = re.compile(r"<message role='\w+'>.*?</message>", re.DOTALL)


def llamaindex_embeddings(embedder: Embedder) -> Any:
    """The embedder as LlamaIndex wants it."""
    from llama_index.core.base.embeddings.base import BaseEmbedding

    class SharedEmbedding(BaseEmbedding):
        def _get_text_embedding(self, text: str) -> list[float]:
            return rows(embedder.embed([text]))[0]

        def _get_query_embedding(self, query: str) -> list[float]:
            vector: list[float] = embedder.embed_query(query).tolist()
            return vector

        async def _aget_text_embedding(self, text: str) -> list[float]:
            return self._get_text_embedding(text)

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return self._get_query_embedding(query)

    return SharedEmbedding()


class LlamaIndexPeer(Peer):
    """One block and one collection for each namespace, through ``aput`` and ``aget`` on one event loop.

    The block writes one node for all messages of a call: ``load`` writes the nodes that it would make of
    single messages, markup included. No session id is given, so that no filter slows its queries. What it
    returns is one text, which is taken apart again at the markup.
    """

    def __init__(self, folder: str, embedder: Embedder) -> None:
        self._client, self._embedder = chroma_client(folder), embedder
        self._embedding = llamaindex_embeddings(embedder)
        self._loop = asyncio.new_event_loop()
        self._blocks: dict[str, Any] = {}
        self._ids: dict[str, TurnIds] = {}

    def load(self, namespace: str, turns: Sequence[Turn]) -> None:
        from llama_index.core.schema import TextNode

        block = self._block(namespace)
        for batch in batches(turns):
            texts = [f"<message role='{turn.role}'>{turn.document}</message>" for turn in batch]
            vectors = rows(self._embedder.embed(texts))
            block.vector_store.add(
                [
                    TextNode(text=text, embedding=vector, metadata={"session_id": None})
                    for text, vector in zip(texts, vectors, strict=True)
                ]
            )
            for text, turn in zip(texts, batch, strict=True):
                self._ids[namespace].note(text, turn.id)

    def add(self, namespace: str, pair: Sequence[Turn]) -> None:
        from llama_index.core.llms import ChatMessage

        messages = [ChatMessage(turn.text, role=turn.role) for turn in pair]
        self._loop.run_until_complete(self._block(namespace).aput(messages))

    def search(self, namespace: str, query: str, limit: int) -> list[str]:
        from llama_index.core.llms import ChatMessage

        block = self._block(namespace)
        block.similarity_top_k = limit
        text = self._loop.run_until_complete(block.aget([ChatMessage(query, role="user")]))
        return self._ids[namespace].of(_MESSAGE.findall(text))

    def close(self) -> None:
        self._loop.close()

    def _block(self, namespace: str) -> Any:
        if namespace not in self._blocks:
            from llama_index.core.memory import VectorMemoryBlock
            from llama_index.vector_stores.chroma import ChromaVectorStore

            collection = self._client.get_or_create_collection(namespace, embedding_function=None)
            store = ChromaVectorStore(chroma_collection=collection)
            self._blocks[namespace] = VectorMemoryBlock(vector_store=store, embed_model=self._embedding)
            self._ids[namespace] = TurnIds()
        return self._blocks[namespace]
