"""Memories page by page, without a search (seed 001)."""

from __future__ import annotations

from datetime import datetime
from itertools import islice

import numpy as np

from shared_core.index.resident import ResidentIndex
from shared_core.records import Memory
from shared_core.retrieval.filters import Filters


def newest_first(
    index: ResidentIndex, filters: Filters, *, contains: str | None, limit: int, offset: int, now: datetime
) -> list[Memory]:
    """One page of the memories that fulfil ``filters`` and whose text holds ``contains``, whatever its case.

    Args:
        index: The namespace; only read.
        filters: Conditions that all hold.
        contains: Words that stand in the text just so; None for any text.
        limit: Most memories of the page.
        offset: How many to pass over.
        now: What expiry counts from.
    """
    rows = np.flatnonzero(filters.mask(index, now))
    columns = index.columns
    order = np.lexsort((-rows, -columns["turn"][rows], -columns["created"][rows]))
    newest = (int(row) for row in rows[order])
    if contains:
        wanted = contains.casefold()
        newest = (row for row in newest if wanted in index.text_at(row).casefold())
    return [index.memory_at(row) for row in islice(newest, offset, offset + limit)]


def oldest_first(index: ResidentIndex, conversation_id: str, *, last: int | None) -> list[Memory]:
    """The messages of a conversation in order; only the newest ``last`` of them, unless None."""
    conversation = index.conversations.get(conversation_id)
    if conversation is None:
        return []
    newest = list(islice(conversation.newest_first(), last))
    return [index.memory_at(row) for row in reversed(newest)]
