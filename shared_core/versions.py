"""Changing a memory by hand, and what it said before."""

from __future__ import annotations

from datetime import datetime

import numpy as np

from shared_core.embedding.base import FloatArray
from shared_core.index.resident import ResidentIndex
from shared_core.messages import quoted
from shared_core.namespaces import Namespace
from shared_core.records import Memory
from shared_core.stores.base import Change

#: Stands between the id of a memory and the number of an earlier version of it.
VERSION_MARK = "~"


def revise(namespace: Namespace, memory_id: str, text: str, vector: FloatArray, *, now: datetime) -> Memory:
    """Give a memory another text, and keep the present one as a superseded version; one write.

    Args:
        namespace: Where it is.
        memory_id: Its id, which stays; that of an earlier version stands for the current one.
        text: The new text.
        vector: The embedding of the new text, ``float32 [dimension]``.
        now: When the change is made.

    Raises:
        ValueError: If there is no such memory, or if it is a message.
    """
    with namespace.use() as index:
        current = current_of(index, memory_id)
        if current is None:
            raise ValueError(f"there is no memory {quoted(memory_id)}")
        if current.kind == "message":
            raise ValueError(
                f"{quoted(memory_id)} is a message, which stays as it was said: erase and add it again"
            )
        stored = index.stored(current.id)
        revised, earlier = _split(index, stored, text, now=now)
        row = index.row(current.id)
        assert row is not None
        old_vector = index.vectors.take([row])[0]
        namespace.apply(Change(puts=(revised, earlier), vectors=np.stack([vector, old_vector])))
        return revised


def _split(index: ResidentIndex, memory: Memory, text: str, *, now: datetime) -> tuple[Memory, Memory]:
    number = max((_number(earlier)[0] for earlier in earlier_ids(index, memory.id)), default=0) + 1
    earlier = memory.model_copy(
        update={
            "id": f"{memory.id}{VERSION_MARK}{number}",
            "superseded_by": memory.id,
            "connections": (),
            "updated_at": now,
        }
    )
    changes: dict[str, object] = {"text": text, "updated_at": now}
    if memory.kind == "fact":  # what it said as a triplet was the old text
        changes |= {"subject": None, "predicate": None, "object": None}
    return memory.model_copy(update=changes), earlier


def earlier_ids(index: ResidentIndex, memory_id: str) -> list[str]:
    """The ids of the versions that a memory has replaced, oldest first."""
    return sorted(index.replaced_by(memory_id), key=_number)


def _number(version_id: str) -> tuple[int, str]:
    number = version_id.rpartition(VERSION_MARK)[2]
    return (int(number) if number.isascii() and number.isdigit() else 0, version_id)


def current_of(index: ResidentIndex, memory_id: str) -> Memory | None:
    """The memory of that id, or what replaced it; None if there is no such memory."""
    current, passed = index.get(memory_id), {memory_id}
    while current is not None and current.superseded_by is not None and current.superseded_by not in passed:
        passed.add(current.superseded_by)  # an imported record may say that it replaced itself
        current = index.get(current.superseded_by)
    return current


def history(index: ResidentIndex, memory_id: str) -> list[Memory]:
    """Every version of a memory, oldest first, the current one last; empty if there is no such memory."""
    current = current_of(index, memory_id)
    if current is None:
        return []
    versions = [index.get(earlier) for earlier in earlier_ids(index, current.id)]
    return [*(version for version in versions if version is not None), current]
