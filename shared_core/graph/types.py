"""What kind of thing an entity is, told by the relations that it stands in: no model, one table."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, get_args

from shared_core.extraction.predicates import positive
from shared_core.extraction.vocabulary import LANGUAGES, RELATIONS
from shared_core.records import Category

__all__ = ["ALIKE", "ENTITY_TYPES", "EntityType", "TypeVote", "types_of_ends", "winner"]

EntityType = Literal[
    "person", "organisation", "place", "project", "technology", "language", "animal", "role", "skill", "thing"
]
#: A type, and how much is to be said for it.
TypeVote = tuple[EntityType, int]

#: Of equal votes the earlier wins; ``thing`` has none and is what is left.
ENTITY_TYPES: tuple[EntityType, ...] = get_args(EntityType)

_Ends = tuple[EntityType | None, EntityType | None]


def _rows(subject: EntityType | None, obj: EntityType | None, predicates: str) -> dict[str, _Ends]:
    return dict.fromkeys(predicates.split(), (subject, obj))


#: Type of the subject and of the object by predicate; None where the predicate does not tell.
_BY_PREDICATE: dict[str, _Ends] = {
    **_rows("person", "organisation", "works_at works_for employed_by studies_at graduated_from founded"),
    **_rows("person", "organisation", "member_of volunteers_at interviewed_at company"),
    **_rows("person", "place", "lives_in born_in grew_up_in moved_from moved_to hometown visited"),
    **_rows("person", "place", "travels_to travelled_to traveled_to"),
    **_rows(None, "place", "located_in based_in headquartered_in capital_of"),
    **_rows("person", "project", "works_on leads maintains contributes_to"),
    **_rows("person", "role", "works_as has_role job_title wants_to_become"),
    **_rows("person", "language", "speaks native_language"),
    **_rows("person", "skill", "good_at skilled_in plays"),
    **_rows("person", "person", "married_to knows_person friend_of parent_of child_of sibling_of met"),
    **_rows("person", "person", "manages reports_to engaged_to dating"),
    **_rows("person", None, "name goes_by age birthday email phone_number address nationality has_degree"),
    **_rows("person", None, "allergic_to intolerant_to has_condition diet eats drinks likes loves dislikes"),
    **_rows("person", None, "prefers wants_to owns drives collects knows learns studies afraid_of from"),
    **_rows("person", None, "marital_status has_children has_sibling"),
    **_rows(None, "technology", "uses built_with written_in runs_on depends_on implemented_in powered_by"),
    **_rows(None, "technology", "uses_technology codes_in programs_in deployed_on compatible_with"),
    **_rows("person", "animal", "has_pet"),
}
#: What the object is where only the category of the fact tells.
_BY_CATEGORY: dict[Category, EntityType] = {"place": "place", "skill": "skill"}
#: A predicate says more than a category; who speaks is a person whatever else is said.
_PREDICATE_VOTES, _CATEGORY_VOTES, _SPEAKER_VOTES = 4, 1, 100
_POSSESSIVES = ("'s ", "’s ")
#: What is learnt or known is a language where the word is that of one.
_OF_LANGUAGES = frozenset({"learns", "knows", "studies", "teaches"})
#: Both ends are of one type, so that each tells what the other is.
ALIKE = frozenset({"related_to", "similar_to", "alternative_to", "successor_of", "replaces"})


def types_of_ends(
    subject: str, predicate: str, obj: str, *, category: Category | None, speaker: str | None
) -> tuple[list[TypeVote], list[TypeVote]]:
    """The votes of one statement for the types of its subject and its object.

    Args:
        subject: What it is about.
        predicate: How that relates; negated, it tells as much as the positive one.
        obj: To what.
        category: Of the fact that says it, if it is one.
        speaker: Who said it.
    """
    first, second = [*_told_by_name(subject)], [*_told_by_name(obj)]
    ends = _ends(predicate, obj.casefold() in LANGUAGES, obj[:1].isupper())
    for votes, told in ((first, ends[0]), (second, ends[1])):
        if told is not None:
            votes.append((told, _PREDICATE_VOTES))
    by_category = _BY_CATEGORY.get(category) if category is not None else None
    if by_category is not None and ends == (None, None):
        second.append((by_category, _CATEGORY_VOTES))
    if speaker is not None and speaker.casefold() == subject.casefold():
        first.append(("person", _SPEAKER_VOTES))
    return first, second


@lru_cache(maxsize=4_096)
def _ends(predicate: str, is_language: bool, is_capitalised: bool) -> _Ends:
    predicate = positive(predicate) or predicate
    if is_language and predicate in _OF_LANGUAGES:
        return "person", "language"
    known = _BY_PREDICATE.get(predicate)
    if known is not None:
        return known
    relation = RELATIONS.get(predicate.removeprefix("has_").removeprefix("ex_"))
    if predicate.startswith("has_") and relation is not None:
        return "person", "person" if is_capitalised and relation != "pet" else None
    return ("person", None) if predicate.startswith("favorite_") else (None, None)


@lru_cache(maxsize=65_536)
def _told_by_name(name: str) -> tuple[TypeVote, ...]:
    """What a name tells by itself: ``User`` and ``User's sister`` are persons, their dog is none."""
    folded = name.casefold()
    if folded == "user":
        return (("person", _PREDICATE_VOTES),)
    for mark in _POSSESSIVES:
        kind = RELATIONS.get(folded.rpartition(mark)[2]) if mark in folded else None
        if kind is not None:
            return (("animal" if kind == "pet" else "person", _PREDICATE_VOTES),)
    return ()


def winner(votes: Mapping[EntityType, int]) -> EntityType:
    """The type with the most votes; ``thing`` where there are none."""
    return max(ENTITY_TYPES, key=lambda one: votes.get(one, 0)) if votes else "thing"
