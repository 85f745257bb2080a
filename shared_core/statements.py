"""What an application or an agent states outright: a fact or a relation, stored as it stands."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from shared_core.embedding.base import Embedder
from shared_core.ids import fact_id, triplet_id
from shared_core.learning import standing_id
from shared_core.namespaces import Namespace
from shared_core.records import Category, Memory
from shared_core.stores.base import Change


def fact_of(
    text: str,
    *,
    category: Category,
    importance: float,
    conversation_id: str | None,
    metadata: Mapping[str, Any],
    now: datetime,
) -> Memory:
    """A fact that nobody had to extract."""
    return Memory(
        id=fact_id(text),
        kind="fact",
        text=text,
        category=category,
        importance=importance,
        conversation_id=conversation_id,
        created_at=now,
        updated_at=now,
        metadata=dict(metadata),
    )


def relation_of(
    subject: str, predicate: str, obj: str, *, confidence: float, metadata: Mapping[str, Any], now: datetime
) -> Memory:
    """A triplet that nobody had to extract; a predicate in words becomes snake case."""
    name = "_".join(predicate.casefold().split())
    return Memory(
        id=triplet_id(subject, name, obj),
        kind="triplet",
        text=f"{subject} {name.replace('_', ' ')} {obj}",
        subject=subject,
        predicate=name,
        object=obj,
        confidence=confidence,
        created_at=now,
        updated_at=now,
        metadata=dict(metadata),
    )


def state(namespace: Namespace, stated: Memory, *, embedder: Embedder) -> Memory:
    """Store a statement; one that is known is mentioned once more, and current and active again."""
    vector = embedder.embed([stated.text])
    with namespace.use() as index:
        memory_id = standing_id(index, stated.id, stated.text)
        known = index.stored(memory_id) if memory_id in index else None
        if known is None:
            memory = stated.model_copy(update={"id": memory_id})
        else:
            memory = known.revised(
                mention_count=known.mention_count + 1,
                importance=max(known.importance, stated.importance),
                updated_at=stated.updated_at,
                superseded_by=None,
                is_active=True,
                metadata={**known.metadata, **stated.metadata},
            )
        namespace.apply(Change(puts=(memory,), vectors=vector))
        return index.get(memory_id) or memory
