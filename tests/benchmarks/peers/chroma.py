"""Chroma without any framework: what all that build on it stand on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tests.benchmarks.peers.base import Peer, Turn, batches, chroma_client

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection

    from shared_core.embedding.base import Embedder


class ChromaPeer(Peer):
    """A collection for each namespace; texts, vectors and the role as metadata."""

    def __init__(self, folder: str, embedder: Embedder) -> None:
        self._client, self._embedder = chroma_client(folder), embedder
        self._collections: dict[str, Collection] = {}

    def load(self, namespace: str, turns: Sequence[Turn]) -> None:
        for batch in batches(turns):
            self.add(namespace, batch)

    def add(self, namespace: str, pair: Sequence[Turn]) -> None:
        documents = [turn.document for turn in pair]
        self._collection(namespace).upsert(
            ids=[turn.id for turn in pair],
            embeddings=self._embedder.embed(documents),
            documents=documents,
            metadatas=[{"role": turn.role} for turn in pair],
        )

    def search(self, namespace: str, query: str, limit: int) -> list[str]:
        vector = self._embedder.embed_query(query)
        found = self._collection(namespace).query(query_embeddings=vector[None, :], n_results=limit)
        return list(found["ids"][0])

    def _collection(self, namespace: str) -> Collection:
        if namespace not in self._collections:
            self._collections[namespace] = self._client.get_or_create_collection(
                namespace, embedding_function=None
            )
        return self._collections[namespace]
