from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core.llm.lenient_json import MAX_DEPTH, find_json


def values(text: str) -> list[Any]:
    return [found.value for found in find_json(text)]


PLAIN_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('Sure! Here it is:\n```json\n{"a": 1}\n```\nAnything else?', [{"a": 1}]),
        ('<think>maybe {"a": 2}?</think>{"a": 1}', [{"a": 1}]),
        ("{'a': 'x', 'b': True, 'c': None}", [{"a": "x", "b": True, "c": None}]),
        ('{a: 1, "b": [1, 2,],}', [{"a": 1, "b": [1, 2]}]),
        ('{"a": 1 "b": 2}', [{"a": 1, "b": 2}]),
        ('{"a": 1, // one\n "b": /* two */ 2}', [{"a": 1, "b": 2}]),
        ('{"a": "line\nbreak"}', [{"a": "line\nbreak"}]),
        ('{"a": "She said "hello" to me"}', [{"a": 'She said "hello" to me'}]),
        ("{'a': 'Anna's cat'}", [{"a": "Anna's cat"}]),
        ("{“a”: “x”}", [{"a": "x"}]),
        ('{"a": NaN, "b": Infinity, "c": 1e999}', [{"a": None, "b": None, "c": None}]),
        ('{"a": "\\ud83d\\ude00 \\ud800"}', [{"a": "😀 \ufffd"}]),
        ('{"a": 1}\n{"a": 2}', [{"a": 1}, {"a": 2}]),
        ('Note [1] says {"a": 1}', [[1], {"a": 1}]),
        ("I cannot help with that.", []),
        ("", []),
        ('"text"', []),
    ],
)
def test_json_is_found_as_models_write_it(text: str, expected: list[Any]) -> None:
    assert values(text) == expected


@pytest.mark.parametrize(
    ("text", "expected", "lost"),
    [
        ('{"a": [{"t": "one"}, {"t": "tw', {"a": [{"t": "one"}]}, 1),
        ('{"a": [{"t": "one"}, {"t": "two"}', {"a": [{"t": "one"}, {"t": "two"}]}, 0),
        ('{"a": ["one", "tw', {"a": ["one"]}, 1),
        ('{"a": "x", "b": "y', {"a": "x"}, 0),
        ('{"a": "x", "b', {"a": "x"}, 0),
        ('{"a": "x", "b":', {"a": "x"}, 0),
        ('{"a": [1, 2, 3', {"a": [1, 2]}, 1),
        ('{"a": [{"t": 1}, {"t": tru', {"a": [{"t": 1}]}, 1),
        ('{"a": [{"t": 1}, ??? {"t": 2}]}', {"a": [{"t": 1}]}, 1),
    ],
)
def test_what_is_complete_is_saved_from_an_answer_that_is_cut_off(
    text: str, expected: dict[str, Any], lost: int
) -> None:
    found = next(find_json(text))
    assert (found.value, found.lost, found.is_exact) == (expected, lost, False)


@given(PLAIN_JSON.filter(lambda value: isinstance(value, (dict, list))))
def test_json_comes_back_as_it_is(value: Any) -> None:
    (found,) = find_json(json.dumps(value))
    assert found.is_exact
    assert found.value == value


@given(
    st.lists(st.dictionaries(st.text("abc", min_size=1), st.integers() | st.text("xyz "))),
    st.integers(0, 400),
)
def test_however_an_answer_is_cut_its_complete_items_are_kept(items: list[dict[str, Any]], cut: int) -> None:
    text = json.dumps({"items": items})
    kept = (values(text[:cut]) or [{}])[0].get("items", [])
    assert kept == items[: len(kept)]
    complete = sum(len(json.dumps({"items": items[:n]})[:-2]) <= cut for n in range(1, len(items) + 1))
    assert len(kept) >= complete


@given(st.text(alphabet="{}[]\",:\\'abc01 \n-.eE/*ud“”\ud800NaN", max_size=200) | st.text())
def test_no_text_is_too_odd(text: str) -> None:
    for value in values(text):
        json.dumps(value, allow_nan=False).encode()


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"a":' * 50_000,
        '["' * 50_000,
        "{" * 200_000,
        '[1, "' + "a" * 10**6,
        "/*" * 50_000,
        "[/*" * 30_000,
        '{"a": ' + "9" * 100_000 + "}",
        "<think>" * 20_000,
        '" ' * 100_000,
    ],
)
def test_hostile_text_takes_little_time(text: str) -> None:
    begin = time.perf_counter()
    for found in find_json(text):
        json.dumps(found.value)
    assert time.perf_counter() - begin < 5


def test_what_is_nested_too_deeply_is_nothing() -> None:
    deep = "[" * (MAX_DEPTH + 5) + "]" * (MAX_DEPTH + 5)
    assert all(json.dumps(value).count("[") <= MAX_DEPTH + 1 for value in values(deep))
