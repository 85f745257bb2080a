from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core.index.traits import _NUMBER, _TIME, traits_of
from shared_core.index.wording import wording_of
from shared_core.index.words import words_of

WORDS = """last Last next this week 10 10am 2nd 2nd's 2023 back in one one's TWO three Monday's today summer
    Bob "Zed (Ann) , : . ? - '"""
PIECES = st.sampled_from([*WORDS.split(), "\n"])
TEXTS = st.lists(st.tuples(PIECES, st.sampled_from(["", " ", "  "])), max_size=9).map(
    lambda pieces: "".join(piece + gap for piece, gap in pieces)
)


def traits(text: str) -> dict[str, float]:
    found = traits_of([text], wording_of([words_of(text)]))
    return {name: float(values[0]) for name, values in found.items()}


@given(TEXTS)
def test_a_plain_text_holds_the_times_and_numbers_that_the_patterns_find_in_it(text: str) -> None:
    found = traits(text)
    assert found["has_time"] == (_TIME.search(text) is not None)
    assert found["has_number"] == (_NUMBER.search(text) is not None)


@pytest.mark.parametrize(
    ("text", "has_time", "has_number"),
    [
        ("We met in the café last week.", 1.0, 0.0),
        ("Il a été là in 2023.", 1.0, 1.0),
        ("x_2023 is a name, and two is a number", 0.0, 1.0),
        ("It lasted.", 0.0, 0.0),
        ("The last one", 0.0, 1.0),
        ("Back in May", 1.0, 0.0),
    ],
)
def test_times_and_numbers_are_found(text: str, has_time: float, has_number: float) -> None:
    found = traits(text)
    assert (found["has_time"], found["has_number"]) == (has_time, has_number)


def test_capitals_count_inside_a_sentence_only() -> None:
    assert traits('We saw Ada Lovelace, "Grace" and Alan. Then rain.')["log_capitalised"] == pytest.approx(
        1.6094379
    )  # log(1 + 4)
