"""Conditions on the value of an item: equal, or compared by an operator, at any depth.

A condition names a key, or the way to an inner one with dots (``user.age``), and says what stands there: a
JSON value, an object of further conditions, or operators such as ``{"$gt": 3}``.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

from shared_core.messages import quoted

_ORDERINGS: dict[str, Callable[[Any, Any], bool]] = {
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}
OPERATORS = ("$eq", "$ne", *_ORDERINGS)


def check_conditions(conditions: Mapping[str, Any]) -> None:
    """Refuse what could match nothing by mistake.

    Raises:
        ValueError: If it is no mapping with strings as keys, or has an operator beyond ``OPERATORS``.
    """
    if not isinstance(conditions, Mapping):
        raise ValueError(f"filter {quoted(conditions)} is not a mapping")
    for key, wanted in conditions.items():
        if not isinstance(key, str):
            raise ValueError(f"filter key {quoted(key)} is not a string")
        _check_wanted(wanted)


def _check_wanted(wanted: Any) -> None:
    if isinstance(wanted, Mapping):
        has_operators = any(isinstance(key, str) and key.startswith("$") for key in wanted)
        for key, inner in wanted.items():
            if has_operators and key not in OPERATORS:
                raise ValueError(f"Unsupported operator {quoted(key)}: use one of {', '.join(OPERATORS)}")
            if not has_operators:
                _check_wanted(inner)
    elif isinstance(wanted, (list, tuple)):
        for inner in wanted:
            _check_wanted(inner)


def fulfils(value: Mapping[str, Any], conditions: Mapping[str, Any]) -> bool:
    """Whether ``value`` fulfils all of ``conditions``."""
    return all(_is_as_wanted(_at(value, key), wanted) for key, wanted in conditions.items())


def _at(value: Mapping[str, Any], key: str) -> Any:
    """What stands at a key, or at the end of a way with dots; None where nothing does."""
    if key in value or "." not in key:
        return value.get(key)
    inner: Any = value
    for step in key.split("."):
        if not isinstance(inner, Mapping):
            return None
        inner = inner.get(step)
    return inner


def _is_as_wanted(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, (str, int, float)):  # the usual case first: this runs for every item
        return _are_equal(found, wanted)
    if isinstance(wanted, Mapping):
        if any(key.startswith("$") for key in wanted if isinstance(key, str)):
            return all(_holds(found, name, operand) for name, operand in wanted.items())
        return isinstance(found, Mapping) and all(
            _is_as_wanted(_at(found, key) if isinstance(key, str) else None, inner)
            for key, inner in wanted.items()
        )
    if isinstance(wanted, (list, tuple)):
        return (
            isinstance(found, list)
            and len(found) == len(wanted)
            and all(_is_as_wanted(one, other) for one, other in zip(found, wanted, strict=True))
        )
    return _are_equal(found, wanted)


def _holds(found: Any, name: str, operand: Any) -> bool:
    if name == "$eq":
        return _are_equal(found, operand)
    if name == "$ne":
        return not _are_equal(found, operand)
    pair = _comparable(found, operand)
    return pair is not None and _ORDERINGS[name](*pair)


def _are_equal(found: Any, wanted: Any) -> bool:
    """Equality of JSON: true is not 1, whatever Python says."""
    if isinstance(found, bool) is not isinstance(wanted, bool):
        return False
    if isinstance(wanted, tuple):
        wanted = list(wanted)
    return bool(found == wanted)


def _comparable(found: Any, operand: Any) -> tuple[Any, Any] | None:
    """Both as numbers, a text that is one included; else both as texts; None for anything else."""
    numbers = _number(found), _number(operand)
    if numbers[0] is not None and numbers[1] is not None:
        return numbers
    return (found, operand) if isinstance(found, str) and isinstance(operand, str) else None


def _number(value: Any) -> int | float | None:
    if isinstance(value, (int, float)):
        return value
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            return None
    return None
