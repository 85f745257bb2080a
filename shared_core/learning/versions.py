"""Changing a memory by hand, and what it said before."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

import numpy as np

from shared_core.embedding.base import FloatArray
from shared_core.ids import triplet_id
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
    with namespace.alone() as index:
        current = current_of(index, memory_id)
        if current is None:
            raise ValueError(f"there is no memory {quoted(memory_id)}")
        if current.kind == "message":
            raise ValueError(
                f"{quoted(memory_id)} is a message, which stays as it was said: erase and add it again"
            )
        stored = index.stored(current.id)
        revised, earlier = _split(index, stored, text, now=now)
        triplets = _triplets_of(index, stored, now=now)
        rows = [index.row(one.id) for one in (stored, *triplets)]
        old_vectors = index.vectors.take([row for row in rows if row is not None])
        namespace.apply(
            Change(puts=(revised, earlier, *triplets), vectors=np.vstack([vector[None, :], old_vectors]))
        )
        return revised


def _triplets_of(index: ResidentIndex, fact: Memory, *, now: datetime) -> list[Memory]:
    """The triplet that says what a fact said, replaced by that fact."""
    if fact.kind != "fact" or not (fact.subject and fact.predicate and fact.object):
        return []
    memory_id = triplet_id(fact.subject, fact.predicate, fact.object)
    if memory_id not in index:
        return []
    triplet = index.stored(memory_id)
    replaced = {"superseded_by": fact.id, "connections": (), "updated_at": now}
    return [triplet.model_copy(update=replaced)] if triplet.is_current else []


def _split(index: ResidentIndex, memory: Memory, text: str, *, now: datetime) -> tuple[Memory, Memory]:
    replaced = memory.model_copy(update={"superseded_by": memory.id})
    earlier = version_of(index, replaced, taken=(), now=now)
    changes: dict[str, object] = {"text": text, "updated_at": now}
    if memory.kind == "fact":  # what it said as a triplet was the old text
        changes |= {"subject": None, "predicate": None, "object": None}
    return memory.model_copy(update=changes), earlier


def version_of(index: ResidentIndex, memory: Memory, *, taken: Collection[str], now: datetime) -> Memory:
    """A superseded memory under the id of an earlier version of it, so that its own id is free.

    Args:
        index: The namespace; only read.
        memory: The memory as it was.
        taken: Ids that are about to be written.
        now: When the change is made.
    """
    number = 1
    while (version_id := f"{memory.id}{VERSION_MARK}{number}") in index or version_id in taken:
        number += 1
    return memory.model_copy(update={"id": version_id, "connections": (), "updated_at": now})


def earlier_ids(index: ResidentIndex, memory_id: str) -> list[str]:
    """The ids of what a memory has replaced, and of what that had replaced, oldest first."""
    found: dict[str, None] = {}
    waiting = [memory_id]
    while waiting:
        for earlier in index.replaced_by(waiting.pop()) - found.keys() - {memory_id}:
            found[earlier] = None
            waiting.append(earlier)
    columns = index.columns

    def age(one: str) -> tuple[float, int, str]:
        row = index.row(one)
        return (0.0 if row is None else float(columns["created"][row]), *_number(one))

    return sorted(found, key=age)


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
    told = [version for version in versions if version is not None and version.kind == current.kind]
    return [*told, current]
