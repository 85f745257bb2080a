"""Records, messages and an extractor for tests, each with defaults for what a test does not care about."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
from chromadb.api import ClientAPI
from chromadb.config import Settings as ChromaSettings

from shared_core.embedding import WordLlamaEmbedder
from shared_core.errors import ExtractionError
from shared_core.extraction.schema import (
    ExtractedBubble,
    ExtractedFact,
    ExtractedTriplet,
    Extraction,
    ExtractionRequest,
)
from shared_core.ids import message_record_id
from shared_core.index.resident import BUFFER_TITLE
from shared_core.memory import ContextMemory
from shared_core.namespaces import Namespace, acquire_pool, release_pool
from shared_core.records import Kind, Memory
from shared_core.stores.base import Change

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=timezone.utc)
EMBEDDER = WordLlamaEmbedder()


def days_before(days: float, now: datetime = NOW) -> datetime:
    return now - timedelta(days=days)


def said(content: Any, message_id: str | None = None, role: str = "user", **more: Any) -> dict[str, Any]:
    """A message as a caller writes it."""
    message = {"role": role, "content": content, **more}
    return message if message_id is None else {**message, "id": message_id}


def evicting(memory: ContextMemory) -> list[Memory]:
    """The summaries of what left the buffer."""
    return [one for one in memory.list(kind="summary", limit=100) if one.title == BUFFER_TITLE]


def record(memory_id: str, kind: Kind = "fact", text: str | None = None, **fields: Any) -> Memory:
    """A record of any kind."""
    created = fields.pop("created_at", NOW)
    return Memory(
        id=memory_id,
        kind=kind,
        text=text or f"text of {memory_id}",
        created_at=created,
        updated_at=fields.pop("updated_at", created),
        **fields,
    )


def message_record(message_id: str, turn: int, text: str | None = None, **fields: Any) -> Memory:
    """The record of a message in conversation ``c``, unless another is named."""
    conversation = fields.pop("conversation_id", "c")
    return record(
        message_record_id(conversation, message_id),
        "message",
        text or f"text of {message_id}",
        conversation_id=conversation,
        session_id=fields.pop("session_id", f"{conversation}:0"),
        turn=turn,
        role="user",
        speaker=fields.pop("speaker", "User"),
        message_id=message_id,
        source_ids=(message_id,),
        **fields,
    )


@contextmanager
def opened_namespace(folder: Path, name: str = "default") -> Iterator[Namespace]:
    """A namespace of an embedded folder, for records that no caller can write; memories share it."""
    pool = acquire_pool(folder, resident_limit=8, idle_seconds=900)
    try:
        yield pool.open(name, EMBEDDER)
    finally:
        release_pool(pool)


@contextmanager
def chroma_client(folder: Path | None = None) -> Iterator[ClientAPI]:
    """Chroma itself, past our store: on a folder, or in memory, where all of a process share their data."""
    settings = ChromaSettings(anonymized_telemetry=False)
    if folder is None:
        client: Any = chromadb.EphemeralClient(settings=settings)
    else:
        client = chromadb.PersistentClient(str(folder), settings=settings)
    try:
        yield client
    finally:
        if folder is None:
            for collection in client.list_collections():
                client.delete_collection(collection.name)
        else:
            client.close()


def write(namespace: Namespace, *memories: Memory) -> None:
    """Put records into a namespace as they are."""
    vectors = EMBEDDER.embed([memory.text for memory in memories])
    with namespace.use():
        namespace.apply(Change(puts=memories, vectors=np.asarray(vectors, dtype=np.float32)))


class NotesExtractor:
    """Takes down the lines of a message that are marked: ``fact:``, ``moment:``, ``relation: a | is | b``.

    Args:
        is_slow: Whether messages are to be stored before it is asked.
        failures: How many of the first requests it refuses.
    """

    def __init__(self, *, is_slow: bool = False, failures: int = 0) -> None:
        self.is_slow = is_slow
        self.failures = failures
        self.requests: list[ExtractionRequest] = []

    @property
    def name(self) -> str:
        return "notes"

    def extract(self, request: ExtractionRequest) -> Extraction:
        self.requests.append(request)
        if len(self.requests) <= self.failures:
            raise ExtractionError("the notebook is closed")
        facts: dict[str, ExtractedFact] = {}
        bubbles: list[ExtractedBubble] = []
        triplets: list[ExtractedTriplet] = []
        for position, message in enumerate(request.messages):
            for line in message.content.splitlines():
                mark, _, text = (part.strip() for part in line.partition(":"))
                if mark == "fact":
                    known = facts.get(text)
                    sources = (position,) if known is None else (*known.sources, position)
                    facts[text] = ExtractedFact(text=text, category="other", sources=sources)
                elif mark == "moment":
                    bubbles.append(ExtractedBubble(text=text, sources=(position,)))
                elif mark == "relation":
                    subject, predicate, thing = (part.strip() for part in text.split("|"))
                    triplets.append(
                        ExtractedTriplet(
                            subject=subject, predicate=predicate, object=thing, sources=(position,)
                        )
                    )
        return Extraction(facts=tuple(facts.values()), bubbles=tuple(bubbles), triplets=tuple(triplets))
