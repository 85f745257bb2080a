"""A fact before it knows its message."""

from __future__ import annotations

from dataclasses import dataclass

from shared_core.records import Category

#: How much a later conversation loses without a fact of each category.
IMPORTANCE: dict[Category, float] = {
    "name": 0.9,
    "rule": 0.9,
    "health": 0.9,
    "family": 0.8,
    "work": 0.8,
    "place": 0.8,
    "goal": 0.7,
    "preference": 0.7,
    "skill": 0.6,
    "possession": 0.6,
    "other": 0.5,
}


@dataclass(frozen=True, slots=True)
class Fact:
    """See ``ExtractedFact``; without ``text`` it is a triplet only."""

    text: str
    category: Category
    confidence: float
    subject: str
    predicate: str
    object: str

    @property
    def importance(self) -> float:
        """That of its category."""
        return IMPORTANCE[self.category]
