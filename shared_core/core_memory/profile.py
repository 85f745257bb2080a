"""What ``maintain`` writes into core memory: a profile, a focus and skills, word for word as learnt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from shared_core.core_memory.blocks import STANDARD_BLOCKS, block_id, block_of
from shared_core.index.entities import entity_key
from shared_core.index.resident import ResidentIndex
from shared_core.records import BUBBLE, CATEGORIES, KINDS, Category, Memory, text_digest
from shared_core.settings import Settings
from shared_core.times import SECONDS_PER_DAY
from shared_core.upkeep.worth import last_used, uses, worth

Rows = NDArray[np.intp]

#: What a profile tells, in this order (seed 004: name, role, location), and how much of each at most.
PROFILE: tuple[tuple[Category, int], ...] = (
    ("name", 1),
    ("work", 2),
    ("place", 1),
    ("family", 2),
    ("health", 2),
    ("rule", 3),
)
#: Goals and recent moments in the focus, and skills, at most (seed 004 shows one sentence, and four skills).
MOST_IN_FOCUS, MOST_SKILLS = 3, 8
#: Memories of one kind that a block is chosen from: those that are worth most.
CONSIDERED = 100
_FACT = KINDS.index("fact")


@dataclass(frozen=True)
class Draft:
    """A block as it should be: ``text`` made of ``memories``; without any it should not be."""

    name: str
    text: str
    memories: tuple[Memory, ...]


@dataclass(frozen=True)
class Refresh:
    """What changes in core memory: blocks to write, and ids of blocks to delete."""

    written: tuple[Memory, ...]
    gone: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The blocks that are written."""
        return tuple(block.title or "" for block in self.written)


def refresh(index: ResidentIndex, *, now: datetime, settings: Settings) -> Refresh:
    """The blocks that no longer say what was learnt; what was set by hand is never among them.

    Args:
        index: The namespace; only read.
        now: What is recent counts from.
        settings: How long a block may be, and what is recent.
    """
    written: list[Memory] = []
    gone: list[str] = []
    for write in (_profile, _focus, _skills):
        draft = write(index, now, settings)
        known = block_of(index, draft.name)
        if known is not None and not known.is_generated:
            continue
        if not draft.memories:
            gone += [] if known is None else [known.id]
        elif known is None or (known.text, known.made_of) != (draft.text, _ids(draft)):
            written.append(_block(index, draft, known, now))
    return Refresh(tuple(written), tuple(gone))


def _ids(draft: Draft) -> tuple[str, ...]:
    return tuple(memory.id for memory in draft.memories)


def _block(index: ResidentIndex, draft: Draft, known: Memory | None, now: datetime) -> Memory:
    """The record of a draft.

    It names its memories, and the messages that they came from, so that erasing
    one of them finds it.
    """
    first = {memory.sources[0]: None for memory in draft.memories if memory.sources}
    origins = [index.stored(source) for source in first if source in index]
    return Memory(
        id=block_id(draft.name) if known is None else known.id,
        kind="block",
        text=draft.text,
        title=draft.name,
        created_at=now if known is None else known.created_at,
        updated_at=now,
        sources=tuple(message.id for message in origins),
        source_ids=tuple(message.message_id or message.id for message in origins),
        made_of=_ids(draft),
        generated=text_digest(draft.text),
    )


def _profile(index: ResidentIndex, now: datetime, settings: Settings) -> Draft:
    """Who the user is: the facts of each category that are worth most."""
    chosen: list[Memory] = []
    for category, most in PROFILE:
        facts = _about_the_user(index, _facts(index, category, now), now)
        chosen.extend(memory for memory, _ in zip(facts, range(most), strict=False))
    return _sentences(STANDARD_BLOCKS[1], chosen, settings.block_words)


