"""LangGraph's ``InMemoryStore`` with an index configuration."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tests.benchmarks.peers.base import Peer, Turn, batches, rows

if TYPE_CHECKING:
    from shared_core.embedding.base import Embedder


class LangGraphPeer(Peer):
    """An item for each turn, under the namespace ``("memories", namespace)``."""

    def __init__(self, folder: str, embedder: Embedder) -> None:
        from langgraph.store.base import PutOp
        from langgraph.store.memory import InMemoryStore

        self._put = PutOp
        self._store = InMemoryStore(
            index={
                "dims": embedder.dimension,
                "embed": lambda texts: rows(embedder.embed(list(texts))),
                "fields": ["text"],
            }
        )

    def load(self, namespace: str, turns: Sequence[Turn]) -> None:
        for batch in batches(turns):
            # Of one batch, it takes a text only once; what comes again goes into the next.
            left = list(batch)
            while left:
                first = {turn.document: turn for turn in reversed(left)}
                self.add(namespace, list(first.values()))
                left = [turn for turn in left if turn is not first[turn.document]]

    def add(self, namespace: str, pair: Sequence[Turn]) -> None:
        place = ("memories", namespace)
        self._store.batch([self._put(place, turn.id, {"text": turn.document}) for turn in pair])

    def search(self, namespace: str, query: str, limit: int) -> list[str]:
        return [item.key for item in self._store.search(("memories", namespace), query=query, limit=limit)]
