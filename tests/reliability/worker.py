"""The child that is killed: checks what its predecessor left, then changes things until it dies."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import chromadb
from chromadb.config import Settings as ChromaSettings

from shared_core import ContextMemory
from shared_core.ids import fact_id
from shared_core.settings import Settings
from tests.reliability.checking import fact_text, moment_text, seen_in, unlike_rebuilt, wrongs_after_kill
from tests.reliability.journal import Journal, read_journal
from tests.shared_core.building import NotesExtractor, said

NAMESPACE = "survivor"
#: Nothing is to leave by itself: what is gone was erased by the child.
SETTINGS = Settings(capacity=1_000_000, prune_confidence=0.0, connection_threshold=0.5)
#: How often each kind of change comes.
WEIGHTS = {"add": 12, "later": 2, "update": 3, "delete": 2, "erase": 3, "maintain": 1, "search": 2}
#: Of how many changes an event loop waits: these are written in parts to an embedded folder.
IN_LOOP = 0.5


def opened(place: str, *, is_slow: bool) -> ContextMemory:
    """The memory that is fought over."""
    extractor = NotesExtractor(is_slow=is_slow)
    if not place.isdecimal():
        return ContextMemory(place, NAMESPACE, extractor=extractor, settings=SETTINGS)
    client = chromadb.HttpClient("127.0.0.1", int(place), settings=ChromaSettings(anonymized_telemetry=False))
    return ContextMemory(client, NAMESPACE, extractor=extractor, settings=SETTINGS)


class Worker:
    """Makes random changes, each announced before and confirmed after."""

    def __init__(self, memory: ContextMemory, journal: Journal, seed: int) -> None:
        self.memory = memory
        self._journal = journal
        self._random = random.Random(seed)
        self._seed = seed
        self._made = 0
        seen = seen_in(memory)
        self._messages = sorted(seen.messages)
        self._facts = {key: fact.text for key, fact in sorted(seen.facts.items())}
        self._changes: dict[str, Callable[[], None]] = {
            "add": self.add,
            "later": lambda: self.add(wait=False),
            "update": self.update,
            "delete": self.delete,
            "erase": self.erase,
            "maintain": self.maintain,
            "search": self.search,
        }

    def step(self) -> None:
        names = list(WEIGHTS)
        name = self._random.choices(names, [WEIGHTS[name] for name in names])[0]
        self._changes[name]()

    def add(self, *, wait: bool = True) -> None:
        ids = [f"{self._seed}-{self._made + n}" for n in range(self._random.choice((1, 2, 2, 3, 12, 24)))]
        self._made += len(ids)
        number = self._journal.begin("add", ids=ids)
        messages = [said(f"fact: {fact_text(one)}\nmoment: {moment_text(one)}", one) for one in ids]
        conversation = f"c{self._random.randrange(3)}"
        if self._random.random() < IN_LOOP:
            asyncio.run(self.memory.aadd(messages, conversation, wait=wait))
        else:
            self.memory.add(messages, conversation, wait=wait)
        self._journal.end(number)
        if not wait:
            self.memory.flush()
        self._messages += ids
        self._facts |= {fact_id(fact_text(one)): fact_text(one) for one in ids}

    def update(self) -> None:
        if self._facts:
            key = self._random.choice(list(self._facts))
            text = f"{self._facts[key].partition(', ')[0]}, count {self._random.randrange(10**6)}"
            number = self._journal.begin("update", id=key, text=text)
            self.memory.update(key, text)
            self._journal.end(number)
            self._facts[key] = text

    def delete(self) -> None:
        if self._facts:
            key = self._random.choice(list(self._facts))
            number = self._journal.begin("delete", id=key)
            self.memory.delete(key)
            self._journal.end(number)
            del self._facts[key]

    def erase(self) -> None:
        if self._messages:
            message_id = self._messages.pop(self._random.randrange(len(self._messages)))
            number = self._journal.begin("erase", id=message_id)
            if self._random.random() < IN_LOOP:
                asyncio.run(self.memory.aerase(message_id=message_id))
            else:
                self.memory.erase(message_id=message_id)
            self._journal.end(number)
            self._facts.pop(fact_id(fact_text(message_id)), None)

    def maintain(self) -> None:
        number = self._journal.begin("maintain")
        self.memory.maintain()
        self._journal.end(number)

    def search(self) -> None:
        self.memory.search("Who rode to the lake?")


def work(place: str, journal_path: Path, seed: int, steps: int | None, parent: Connection) -> None:
    """Check, say ``ready`` with two figures, and change things until killed, or for so many steps.

    Args:
        place: A folder, or the port of a Chroma server on loopback.
        journal_path: What this and earlier children did.
        seed: Of what this one does.
        steps: How much of it; None for ever.
        parent: Is told ``("ready", pending, records)``, ``("done", "")`` or ``("wrong", what)``.
    """
    told = read_journal(journal_path, may_be_late=place.isdecimal())
    with opened(place, is_slow=seed % 2 == 0) as memory, Journal(journal_path) as journal:
        wrongs, pending = wrongs_after_kill(memory, told)
        if wrongs:
            parent.send(("wrong", "\n".join(wrongs[:10])))
            return
        seen = seen_in(memory)
        facts = {key: fact.text for key, fact in seen.facts.items()}
        journal.write({"found": {"messages": sorted(seen.messages), "facts": facts}})
        with memory.opened().use() as index:
            parent.send(("ready", pending, len(index)))
        worker = Worker(memory, journal, seed)
        count = 0
        while steps is None or count < steps:
            worker.step()
            count += 1
        wrongs = unlike_rebuilt(memory)
        parent.send(("wrong" if wrongs else "done", "\n".join(wrongs[:10])))
