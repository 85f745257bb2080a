from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core.graph.names import Names, key_of, stated_name


@pytest.mark.parametrize(
    "spelling",
    ["WebMCP", "webmcp", " WebMCP ", "the WebMCP", "“WebMCP”", "Ｗｅｂ\u200aMCP".replace("\u200a", "")],
)
def test_case_space_articles_and_marks_make_no_other_thing(spelling: str) -> None:
    assert key_of(spelling) == "webmcp"


@pytest.mark.parametrize(
    ("name", "key"), [("The", "the"), ("a", "a"), ("...", "..."), ("C++", "c++"), ("!", "!")]
)
def test_a_name_is_never_cut_to_nothing(name: str, key: str) -> None:
    assert key_of(name) == key


@given(st.text(min_size=1).filter(str.strip))
def test_every_name_has_a_key_and_keys_are_keys_of_themselves_but_for_articles(name: str) -> None:
    assert key_of(name)


def test_a_possessive_joins_only_a_thing_that_is_spoken_of() -> None:
    assert Names({"alex", "alex's"}).of("Alex’s") == "alex"
    assert Names({"mcdonald's"}).of("McDonald's") == "mcdonald's"


def test_the_user_is_who_they_say_they_are() -> None:
    names = Names({"user", "alex"}, [("User", "Alex")])
    assert names.of("user") == names.of("ALEX") == "alex"


@pytest.mark.parametrize(
    "named",
    [
        [("User", "Alex"), ("User", "Bea")],
        [("User", "Alex"), ("Assistant", "Alex")],
        [("User", "Alex"), ("Alex", "User")],
        [("User", "Alex who lives in Rome")],
        [("User", "User")],
    ],
)
def test_names_that_are_not_plain_join_nothing(named: list[tuple[str, str]]) -> None:
    names = Names({"user", "alex", "assistant"}, named)
    assert [names.of(name) for name in ("User", "Alex", "Assistant")] == ["user", "alex", "assistant"]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("User's name is Alex", ("User", "Alex")),
        ("The user's full name is Alex van Dyke.", ("user", "Alex van Dyke")),
        ("User is called Alex.", ("User", "Alex")),
        ("User's name is Alex and he cooks", None),
        ("User likes names", None),
    ],
)
def test_a_name_is_read_from_a_fact_in_words(text: str, named: tuple[str, str] | None) -> None:
    assert stated_name(text) == named
