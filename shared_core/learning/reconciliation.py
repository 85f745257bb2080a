"""What a new statement does to the ones that are known: ADD, UPDATE, DELETE or NOOP (seed 000).

Rules decide where no model does. They look at statements with the same subject only, and never at how similar
two texts are:

============================================  =====================================================
new statement                                 what becomes of the known one
============================================  =====================================================
the same claim in other words                 NOOP: mentioned once more
less specific: *Berlin* after *Berlin, Mitte*  NOOP: mentioned once more
more specific: *green tea* after *tea*        UPDATE: superseded
another value of what has one at a time       UPDATE: superseded
that it is not, or no longer, so              DELETE: superseded by that statement
that it is so after all                       DELETE: the denial is superseded
anything else                                 ADD
============================================  =====================================================

A statement that is superseded stays, with its history, and leaves the default view.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from shared_core.extraction.predicates import NO_LONGER, NOT, is_single_valued, positive
from shared_core.extraction.schema import ExtractedFact
from shared_core.index.entities import entity_key
from shared_core.records import Memory, Usage

Event = Literal["ADD", "UPDATE", "DELETE", "NOOP"]
#: The objects of what is known of a subject with a predicate, by the id of the memory that says so.
Held = Callable[[str, str], Mapping[str, str]]

#: Negations with a word of their own, and what they withdraw.
_OPPOSITES: Mapping[str, tuple[str, ...]] = {"dislikes": ("likes", "loves")}
_WORD = re.compile(r"\w+")


class Statement(Protocol):
    """A fact or a triplet, new or known."""

    @property
    def subject(self) -> str | None:
        """What it is about."""
        ...

    @property
    def predicate(self) -> str | None:
        """How it relates, in snake case."""
        ...

    @property
    def object(self) -> str | None:
        """To what."""
        ...


@dataclass(frozen=True)
class Decision:
    """What a new statement does.

    Attributes:
        event: As in the table above.
        targets: Ids of the memories that it supersedes; of NOOP the one that it repeats.
        text: The words that the statement is stored with, where not its own.
    """

    event: Event
    targets: tuple[str, ...] = ()
    text: str | None = None


@dataclass(frozen=True)
class Case:
    """A new fact, and the known ones that are nearest to it, nearest first."""

    fact: ExtractedFact
    known: tuple[Memory, ...]


@runtime_checkable
class Reconciler(Protocol):
    """Decides of all new facts of a batch at once, where a model can do it better than rules."""

    def reconcile(self, cases: Sequence[Case]) -> tuple[Mapping[int, Decision], Usage]:
        """Decisions by the place of their case, and what they cost; the rules decide of those left out."""
        ...


def decide(statement: Statement, held: Held) -> Decision:
    """What a statement does by the rules above.

    Args:
        statement: The new one.
        held: What is known and current, of the same kind.
    """
    subject, predicate, said = statement.subject, statement.predicate, statement.object
    if not subject or not predicate or not said:
        return Decision("ADD")
    known = held(subject, predicate)
    for memory_id, value in known.items():
        if _words(said) <= _words(value):
            return Decision("NOOP", (memory_id,))
    denied = _denied(subject, predicate, said, held)
    single = is_single_valued(predicate)
    refined = [one for one, value in known.items() if single or _words(value) < _words(said)]
    if refined:
        return Decision("UPDATE", (*refined, *denied))
    return Decision("DELETE", denied) if denied else Decision("ADD")


def _denied(subject: str, predicate: str, said: str, held: Held) -> tuple[str, ...]:
    """The ids of what a statement withdraws: what it denies, or what denied it."""
    base = positive(predicate)
    if base is not None:
        contrary = [base]
    else:
        contrary = [NO_LONGER + predicate, NOT + predicate, *_OPPOSITES.get(predicate, ())]
        contrary += [denial for denial, withdrawn in _OPPOSITES.items() if predicate in withdrawn]
    return tuple(
        memory_id
        for other in contrary
        for memory_id, value in held(subject, other).items()
        if _words(said) <= _words(value) or _words(value) <= _words(said)
    )


def _words(value: str) -> frozenset[str]:
    return frozenset(_WORD.findall(entity_key(value))) or frozenset((entity_key(value),))