def _focus(index: ResidentIndex, now: datetime, settings: Settings) -> Draft:
    """What the user is about: goals, and moments of the last days, those worth most."""
    columns = index.columns
    moments = _living(index, now) & (columns["kind"] == BUBBLE) & (columns["dated"] <= now.timestamp())
    rows = np.concatenate([_facts(index, "goal", now), np.flatnonzero(moments)])
    idle_days = (now.timestamp() - last_used(index, rows)) / SECONDS_PER_DAY
    is_goal = columns["kind"][rows] == _FACT
    recent = np.where(is_goal, settings.working_frequent_days, settings.working_recent_days)
    found = _about_the_user(index, rows[idle_days < recent], now)
    chosen = [memory for memory, _ in zip(found, range(MOST_IN_FOCUS), strict=False)]
    return _sentences(STANDARD_BLOCKS[2], chosen, settings.block_words)


def _skills(index: ResidentIndex, now: datetime, settings: Settings) -> Draft:
    """What the user can do, most used first: ``Python, TypeScript, React``."""
    found = list(_about_the_user(index, _facts(index, "skill", now), now))
    grouped: dict[str, list[Memory]] = {}
    for memory in found:
        grouped.setdefault(entity_key(memory.object or memory.text), []).append(memory)
    groups = sorted(
        grouped.values(), key=lambda same: -sum(one.mention_count + one.access_count for one in same)
    )[:MOST_SKILLS]
    names = _within([same[0].object or same[0].text for same in groups], settings.block_words)
    memories = [memory for same in groups[: len(names)] for memory in same]
    return Draft(STANDARD_BLOCKS[3], ", ".join(names), tuple(memories))


def _sentences(name: str, memories: Sequence[Memory], words: int) -> Draft:
    """The texts of some memories, one after the other, as many as fit; a first one that does not is cut."""
    texts = _within([memory.text.rstrip(" .;") for memory in memories], words)
    return Draft(name, f"{'. '.join(texts)}." if texts else "", tuple(memories[: len(texts)]))


def _within(texts: Iterable[str], words: int) -> list[str]:
    kept: list[str] = []
    for text in texts:
        said = text.split()
        if len(said) > words:
            return kept or [" ".join(said[:words]) + "…"]
        words -= len(said)
        kept.append(" ".join(said))
    return kept


def _living(index: ResidentIndex, now: datetime) -> NDArray[np.bool_]:
    columns = index.columns
    living: NDArray[np.bool_] = columns["alive"] & columns["current"] & columns["active"]
    return living & (columns["expires"] > now.timestamp())


def _facts(index: ResidentIndex, category: Category, now: datetime) -> Rows:
    columns = index.columns
    wanted = (columns["kind"] == _FACT) & (columns["category"] == CATEGORIES.index(category))
    return np.flatnonzero(_living(index, now) & wanted)


def _about_the_user(index: ResidentIndex, rows: Rows, now: datetime) -> Iterator[Memory]:
    """Those that speak of whoever the application calls its user, worth most first; equals newest first.

    A fact does not fade: only the worth of moments falls with the days.
    """
    columns = index.columns
    age_days = np.maximum(0.0, (now.timestamp() - last_used(index, rows)) / SECONDS_PER_DAY)
    value = worth(columns["importance"][rows], uses(index, rows), age_days * columns["decays"][rows])
    ranked = rows[np.lexsort((-columns["created"][rows], -np.round(value, 6)))]
    for row in ranked[:CONSIDERED]:
        memory = index.stored(index.id_at(int(row)))
        if _is_about_the_user(index, memory):
            yield memory


def _is_about_the_user(index: ResidentIndex, memory: Memory) -> bool:
    """Whether the user said it of himself; what the application stated outright is about its user."""
    if memory.subject is not None and memory.subject.casefold() not in {
        "user",
        (memory.speaker or "user").casefold(),
    }:
        return False
    source = index.row(memory.sources[0]) if memory.sources else None
    return source is None or index.stored(index.id_at(source)).role == "user"
