"""Searching items: conditions first, then similarity or age, then the page."""

from __future__ import annotations

import math
from datetime import datetime
from itertools import islice

import numpy as np

from shared_core.embedding.base import FloatArray
from shared_core.items.conditions import fulfils
from shared_core.items.index import ItemIndex, Rows
from shared_core.items.operations import FindItems, FoundItem, ListPaths
from shared_core.items.paths import Path


def find_items(
    index: ItemIndex, wanted: FindItems, query: FloatArray | None, *, unexpired_at: datetime | None
) -> list[FoundItem]:
    """The page of items that ``wanted`` asks for.

    Args:
        index: Where they are.
        wanted: Path, conditions and page.
        query: The vector of the question ``float32 [dimension]``; None for no question.
        unexpired_at: A moment by which none may have expired; None where that does not matter.
    """
    rows = index.rows_under(wanted.prefix, unexpired_at=unexpired_at)
    if query is None:
        return [FoundItem(item) for item in index.items(_page(index, rows, wanted))]
    distances = np.nan_to_num(-index.similarities(rows, query), nan=np.inf)
    best = _nearest(distances, None if wanted.conditions else wanted.offset + wanted.limit)
    distance_of = dict(zip(rows[best].tolist(), distances[best].tolist(), strict=True))
    page = _page(index, rows[best], wanted)
    return [
        FoundItem(item, None if math.isinf(distance_of[row]) else 0.0 - distance_of[row])
        for row, item in zip(page, index.items(page), strict=True)
    ]


def _nearest(distances: FloatArray, count: int | None) -> Rows:
    """The positions of the smallest distances, or of all; in order, equals in the order that they have."""
    if count is None or not 0 < count < len(distances):
        every: Rows = np.argsort(distances, kind="stable")
        return every
    near = np.flatnonzero(distances <= np.partition(distances, count - 1)[count - 1])
    nearest: Rows = near[np.argsort(distances[near], kind="stable")]
    return nearest


def _page(index: ItemIndex, rows: Rows, wanted: FindItems) -> list[int]:
    """The rows of one page; conditions are tried only until it is full."""
    stop = wanted.offset + wanted.limit
    conditions = wanted.conditions
    candidates: list[int] = rows.tolist()
    if not conditions:
        return candidates[wanted.offset : stop]
    fitting = (row for row in candidates if fulfils(index.value_at(row), conditions))
    return list(islice(fitting, wanted.offset, stop))


def list_paths(index: ItemIndex, wanted: ListPaths, *, unexpired_at: datetime | None) -> list[Path]:
    """The page of paths that ``wanted`` asks for."""
    paths = [
        path
        for path in index.paths(unexpired_at=unexpired_at)
        if all(pattern.matches(path) for pattern in wanted.patterns)
    ]
    if wanted.max_depth is not None:
        paths = sorted({path[: wanted.max_depth] for path in paths})
    return paths[wanted.offset : wanted.offset + wanted.limit]
