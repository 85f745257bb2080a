"""What can be asked of a store of items; several make a batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from shared_core.items.item import Item
from shared_core.items.paths import Path, PathPattern


@dataclass(frozen=True)
class GetItem:
    """The item of a key; answered by an ``Item`` or None.

    Attributes:
        path, key: Where it stands.
        refresh: Whether its time to live begins anew.
    """

    path: Path
    key: str
    refresh: bool = True


@dataclass(frozen=True)
class FindItems:
    """Items under a path; answered by a list of ``FoundItem``.

    Attributes:
        prefix: The labels that their paths begin with.
        query: What they are to be about: the most similar first, then those without vectors. Without it
            the oldest path comes first, and in it the oldest item.
        conditions: What their values fulfil; see ``conditions``.
        limit, offset: How many, after passing over how many.
        refresh: Whether their time to live begins anew.
    """

    prefix: Path
    query: str | None = None
    conditions: Mapping[str, Any] | None = None
    limit: int = 10
    offset: int = 0
    refresh: bool = True


@dataclass(frozen=True)
class ListPaths:
    """The paths that hold items, in order; answered by a list of them.

    Attributes:
        patterns: What each path matches.
        max_depth: Cut to so many labels, each once.
        limit, offset: How many, after passing over how many.
    """

    patterns: tuple[PathPattern, ...] = ()
    max_depth: int | None = None
    limit: int = 100
    offset: int = 0


@dataclass(frozen=True)
class PutItem:
    """A value for a key, new or in place of the present one; answered by None.

    Attributes:
        path, key: Where it stands.
        value: JSON values by name.
        texts: What a search finds it by: the best of them counts. Empty for not at all.
        ttl_minutes: How long it lives after this, and after it was read; None for ever.
    """

    path: Path
    key: str
    value: Mapping[str, Any]
    texts: tuple[str, ...] = ()
    ttl_minutes: float | None = None


@dataclass(frozen=True)
class DeleteItem:
    """No more item of that key; answered by None."""

    path: Path
    key: str


@dataclass(frozen=True)
class FoundItem:
    """An item that was looked for, with its cosine similarity to the query if both have vectors."""

    item: Item
    score: float | None = None


Operation = GetItem | FindItems | ListPaths | PutItem | DeleteItem
Answer = Item | list[FoundItem] | list[Path] | None
