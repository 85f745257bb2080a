from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel

from langchain_contextmemory.identity import checked_default, checked_field, namespace_of


@dataclass
class Person:
    user_id: Any


class Model(BaseModel):
    user_id: str


def found(context: object = None, config: Any = None, default: str | None = None) -> str:
    return namespace_of(context, config, field="user_id", default=default)


@pytest.mark.parametrize(
    "context",
    [Person("alice"), {"user_id": "alice"}, Model(user_id="alice"), SimpleNamespace(user_id="alice")],
)
def test_every_kind_of_context_names_the_user(context: object) -> None:
    assert found(context) == "alice"


def test_the_field_may_have_another_name() -> None:
    assert namespace_of({"tenant": "acme"}, None, field="tenant") == "acme"


def test_numbers_and_uuids_become_text() -> None:
    assert found({"user_id": 42}) == "42"
    assert found({"user_id": 0}) == "0"
    assert found({"user_id": UUID(int=1)}) == "00000000-0000-0000-0000-000000000001"


def test_the_configuration_names_the_user_where_the_context_does_not() -> None:
    config = {"configurable": {"user_id": "bob", "thread_id": "t"}}
    assert found(None, config) == "bob"
    assert found({}, config) == "bob"
    assert found({"user_id": ""}, config) == "bob"
    assert found({"user_id": "alice"}, config) == "alice"


@pytest.mark.parametrize(
    "context", [None, {}, {"user_id": None}, {"user_id": ""}, {"user_id": " \n"}, Person(None), 7]
)
@pytest.mark.parametrize("config", [None, {}, {"configurable": None}, {"configurable": {"user_id": ""}}])
def test_a_missing_user_is_an_error_unless_there_is_a_default(context: object, config: Any) -> None:
    with pytest.raises(ValueError, match="'user_id' is missing or empty"):
        found(context, config)
    assert found(context, config, default="everybody") == "everybody"


@pytest.mark.parametrize("wrong", [True, 1.5, ["alice"], {"id": 1}, b"alice"])
def test_what_is_no_user_id_is_an_error_even_with_a_default(wrong: Any) -> None:
    with pytest.raises(ValueError, match="is not a user id"):
        found({"user_id": wrong}, default="everybody")


@pytest.mark.parametrize("wrong", ["", " ", None, 3])
def test_a_field_needs_a_name(wrong: Any) -> None:
    with pytest.raises(ValueError, match="namespace_field"):
        checked_field(wrong)


@pytest.mark.parametrize("wrong", ["", " ", 3, True])
def test_a_default_is_a_namespace(wrong: Any) -> None:
    with pytest.raises(ValueError, match="default_namespace"):
        checked_default(wrong)
    assert checked_default(None) is None
