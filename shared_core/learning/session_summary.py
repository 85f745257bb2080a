"""The rolling summary of a session: written every so many messages, from the last one and what came since."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from shared_core.ids import record_id
from shared_core.index.resident import ResidentIndex
from shared_core.learning.summaries import Spoken, Telling, summarise
from shared_core.records import Memory

#: What such a summary says it sums up.
SESSION_TITLE = "session"


def session_summary_id(conversation_id: str, session_id: str) -> str:
    """The id of the summary of a session; it keeps it from version to version."""
    return record_id("summary", SESSION_TITLE, conversation_id, session_id)


def session_summaries(
    records: Sequence[Memory],
    index: ResidentIndex,
    *,
    every: int,
    max_words: int,
    at_once: bool,
    now: datetime,
    told: Callable[[str], Sequence[Telling]],
) -> list[Memory]:
    """The summaries that new messages call for, at most one for each session.

    Args:
        records: New messages of one conversation, in order.
        index: What the namespace knows; it is only read.
        every: Messages of a session that may come without one.
        max_words: Longest summary, in words.
        at_once: Whether the newest session gets one however few its new messages are.
        now: When they are written.
        told: See ``summarise``.
    """
    sessions: dict[str, list[Memory]] = {}
    for record in records:
        if record.id not in index:
            sessions.setdefault(record.session_id or "", []).append(record)
    newest = records[-1].session_id
    found = []
    for session_id, said in sessions.items():
        conversation_id = said[0].conversation_id or ""
        known = index.get(session_summary_id(conversation_id, session_id))
        fresh = [*_uncovered(index, conversation_id, session_id, known), *said]
        if len(fresh) >= every or (at_once and session_id == newest):
            before = list(_lines(known.text)) if known else []
            text = summarise([*before, *fresh], max_words=max_words, told=told)
            found.append(_summary(known, fresh, text, now))
    return found


def _uncovered(
    index: ResidentIndex, conversation_id: str, session_id: str, known: Memory | None
) -> list[Memory]:
    """The stored messages of a session that its summary does not sum up yet, in order."""
    conversation = index.conversations.get(conversation_id)
    covered = frozenset(known.sources) if known else frozenset[str]()
    found = []
    for row in conversation.newest_first() if conversation else ():
        if index.id_at(row) in covered:
            break
        message = index.stored(index.id_at(row))
        if message.session_id != session_id:
            break
        found.append(message)
    return found[::-1]


def _summary(known: Memory | None, fresh: Sequence[Memory], text: str, now: datetime) -> Memory:
    last = fresh[-1]
    return Memory(
        id=session_summary_id(last.conversation_id or "", last.session_id or ""),
        kind="summary",
        text=text,
        title=SESSION_TITLE,
        conversation_id=last.conversation_id,
        session_id=last.session_id,
        turn=last.turn,
        occurred_at=last.created_at,
        created_at=known.created_at if known else fresh[0].created_at,
        updated_at=now,
        source_ids=(
            *(known.source_ids if known else ()),
            *(message.message_id or message.id for message in fresh),
        ),
        sources=(*(known.sources if known else ()), *(message.id for message in fresh)),
    )


def _lines(summary: str) -> Iterator[Spoken]:
    """The sentences of a summary as if they were said."""
    for line in summary.splitlines():
        speaker, _, text = line.partition(": ")
        yield Spoken(speaker, text)
