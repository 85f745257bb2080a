"""Working memory: the few memories that every context shows while they are in use (seeds 003 and 004)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Final

import numpy as np
from numpy.typing import NDArray

from shared_core.index.columns import NO_ROW
from shared_core.index.entities import entity_key
from shared_core.index.resident import ResidentIndex
from shared_core.learning.versions import current_of
from shared_core.messages import quoted
from shared_core.namespaces import Namespace
from shared_core.records import (
    KINDS,
    LEARNT_KINDS,
    WORKING_REASONS,
    Kind,
    Memory,
    Record,
    UtcDatetime,
    WorkingReason,
)
from shared_core.settings import Settings
from shared_core.stores.base import Change
from shared_core.times import SECONDS_PER_DAY
from shared_core.upkeep.worth import last_used, uses, worth

Mask = NDArray[np.bool_]

_FREQUENT, _IMPORTANT, _HELD, _RELEASED = (WORKING_REASONS.index(reason) for reason in WORKING_REASONS)
_TRIPLET: Final = KINDS.index("triplet")
#: Kinds that may be held: all but core memory, which every context shows anyway.
HELD_KINDS: tuple[Kind, ...] = tuple(kind for kind in KINDS if kind != "block")
#: Two moments closer than this are one: a stored one is rounded to microseconds.
_SAME_SECONDS = 0.001
_LAST_MOMENT = datetime.max.replace(tzinfo=timezone.utc)


class Promotion(Record):
    """One memory that entered working memory, or stays there longer.

    Attributes:
        memory_id: Which.
        reason: ``frequent`` or ``important``.
        until: When it leaves, unless it is used again.
    """

    memory_id: str
    reason: WorkingReason
    until: UtcDatetime


@dataclass(frozen=True)
class Promotions:
    """What changes in working memory: rows that enter or stay longer, and rows that leave."""

    entered: dict[int, Promotion]
    left: tuple[int, ...]


def in_working_memory(index: ResidentIndex, now: datetime) -> Mask:
    """Which rows are in working memory: ``bool [n]``."""
    columns = index.columns
    here: Mask = columns["alive"] & columns["current"] & columns["active"]
    here &= (columns["working_until"] > now.timestamp()) & (columns["expires"] > now.timestamp())
    here &= columns["working_reason"] != _RELEASED
    return here


def working_rows(index: ResidentIndex, *, now: datetime, capacity: int) -> list[int]:
    """The rows in working memory by priority: what is held first, then what is worth most.

    Args:
        index: The namespace; only read.
        now: The present.
        capacity: Most rows; what is held stays beyond it.
    """
    rows = np.flatnonzero(in_working_memory(index, now))
    is_held = index.columns["working_reason"][rows] == _HELD
    ranked = rows[_by_worth(index, rows, now, first=is_held)]
    return [int(row) for row in ranked[: max(capacity, int(is_held.sum()))]]


def promotions(index: ResidentIndex, living: Mask, *, now: datetime, settings: Settings) -> Promotions:
    """What working memory is to hold, as changes to what it holds.

    What was said more often than ``working_mentions``, or is important and was used recently, enters until
    some days after its last use; the capacity goes to what is worth most. What the application holds stays
    until its own time is over. What was released enters again once it is used again.

    Args:
        index: The namespace; only read.
        living: Which rows are current and in use, ``bool [n]``.
        now: The present.
        settings: The limits.
    """
    columns, moment = index.columns, now.timestamp()
    here = np.flatnonzero(columns["alive"] & (columns["working_reason"] != NO_ROW))
    reasons, until = columns["working_reason"][here], columns["working_until"][here]
    held = (reasons == _HELD) & (until > moment) & living[here]
    wanted = _candidates(index, living, now, settings)
    for row in here[held]:
        wanted.pop(int(row), None)
    rows = np.array(list(wanted), dtype=np.intp)
    ranked = [int(row) for row in rows[_by_worth(index, rows, now)]]
    chosen = _without_repeats(index, ranked)[: max(0, settings.working_capacity - int(held.sum()))]
    kept = {*chosen, *(int(row) for row in here[held | (reasons == _RELEASED)])}
    return Promotions(
        entered={row: wanted[row] for row in chosen if _is_news(index, row, wanted[row])},
        left=tuple(int(row) for row in here if int(row) not in kept),
    )


def _candidates(
    index: ResidentIndex, living: Mask, now: datetime, settings: Settings
) -> dict[int, Promotion]:
    """The rows that may enter or stay, each with its reason and its time."""
    columns, moment = index.columns, now.timestamp()
    possible = living & np.isin(columns["kind"], [KINDS.index(kind) for kind in LEARNT_KINDS])
    often = columns["mentions"] > settings.working_mentions
    vital = columns["importance"] >= settings.working_importance
    rows = np.flatnonzero(possible & (often | vital))
    used = last_used(index, rows)
    released = (columns["working_reason"][rows] == _RELEASED) & (used <= columns["working_until"][rows])
    frequent = np.where(often[rows], used + settings.working_frequent_days * SECONDS_PER_DAY, -np.inf)
    important = np.where(vital[rows], used + settings.working_recent_days * SECONDS_PER_DAY, -np.inf)
    until = np.where(released, -np.inf, np.maximum(frequent, important))
    found = {}
    for place in np.flatnonzero(until > moment):
        row = int(rows[place])
        reason = WORKING_REASONS[_FREQUENT if frequent[place] >= important[place] else _IMPORTANT]
        found[row] = Promotion(memory_id=index.id_at(row), reason=reason, until=_moment(float(until[place])))
    return found


def _by_worth(
    index: ResidentIndex, rows: NDArray[np.intp], now: datetime, first: Mask | None = None
) -> NDArray[np.intp]:
    """The places of ``rows`` by falling worth, those of ``first`` before all others; equals newest first."""
    columns = index.columns
    idle_days = np.maximum(0.0, (now.timestamp() - last_used(index, rows)) / SECONDS_PER_DAY)
    value = worth(columns["importance"][rows], uses(index, rows), idle_days)
    is_first = np.zeros(len(rows), dtype=np.bool_) if first is None else first
    return np.lexsort((-columns["created"][rows], -value, ~is_first))


def _without_repeats(index: ResidentIndex, rows: list[int]) -> list[int]:
    """``rows`` without relations that one of the facts among them says as well."""
    kinds = index.columns["kind"]
    triplets = [row for row in rows if kinds[row] == _TRIPLET]
    if not triplets:
        return rows
    said = {_ends(index.stored(index.id_at(row))) for row in rows if kinds[row] != _TRIPLET}
    repeats = {row for row in triplets if _ends(index.stored(index.id_at(row))) in said}
    return [row for row in rows if row not in repeats]


def _ends(memory: Memory) -> tuple[str, str, str]:
    """What a relation, or a fact that says one, is about."""
    predicate = (memory.predicate or "").casefold()
    return (entity_key(memory.subject or ""), predicate, entity_key(memory.object or ""))


def _is_news(index: ResidentIndex, row: int, promotion: Promotion) -> bool:
    columns = index.columns
    same_reason = columns["working_reason"][row] == WORKING_REASONS.index(promotion.reason)
    stored = float(columns["working_until"][row])
    return not same_reason or abs(stored - promotion.until.timestamp()) > _SAME_SECONDS


def _moment(seconds: float) -> datetime:
    """The moment, or the last one of the calendar."""
    return datetime.fromtimestamp(min(seconds, _LAST_MOMENT.timestamp() - 1.0), tz=timezone.utc)


def hold(namespace: Namespace, memory_id: str, *, minutes: float, now: datetime) -> Memory:
    """Put a memory into working memory until ``minutes`` from ``now``, whatever its use.

    Raises:
        ValueError: If there is no such memory, if it is a core block, or the minutes are not above 0.
    """
    if isinstance(minutes, bool) or not isinstance(minutes, (int, float)) or not 0 < minutes < np.inf:
        raise ValueError(f"minutes {quoted(minutes)} is not a number above 0")
    try:
        until = now + timedelta(minutes=minutes)
    except OverflowError:
        until = _LAST_MOMENT
    with namespace.use() as index:
        memory = current_of(index, memory_id)
        if memory is None:
            raise ValueError(f"there is no memory {quoted(memory_id)}")
        if memory.kind not in HELD_KINDS:
            raise ValueError(f"{quoted(memory_id)} is a core block, which every context shows anyway")
        return _put(namespace, index, memory.id, until=until, reason="held")


def release(namespace: Namespace, memory_id: str, *, now: datetime) -> bool:
    """Let a memory go from working memory until it is used again; returns whether it was there."""
    with namespace.use() as index:
        memory = current_of(index, memory_id)
        row = None if memory is None else index.row(memory.id)
        if memory is None or row is None or not in_working_memory(index, now)[row]:
            return False
        _put(namespace, index, memory.id, until=now, reason="released")
        return True


def _put(
    namespace: Namespace, index: ResidentIndex, memory_id: str, *, until: datetime, reason: WorkingReason
) -> Memory:
    changed = index.stored(memory_id).model_copy(update={"working_until": until, "working_reason": reason})
    row = index.row(memory_id)
    assert row is not None
    namespace.apply(Change(puts=(changed,), vectors=index.vectors.take([row])))
    return index.get(memory_id) or changed
