from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from shared_core.extraction.answer import BubbleAnswer, FactAnswer, TripletAnswer, as_weight


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (0.8, 0.8),
        (0, 0.0),
        (1, 1.0),
        (1.2, 1.0),
        (8, 0.8),
        ("8", 0.8),
        ("8/10", 0.8),
        ("8 out of 10", 0.8),
        ("8 of 10", 0.8),
        (10, 1.0),
        (85, 0.85),
        ("85%", 0.85),
        ("85 %", 0.85),
        ("85/100", 0.85),
        ("0,8", 0.8),
        ("high", 0.8),
        ("HIGH", 0.8),
        ("very high (0.9)", 0.9),
        ("medium", 0.5),
        ("Low importance", 0.2),
        (-1, 0.7),
        (101, 0.7),
        ("900%", 0.7),
        (10**400, 0.7),
        (math.nan, 0.7),
        (math.inf, 0.7),
        ("NaN", 0.7),
        ("whatever", 0.7),
        ("", 0.7),
        (None, 0.7),
        (True, 0.7),
        ([0.8], 0.7),
        ({}, 0.7),
    ],
)
def test_importance_is_understood_or_the_default(written: Any, read: float) -> None:
    fact = FactAnswer.model_validate({"text": "User has a dog", "importance": written})
    assert fact.importance == pytest.approx(read)


@given(st.integers() | st.floats() | st.text() | st.none() | st.booleans())
def test_importance_is_always_from_0_to_1(written: Any) -> None:
    assert 0 <= as_weight(written, 0.5) <= 1


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("place", "place"),
        ("Work", "work"),
        ("job", "work"),
        ("personal health", "health"),
        ("dietary preference", "preference"),
        ("banana", "other"),
        (None, "other"),
        (7, "other"),
        (["work"], "other"),
    ],
)
def test_an_unknown_category_is_what_it_means_or_other(written: Any, read: str) -> None:
    assert FactAnswer.model_validate({"text": "User has a dog", "category": written}).category == read


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ([1, 2], [1, 2]),
        (1, [1]),
        ("1", [1]),
        ("[1], [3]", [1, 3]),
        (["message 2", 2.0, 2], [2]),
        ([1.5, True, None, [1]], []),
        (None, []),
        ("the first", []),
        ([10**30], []),
        (list(range(1000)), list(range(20))),
    ],
)
def test_numbers_of_messages_are_found(written: Any, read: list[int]) -> None:
    assert FactAnswer.model_validate({"text": "User has a dog", "messages": written}).messages == read


def test_other_names_of_a_key_are_known() -> None:
    fact = FactAnswer.model_validate({"Content": "User has\n a dog\x00", "Type": "pet", "Message ID": 3})
    assert fact == FactAnswer(text="User has a dog", category="family", messages=[3])
    bubble = BubbleAnswer.model_validate({"memory": "User ran", "date": " last\tFriday "})
    assert bubble.occurred_at == "last Friday"
    triplet = TripletAnswer.model_validate({"subject": "Anna", "relation": "works at", "object": "Google"})
    assert TripletAnswer.model_validate(["Anna", "works at", "Google"]) == triplet


@pytest.mark.parametrize(
    "written", [None, 7, "", " \n", [], {}, {"text": None}, {"text": ["a"]}, {"text": "\x00"}]
)
def test_an_item_without_a_text_is_none(written: Any) -> None:
    with pytest.raises(ValidationError):
        FactAnswer.model_validate(written)


@pytest.mark.parametrize("written", [1715000000, None, "", ["2024"], {}])
def test_a_date_that_is_no_text_is_none(written: Any) -> None:
    assert BubbleAnswer.model_validate({"text": "User ran", "occurred_at": written}).occurred_at is None
