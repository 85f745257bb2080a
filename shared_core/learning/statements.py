"""What an application or an agent states outright: a fact or a relation, stored as it stands."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import numpy as np

from shared_core.embedding.base import Embedder, FloatArray
from shared_core.ids import fact_id, triplet_id
from shared_core.index.resident import ResidentIndex
from shared_core.learning.learner import standing_id
from shared_core.learning.reconciliation import decide
from shared_core.learning.supersession import Draft
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
    subject: str,
    predicate: str,
    obj: str,
    *,
    confidence: float,
    conversation_id: str | None,
    metadata: Mapping[str, Any],
    now: datetime,
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
        conversation_id=conversation_id,
        created_at=now,
        updated_at=now,
        metadata=dict(metadata),
    )


def state(namespace: Namespace, stated: Memory, *, embedder: Embedder) -> Memory:
    """Store a statement, in place of what it supersedes; one that is known is mentioned once more.

    Returns:
        The memory that says it now.
    """
    vector = embedder.embed([stated.text])[0]
    with namespace.alone() as index:
        draft = Draft(index, stated.updated_at)
        decision = decide(stated, draft.held(stated.kind))
        own_id = standing_id(index, stated.id, stated.text)
        known = draft.get(decision.targets[0] if decision.event == "NOOP" else own_id)
        if known is not None and known.is_current:
            draft.put(_mentioned(known, stated))
        else:
            if known is not None:
                draft.keep_as_version(known)
            draft.put(stated.model_copy(update={"id": own_id}))
        memory_id = own_id if known is None else known.id
        draft.supersede(() if decision.event == "NOOP" else decision.targets, by=memory_id)
        puts = tuple(draft.records.values())
        vectors = [vector if one.text == stated.text else _vector_of(index, one) for one in puts]
        namespace.apply(Change(puts=puts, vectors=np.stack(vectors)))
        stored = index.get(memory_id)
        assert stored is not None, "it was written just now"
        return stored


def _mentioned(known: Memory, stated: Memory) -> Memory:
    return known.revised(
        mention_count=known.mention_count + 1,
        importance=max(known.importance, stated.importance),
        updated_at=stated.updated_at,
        is_active=True,
        metadata={**known.metadata, **stated.metadata},
    )


def _vector_of(index: ResidentIndex, memory: Memory) -> FloatArray:
    """The vector of a memory that stands in the index already, under its own id."""
    row = index.row(memory.id)
    assert row is not None, "only what is stated has a new text"
    vector: FloatArray = index.vectors.take([row])[0]
    return vector
