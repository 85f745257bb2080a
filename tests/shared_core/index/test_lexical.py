from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core.index.lexical import K1, B, LexicalIndex
from shared_core.index.words import terms_of

TEXTS = [
    "Ada rode her red tandem to the lake.",
    "The lake was frozen, and the tandem slipped.",
    "Grace fixed the violin.",
    "",
    "tandem tandem tandem",
]


def filled(texts: list[str]) -> LexicalIndex:
    index = LexicalIndex()
    for text in texts:
        index.append(text)
    return index


def test_scores_are_those_of_bm25() -> None:
    index = filled(TEXTS)
    (term,) = terms_of("violin")
    lengths = [len(terms_of(text)) for text in TEXTS]
    average = sum(lengths) / len(lengths)
    weight = math.log(1 + (5 - 1 + 0.5) / (1 + 0.5))
    expected = weight * (K1 + 1) / (1 + K1 * (1 - B + B * lengths[2] / average))
    assert index.scores([term])[2] == pytest.approx(expected, rel=1e-5)


def test_only_texts_with_a_term_score() -> None:
    scores = filled(TEXTS).scores(terms_of("Where is the tandem?"))
    assert (scores > 0).tolist() == [True, True, False, False, True]


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    index = filled(TEXTS)
    assert index.weight(1) > index.weight(3) > 0


def test_words_are_found_in_other_forms_and_cases() -> None:
    scores = filled(["Ada was riding tandems."]).scores(terms_of("TANDEM rides"))
    assert scores[0] > 0


@pytest.mark.parametrize(
    "text",
    [
        "東京に行きました",
        "我喜欢北京的冬天",
        "ฉันไปกรุงเทพ",
        "Straße",
        "naïve café",
        "пришёл домой",
        "C3PO 2024",
    ],
)
def test_texts_of_any_script_are_found_by_their_words(text: str) -> None:
    assert filled([text, "nothing of it"]).scores(terms_of(text))[0] > 0


def test_an_empty_index_scores_nothing() -> None:
    assert LexicalIndex().scores(terms_of("anything")).shape == (0,)
    assert filled(TEXTS).scores([]).tolist() == [0.0] * 5


def test_a_possessive_and_a_curly_apostrophe_make_no_difference() -> None:
    assert terms_of("Ada's tandem") == terms_of("Ada’s tandem") == terms_of("ada tandem")


WORDS = st.lists(st.sampled_from(["tandem", "lake", "violin", "ada", "office", "東京都"]), max_size=6).map(
    " ".join
)


@given(st.lists(WORDS, min_size=1, max_size=12), st.data(), WORDS)
def test_forgotten_texts_leave_no_trace_in_the_scores_of_others(
    texts: list[str], data: st.DataObject, question: str
) -> None:
    index = filled(texts)
    gone = data.draw(st.sets(st.integers(0, len(texts) - 1)))
    for row in gone:
        index.forget(row, texts[row])
    kept = [row for row in range(len(texts)) if row not in gone]
    fresh = filled([texts[row] for row in kept])
    assert np.array_equal(index.scores(terms_of(question))[kept], fresh.scores(terms_of(question)))
    assert len(index) == len(texts)


@given(st.text(max_size=200))
def test_every_text_can_be_indexed_and_forgotten(text: str) -> None:
    index = filled([text])
    assert np.isfinite(index.scores(terms_of(text))).all()
    index.forget(0, text)
    assert index.scores(terms_of(text)).tolist() == [0.0]
