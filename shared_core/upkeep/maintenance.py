"""Tending a memory while nobody waits: what expires, ages, rises, comes to mind, and what is too much."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shared_core.core_memory.profile import Refresh, refresh
from shared_core.core_memory.working_memory import Promotion, promotions
from shared_core.index.columns import NO_ROW
from shared_core.index.resident import ResidentIndex
from shared_core.namespaces import Namespace
from shared_core.records import BUBBLE, KINDS, LEARNT_KINDS, TIERS, Memory, Record
from shared_core.settings import Settings
from shared_core.stores.base import Change
from shared_core.times import SECONDS_PER_DAY
from shared_core.upkeep.erasure import Embed, delete_memories
from shared_core.upkeep.tiers import Move, rising
from shared_core.upkeep.worth import WORKING_WEIGHT, last_used, uses, worth

Mask = NDArray[np.bool_]
Rows = NDArray[np.intp]

_TRIPLET = KINDS.index("triplet")


class MaintenanceReport(Record):
    """What one ``maintain`` did, in its order; what is not explained holds memory ids.

    Attributes:
        resumed: Messages that an interrupted process had left pending, and that were learnt from now.
        accessed: Records that were read since they were last written, and that say so now.
        expired: Deleted, because their time was over.
        archived: Bubbles that left the default view, because of their age.
        moved: Memories that rose from one tier to the next, each with the reason.
        promoted: Memories that entered working memory or stay there longer, each with the reason.
        left: Memories that left working memory: their time was over, or others are worth more.
        blocks: Names of the core blocks that were written.
        blocks_removed: Core blocks that were deleted, because nothing is known any more that they could say.
        evicted: Deleted, because there were more than the capacity allows.
        pruned: Weak relations that were deleted.
        repaired: Records that referred to something that is not there, and do no longer.
    """

    resumed: tuple[str, ...] = ()
    accessed: tuple[str, ...] = ()
    expired: tuple[str, ...] = ()
    archived: tuple[str, ...] = ()
    moved: tuple[Move, ...] = ()
    promoted: tuple[Promotion, ...] = ()
    left: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    blocks_removed: tuple[str, ...] = ()
    evicted: tuple[str, ...] = ()
    pruned: tuple[str, ...] = ()
    repaired: tuple[str, ...] = ()

    @property
    def counts(self) -> dict[str, int]:
        """How many of each, by name."""
        return {name: len(getattr(self, name)) for name in type(self).model_fields}

    @property
    def changed_nothing(self) -> bool:
        """Whether everything was in order already."""
        return not any(self.counts.values())


class Plan:
    """What one run changes, before any of it is written: each record is then written once, or deleted.

    Args:
        index: The namespace; only read.
        now: The present.
        settings: The limits.
    """

    def __init__(self, index: ResidentIndex, now: datetime, settings: Settings) -> None:
        self.index = index
        self.now = now
        self.settings = settings
        self.alive: Mask = index.columns["alive"].copy()
        self.active: Mask = index.columns["active"].copy()
        self.tier = index.columns["tier"].copy()
        self.working: Mask = index.columns["working_until"] > now.timestamp()
        self.changes: dict[int, dict[str, Any]] = {}
        self.gone: list[int] = []

    def report(self) -> MaintenanceReport:
        """Plan every step in the order of the design; returns what it will have done.

        Working memory is chosen again once it is known what stays, so that another run changes nothing.
        """
        archived = self._archive()
        moved = self._consolidate()
        self._promote()
        evicted = self._evict()
        pruned = self._prune()
        promoted, left = self._promote(final=True)
        return MaintenanceReport(
            archived=archived,
            moved=moved,
            promoted=promoted,
            left=left,
            evicted=evicted,
            pruned=pruned,
            repaired=self._repair(),
        )

    def _ids(self, rows: Iterable[int]) -> tuple[str, ...]:
        return tuple(self.index.id_at(int(row)) for row in rows)

    def _living(self) -> Mask:
        columns = self.index.columns
        living: Mask = self.alive & self.active & columns["current"]
        return living & (columns["expires"] > self.now.timestamp())

    def _change(self, row: int, **fields: Any) -> None:
        self.changes.setdefault(row, {}).update(fields)

    def _drop(self, rows: Rows) -> tuple[str, ...]:
        self.alive[rows] = False
        self.gone.extend(rows.tolist())
        return self._ids(rows)

    def _archive(self) -> tuple[str, ...]:
        rows = archivable_rows(self.index, self.now, after_days=self.settings.archive_after_days)
        self.active[rows] = False
        for row in rows.tolist():
            self._change(row, is_active=False, updated_at=self.now)
        return self._ids(rows)

    def _consolidate(self) -> tuple[Move, ...]:
        moves = []
        for row, move in rising(self.index, self._living(), now=self.now, settings=self.settings):
            self.tier[row] = TIERS.index(move.after)
            self._change(row, tier=move.after)
            moves.append(move)
        return tuple(moves)

    def _promote(self, *, final: bool = False) -> tuple[tuple[Promotion, ...], tuple[str, ...]]:
        """Choose working memory; it becomes part of the changes when it is ``final``."""
        chosen = promotions(self.index, self._living(), now=self.now, settings=self.settings)
        self.working[list(chosen.entered)] = True
        self.working[list(chosen.left)] = False
        if final:
            for row, promotion in chosen.entered.items():
                self._change(row, working_until=promotion.until, working_reason=promotion.reason)
            staying = [row for row in chosen.left if self.alive[row]]
            for row in staying:
                self._change(row, working_until=None, working_reason=None)
        return tuple(chosen.entered.values()), self._ids(chosen.left)

    def _evict(self) -> tuple[str, ...]:
        return self._drop(
            surplus_rows(
                self.index,
                self.now,
                capacity=self.settings.capacity,
                active=self.active,
                is_long_term=self.tier == TIERS.index("ltm"),
                working=self.working,
            )
        )

    def _prune(self) -> tuple[str, ...]:
        return self._drop(np.flatnonzero(weak_relations(self.index, self.now, self.settings) & self.alive))

    def _repair(self) -> tuple[str, ...]:
        """Take out references to what is not there, which an import or a change by hand may leave."""
        index, repaired = self.index, []
        for memory_id, missing in index.dangling().items():
            row = index.row(memory_id)
            if row is None or not self.alive[row]:
                continue
            memory = index.stored(memory_id)
            connections = tuple(link for link in memory.connections if link.memory_id not in missing)
            self._change(row, connections=connections, updated_at=self.now)
            if memory.superseded_by in missing:
                self._change(row, superseded_by=None)
            repaired.append(memory_id)
        return tuple(repaired)

    def puts(self) -> tuple[list[Memory], Rows]:
        """The changed records that stay, and their rows, whose vectors they keep."""
        rows = sorted(row for row in self.changes if self.alive[row])
        stored = (self.index.stored(self.index.id_at(row)) for row in rows)
        puts = [memory.model_copy(update=self.changes[row]) for row, memory in zip(rows, stored, strict=True)]
        return puts, np.array(rows, dtype=np.intp)


def maintain(namespace: Namespace, *, now: datetime, settings: Settings, embed: Embed) -> MaintenanceReport:
    """Expire, archive, consolidate, promote, keep the capacity, prune, refresh core blocks.

    Repeating it changes nothing. Core blocks come last, from what the capacity leaves: written before, they
    would be made of memories that go.

    Args:
        namespace: What to tend.
        now: The present.
        settings: The limits of every step.
        embed: Embeds a text that has to be written anew; not called while others wait for the namespace,
            but for the summaries of deleted messages.

    Raises:
        StoreError: If something could not be written; the steps before it are done.
    """
    with namespace.use() as index:
        expired = expired_ids(index, now)
        if expired:
            delete_memories(namespace, expired, now=now, embed=embed)
    with namespace.use() as index:
        plan = Plan(index, now, settings)
        report = plan.report()
        gone = [index.id_at(row) for row in plan.gone]
        _write(namespace, index, *plan.puts())
        if gone:
            delete_memories(namespace, gone, now=now, embed=embed)
    refreshed = _refresh_blocks(namespace, now=now, settings=settings, embed=embed)
    return report.model_copy(
        update={
            "expired": tuple(expired),
            "blocks": refreshed.names,
            "blocks_removed": refreshed.gone,
        }
    )


def _write(namespace: Namespace, index: ResidentIndex, puts: list[Memory], rows: Rows) -> None:
    """Write changed records with the vectors that they have; one write, if one holds so much."""
    vectors = index.vectors.take(rows.tolist())
    for start in range(0, len(puts), namespace.batch_limit):
        part = slice(start, start + namespace.batch_limit)
        namespace.apply(Change(puts=tuple(puts[part]), vectors=vectors[part]))


def _refresh_blocks(namespace: Namespace, *, now: datetime, settings: Settings, embed: Embed) -> Refresh:
    """Write the core blocks that no longer say what was learnt; texts are embedded while others may read."""
    with namespace.use() as index:
        planned = refresh(index, now=now, settings=settings)
    if not planned.written and not planned.gone:
        return planned
    texts = list(dict.fromkeys(block.text for block in planned.written))
    vectors = dict(zip(texts, embed(texts), strict=True)) if texts else {}
    with namespace.use() as index:
        wanted = refresh(index, now=now, settings=settings)
        written = tuple(block for block in wanted.written if block.text in vectors)  # another one: next time
        if written:
            table = np.stack([vectors[block.text] for block in written])
            namespace.apply(Change(puts=written, vectors=table))
        if wanted.gone:
            delete_memories(namespace, wanted.gone, now=now, embed=embed)
        return Refresh(written, wanted.gone)


def expired_ids(index: ResidentIndex, now: datetime) -> list[str]:
    """The memories whose time is over."""
    columns = index.columns
    rows = np.flatnonzero(columns["alive"] & (columns["expires"] <= now.timestamp()))
    return [index.id_at(int(row)) for row in rows]


def archivable_rows(index: ResidentIndex, now: datetime, *, after_days: float) -> Rows:
    """Active bubbles older than ``after_days``; pinned ones stay."""
    columns = index.columns
    oldest = now.timestamp() - after_days * SECONDS_PER_DAY
    old = (columns["kind"] == BUBBLE) & (columns["dated"] <= oldest)
    return np.flatnonzero(columns["alive"] & columns["active"] & old & ~columns["pinned"])


def surplus_rows(
    index: ResidentIndex,
    now: datetime,
    *,
    capacity: int,
    active: Mask,
    is_long_term: Mask,
    working: Mask,
) -> Rows:
    """The memories that exceed ``capacity``: those worth least, the oldest of equals; pinned ones never.

    Superseded versions go first, then archived ones. What has reached the long term, and facts, do not fade.

    Args:
        index: The namespace; only read.
        now: What ages count from.
        capacity: Facts, bubbles and triplets that may stay.
        active: Which rows are not archived, ``bool [n]``.
        is_long_term: Which have reached the long term, ``bool [n]``.
        working: Which are in working memory, ``bool [n]``.
    """
    columns = index.columns
    learnt = np.isin(columns["kind"], [KINDS.index(kind) for kind in LEARNT_KINDS]) & columns["alive"]
    surplus = int(learnt.sum()) - capacity
    if surplus <= 0:
        return np.empty(0, dtype=np.intp)
    rows = np.flatnonzero(learnt & ~columns["pinned"])
    importance = columns["importance"][rows]
    idle_days = np.maximum(0.0, (now.timestamp() - last_used(index, rows)) / SECONDS_PER_DAY)
    fading = columns["decays"][rows] & ~is_long_term[rows]
    value = worth(importance, uses(index, rows), idle_days * fading) + WORKING_WEIGHT * working[rows]
    keys = (columns["created"][rows], importance, value, active[rows], columns["current"][rows])
    lowest: Rows = rows[np.lexsort(keys)][:surplus]
    return lowest


def weak_relations(index: ResidentIndex, now: datetime, settings: Settings) -> Mask:
    """Old triplets that are uncertain, were said once and never read: ``bool [n]``; pinned ones stay."""
    columns = index.columns
    oldest = now.timestamp() - settings.prune_after_days * SECONDS_PER_DAY
    weak: Mask = (columns["kind"] == _TRIPLET) & (columns["confidence"] < settings.prune_confidence)
    weak &= (columns["mentions"] <= 1) & (columns["accesses"] == 0) & (columns["created"] <= oldest)
    is_held = (columns["working_reason"] != NO_ROW) & (columns["working_until"] > now.timestamp())
    weak &= ~columns["pinned"] & ~is_held & columns["alive"]
    return weak
