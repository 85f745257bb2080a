"""Ours, through its public face."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

from shared_core import ContextMemory
from tests.benchmarks.peers.base import Peer, Turn

if TYPE_CHECKING:
    from shared_core.embedding.base import Embedder


class Ours(Peer):
    """A memory for each namespace, all over one folder."""

    def __init__(self, folder: str, embedder: Embedder) -> None:
        self._folder, self._embedder = folder, embedder
        self._memories: dict[str, ContextMemory] = {}

    def load(self, namespace: str, turns: Sequence[Turn]) -> None:
        memory = self._memory(namespace)
        for conversation, spoken in groupby(turns, key=lambda turn: turn.conversation):
            memory.add([_message(turn) for turn in spoken], conversation)

    def bulk(self, namespace: str, turns: Sequence[Turn]) -> None:
        """All in one call, as one conversation."""
        self._memory(namespace).add([_message(turn) for turn in turns], "bulk")

    def add(self, namespace: str, pair: Sequence[Turn]) -> None:
        self._memory(namespace).add([_message(turn) for turn in pair], pair[0].conversation)

    def search(self, namespace: str, query: str, limit: int) -> list[str]:
        hits = self._memory(namespace).search(query, limit=limit)
        return [hit.source_ids[0] if hit.source_ids else "" for hit in hits]

    def contexts(self, namespace: str, query: str, budgets: Sequence[int]) -> list[list[str]]:
        memory = self._memory(namespace)
        found = [memory.context(query, token_budget=budget) for budget in budgets]
        return [[turn for block in context.blocks for turn in block.source_ids] for context in found]

    def records(self, namespace: str) -> int:
        with self._memory(namespace).opened().use() as index:
            return len(index)

    def close(self) -> None:
        for memory in self._memories.values():
            memory.close()

    def _memory(self, namespace: str) -> ContextMemory:
        if namespace not in self._memories:
            first = next(iter(self._memories.values()), None)
            self._memories[namespace] = (
                first.for_namespace(namespace)
                if first
                else ContextMemory(self._folder, namespace, embedder=self._embedder)
            )
        return self._memories[namespace]


def _message(turn: Turn) -> dict[str, Any]:
    named = {"name": turn.speaker} if turn.speaker else {}
    return {"id": turn.id, "role": turn.role, "content": turn.text, "timestamp": turn.moment, **named}
