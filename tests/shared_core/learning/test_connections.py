from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shared_core.embedding.base import FloatArray, unit_rows
from shared_core.learning.connections import strongest_connections


def rows(*vectors: list[float]) -> FloatArray:
    return unit_rows(np.array(vectors, dtype=np.float32))


OTHERS = rows([1, 0, 0], [0.8, 0.6, 0], [0, 1, 0], [-1, 0, 0])


def test_what_is_similar_enough_is_connected_strongest_first() -> None:
    found = strongest_connections(rows([1, 0, 0]) @ OTHERS.T, allowed=None, threshold=0.6, limit=5)
    assert [place for place, _ in found[0]] == [0, 1]
    assert [round(score, 2) for _, score in found[0]] == [1.0, 0.8]


def test_the_threshold_itself_connects() -> None:
    found = strongest_connections(rows([0, 1, 0]) @ rows([0, 1, 0]).T, allowed=None, threshold=1.0, limit=5)
    assert found == [[(0, 1.0)]]


def test_a_limit_keeps_the_strongest() -> None:
    found = strongest_connections(rows([1, 0.2, 0]) @ OTHERS.T, allowed=None, threshold=0.0, limit=1)
    assert [place for place, _ in found[0]] == [0]


def test_forbidden_pairs_are_never_connected() -> None:
    allowed = np.array([[False, True, True, True]])
    found = strongest_connections(rows([1, 0, 0]) @ OTHERS.T, allowed=allowed, threshold=0.6, limit=5)
    assert [place for place, _ in found[0]] == [1]


def test_a_memory_without_content_connects_to_nothing() -> None:
    found = strongest_connections(rows([0, 0, 0]) @ OTHERS.T, allowed=None, threshold=0.1, limit=5)
    assert found == [[]]


@given(st.integers(1, 5), st.integers(1, 12), st.floats(0, 1), st.integers(0, 6), st.integers(0, 2**32 - 1))
def test_each_connection_reaches_the_threshold_and_none_stronger_is_left_out(
    new: int, others: int, threshold: float, limit: int, seed: int
) -> None:
    random = np.random.default_rng(seed)
    mine = unit_rows(random.normal(size=(new, 4)).astype(np.float32))
    theirs = unit_rows(random.normal(size=(others, 4)).astype(np.float32))
    found = strongest_connections(mine @ theirs.T, allowed=None, threshold=threshold, limit=limit)
    for row, best in enumerate(found):
        similarities = mine[row : row + 1] @ theirs.T
        enough = int((similarities >= threshold).sum())
        scores = [score for _, score in best]
        assert len(best) == min(limit, enough)
        assert scores == sorted(scores, reverse=True)
        assert all(threshold <= score <= 1.0 for score in scores)
