"""What a system must do to be measured, and the turns that it is given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chromadb.api import ClientAPI

#: Records of one bulk write; Chroma takes 5,461 at most.
BATCH = 2_000


@dataclass(frozen=True)
class Turn:
    """One message; ``speaker`` is the name that the text is stored with, if there is one."""

    id: str
    role: str
    text: str
    moment: datetime
    conversation: str
    speaker: str | None = None

    @property
    def document(self) -> str:
        """The text that a peer stores: who spoke, then what."""
        return f"{self.speaker}: {self.text}" if self.speaker else self.text

    @property
    def line(self) -> str:
        """The turn as a line of a context."""
        speaker = self.speaker or self.role.capitalize()
        return f"- [{self.moment.date().isoformat()}] {speaker}: {self.text}\n"


class Peer(ABC):
    """A memory over a folder, with one and the same embedder as all others.

    Namespaces are names that Chroma takes for a collection; each peer keeps them apart in the way that its
    documentation shows.
    """

    @abstractmethod
    def load(self, namespace: str, turns: Sequence[Turn]) -> None:
        """Store each turn as a record of its own, by the fastest way that leaves the same records."""

    @abstractmethod
    def add(self, namespace: str, pair: Sequence[Turn]) -> None:
        """Store what a user and an assistant have said, in the way that the documentation shows."""

    @abstractmethod
    def search(self, namespace: str, query: str, limit: int) -> list[str]:
        """The ids of the turns that were found, best first; ``""`` for a hit that is no turn."""

    def bulk(self, namespace: str, turns: Sequence[Turn]) -> None:
        """Store many turns by the public way; ``load`` unless that is a short cut."""
        self.load(namespace, turns)

    def contexts(self, namespace: str, query: str, budgets: Sequence[int]) -> list[list[str]] | None:
        """Of contexts within so many tokens, the ids of the turns; None if it builds no contexts."""
        return None

    def records(self, namespace: str) -> int | None:
        """How many records were made of the turns; None for one of each."""
        return None

    def overhead(self) -> float | None:
        """Milliseconds of each search that come from how it is measured here; None for none."""
        return None

    def close(self) -> None:  # noqa: B027 - many have nothing to let go of
        """Let go of files and servers."""


class TurnIds:
    """Which turn a text came from, for peers that give back no more than the text."""

    def __init__(self) -> None:
        self._ids: defaultdict[str, list[str]] = defaultdict(list)

    def note(self, text: str, turn_id: str) -> None:
        """Remember where ``text`` came from; the same text may come from several turns."""
        self._ids[text].append(turn_id)

    def of(self, texts: Iterable[str]) -> list[str]:
        """The id of each text; a text that comes again stands for the next turn of the same words."""
        seen: defaultdict[str, int] = defaultdict(int)
        found = []
        for text in texts:
            ids = self._ids.get(text, [])
            found.append(ids[seen[text]] if seen[text] < len(ids) else "")
            seen[text] += 1
        return found


def batches(turns: Sequence[Turn], size: int = BATCH) -> Iterator[Sequence[Turn]]:
    """``turns`` in pieces of ``size``."""
    for start in range(0, len(turns), size):
        yield turns[start : start + size]


def chroma_client(folder: str) -> ClientAPI:
    """Embedded Chroma as it comes, without telemetry."""
    import chromadb
    from chromadb.config import Settings

    return chromadb.PersistentClient(folder, settings=Settings(anonymized_telemetry=False))


def rows(vectors: Any) -> list[list[float]]:
    """``float32 [n, d]`` as the lists of floats that frameworks ask for."""
    listed: list[list[float]] = vectors.tolist()
    return listed
