"""The predicates of facts: few, in snake case, and the same for the same kind of statement.

A statement that something ended has the predicate of the positive one with ``no_longer_`` before it, and
one that something is not so has ``not_``: ``no_longer_works_at Nokia`` withdraws ``works_at Nokia``, and so
does ``not_works_at``. One negation has a word of its own: ``dislikes`` stands for "do not like" and "do not
love", and withdraws ``likes`` and ``loves``. A negated statement never yields the positive predicate.
"""

from __future__ import annotations

NO_LONGER = "no_longer_"
NOT = "not_"

#: Of which a subject has one value at a time, so that a later statement supersedes an earlier one.
#: ``favorite_…`` predicates (``favorite_color``) are single-valued as well.
SINGLE_VALUED = frozenset(
    {"name", "goes_by", "works_at", "works_as", "lives_in", "from", "born_in", "age", "birthday"}
    | {
        "marital_status",
        "married_to",
        "has_wife",
        "has_husband",
        "has_spouse",
        "has_fiance",
        "has_boss",
        "diet",
    }
    | {
        "has_mother",
        "has_father",
        "native_language",
        "email",
        "phone_number",
        "address",
        "time_zone",
        "hometown",
    }
    | {"studies_at", "has_children"}
)


def is_single_valued(predicate: str) -> bool:
    """Whether a later fact with this predicate replaces an earlier one of the same subject."""
    return predicate in SINGLE_VALUED or predicate.startswith("favorite_")


def positive(predicate: str) -> str | None:
    """The predicate that a negated one withdraws; None for one that is not negated."""
    for prefix in (NO_LONGER, NOT):
        if predicate.startswith(prefix):
            return predicate[len(prefix) :]
    return None
