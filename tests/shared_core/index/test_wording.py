from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from shared_core.index.wording import terms_in, wording_of
from shared_core.index.words import MAX_TERMS, terms_of, words_of

TEXTS = st.text(st.sampled_from("aAbtheTHE 's'’_-.,1é東京行\n"), max_size=30)


def terms_of_all(texts: list[str]) -> list[list[str]]:
    """The terms of each text, as the wording has them."""
    found = terms_in(wording_of([words_of(text) for text in texts]))
    flat = iter(found.numbers.tolist())
    return [[found.words[next(flat)] for _ in range(length)] for length in found.lengths.tolist()]


@given(st.lists(TEXTS, max_size=6))
def test_many_texts_have_the_terms_that_each_has_alone(texts: list[str]) -> None:
    assert terms_of_all(texts) == [terms_of(text) for text in texts]


@given(TEXTS)
def test_the_words_of_plain_texts_are_those_of_any_text(text: str) -> None:
    pattern = r"[^\W_]+(?:'[^\W_]+)*"
    assert words_of(text) == re.findall(pattern, text.lower().replace("’", "'"))


def test_each_text_is_cut_off_by_itself() -> None:
    long = "tandem lake " * MAX_TERMS
    first, second, third = terms_of_all(["violin", long, "violin lake"])
    assert (first, len(second), third) == (["violin"], MAX_TERMS, ["violin", "lake"])
    assert second == terms_of(long)
