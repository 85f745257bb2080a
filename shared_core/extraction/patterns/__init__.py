"""What a clause can state: one row for each form of words, in files by what it is about.

A row is matched at the start of a clause whose verb has the form that follows "I" (``clauses.py``).
Confidence says how often the form of words means what it seems to.
"""

from __future__ import annotations

from shared_core.extraction.patterns import health, household, identity, places, skills, tastes, work
from shared_core.extraction.patterns.pattern import Pattern

#: Of several rows that match, the first wins.
_ALL = (
    *identity.ROWS,
    *work.ROWS,
    *places.ROWS,
    *household.ROWS,
    *health.ROWS,
    *tastes.ROWS,
    *skills.ROWS,
)
_BY_START: dict[str, tuple[Pattern, ...]] = {}
for _pattern in _ALL:
    for _start in _pattern.starts:
        _BY_START[_start] = (*_BY_START.get(_start, ()), _pattern)


def patterns_for(start: str) -> tuple[Pattern, ...]:
    """The patterns that a clause with this first word may match, in order."""
    return _BY_START.get(start, ())
