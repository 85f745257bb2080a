from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shared_core.index.vectors import BLOCK_ROWS, VectorTable


def filled(
    count: int, dimension: int = 3
) -> tuple[VectorTable, np.ndarray[tuple[int, ...], np.dtype[np.float32]]]:
    vectors = np.random.default_rng(7).normal(size=(count, dimension)).astype(np.float32)
    table = VectorTable(dimension)
    for row, vector in enumerate(vectors):
        assert table.append(vector) == row
    return table, vectors


def test_an_empty_table_has_no_products() -> None:
    table = VectorTable(3)
    assert len(table) == 0
    assert table.products(np.ones(3, dtype=np.float32)).shape == (0,)
    assert table.take([]).shape == (0, 3)


def test_products_are_exact_across_blocks() -> None:
    table, vectors = filled(BLOCK_ROWS + 5)
    query = np.array([0.5, -1.0, 2.0], dtype=np.float32)
    assert np.allclose(table.products(query), vectors @ query, atol=1e-6)
    assert len(table) == BLOCK_ROWS + 5


@given(st.lists(st.integers(0, BLOCK_ROWS + 4), max_size=20))
def test_rows_are_taken_in_the_order_asked_for(rows: list[int]) -> None:
    assert np.array_equal(TABLE.take(rows), VECTORS[rows] if rows else np.empty((0, 3)))


def test_what_is_taken_is_a_copy() -> None:
    table, vectors = filled(2)
    table.take([0])[0] = 9.0
    assert np.array_equal(table.take([0])[0], vectors[0])


TABLE, VECTORS = filled(BLOCK_ROWS + 5)


def test_rows_come_one_by_one_or_many_at_once() -> None:
    table = VectorTable(3)
    assert table.extend(VECTORS[:2]) == 0
    assert table.append(VECTORS[2]) == 2
    assert table.extend(VECTORS[3:]) == 3
    assert np.array_equal(table.take(range(len(VECTORS))), VECTORS)


def test_several_queries_give_a_row_of_products_each() -> None:
    queries = VECTORS[:4]
    assert np.allclose(TABLE.products(queries), queries @ VECTORS.T, atol=1e-5)
