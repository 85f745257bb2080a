"""Records as pandas tables, one row for each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import pandas as pd

from shared_core.records import KINDS, Memory
from shared_core.times import age_days

__all__ = [
    "connections_table",
    "kinds_over_time_table",
    "memories_table",
    "messages_table",
    "sessions_table",
]

MEMORY_COLUMNS = (
    "kind", "text", "category", "tier", "stage", "importance", "confidence", "mention_count", "access_count",
    "occurred_at", "created_at", "age_days", "is_active", "is_current", "conversation_id", "session_id",
    "source_ids",
)  # fmt: skip
MESSAGE_COLUMNS = (
    "message_id", "conversation_id", "session_id", "turn", "role", "speaker", "text", "created_at", "pending",
)  # fmt: skip
CONNECTION_COLUMNS = ("source", "target", "score", "source_text", "target_text")
SESSION_COLUMNS = ("conversation_id", "session_id", "begin", "end", "minutes", "messages", "learnt")


def memories_table(records: Iterable[Memory], *, now: datetime) -> pd.DataFrame:
    """What was learnt: every record that is no message, by id.

    ``age_days`` counts from when it happened, or was said, to ``now``.
    """
    learnt = [record for record in records if record.kind != "message"]
    rows = [
        {
            **_picked(record, MEMORY_COLUMNS, stage=record.stage(now), age_days=age_days(record.dated, now)),
            "id": record.id,
        }
        for record in learnt
    ]
    return _table(rows, ("id", *MEMORY_COLUMNS), times=("occurred_at", "created_at")).set_index("id")


def messages_table(records: Iterable[Memory]) -> pd.DataFrame:
    """The messages as they were said, oldest first within each conversation, by the id of their record."""
    said = sorted(
        (record for record in records if record.kind == "message"),
        key=lambda record: (record.conversation_id or "", record.turn or 0),
    )
    rows = [{**_picked(record, MESSAGE_COLUMNS), "id": record.id} for record in said]
    return _table(rows, ("id", *MESSAGE_COLUMNS), times=("created_at",)).set_index("id")


def connections_table(records: Iterable[Memory]) -> pd.DataFrame:
    """Each link between two memories once, the strongest first; ``score`` is a cosine similarity."""
    texts = {record.id: record for record in records}
    rows: dict[frozenset[str], dict[str, Any]] = {}
    for record in texts.values():
        for link in record.connections:
            if link.memory_id in texts:
                rows.setdefault(
                    frozenset((record.id, link.memory_id)),
                    {
                        "source": record.id,
                        "target": link.memory_id,
                        "score": link.score,
                        "source_text": record.text,
                        "target_text": texts[link.memory_id].text,
                    },
                )
    ranked = sorted(rows.values(), key=lambda row: -row["score"])
    return _table(ranked, CONNECTION_COLUMNS)


def sessions_table(records: Iterable[Memory]) -> pd.DataFrame:
    """Each session with its begin, end, length in minutes, messages, and how much was learnt from it."""
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for record in records:
        if record.session_id is None or record.conversation_id is None:
            continue
        row = rows.setdefault(
            (record.conversation_id, record.session_id),
            dict.fromkeys(SESSION_COLUMNS, 0)
            | {"conversation_id": record.conversation_id, "session_id": record.session_id}
            | {"begin": record.created_at, "end": record.created_at},
        )
        if record.kind == "message":
            row["begin"] = min(row["begin"], record.created_at)
            row["end"] = max(row["end"], record.created_at)
            row["messages"] += 1
        else:
            row["learnt"] += 1
    for row in rows.values():
        row["minutes"] = (row["end"] - row["begin"]).total_seconds() / 60.0
    ordered = sorted(rows.values(), key=lambda row: row["begin"])
    return _table(ordered, SESSION_COLUMNS, times=("begin", "end"))


def kinds_over_time_table(records: Iterable[Memory]) -> pd.DataFrame:
    """How many records of each kind there were at each moment at which one was added: one column a kind."""
    moments = [(record.created_at, record.kind) for record in records]
    table = _table([{"at": at, "kind": kind} for at, kind in moments], ("at", "kind"), times=("at",))
    counts = pd.crosstab(table["at"], table["kind"]) if moments else pd.DataFrame(index=table["at"])
    return counts.reindex(columns=list(KINDS), fill_value=0).sort_index().cumsum().rename_axis(columns=None)


def _picked(record: Memory, names: Sequence[str], **made: Any) -> dict[str, Any]:
    return {name: made[name] if name in made else getattr(record, name) for name in names}


def _table(
    rows: Sequence[Mapping[str, Any]], columns: Sequence[str], *, times: Sequence[str] = ()
) -> pd.DataFrame:
    """A table with these columns even where it has no rows, its times as UTC of one resolution."""
    table = pd.DataFrame(list(rows), columns=list(columns))
    for name in times:
        table[name] = pd.to_datetime(pd.Series(table[name], dtype=object), utc=True, errors="coerce")
    return table
