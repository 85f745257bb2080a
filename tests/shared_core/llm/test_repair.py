from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from shared_core.extraction.answer import Answer
from shared_core.llm import Reading, read_answer

FACT = {"messages": [1], "text": "User lives in Berlin", "category": "place", "importance": 0.8}
BUBBLE = {"messages": [2], "text": "User ran a race", "importance": 0.5, "occurred_at": "2024-05-03"}
TRIPLET = {"messages": [1], "subject": "User", "predicate": "lives_in", "object": "Berlin", "confidence": 0.9}
WHOLE = {"facts": [FACT], "bubbles": [BUBBLE], "triplets": [TRIPLET]}


def read(value: Any) -> Reading[Answer]:
    return read_answer(value if isinstance(value, str) else json.dumps(value), Answer)


def held(reading: Reading[Answer]) -> dict[str, Any]:
    return reading.value.model_dump(mode="json")


def test_a_good_answer_needs_no_repair() -> None:
    assert read(WHOLE) == Reading(Answer.model_validate(WHOLE), repaired=0, dropped=0)


@pytest.mark.parametrize(
    "value",
    [
        f"Here you go:\n```json\n{json.dumps(WHOLE)}\n```",
        {"result": WHOLE},
        {"response": {"data": WHOLE}},
        [WHOLE],
        [FACT, BUBBLE, TRIPLET],
        {"facts": FACT, "bubbles": BUBBLE, "triplets": TRIPLET},
        {"Semantic": [FACT], "Episodic": [BUBBLE], "Triples": [TRIPLET]},
        "\n".join(json.dumps(part) for part in (FACT, BUBBLE, TRIPLET)),
        "\n".join(json.dumps({key: part}) for key, part in WHOLE.items()),
        {**WHOLE, "notes": "I hope that helps"},
        json.dumps(WHOLE)[:-2],
        {"facts": {"1": FACT}, "bubbles": {"a": [BUBBLE]}, "triplets": [TRIPLET]},
    ],
)
def test_every_disguise_of_an_answer_is_seen_through(value: Any) -> None:
    reading = read(value)
    assert held(reading) == WHOLE
    assert (reading.repaired, reading.dropped) == (1, 0)


def test_items_that_fit_nowhere_are_dropped_and_counted() -> None:
    reading = read(
        {"facts": [FACT, 7, None, {"text": ""}, {"text": 3}, {"importance": 1}, []], "bubbles": []}
    )
    assert (held(reading)["facts"], reading.dropped, reading.repaired) == ([FACT], 6, 0)


def test_items_are_repaired_and_counted_one_by_one() -> None:
    reading = read(
        {"facts": [FACT, {**FACT, "importance": 8}, "User has a dog"], "bubbles": [], "triplets": []}
    )
    assert [fact.text for fact in reading.value.facts] == [FACT["text"], FACT["text"], "User has a dog"]
    assert (reading.value.facts[1].importance, reading.repaired, reading.dropped) == (0.8, 2, 0)


@pytest.mark.parametrize("value", [{}, [], {"facts": []}, {"facts": None}, "```json\n{}\n```"])
def test_nothing_to_note_is_an_answer(value: Any) -> None:
    assert held(read(value)) == {"facts": [], "bubbles": [], "triplets": []}


@pytest.mark.parametrize(
    "value",
    [
        "",
        "I'm sorry, but I can't help with that.",
        '{"answer": 42}',
        "[1, 2]",
        "null",
        '"facts"',
        "facts: none",
    ],
)
def test_what_is_no_answer_is_refused_with_a_quote(value: str) -> None:
    with pytest.raises(ValueError, match="the model's answer has no facts or bubbles or triplets"):
        read(value)


class Verdict(BaseModel):
    action: str
    reason: str = "none given"
    score: int = 0


def test_a_field_that_does_not_fit_takes_its_default() -> None:
    reading = read_answer('{"action": "ADD", "reason": 7, "score": "many"}', Verdict)
    assert (reading.value, reading.repaired) == (Verdict(action="ADD"), 1)


@pytest.mark.parametrize("text", ['{"reason": "x"}', '{"action": 7}', "{}"])
def test_a_field_without_a_default_must_be_there(text: str) -> None:
    with pytest.raises(ValueError, match="action"):
        read_answer(text, Verdict)


ODD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["high", "8/10", "85%", "yesterday", "...", "\ud800"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["facts", "bubbles", "triplets", "text", "importance", "messages", "subject"])
            | st.sampled_from(["predicate", "object", "category", "occurred_at", "Semantic", "result"]),
            inner,
            max_size=5,
        )
    ),
    max_leaves=25,
)


@given(ODD, st.integers(0, 300))
def test_no_answer_raises_anything_but_that_it_is_none(value: Any, cut: int) -> None:
    whole = json.dumps(value)
    for text in (whole, whole[:cut], f"```\n{whole}"):
        try:
            reading = read(text)
        except ValueError as error:
            assert str(error).startswith("the model's answer")  # noqa: PT017
            continue
        for fact in reading.value.facts:
            assert fact.text.strip()
            assert 0 <= fact.importance <= 1
        json.dumps(held(reading), allow_nan=False).encode()


@given(st.text())
def test_no_text_raises_anything_but_that_it_is_none(text: str) -> None:
    try:
        read(text)
    except ValueError as error:
        assert str(error).startswith("the model's answer")  # noqa: PT017
