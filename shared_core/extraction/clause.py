"""What a sentence says of one subject, and whether it is affirmed, denied or over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Polarity = Literal["yes", "no_longer", "not"]


@dataclass(frozen=True)
class Subject:
    """Whom a clause is about.

    Attributes:
        name: As the subject of a triplet: ``User``, ``Anna``, ``User's sister``.
        shown: As the subject of a sentence: ``User's sister Anna``.
        relation: What it is to the speaker, in the speaker's word: ``sister``.
        is_self: Whether it is the speaker.
        is_plural: Whether its verb is in the plural.
    """

    name: str
    shown: str
    relation: str | None = None
    is_self: bool = False
    is_plural: bool = False


@dataclass(frozen=True)
class Clause:
    """What is said of a subject, its verb in the form that follows "I".

    Attributes:
        subject: Whom it is about.
        rest: Verb and what follows.
        polarity: Affirmed, denied, or over.
        used_to: Whether "over" was said as "used to".
    """

    subject: Subject
    rest: str
    polarity: Polarity = "yes"
    used_to: bool = False
