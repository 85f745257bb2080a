from __future__ import annotations

import numpy as np

from shared_core.index.columns import FIRST_CAPACITY, NO_ROW, Codes, Columns


def test_a_new_row_has_defaults() -> None:
    columns = Columns()
    row = columns.append()
    assert (row, len(columns)) == (0, 1)
    assert not columns["alive"][row]
    assert columns["source"][row] == NO_ROW
    assert columns["expires"][row] == np.inf


def test_rows_survive_growth() -> None:
    columns = Columns()
    for number in range(3 * FIRST_CAPACITY):
        columns.set(columns.append(), turn=number, alive=True)
    assert columns["turn"].tolist() == list(range(3 * FIRST_CAPACITY))
    assert columns["alive"].all()


def test_a_column_is_as_long_as_there_are_rows() -> None:
    columns = Columns()
    columns.append()
    assert all(len(columns[name]) == 1 for name in ("alive", "kind", "dated", "importance"))


def test_codes_count_from_0_and_stay() -> None:
    codes = Codes()
    assert [codes.of(name) for name in ("a", "b", "a", "")] == [0, 1, 0, 2]
    assert (codes.find("b"), codes.find("z"), codes.name(1)) == (1, None, "b")
    assert list(codes) == ["a", "b", ""]
    assert len(codes) == 3


def test_no_name_has_no_code() -> None:
    codes = Codes()
    assert codes.of(None) == NO_ROW
    assert codes.name(NO_ROW) is None
    assert len(codes) == 0
