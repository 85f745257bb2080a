"""The package ``contextmemory`` 0.2.0, from which our design began."""

from __future__ import annotations

import json
import os
import time
import zlib
from collections import deque
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.benchmarks.peers.base import Peer, Turn, TurnIds, batches
from tests.benchmarks.peers.loopback import loopback
from tests.openai_server import completion, encoded

if TYPE_CHECKING:
    from shared_core.embedding.base import Embedder

#: Its FAISS index takes vectors of this length only; zeros at the end change no cosine.
DIMENSION = 1_536
#: Bubbles of one scripted extraction.
BUBBLES = 500
IMPORTANCE = 0.5
OVERHEAD_CALLS = 30


class OriginalPeer(Peer):
    """A conversation for each namespace, in SQLite, with FAISS beside it.

    It learns from what its LLM answers: here a server on loopback, scripted to answer each turn verbatim as a
    bubble, so that nothing is lost, and no decision about a fact is asked for. All bubbles happen now, by its
    own clock, and are of one importance: it ranks by similarity. Each add writes the whole index anew, hence
    ``load`` has many bubbles in one answer. Its files go under ``HOME``, which is set to the folder.
    """

    def __init__(self, folder: str, embedder: Embedder) -> None:
        self._embedder, self._answers = embedder, deque[str]()
        self._ids: dict[int, TurnIds] = {}
        self._stack = ExitStack()
        url = self._stack.enter_context(loopback(self._answer))
        os.environ.update({"HOME": folder, "OPENAI_BASE_URL": url, "OPENAI_API_KEY": "loopback"})
        self._memory, self._session = _opened(folder)

    def load(self, namespace: str, turns: Sequence[Turn]) -> None:
        for batch in batches(turns, BUBBLES):
            self.add(namespace, batch)

    def add(self, namespace: str, pair: Sequence[Turn]) -> None:
        number = _number(namespace)
        bubbles = [{"text": turn.document, "importance": IMPORTANCE} for turn in pair]
        self._answers.append(json.dumps({"semantic": [], "bubbles": bubbles}))
        messages = [{"role": turn.role, "content": turn.document} for turn in (*pair, *pair)[-2:]]
        self._memory.add(messages, number)
        ids = self._ids.setdefault(number, TurnIds())
        for turn in pair:
            ids.note(turn.document, turn.id)

    def search(self, namespace: str, query: str, limit: int) -> list[str]:
        number = _number(namespace)
        found = self._memory.search(query, number, limit=limit)["results"]
        return self._ids.get(number, TurnIds()).of(hit["memory"] for hit in found)

    def overhead(self) -> float:
        """Milliseconds of one embedding through the server on loopback, which others call directly."""
        from contextmemory.memory.embeddings import embed_text

        taken = []
        for number in range(OVERHEAD_CALLS):
            start = time.perf_counter()
            embed_text(f"What was repaired in {number}?")
            taken.append(time.perf_counter() - start)
        return 1_000 * float(np.median(taken))

    def close(self) -> None:
        self._session.close()
        self._stack.close()

    def _answer(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Embeddings by the embedder; of chats, the extraction that waits, else a summary."""
        if path != "/v1/embeddings":
            return completion(body, self._answers.popleft() if self._answers else "They talked.")
        texts = [body["input"]] if isinstance(body["input"], str) else body["input"]
        vectors = self._embedder.embed(texts)
        padded = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        padded[:, : vectors.shape[1]] = vectors
        as_bytes = body.get("encoding_format") == "base64"
        data = [
            {"object": "embedding", "index": place, "embedding": encoded(row) if as_bytes else row}
            for place, row in enumerate(padded.tolist())
        ]
        usage = {"prompt_tokens": 0, "total_tokens": 0}
        return {"object": "list", "model": body["model"], "data": data, "usage": usage}


def _opened(folder: str) -> tuple[Any, Any]:
    """Its memory over ``folder`` and the session of it; what it keeps for the whole process is reset."""
    from contextmemory import Memory, SessionLocal, configure, create_table
    from contextmemory.core.openai_client import reset_client
    from contextmemory.db.database import reset_engine
    from contextmemory.memory.vector_store import reset_vector_stores

    reset_client()
    reset_engine()
    reset_vector_stores()
    configure(openai_api_key="loopback", database_url=f"sqlite:///{Path(folder, 'memory.db')}")
    create_table()
    session = SessionLocal()
    return Memory(session), session


def _number(namespace: str) -> int:
    """Its conversations have numbers."""
    return zlib.crc32(namespace.encode())
