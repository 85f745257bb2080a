"""Which facts and triplets say something of the same subject with the same predicate."""

from __future__ import annotations

from shared_core.index.entities import entity_key

Claim = tuple[str, str, str]


class ClaimIndex:
    """The memories of each kind by subject and predicate."""

    def __init__(self) -> None:
        self._ids: dict[Claim, dict[str, None]] = {}
        self._claims: dict[str, Claim] = {}

    def put(self, memory_id: str, kind: str, subject: str | None, predicate: str | None) -> None:
        """Set what a memory claims; nothing, where it names no subject or no predicate."""
        self.remove(memory_id)
        if subject and predicate:
            claim = (kind, entity_key(subject), predicate)
            self._claims[memory_id] = claim
            self._ids.setdefault(claim, {})[memory_id] = None

    def remove(self, memory_id: str) -> None:
        """Take a memory out; harmless if it is unknown."""
        claim = self._claims.pop(memory_id, None)
        if claim is not None:
            del self._ids[claim][memory_id]
            if not self._ids[claim]:
                del self._ids[claim]

    def of(self, kind: str, subject: str, predicate: str) -> tuple[str, ...]:
        """The ids of the memories of a kind that say this of this subject, replaced ones included."""
        return tuple(self._ids.get((kind, entity_key(subject), predicate), ()))
