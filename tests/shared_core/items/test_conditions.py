from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core.items.conditions import check_conditions, fulfils

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=2).filter(lambda key: "$" not in key), inner, max_size=3)
    ),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.text(max_size=2).filter(lambda key: "$" not in key), JSON, max_size=3)


@given(value=OBJECTS)
def test_every_value_fulfils_itself(value: dict[str, Any]) -> None:
    assert fulfils(value, value)
    assert fulfils(value, {})


@given(value=OBJECTS, key=st.text(max_size=2), operand=JSON)
def test_equal_and_not_equal_are_opposites(value: dict[str, Any], key: str, operand: Any) -> None:
    assert fulfils(value, {key: {"$eq": operand}}) is not fulfils(value, {key: {"$ne": operand}})


@given(found=JSON, operand=JSON)
def test_comparisons_never_raise_and_exclude_each_other(found: Any, operand: Any) -> None:
    held = {name: fulfils({"a": found}, {"a": {name: operand}}) for name in ("$gt", "$gte", "$lt", "$lte")}
    assert not (held["$gt"] and held["$lte"])
    assert not (held["$lt"] and held["$gte"])


def test_what_cannot_be_compared_matches_nothing() -> None:
    for found in (None, [1], {"b": 1}, "text"):
        assert not fulfils({"a": found}, {"a": {"$gt": 0}})
    assert not fulfils({}, {"a": {"$lte": 0}})


@pytest.mark.parametrize(
    "conditions", [{"a": {"$regex": "x"}}, {"a": [{"$near": 1}]}, {"a": {"$gt": 1, "b": 1}}, {None: 1}, 3]
)
def test_unknown_conditions_are_refused(conditions: Any) -> None:
    with pytest.raises(ValueError, match=r"filter|operator"):
        check_conditions(conditions)
