"""One relation between two things."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

__all__ = ["Relation"]


@dataclass(frozen=True, slots=True)
class Relation:
    """What a triplet says, a fact, or both: ``Alice works_at Acme``.

    Attributes:
        subject: Name of the entity that it is about.
        predicate: How it relates, in snake case.
        object: Name of the entity that it relates to.
        confidence: 0 to 1; the highest of what says it.
        mention_count: How often it was said.
        current: False where it was superseded.
        memory_id: The memory that says it: the triplet where there is one, else the fact.
        memory_ids: Every memory that says it, ``memory_id`` first.
        first_mentioned, last_mentioned: When it was first and last said. UTC.
        conversations: Where it was said, by ``conversation_id``, in order.
        sessions: The same by ``session_id``.
        source_ids: The ``message_id`` of each message that says it, first mention first.
    """

    subject: str
    predicate: str
    object: str
    confidence: float
    mention_count: int
    current: bool
    memory_id: str
    memory_ids: tuple[str, ...]
    first_mentioned: datetime
    last_mentioned: datetime
    conversations: tuple[str, ...]
    sessions: tuple[str, ...]
    source_ids: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.subject} {self.predicate} {self.object}"

    def to_dict(self) -> dict[str, Any]:
        """The same in values of JSON."""
        return {
            **asdict(self),
            "memory_ids": list(self.memory_ids),
            "first_mentioned": self.first_mentioned.isoformat(),
            "last_mentioned": self.last_mentioned.isoformat(),
            "conversations": list(self.conversations),
            "sessions": list(self.sessions),
            "source_ids": list(self.source_ids),
        }
