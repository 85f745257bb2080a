"""What a context shows already, so that nothing stands in it twice."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Literal

from shared_core.records import Memory

#: What was learnt says a message again when it has at least this part of the message's words.
COVERED = 0.6

_Name = tuple[Literal["record", "message"], str]

_WORD = re.compile(r"\w+")


class Shown:
    """The memories shown so far.

    A bubble stands for the one message that it came from. A fact, or a bubble of several messages, stands for
    a message if it has most of its words; a message shown stands for all that was learnt from it alone.
    """

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._texts: set[str] = set()
        self._messages: set[_Name] = set()
        self._stood_for: set[_Name] = set()
        self._words_about: defaultdict[_Name, set[str]] = defaultdict(set)

    def repeats(self, memory: Memory, *, by_text: bool = True) -> bool:
        """Whether ``memory`` would say again what is shown; ``by_text=False`` lets an equal text pass."""
        if memory.id in self._ids or (by_text and _key(memory.text) in self._texts):
            return True
        if memory.kind == "message":
            return any(name in self._stood_for or self._covers(memory, name) for name in _names(memory))
        learnt_from = _origins(memory)
        return bool(learnt_from) and self._messages.issuperset(learnt_from)

    def add(self, memory: Memory, *, cut: bool = False) -> None:
        """Remember that ``memory`` is shown; a message that is ``cut`` stands for nothing learnt from it."""
        self._ids.add(memory.id)
        self._texts.add(_key(memory.text))
        origins = _origins(memory)
        if memory.kind == "message":
            self._messages.update(() if cut else _names(memory))
        elif memory.kind == "bubble" and len(origins) == 1:
            self._stood_for.update(origins)
        else:
            words = _words(memory.text)
            for name in origins:
                self._words_about[name] |= words

    def _covers(self, memory: Memory, name: _Name) -> bool:
        if name not in self._words_about:
            return False
        return _has_most(self._words_about[name], memory.text)


def says_most_of(text: str, message: str) -> bool:
    """Whether ``text`` has most of the words of ``message``: little is lost where it stands for it."""
    return _has_most(_words(text), message)


def _has_most(words: set[str], message: str) -> bool:
    wanted = _words(message)
    return len(wanted & words) >= COVERED * len(wanted)


def _names(message: Memory) -> list[_Name]:
    """What a memory learnt from ``message`` may call it."""
    return [("record", message.id), ("message", message.message_id or message.id)]


def _origins(memory: Memory) -> list[_Name]:
    """The messages that ``memory`` was learnt from: by record where it says so, as ids repeat elsewhere."""
    if memory.kind in ("message", "summary", "block"):
        return []
    records: list[_Name] = [("record", record_id) for record_id in memory.sources]
    return records or [("message", message_id) for message_id in memory.source_ids]


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def _key(text: str) -> str:
    """``text`` without case, punctuation and spacing; as it is where nothing else is in it."""
    return " ".join(_WORD.findall(text.casefold())) or text.strip()
