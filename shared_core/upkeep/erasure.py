"""Taking memories out without a trace: what was learnt only from a message goes with it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import datetime

import numpy as np

from shared_core.embedding.base import FloatArray
from shared_core.index.resident import ResidentIndex
from shared_core.learning.summaries import summarise
from shared_core.learning.versions import earlier_ids
from shared_core.namespaces import Namespace
from shared_core.records import Memory
from shared_core.stores.base import Change

Embed = Callable[[Sequence[str]], FloatArray]

#: What a memory has from the first message that it came from.
_OF_FIRST_SOURCE = ("conversation_id", "session_id", "turn", "speaker", "created_at", "metadata")


def erase_messages(
    namespace: Namespace, message_ids: Collection[str], *, now: datetime, summary_words: int, embed: Embed
) -> int:
    """Remove messages and what was learnt only from them; returns how many records went.

    Args:
        namespace: Where they are.
        message_ids: Record ids of messages.
        now: When the change is made.
        summary_words: Longest summary, in words, where one is written anew without them.
        embed: Embeds a summary that was written anew.
    """
    with namespace.use() as index:
        rewritten, gone = rewritten_and_gone(index, message_ids, now=now, summary_words=summary_words)
        return _apply(namespace, index, rewritten, gone, embed)


def delete_memories(namespace: Namespace, memory_ids: Iterable[str], *, now: datetime, embed: Embed) -> int:
    """Remove memories that are not messages, with their earlier versions; returns how many records went."""
    with namespace.use() as index:
        gone = list(dict.fromkeys(gone for one in memory_ids for gone in (*earlier_ids(index, one), one)))
        gone = [*blocks_made_of(index, gone), *gone]
        return _apply(namespace, index, unlinked(index, (), gone, now=now), gone, embed)


def _apply(
    namespace: Namespace, index: ResidentIndex, rewritten: Sequence[Memory], gone: Sequence[str], embed: Embed
) -> int:
    """Write what referred to ``gone`` first, then delete it, so that no link ever points nowhere."""
    vectors = [_vector_of(index, memory, embed) for memory in rewritten]
    limit = namespace.batch_limit
    for start in range(0, len(rewritten), limit):
        part = slice(start, start + limit)
        namespace.apply(Change(puts=tuple(rewritten[part]), vectors=np.stack(vectors[part])))
    for start in range(0, len(gone), limit):
        namespace.apply(Change(deletes=tuple(gone[start : start + limit])))
    return len(gone)


def _vector_of(index: ResidentIndex, memory: Memory, embed: Embed) -> FloatArray:
    row = index.row(memory.id)
    if row is not None and index.text_at(row) == memory.text:
        vector: FloatArray = index.vectors.take([row])[0]
    else:
        vector = embed([memory.text])[0]
    return vector


def rewritten_and_gone(
    index: ResidentIndex, message_ids: Collection[str], *, now: datetime, summary_words: int
) -> tuple[list[Memory], list[str]]:
    """What erasing these messages changes.

    A memory with other sources loses these ones; a summary of other messages is written anew from them; a
    core block that ``maintain`` wrote goes, and is written anew by the next ``maintain``.

    Args:
        index: The namespace; only read.
        message_ids: Record ids of the messages.
        now: When the change is made.
        summary_words: Longest summary, in words.

    Returns:
        The records to write again, and the ids to delete: learnt memories first, then the messages.
    """
    erased = frozenset(message_ids)
    learnt_ids = {learnt for message in erased for learnt in index.learnt_from(message)}
    rewritten, gone = [], []
    for memory_id in sorted(learnt_ids):
        memory = index.stored(memory_id)
        kept = [place for place, source in enumerate(memory.sources) if source not in erased]
        if not memory.is_generated and (kept or memory.kind == "block"):  # what was set by hand stays
            rewritten.append(_without_sources(memory, kept, index, now=now, summary_words=summary_words))
        else:
            gone.append(memory_id)
    gone = list(dict.fromkeys([*blocks_made_of(index, gone), *gone, *sorted(erased)]))
    deleted = frozenset(gone)
    rewritten = [memory for memory in rewritten if memory.id not in deleted]
    return unlinked(index, rewritten, gone, now=now), gone


def blocks_made_of(index: ResidentIndex, gone: Collection[str]) -> list[str]:
    """The ids of the core blocks that ``maintain`` wrote and that go with these memories, versions first."""
    deleted = frozenset(gone)
    found: list[str] = []
    for row in index.rows_of("block"):
        block = index.stored(index.id_at(int(row)))
        if block.is_generated and (block.id in deleted or not deleted.isdisjoint(block.made_of)):
            found += [*earlier_ids(index, block.id), block.id]
    return [memory_id for memory_id in dict.fromkeys(found) if memory_id not in deleted]


def unlinked(
    index: ResidentIndex, rewritten: Iterable[Memory], gone: Iterable[str], *, now: datetime
) -> list[Memory]:
    """``rewritten`` and whatever else refers to ``gone``, without connections to it."""
    deleted = frozenset(gone)
    changed = {memory.id: memory for memory in rewritten}
    for memory_id in deleted:
        for referrer in index.connections.referrers(memory_id):
            if referrer not in deleted and referrer in index:
                changed.setdefault(referrer, index.stored(referrer))
    return [
        memory.model_copy(
            update={
                "connections": tuple(c for c in memory.connections if c.memory_id not in deleted),
                "updated_at": now,
            }
        )
        for memory in changed.values()
    ]


def _without_sources(
    memory: Memory, kept: list[int], index: ResidentIndex, *, now: datetime, summary_words: int
) -> Memory:
    sources = tuple(memory.sources[place] for place in kept)
    changes: dict[str, object] = {
        "sources": sources,
        "source_ids": tuple(memory.source_ids[place] for place in kept),
        "mention_count": min(memory.mention_count, len(kept)),
        "updated_at": now,
    }
    messages = [index.stored(source) for source in sources if source in index]
    if messages and memory.kind == "summary":
        last = messages[-1]
        changes["text"] = summarise(messages, max_words=summary_words)
        changes |= {"session_id": last.session_id, "turn": last.turn}
        changes |= {"created_at": last.created_at, "occurred_at": last.created_at}
    elif messages and kept[0] > 0:
        changes |= {name: getattr(messages[0], name) for name in _OF_FIRST_SOURCE}
    return memory.model_copy(update=changes)
