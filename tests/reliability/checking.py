"""What must hold whenever a process dies: compared with the journal that it kept."""

from __future__ import annotations

from dataclasses import dataclass

from shared_core import ContextMemory
from shared_core.ids import fact_id
from shared_core.index.resident import ResidentIndex
from shared_core.records import Memory
from tests.reliability.journal import Step, Told
from tests.shared_core.index.dump import dump


def fact_text(message_id: str) -> str:
    """The fact that a message of the child states."""
    return f"Ada keeps item {message_id}"


def moment_text(message_id: str) -> str:
    """The moment that it tells of: alike enough for each to be connected with others."""
    return f"Ada rode her tandem to the lake with Ben, trip {message_id}"


@dataclass
class Seen:
    """What a namespace holds, as loaded from the store.

    Attributes:
        messages: By the id that they were added with.
        facts: Current facts by record id.
        moments: Texts of the bubbles.
    """

    messages: dict[str, Memory]
    facts: dict[str, Memory]
    moments: set[str]


def seen_in(memory: ContextMemory) -> Seen:
    with memory.opened().use() as index:
        stored = [index.stored(memory_id) for memory_id in index]
    return Seen(
        {m.message_id: m for m in stored if m.kind == "message" and m.message_id is not None},
        {m.id: m for m in stored if m.kind == "fact" and m.is_current},
        {m.text for m in stored if m.kind == "bubble"},
    )


def wrongs_after_kill(memory: ContextMemory, told: Told) -> tuple[list[str], int]:
    """Check a memory that was just opened, finish what is pending, and check again.

    Returns:
        Everything that is wrong, in words; and how many messages were pending.
    """
    seen = seen_in(memory)
    wrongs = [*_lost_or_torn(seen, told), *_half_learnt(seen, told), *_dangling(memory)]
    pending = sum(message.pending for message in seen.messages.values())
    memory.flush()
    seen = seen_in(memory)
    wrongs += [f"message {m.message_id} is still pending" for m in seen.messages.values() if m.pending]
    wrongs += [*_lost_or_torn(seen, told), *_half_learnt(seen, told), *_dangling(memory)]
    wrongs += unlike_rebuilt(memory)
    return wrongs, pending


def unlike_rebuilt(memory: ContextMemory) -> list[str]:
    """Where the index that took each write differs from one loaded anew."""
    namespace = memory.opened()
    with namespace.use() as index:
        kept = dump(index)
    namespace.drop_index()
    with namespace.use() as index:
        rebuilt = dump(index)
    differing = [
        f"record {memory_id} differs from the rebuilt index"
        for memory_id in kept["records"].keys() | rebuilt["records"].keys()
        if kept["records"].get(memory_id) != rebuilt["records"].get(memory_id)
    ]
    differing += [f"{key} differ from the rebuilt index" for key in kept if kept[key] != rebuilt[key]]
    return differing


def _lost_or_torn(seen: Seen, told: Told) -> list[str]:
    """Compare with what the calls that returned, and those that did not, may have left."""
    must, may = set(told.messages), set[str]()
    facts: dict[str, set[str | None]] = {key: {text} for key, text in told.facts.items()}
    wrongs = []
    for step in told.steps:
        if step.op == "add":
            ids = step.what["ids"]
            there = [message_id in seen.messages for message_id in ids]
            erased = _erased_later(ids, told.steps)
            if not step.returned and not erased and len(set(there)) > 1:
                wrongs.append(f"the add of {ids} is torn: {there}")
            (must if step.returned else may).update(ids)
            for one in ids:
                facts.setdefault(fact_id(fact_text(one)), {fact_text(one), None})
        elif step.op == "erase":
            must.discard(step.what["id"])
            (may.discard if step.returned else may.add)(step.what["id"])
            facts.pop(fact_id(fact_text(step.what["id"])), None)
        elif step.op == "update":
            known = facts.setdefault(step.what["id"], {None})
            if step.returned:
                known.clear()
            known.add(step.what["text"])
        elif step.op == "delete":
            known = facts.setdefault(step.what["id"], {None})
            facts[step.what["id"]] = {None} if step.returned else {*known, None}
    wrongs += [f"message {lost} is lost" for lost in must - seen.messages.keys()]
    wrongs += [f"message {risen} should not be there" for risen in seen.messages.keys() - must - may]
    for key, texts in facts.items():
        text = seen.facts[key].text if key in seen.facts else None
        if text not in texts:
            wrongs.append(f"fact {key} says {text!r}, not one of {texts}")
    return wrongs


def _erased_later(ids: list[str], steps: list[Step]) -> bool:
    return any(step.op == "erase" and step.what["id"] in ids for step in steps)


def _half_learnt(seen: Seen, told: Told) -> list[str]:
    """A message and what it taught come and go together; deleted facts stay deleted."""
    deleted = {step.what["id"] for step in told.steps if step.op == "delete"}
    for key in told.messages:
        if fact_id(fact_text(key)) not in told.facts:
            deleted.add(fact_id(fact_text(key)))
    wrongs = []
    for message_id, message in seen.messages.items():
        key = fact_id(fact_text(message_id))
        if not message.pending and key not in seen.facts and key not in deleted:
            wrongs.append(f"message {message_id} is there without its fact")
        if not message.pending and moment_text(message_id) not in seen.moments:
            wrongs.append(f"message {message_id} is there without its moment")
    texts = {moment_text(message_id) for message_id in seen.messages}
    wrongs += [f"moment {left!r} has lost its message" for left in seen.moments - texts]
    sources = {source for fact in seen.facts.values() for source in fact.source_ids}
    return wrongs + [f"message {gone} is gone, its fact is not" for gone in sources - seen.messages.keys()]


def _dangling(memory: ContextMemory) -> list[str]:
    with memory.opened().use() as index:
        return [*_links(index), *_references(index)]


def _links(index: ResidentIndex) -> list[str]:
    """Each connection leads to a record that is there, and is seen alike from both ends."""
    wrongs = []
    for memory_id in index:
        for connection in index.stored(memory_id).connections:
            if connection.memory_id not in index:
                wrongs.append(f"{memory_id} is connected with {connection.memory_id}, which is gone")
        for other, strength in index.links(memory_id).items():
            if other in index and index.links(other).get(memory_id) != strength:
                wrongs.append(f"the connection of {memory_id} and {other} has one direction")
    return wrongs


def _references(index: ResidentIndex) -> list[str]:
    """Each record that another one names is there, and no two messages share a turn."""
    wrongs, turns = [], set[tuple[str | None, int | None]]()
    for memory_id in index:
        stored = index.stored(memory_id)
        named = [*stored.sources, *([stored.superseded_by] if stored.superseded_by else [])]
        wrongs += [f"{memory_id} names {one}, which is gone" for one in named if one not in index]
        if stored.kind == "message":
            if (stored.conversation_id, stored.turn) in turns:
                wrongs.append(f"turn {stored.turn} of {stored.conversation_id} is taken twice")
            turns.add((stored.conversation_id, stored.turn))
    return wrongs
