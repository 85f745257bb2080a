"""One thing that memories speak of."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from shared_core.graph.types import EntityType

__all__ = ["Entity"]


@dataclass(frozen=True, slots=True)
class Entity:
    """A person, a place, a technology: whatever stands at an end of a relation.

    Attributes:
        name: Its spelling that was met most often; for the user, the name that they gave.
        type: What it is, as far as its relations tell; ``thing`` where they do not.
        aliases: Its other spellings, the most frequent first.
        mention_count: How often its relations were said, all together.
        first_mentioned, last_mentioned: When the first and the last of what speaks of it was said. UTC.
        memory_ids: The facts and triplets that speak of it, oldest first.
        conversations: Where it was spoken of, by ``conversation_id``, in order of first mention.
        sessions: The same by ``session_id``.
    """

    name: str
    type: EntityType
    aliases: tuple[str, ...]
    mention_count: int
    first_mentioned: datetime
    last_mentioned: datetime
    memory_ids: tuple[str, ...]
    conversations: tuple[str, ...]
    sessions: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The same in values of JSON."""
        return {
            **asdict(self),
            "aliases": list(self.aliases),
            "first_mentioned": self.first_mentioned.isoformat(),
            "last_mentioned": self.last_mentioned.isoformat(),
            "memory_ids": list(self.memory_ids),
            "conversations": list(self.conversations),
            "sessions": list(self.sessions),
        }
