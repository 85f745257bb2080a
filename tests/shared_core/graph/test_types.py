from __future__ import annotations

import pytest

from shared_core.graph.types import EntityType, types_of_ends, winner
from shared_core.records import Category


def types(
    subject: str, predicate: str, obj: str, category: Category | None = None, speaker: str | None = None
) -> tuple[EntityType, EntityType]:
    first, second = types_of_ends(subject, predicate, obj, category=category, speaker=speaker)
    return winner(dict(first)), winner(dict(second))


@pytest.mark.parametrize(
    ("predicate", "expected"),
    [
        ("works_at", ("person", "organisation")),
        ("no_longer_works_at", ("person", "organisation")),
        ("not_lives_in", ("person", "place")),
        ("works_on", ("person", "project")),
        ("uses", ("thing", "technology")),
        ("favorite_color", ("person", "thing")),
        ("has_sister", ("person", "person")),
        ("has_ex_wife", ("person", "person")),
        ("has_pet", ("person", "animal")),
        ("has_wheels", ("thing", "thing")),
        ("orbits", ("thing", "thing")),
    ],
)
def test_the_predicate_tells_what_its_ends_are(
    predicate: str, expected: tuple[EntityType, EntityType]
) -> None:
    assert types("Kim", predicate, "Mars") == expected


def test_a_relative_without_a_name_is_no_person() -> None:
    assert types("Kim", "has_sister", "sister") == ("person", "thing")


def test_what_is_learnt_is_a_language_where_its_word_is_one() -> None:
    assert types("Kim", "learns", "Spanish")[1] == "language"
    assert types("Kim", "learns", "chess")[1] == "thing"


def test_a_category_tells_where_the_predicate_does_not() -> None:
    assert types("Kim", "orbits", "Mars", category="place") == ("thing", "place")
    assert types("Kim", "works_at", "Mars", category="place") == ("person", "organisation")


def test_who_speaks_is_a_person_and_so_are_relatives_by_name() -> None:
    assert types("Kim", "orbits", "Mars", speaker="kim")[0] == "person"
    assert types("User", "orbits", "User’s dog") == ("person", "animal")
    assert types("User's sister", "orbits", "Mars")[0] == "person"


def test_of_equal_votes_the_earlier_type_wins() -> None:
    assert winner({"technology": 4, "project": 4}) == "project"
    assert winner({}) == "thing"
