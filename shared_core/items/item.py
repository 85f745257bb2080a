"""An item: a JSON object under a path and a key, and how it is written as a record."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from shared_core.embedding.base import FloatArray
from shared_core.errors import StoreError
from shared_core.items.paths import Path
from shared_core.messages import MAX_DEPTH, quoted
from shared_core.records import Memory
from shared_core.stores.codec import decode_vectors


@dataclass(frozen=True)
class Item:
    """One item as it is stored.

    Attributes:
        path: Where it stands, label by label.
        key: Its name there.
        text: Its value, as JSON.
        created_at: When a value was first put there. UTC.
        updated_at: When this one was. UTC.
        ttl_minutes: How long it lives after it was put or read; None for ever.
        expires_at: When that is over. UTC.
    """

    path: Path
    key: str
    text: str
    created_at: datetime
    updated_at: datetime
    ttl_minutes: float | None = None
    expires_at: datetime | None = None

    @property
    def id(self) -> str:
        """The id of its record."""
        return item_id(self.path, self.key)

    @property
    def value(self) -> dict[str, Any]:
        """Its value, new with each call, so that whoever changes it changes nothing here."""
        value: dict[str, Any] = json.loads(self.text)
        return value

    def is_expired(self, now: datetime) -> bool:
        """Whether its time to live is over."""
        return self.expires_at is not None and self.expires_at <= now

    def living(self, now: datetime) -> Item:
        """The item with its time to live counted from ``now``."""
        return replace(self, expires_at=expiry(now, self.ttl_minutes))


def item_id(path: Path, key: str) -> str:
    """The id of the one record that an item has, whoever writes it.

    Raises:
        ValueError: If a label or the key holds a lone surrogate.
    """
    name = json.dumps([path, key], ensure_ascii=False)
    try:
        return f"item-{hashlib.sha256(name.encode('utf-8')).hexdigest()[:48]}"
    except UnicodeEncodeError as error:
        raise ValueError(f"{quoted((*path, key))} holds a lone surrogate, which no store can keep") from error


def expiry(now: datetime, ttl_minutes: float | None) -> datetime | None:
    """When a time to live that begins now is over.

    Raises:
        ValueError: If it is no number of minutes from 0, or ends beyond the calendar.
    """
    if ttl_minutes is None:
        return None
    if isinstance(ttl_minutes, bool) or not isinstance(ttl_minutes, (int, float)) or not ttl_minutes >= 0:
        raise ValueError(f"ttl {quoted(ttl_minutes)} is not a number of minutes of at least 0")
    try:
        return now + timedelta(minutes=ttl_minutes)
    except OverflowError as error:
        raise ValueError(f"ttl {quoted(ttl_minutes)} ends beyond the calendar: None is for ever") from error


def json_text(value: object) -> str:
    """A value as JSON that reads back the same; tuples become lists.

    Raises:
        ValueError: If it is not a mapping of JSON values; the value is quoted.
    """
    if not isinstance(value, Mapping):
        raise ValueError(f"value {quoted(value)} is not a mapping: only a JSON object can be stored")
    plain = dict(value)
    try:
        text = json.dumps(plain, ensure_ascii=False, allow_nan=False)
        _check_keys(plain)
        text.encode("utf-8")
    except UnicodeEncodeError:  # a lone surrogate, which JSON can write as an escape
        return json.dumps(plain, allow_nan=False)
    except RecursionError as error:
        raise ValueError(f"value {quoted(value)} is nested more than {MAX_DEPTH} deep") from error
    except (TypeError, ValueError) as error:
        raise ValueError(f"value {quoted(value)} is not plain JSON: {error}") from error
    return text


def json_value(value: object) -> dict[str, Any]:
    """A copy of a value that is plain JSON, as it will be read back.

    Raises:
        ValueError: If it is not a mapping of JSON values; the value is quoted.
    """
    plain: dict[str, Any] = json.loads(json_text(value))
    return plain


def _check_keys(value: dict[str, Any]) -> None:
    """Refuse keys that JSON would turn into strings, and nesting that its readers do not survive."""
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        inside: list[Any] = []
        for outer in level:
            if isinstance(outer, dict):
                for key in outer:
                    if not isinstance(key, str):
                        raise ValueError(f"the key {quoted(key)} is not a string")
                inside.extend(outer.values())
            elif isinstance(outer, (list, tuple)):
                inside.extend(outer)
        level = [inner for inner in inside if isinstance(inner, (dict, list, tuple))]
        if not level:
            return
    raise ValueError(f"it is nested more than {MAX_DEPTH} deep")


def record_of(item: Item, vectors: FloatArray) -> tuple[Memory, FloatArray]:
    """The record of an item and its vector: all that belongs to the item in one, so that a write is whole.

    Args:
        item: The item.
        vectors: ``float32 [n, dimension]`` of its texts. The first, or zero, is the record's vector; the
            others stand in its metadata.
    """
    metadata: dict[str, Any] = {"path": list(item.path), "key": item.key, "vectors": len(vectors)}
    if item.ttl_minutes is not None:
        metadata["ttl_minutes"] = item.ttl_minutes
    if len(vectors) > 1:
        metadata["more_vectors"] = [
            base64.b64encode(np.asarray(vector, dtype="<f4").tobytes()).decode("ascii")
            for vector in vectors[1:]
        ]
    record = Memory(
        id=item.id,
        kind="item",
        text=item.text,
        created_at=item.created_at,
        updated_at=item.updated_at,
        expires_at=item.expires_at,
        metadata=metadata,
    )
    vector = vectors[0] if len(vectors) else np.zeros(vectors.shape[1], dtype=np.float32)
    return record, vector


def item_of(record: Memory, vector: FloatArray) -> tuple[Item, FloatArray]:
    """The item that ``record_of`` wrote, and its vectors ``float32 [n, dimension]``.

    Raises:
        StoreError: If the record is not one of an item.
    """
    held = record.metadata
    try:
        item = Item(
            path=tuple(held["path"]),
            key=held["key"],
            text=record.text,
            created_at=record.created_at,
            updated_at=record.updated_at,
            ttl_minutes=held.get("ttl_minutes"),
            expires_at=record.expires_at,
        )
        first = vector[np.newaxis, :][: held["vectors"]]
    except (KeyError, TypeError) as error:
        raise StoreError(f"record {record.id!r} is no item: it was changed by hand") from error
    more = held.get("more_vectors")
    if not more:
        return item, first
    return item, np.concatenate([first, decode_vectors([record.id] * len(more), more, len(vector))])
