"""Which memories speak of which thing: the ends of facts and triplets, by name."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

#: A thing that more memories than this speak of links none of them: it is what everything is about.
MOST_MENTIONS = 50
#: Longest name that is looked for in a question, in words.
MOST_WORDS = 4


def entity_key(name: str) -> str:
    """The form under which a thing is known: without case and needless space."""
    return " ".join(name.casefold().split())


class EntityIndex:
    """The memories that name each thing as their subject or object."""

    def __init__(self) -> None:
        self._mentions: dict[str, dict[str, None]] = {}
        self._names: dict[str, tuple[str, ...]] = {}

    def put(self, memory_id: str, *names: str | None) -> None:
        """Set the things that a memory speaks of."""
        self.remove(memory_id)
        keys = tuple(dict.fromkeys(entity_key(name) for name in names if name))
        if keys:
            self._names[memory_id] = keys
        for key in keys:
            self._mentions.setdefault(key, {})[memory_id] = None

    def remove(self, memory_id: str) -> None:
        """Take a memory out; harmless if it is unknown."""
        for key in self._names.pop(memory_id, ()):
            mentions = self._mentions[key]
            del mentions[memory_id]
            if not mentions:
                del self._mentions[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._mentions)

    def mentions(self, name: str) -> tuple[str, ...]:
        """The ids of the memories that speak of a thing."""
        return tuple(self._mentions.get(entity_key(name), ()))

    def named_in(self, words: Sequence[str]) -> set[str]:
        """The ids of the memories that speak of a thing which these words name, one after the other.

        Args:
            words: In lower case, such as those of a question.
        """
        found: set[str] = set()
        for start in range(len(words)):
            for end in range(start + 1, min(len(words), start + MOST_WORDS) + 1):
                mentions = self._mentions.get(" ".join(words[start:end]), {})
                if len(mentions) <= MOST_MENTIONS:
                    found.update(mentions)
        return found

    def links(self, memory_id: str) -> Mapping[str, float]:
        """The memories that share a thing with this one, each with the strength of that link.

        The more memories speak of a thing, the less each says of the others: 1 ÷ log₂(1 + how many), which is
        the fan effect of associative memory (Anderson, 1974).
        """
        found: dict[str, float] = {}
        for key in self._names.get(memory_id, ()):
            mentions = self._mentions[key]
            if 1 < len(mentions) <= MOST_MENTIONS:
                strength = 1.0 / math.log2(1.0 + len(mentions))
                for other in mentions:
                    found[other] = max(strength, found.get(other, 0.0))
        found.pop(memory_id, None)
        return found
