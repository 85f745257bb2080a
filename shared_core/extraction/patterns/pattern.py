"""One form of words and what it states."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from shared_core.extraction.agreement import third_singular
from shared_core.extraction.expressions import Expression
from shared_core.records import Category

#: What the object of a pattern is, and so how it is cut out of the clause (``objects.py``).
ObjectKind = Literal["place", "organisation", "thing", "things", "role", "action", "name", "word"]

SURE = 0.95
LIKELY = 0.8
DOUBTFUL = 0.6


@dataclass(frozen=True)
class Pattern:
    """One form of words.

    Attributes:
        starts: First words of a clause that it may match.
        predicate: Of the triplet.
        category: Of the fact.
        expression: Matches the verb; what follows is the object, unless it has a group ``object``.
        kind: How the object is cut out.
        base, verb: The verb of the fact's sentence: ``live in``, ``lives in``.
        confidence: Before hedges.
        is_negatable: Whether "I don't …" of it is worth a fact.
        is_anyones: Whether it is also believed of third persons.
    """

    starts: tuple[str, ...]
    predicate: str
    category: Category
    expression: Expression
    kind: ObjectKind
    base: str
    verb: str
    confidence: float
    is_negatable: bool
    is_anyones: bool

    def match(self, rest: str) -> re.Match[str] | None:
        """The verb at the start of ``rest``."""
        return self.expression.match(rest)


def row(
    starts: str,
    predicate: str,
    category: Category,
    expression: str,
    kind: ObjectKind,
    base: str,
    verb: str = "",
    confidence: float = SURE,
    *,
    negatable: bool = True,
    anyones: bool = True,
) -> Pattern:
    """A pattern; without ``verb``, that of the fact is ``base`` as it follows "she"."""
    source = Expression(rf"(?:{expression})(?:\s+|(?=[^\w\s]|$))", ignore_case=True)
    return Pattern(
        tuple(starts.split()),
        predicate,
        category,
        source,
        kind,
        base,
        verb or _inflected(base),
        confidence,
        negatable,
        anyones,
    )


def _inflected(base: str) -> str:
    first, space, after = base.partition(" ")
    return {"be": "is", "have": "has"}.get(first, third_singular(first)) + space + after
