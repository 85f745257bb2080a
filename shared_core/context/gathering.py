"""What a context is built from: what was found, what is always known, what was just said."""

from __future__ import annotations

from collections.abc import Iterable, Set
from datetime import datetime

from shared_core.context.assembly import ContextSources
from shared_core.context.repetition import says_most_of
from shared_core.core_memory.blocks import core_blocks
from shared_core.core_memory.working_memory import working_rows
from shared_core.ids import message_record_id
from shared_core.index.resident import ResidentIndex
from shared_core.records import Memory


def gather(
    index: ResidentIndex,
    found: Iterable[Memory],
    *,
    conversation_id: str | None,
    now: datetime,
    working_capacity: int,
    shown: Set[str] = frozenset(),
) -> ContextSources:
    """The memories that a context chooses from.

    Args:
        index: The namespace; only read.
        found: What a search found, best first.
        conversation_id: The conversation whose buffer and summaries belong in; None for none.
        now: What is in working memory counts from.
        working_capacity: Memories of working memory, at most; what the application holds stays beyond it.
        shown: The ``message_id`` of each message of that conversation that the prompt holds anyway.
    """

    def is_shown(memory: Memory) -> bool:
        return (
            bool(memory.source_ids)
            and memory.conversation_id == conversation_id
            and memory.source_ids[0] in shown
        )

    shown_ids = {message_record_id(conversation_id or "", message_id) for message_id in shown}
    facts: list[Memory] = []
    episodes: list[Memory] = []
    for memory in found:
        if memory.kind in ("fact", "triplet") and not (
            memory.sources and shown_ids.issuperset(memory.sources)
        ):
            facts.append(memory)
        if memory.kind != "summary":
            episodes.extend(episode for episode in _episodes_of(index, memory) if not is_shown(episode))
    recent: list[Memory] = []
    summaries: list[Memory] = []
    if conversation_id is not None:
        buffered = (index.memory_at(row) for row in index.buffered(conversation_id))
        recent = [message for message in buffered if not is_shown(message)]
        summaries = [index.memory_at(row) for row in index.summaries_of(conversation_id)]
    core = core_blocks(index)
    said = {part for block in core if block.is_generated for part in block.made_of}  # not twice
    rows = working_rows(index, now=now, capacity=working_capacity)
    working = [index.memory_at(row) for row in rows if index.id_at(row) not in said]
    return ContextSources(
        core=tuple(core),
        working=tuple(memory for memory in working if not is_shown(memory)),
        summaries=tuple(summaries),
        facts=tuple(facts),
        episodes=tuple(episodes),
        recent=tuple(recent),
    )


def _episodes_of(index: ResidentIndex, memory: Memory) -> list[Memory]:
    """The memory itself if it is a message, or a moment that says most of its message; else its message.

    A search returns what answers best; a reader of the context also needs the rest of what was said there,
    and the day on which *yesterday* was said.
    """
    if memory.kind == "message":
        return [memory]
    message = index.get(memory.sources[0]) if memory.sources else None
    if message is None:
        return [memory] if memory.kind == "bubble" else []
    is_same_day = memory.dated.date() == message.created_at.date()
    if memory.kind == "bubble" and is_same_day and says_most_of(memory.text, message.text):
        return [memory]
    return [message]
