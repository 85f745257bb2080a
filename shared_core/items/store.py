"""``ItemStore``: values that an application keeps beside the memories of a namespace."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import numpy as np

from shared_core.embedding.base import Embedder, FloatArray
from shared_core.items.conditions import check_conditions
from shared_core.items.index import ItemCollection, ItemIndex
from shared_core.items.item import Item, expiry, item_id, json_text, json_value, record_of
from shared_core.items.operations import (
    Answer,
    DeleteItem,
    FindItems,
    GetItem,
    ListPaths,
    Operation,
    PutItem,
)
from shared_core.items.search import find_items, list_paths
from shared_core.messages import quoted
from shared_core.redaction import Redactor, redact_text, redact_values
from shared_core.stores.base import Change
from shared_core.times import utc_now

#: A reading renews a time to live only where that moves its end by more than this part of it, so that an
#: item that is read all the time is not written all the time.
RENEWAL_SHARE = 0.001

#: What a batch leaves of a record: an item with its vectors, or None for no item.
_Outcome = tuple[Item, FloatArray] | None


class ItemStore:
    """Items under paths, in a collection of their own, which no search of memories ever sees.

    A batch is answered from the state before it: its reads never see its writes. Of several writes to one
    key the last counts. Its writes are one change, whole or absent up to the store's limit of a batch. May be
    used from several threads.

    Example:
        >>> from shared_core import ContextMemory
        >>> from shared_core.items import FindItems, PutItem
        >>> memory = ContextMemory("./memory", namespace="alice")  # doctest: +SKIP
        >>> items = memory.items()  # doctest: +SKIP
        >>> items.run([PutItem(("recipes",), "soup", {"of": "leek"}, texts=("leek soup",))])  # doctest: +SKIP
        [None]

    Args:
        opened: Gives the open collection, anew for each batch.
        embedder: Turns texts and queries into vectors.
        omit_expired: Whether what has expired is hidden at once, or only once ``sweep`` has deleted it.
        redact: Gives the strings of values, and what a search finds them by, as they may be stored; paths
            and keys stay, and those of values too.
    """

    def __init__(
        self,
        opened: Callable[[], ItemCollection],
        embedder: Embedder,
        *,
        omit_expired: bool = False,
        redact: Redactor | None = None,
    ) -> None:
        self._opened = opened
        self._embedder = embedder
        self._omit_expired = omit_expired
        self._redact = redact
        opened()  # an embedder that does not fit is told at once

    @property
    def embedder(self) -> Embedder:
        """What turns texts into vectors here."""
        return self._embedder

    def run(self, operations: Iterable[Operation], *, now: datetime | None = None) -> list[Answer]:
        """Do a batch; the answers stand in the order of the operations.

        Args:
            operations: Reads and writes; all are checked before the first is done.
            now: The present.

        Raises:
            ValueError: If a value is not JSON, a condition or a page not valid; nothing is written.
            EmbeddingError: If the embedder failed; nothing is written.
            StoreError: If the store failed.
        """
        asked = [self._redacted(one) for one in operations]
        moment = now or utc_now()
        texts = _checked(asked, moment)
        embedded = self._embed(asked)
        queries = {
            query: self._embedder.embed_query(query)
            for query in dict.fromkeys(one.query for one in asked if isinstance(one, FindItems))
            if query
        }
        collection = self._opened()
        writes = any(isinstance(one, (PutItem, DeleteItem)) for one in asked)
        with collection.alone() if writes else collection.use() as index:
            outcomes: dict[str, _Outcome] = {}
            answers = [self._read(index, one, queries, outcomes, moment) for one in asked]
            if writes:
                outcomes.update(_written(index, asked, texts, embedded, moment))
                _apply(collection, index, outcomes)
        if outcomes and not writes:  # times to live begin anew: of the items as they stand by then
            with collection.alone() as index:
                renewed: dict[str, _Outcome] = {}
                _renew(index, filter(None, map(index.get, outcomes)), renewed, moment)
                _apply(collection, index, renewed)
        return answers

    def sweep(self, *, now: datetime | None = None) -> int:
        """Delete what has expired; returns how many items that were."""
        collection = self._opened()
        with collection.alone() as index:
            expired = index.expired(now or utc_now())
            _apply(collection, index, dict.fromkeys(expired))
        return len(expired)

    def _redacted(self, asked: Operation) -> Operation:
        if self._redact is None or not isinstance(asked, PutItem):
            return asked
        return replace(
            asked,
            value=redact_values(self._redact, json_value(asked.value), "value"),
            texts=tuple(redact_text(self._redact, text, "text") for text in asked.texts),
        )

    def _embed(self, asked: Sequence[Operation]) -> Mapping[str, FloatArray]:
        """The vector of each text that is put, every text once."""
        texts = list(dict.fromkeys(text for one in asked if isinstance(one, PutItem) for text in one.texts))
        return dict(zip(texts, self._embedder.embed(texts), strict=True)) if texts else {}

    def _read(
        self,
        index: ItemIndex,
        asked: Operation,
        queries: Mapping[str, FloatArray],
        outcomes: dict[str, _Outcome],
        now: datetime,
    ) -> Answer:
        """The answer to one operation; items whose time to live begins anew are added to ``outcomes``."""
        unexpired_at = now if self._omit_expired else None
        if isinstance(asked, GetItem):
            item = index.get(item_id(asked.path, asked.key))
            if item is None or (
                self._omit_expired and item.expires_at is not None and item.expires_at <= now
            ):
                return None
            _renew(index, [item] if asked.refresh else [], outcomes, now)
            return item
        if isinstance(asked, FindItems):
            query = queries.get(asked.query) if asked.query else None
            found = find_items(index, asked, query, unexpired_at=unexpired_at)
            _renew(index, [one.item for one in found] if asked.refresh else [], outcomes, now)
            return found
        if isinstance(asked, ListPaths):
            return list_paths(index, asked, unexpired_at=unexpired_at)
        return None


def _checked(asked: Sequence[Operation], now: datetime) -> Mapping[int, str]:
    """The values that are put, as JSON, by their position in the batch; raises for whatever is not valid."""
    texts = {}
    for place, one in enumerate(asked):
        if isinstance(one, PutItem):
            expiry(now, one.ttl_minutes)
            texts[place] = json_text(one.value)
        if isinstance(one, FindItems) and one.conditions is not None:
            check_conditions(one.conditions)
        if isinstance(one, (FindItems, ListPaths)):
            for name, number in (("limit", one.limit), ("offset", one.offset)):
                if not isinstance(number, int) or isinstance(number, bool) or number < 0:
                    raise ValueError(f"{name} {quoted(number)} is not a whole number of at least 0")
        if isinstance(one, (GetItem, PutItem, DeleteItem)):
            item_id(one.path, one.key)
    return texts


def _renew(index: ItemIndex, items: Iterable[Item], outcomes: dict[str, _Outcome], now: datetime) -> None:
    for item in items:
        if item.ttl_minutes is None or item.expires_at is None:
            continue
        renewed = item.living(now)
        assert renewed.expires_at is not None
        if renewed.expires_at - item.expires_at > timedelta(minutes=item.ttl_minutes * RENEWAL_SHARE):
            outcomes[item.id] = renewed, index.vectors_of(item.id)


def _written(
    index: ItemIndex,
    asked: Sequence[Operation],
    texts: Mapping[int, str],
    vectors: Mapping[str, FloatArray],
    now: datetime,
) -> dict[str, _Outcome]:
    """What the writes of a batch leave, by id; the last write of a key counts."""
    written: dict[str, _Outcome] = {}
    places: dict[str, int] = {}
    for place, one in enumerate(asked):
        if not isinstance(one, (PutItem, DeleteItem)):
            continue
        record_id = item_id(one.path, one.key)
        first_place = places.setdefault(record_id, place)
        if isinstance(one, DeleteItem):
            written[record_id] = None
        else:
            # A microsecond apart, so that their order is in the records.
            moment = now + timedelta(microseconds=first_place)
            before = index.get(record_id)
            item = Item(
                path=one.path,
                key=one.key,
                text=texts[place],
                created_at=moment if before is None else before.created_at,
                updated_at=moment if before is None else max(moment, before.updated_at),
                ttl_minutes=one.ttl_minutes,
                expires_at=expiry(now, one.ttl_minutes),
            )
            rows = [vectors[text] for text in one.texts]
            written[record_id] = (
                item,
                (np.stack(rows) if rows else np.empty((0, index.dimension), dtype=np.float32)),
            )
    return written


def _apply(collection: ItemCollection, index: ItemIndex, outcomes: Mapping[str, _Outcome]) -> None:
    """Write what a batch leaves: one change, or several where one may not be so big."""
    deletes = tuple(
        record_id for record_id, left in outcomes.items() if left is None and index.get(record_id) is not None
    )
    pairs = [record_of(*left) for left in outcomes.values() if left is not None]
    for start in range(0, len(pairs), collection.batch_limit):
        part = pairs[start : start + collection.batch_limit]
        is_last = start + len(part) == len(pairs)
        change = Change(
            puts=tuple(record for record, _ in part),
            vectors=np.stack([vector for _, vector in part]),
            deletes=deletes if is_last else (),
        )
        collection.apply(change)
    if deletes and not pairs:
        collection.apply(Change(deletes=deletes))
