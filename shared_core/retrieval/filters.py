"""Which memories a search or a listing may return."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypedDict

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from shared_core.index.resident import ResidentIndex
from shared_core.messages import json_object, quoted
from shared_core.records import CATEGORIES, KINDS, Category, Kind, Record, UtcDatetime
from shared_core.times import parse_timestamp

#: What a search looks through where no kind is named: all but core memory, which every context holds anyway.
SEARCHED_KINDS: tuple[Kind, ...] = ("message", "fact", "bubble", "triplet", "summary")


class FilterOptions(TypedDict, total=False):
    """The keyword arguments that narrow a search or a listing; see ``Filters``."""

    kind: Kind | tuple[Kind, ...] | list[Kind] | None
    category: Category | None
    session_id: str | None
    since: datetime | str | None
    until: datetime | str | None
    metadata: Mapping[str, Any] | None
    include_archived: bool
    include_superseded: bool


class Filters(Record):
    """Conditions that all hold at once; those left out do not restrict.

    Attributes:
        kinds: One of these kinds.
        category: A fact of this category.
        conversation_id, session_id: Said there, or learnt there.
        since, until: Happened, or was said, from ``since`` up to but not including ``until``. UTC.
        metadata: Values that the memory's own metadata hold.
        include_archived: Also what ``maintain`` has archived.
        include_superseded: Also facts that have been replaced.
    """

    kinds: tuple[Kind, ...] = KINDS
    category: Category | None = None
    conversation_id: str | None = None
    session_id: str | None = None
    since: UtcDatetime | None = None
    until: UtcDatetime | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    include_archived: bool = False
    include_superseded: bool = False

    @classmethod
    def of(
        cls, options: FilterOptions, *, conversation_id: str | None, default_kinds: tuple[Kind, ...]
    ) -> Filters:
        """Filters from a call's keyword arguments.

        Raises:
            ValueError: For an unknown kind, category or option, or a bad date; the value is quoted.
        """
        unknown = set(options) - FilterOptions.__annotations__.keys()
        if unknown:
            known = ", ".join(FilterOptions.__annotations__)
            raise ValueError(f"filter {quoted(min(unknown))} is none of {known}")
        category = options.get("category")
        if category is not None and category not in CATEGORIES:
            raise ValueError(f"category {quoted(category)} is none of {', '.join(CATEGORIES)}")
        metadata = options.get("metadata")
        return cls(
            kinds=_kinds(options.get("kind"), default_kinds),
            category=category,
            conversation_id=conversation_id,
            session_id=options.get("session_id"),
            since=_bound("since", options.get("since")),
            until=_bound("until", options.get("until")),
            metadata={} if metadata is None else json_object(metadata, "metadata"),
            include_archived=options.get("include_archived", False),
            include_superseded=options.get("include_superseded", False),
        )

    def mask(self, index: ResidentIndex, now: datetime) -> NDArray[np.bool_]:
        """Which rows of ``index`` fulfil them: ``bool [n]``; what has expired by ``now`` never does."""
        columns = index.columns
        allowed = index.allowed(
            frozenset(self.kinds), archived=self.include_archived, superseded=self.include_superseded
        )
        allowed &= columns["expires"] > now.timestamp()
        if self.category is not None:
            allowed &= columns["category"] == CATEGORIES.index(self.category)
        if self.since is not None:
            allowed &= columns["dated"] >= self.since.timestamp()
        if self.until is not None:
            allowed &= columns["dated"] < self.until.timestamp()
        return self._narrow_by_names(index, allowed)

    def _narrow_by_names(self, index: ResidentIndex, allowed: NDArray[np.bool_]) -> NDArray[np.bool_]:
        for name, codes, wanted in (
            ("conversation", index.conversation_codes, self.conversation_id),
            ("session", index.session_codes, self.session_id),
        ):
            if wanted is not None:
                code = codes.find(wanted)
                allowed &= index.columns[name] == code if code is not None else False
        if self.metadata:
            for row in np.flatnonzero(allowed):
                held = index.metadata_at(int(row))
                allowed[row] = all(key in held and held[key] == value for key, value in self.metadata.items())
        return allowed


def _kinds(wanted: object, default: tuple[Kind, ...]) -> tuple[Kind, ...]:
    if wanted is None:
        return default
    named = wanted if isinstance(wanted, (tuple, list)) and wanted else (wanted,)
    for one in named:
        if one not in KINDS:
            raise ValueError(f"kind {quoted(one)} is none of {', '.join(KINDS)}")
    return tuple(named)


def _bound(name: str, value: datetime | str | None) -> datetime | None:
    try:
        return None if value is None else parse_timestamp(value)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error
