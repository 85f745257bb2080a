"""What a context shows already, so that nothing stands in it twice."""

from __future__ import annotations

import re
from collections import defaultdict

from shared_core.records import Memory

#: What was learnt says a message again when it has at least this part of the message's words.
COVERED = 0.6

_WORD = re.compile(r"\w+")


class Shown:
    """The memories shown so far.

    A bubble stands for the one message that it came from. A fact, or a bubble of several messages, stands for
    a message if it has most of its words; a message shown stands for all that was learnt from it alone.
    """

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._texts: set[str] = set()
        self._messages: set[str] = set()
        self._stood_for: set[str] = set()
        self._words_about: defaultdict[str, set[str]] = defaultdict(set)

    def repeats(self, memory: Memory, *, by_text: bool = True) -> bool:
        """Whether ``memory`` would say again what is shown; ``by_text=False`` lets an equal text pass."""
        if memory.id in self._ids or (by_text and _key(memory.text) in self._texts):
            return True
        if memory.kind != "message":
            learnt = memory.kind not in ("summary", "block")
            return learnt and bool(memory.source_ids) and self._messages.issuperset(memory.source_ids)
        if memory.message_id is None:
            return False
        return memory.message_id in self._messages | self._stood_for or self._covers(
            memory, memory.message_id
        )

    def add(self, memory: Memory) -> None:
        """Remember that ``memory`` is shown."""
        self._ids.add(memory.id)
        self._texts.add(_key(memory.text))
        if memory.kind == "message" and memory.message_id is not None:
            self._messages.add(memory.message_id)
        elif memory.kind == "bubble" and len(memory.source_ids) == 1:
            self._stood_for.update(memory.source_ids)
        elif memory.kind not in ("summary", "block"):
            words = _words(memory.text)
            for source_id in memory.source_ids:
                self._words_about[source_id] |= words

    def _covers(self, memory: Memory, message_id: str) -> bool:
        if message_id not in self._words_about:
            return False
        words = _words(memory.text)
        return len(words & self._words_about[message_id]) >= COVERED * len(words)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def _key(text: str) -> str:
    """``text`` without case, punctuation and spacing; as it is where nothing else is in it."""
    return " ".join(_WORD.findall(text.casefold())) or text.strip()
