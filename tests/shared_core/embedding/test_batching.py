from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core.embedding.base import FloatArray
from shared_core.embedding.batching import batches, checked_vectors, embed_unique, well_formed
from shared_core.errors import EmbeddingError

any_text = st.text(st.characters(), max_size=12)  # lone surrogates and NUL too


class Lengths:
    """Embeds a text as its length, and remembers what it was given."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def __call__(self, texts: list[str]) -> FloatArray:
        self.seen += texts
        return np.array([[len(text), 1.0] for text in texts], dtype=np.float32)

    def embed(self, texts: list[str]) -> FloatArray:
        return embed_unique(texts, dimension=2, compute=self, max_characters=100)


def test_each_different_text_is_computed_once_and_the_order_is_kept() -> None:
    lengths = Lengths()
    vectors = lengths.embed(["bb", "a", "bb", "", "a", "ccc"])
    assert lengths.seen == ["bb", "a", "ccc"]
    np.testing.assert_array_equal(vectors[[0, 1, 5]], Lengths().embed(["bb", "a", "ccc"]))
    np.testing.assert_array_equal(vectors[[2, 4]], vectors[[0, 1]])
    np.testing.assert_array_equal(vectors[3], [0.0, 0.0])


@given(st.lists(any_text, max_size=8))
def test_a_text_has_the_same_vector_in_a_list_as_alone(texts: list[str]) -> None:
    together = Lengths().embed(texts)
    assert together.shape == (len(texts), 2)
    assert together.dtype == np.float32
    for row, text in zip(together, texts, strict=True):
        np.testing.assert_array_equal(row, Lengths().embed([text])[0])


def test_blank_texts_are_never_computed() -> None:
    lengths = Lengths()
    assert not lengths.embed(["", " \n\t ", "\u3000"]).any()
    assert lengths.embed([]).shape == (0, 2)
    assert lengths.seen == []


@pytest.mark.parametrize("texts", ["one string", b"bytes", ["good", 3], ["good", None]])
def test_anything_but_a_list_of_strings_is_refused(texts: object) -> None:
    with pytest.raises(ValueError, match="string"):
        Lengths().embed(texts)  # type: ignore[arg-type]


@given(any_text)
def test_a_well_formed_text_can_be_encoded(text: str) -> None:
    mended = well_formed(text, 5)
    assert len(mended) <= 5
    assert mended.encode().decode() == mended


def test_surrogate_pairs_are_joined_and_lone_ones_replaced() -> None:
    assert well_formed("\ud83d\ude00 and \ud83d", 100) == "😀 and \ufffd"


@given(st.lists(st.text(max_size=6)), st.integers(1, 4), st.integers(1, 10))
def test_batches_keep_every_text_in_order_within_both_limits(
    texts: list[str], max_texts: int, max_bytes: int
) -> None:
    parts = list(batches(texts, max_texts=max_texts, max_bytes=max_bytes))
    assert [text for part in parts for text in part] == texts
    for part in parts:
        assert 1 <= len(part) <= max_texts
        assert len(part) == 1 or sum(len(text.encode()) for text in part) <= max_bytes


@pytest.mark.parametrize(
    ("answer", "quoted"),
    [
        ([[1.0, 2.0]], r"asked for 2 vectors and sent an array of \(1, 2\)"),
        ([1.0, 2.0], r"\(2,\)"),
        ([[1.0], [1.0]], "dimension 1, expected 2"),
        ([[1.0, 2.0], [1.0]], "no matrix"),
        (None, r"\(\)"),
        ("text", "no matrix: 'text'"),
        ([[1.0, float("nan")], [0.0, 0.0]], "not finite"),
    ],
)
def test_an_answer_other_than_the_vectors_asked_for_is_an_error_that_quotes_it(
    answer: object, quoted: str
) -> None:
    with pytest.raises(EmbeddingError, match=quoted):
        checked_vectors(answer, count=2, dimension=2, source="it")
