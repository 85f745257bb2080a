"""Tending a memory while nobody is waiting: what expires, what is archived, what exceeds the capacity."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np

from shared_core.erasure import Embed, delete_memories
from shared_core.index.resident import ResidentIndex
from shared_core.namespaces import Namespace
from shared_core.records import BUBBLE, KINDS, Kind, Memory, Record
from shared_core.stores.base import Change
from shared_core.times import SECONDS_PER_DAY

#: Kinds that the capacity counts (the typed memories of seed 001): what was learnt, not what was said.
CAPPED_KINDS: tuple[Kind, ...] = ("fact", "bubble", "triplet")


class MaintenanceReport(Record):
    """What one ``maintain`` did; each list holds memory ids.

    Attributes:
        resumed: Messages that an interrupted process had left pending, and that were learnt from now.
        expired: Deleted, because their time was over.
        archived: Bubbles that left the default view, because of their age.
        evicted: Deleted, because there were more than the capacity allows.
    """

    resumed: tuple[str, ...] = ()
    expired: tuple[str, ...] = ()
    archived: tuple[str, ...] = ()
    evicted: tuple[str, ...] = ()

    @property
    def changed_nothing(self) -> bool:
        """Whether everything was in order already."""
        return not (self.resumed or self.expired or self.archived or self.evicted)


def maintain(
    namespace: Namespace, *, now: datetime, archive_after_days: float, capacity: int, embed: Embed
) -> MaintenanceReport:
    """Expire, archive, evict, in this order; repeating it changes nothing.

    Args:
        namespace: What to tend.
        now: The present.
        archive_after_days: Age of a bubble at which it is archived.
        capacity: Facts, bubbles and triplets that may stay.
        embed: Embeds a text that has to be written anew.
    """
    with namespace.use() as index:
        expired = expired_ids(index, now)
        delete_memories(namespace, expired, now=now, embed=embed)
    with namespace.use() as index:
        archived = archivable(index, now, after_days=archive_after_days)
        _archive(namespace, index, archived, now)
    with namespace.use() as index:
        evicted = surplus_ids(index, capacity=capacity)
        delete_memories(namespace, evicted, now=now, embed=embed)
    return MaintenanceReport(
        expired=tuple(expired), archived=tuple(m.id for m in archived), evicted=tuple(evicted)
    )


def _archive(namespace: Namespace, index: ResidentIndex, bubbles: Sequence[Memory], now: datetime) -> None:
    changed = [bubble.model_copy(update={"is_active": False, "updated_at": now}) for bubble in bubbles]
    rows = [index.row(bubble.id) for bubble in bubbles]
    vectors = index.vectors.take([row for row in rows if row is not None])
    for start in range(0, len(changed), namespace.batch_limit):
        part = slice(start, start + namespace.batch_limit)
        namespace.apply(Change(puts=tuple(changed[part]), vectors=vectors[part]))


def expired_ids(index: ResidentIndex, now: datetime) -> list[str]:
    """The memories whose time is over."""
    columns = index.columns
    rows = np.flatnonzero(columns["alive"] & (columns["expires"] <= now.timestamp()))
    return [index.id_at(int(row)) for row in rows]


def archivable(index: ResidentIndex, now: datetime, *, after_days: float) -> list[Memory]:
    """Active bubbles older than ``after_days``, as they are stored; pinned ones stay."""
    columns = index.columns
    oldest = now.timestamp() - after_days * SECONDS_PER_DAY
    bubbles = columns["kind"] == BUBBLE
    rows = np.flatnonzero(columns["alive"] & columns["active"] & bubbles & (columns["dated"] <= oldest))
    found = [index.stored(index.id_at(int(row))) for row in rows]
    return [memory for memory in found if not memory.pinned]


def surplus_ids(index: ResidentIndex, *, capacity: int) -> list[str]:
    """The memories that exceed ``capacity``: the least important and oldest; pinned ones never.

    Superseded versions go first, then archived ones.
    """
    columns = index.columns
    capped = np.isin(columns["kind"], [KINDS.index(kind) for kind in CAPPED_KINDS])
    rows = np.flatnonzero(columns["alive"] & capped)
    surplus = len(rows) - capacity
    if surplus <= 0:
        return []
    keys = (
        columns["created"][rows],
        columns["mentions"][rows],
        columns["importance"][rows],
        columns["active"][rows],
        columns["current"][rows],
    )
    ranked = (index.id_at(int(row)) for row in rows[np.lexsort(keys)])
    evictable = (memory_id for memory_id in ranked if not index.stored(memory_id).pinned)
    return [memory_id for memory_id, _ in zip(evictable, range(surplus), strict=False)]
