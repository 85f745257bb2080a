"""mem0 without inference, on Chroma."""

from __future__ import annotations

import hashlib
import os
import uuid
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tests.benchmarks.peers.base import Peer, Turn, TurnIds, batches, rows
from tests.benchmarks.peers.langchain import langchain_embeddings

if TYPE_CHECKING:
    from shared_core.embedding.base import Embedder


class Mem0Peer(Peer):
    """One collection; a namespace is a ``user_id``.

    ``add`` writes message by message. To get to large sizes in reasonable time, ``load`` hands its vector
    store the same records in bulk, and leaves out its history database; ``bulk`` is the public way.
    """

    def __init__(self, folder: str, embedder: Embedder) -> None:
        os.environ.update({"MEM0_TELEMETRY": "False", "MEM0_DIR": folder})
        from mem0 import Memory

        self._embedder = embedder
        self._ids: dict[str, TurnIds] = {}
        self._memory: Any = Memory.from_config(
            {
                "vector_store": {
                    "provider": "chroma",
                    "config": {"collection_name": "mem0", "path": f"{folder}/chroma"},
                },
                "embedder": {
                    "provider": "langchain",
                    "config": {"model": langchain_embeddings(embedder)},
                },
                "llm": {"provider": "openai", "config": {"api_key": "never-called"}},
                "history_db_path": f"{folder}/history.db",
            }
        )

    def load(self, namespace: str, turns: Sequence[Turn]) -> None:
        for batch in batches(turns):
            self._memory.vector_store.insert(
                vectors=rows(self._embedder.embed([turn.document for turn in batch])),
                ids=[str(uuid.uuid4()) for _ in batch],
                payloads=[_payload(namespace, turn) for turn in batch],
            )
            self._note(namespace, batch)

    def bulk(self, namespace: str, turns: Sequence[Turn]) -> None:
        self.add(namespace, turns)

    def add(self, namespace: str, pair: Sequence[Turn]) -> None:
        messages = [{"role": turn.role, "content": turn.document} for turn in pair]
        self._memory.add(messages, user_id=namespace, infer=False)

    def search(self, namespace: str, query: str, limit: int) -> list[str]:
        found = self._memory.search(query, top_k=limit, filters={"user_id": namespace}, threshold=0.0)
        return self._ids.get(namespace, TurnIds()).of(hit["memory"] for hit in found["results"])

    def close(self) -> None:
        self._memory.close()

    def _note(self, namespace: str, turns: Sequence[Turn]) -> None:
        ids = self._ids.setdefault(namespace, TurnIds())
        for turn in turns:
            ids.note(turn.document, turn.id)


def _payload(namespace: str, turn: Turn) -> dict[str, str]:
    moment = turn.moment.isoformat()
    return {
        "user_id": namespace,
        "role": turn.role,
        "data": turn.document,
        "hash": hashlib.md5(turn.document.encode()).hexdigest(),
        "created_at": moment,
        "updated_at": moment,
        "text_lemmatized": turn.document.lower(),
    }
