from __future__ import annotations

import pytest

from shared_core.index.entities import MOST_MENTIONS, EntityIndex


def test_memories_that_speak_of_one_thing_are_linked_whatever_its_case() -> None:
    index = EntityIndex()
    index.put("a", "Alex", "WebMCP")
    index.put("b", "webmcp ", "FAISS")
    index.put("c", "Bea", None)
    assert index.links("a") == {"b": pytest.approx(1 / 1.584962500721156)}
    assert index.links("c") == {}
    assert index.mentions("WebMCP") == ("a", "b")


def test_what_everything_is_about_links_nothing() -> None:
    index = EntityIndex()
    for number in range(MOST_MENTIONS + 1):
        index.put(f"m{number}", "User", f"thing {number}")
    assert index.links("m0") == {}
    index.remove("m1")
    assert len(index.links("m0")) == MOST_MENTIONS - 1


def test_a_memory_put_again_speaks_of_other_things() -> None:
    index = EntityIndex()
    index.put("a", "Alex", "Paris")
    index.put("b", "Paris", "France")
    index.put("a", "Alex", "Rome")
    assert index.links("b") == {}
    assert set(index) == {"alex", "rome", "paris", "france"}
    index.remove("a")
    index.remove("b")
    assert set(index) == set()


def test_words_name_the_things_that_they_spell_one_after_the_other() -> None:
    index = EntityIndex()
    index.put("a", "Alex", "Model Context Protocol")
    index.put("b", "Bea", "context")
    assert index.named_in(["the", "model", "context", "protocol"]) == {"a", "b"}
    assert index.named_in(["protocol", "model", "alex"]) == {"a"}
    assert index.named_in([]) == set()


def test_what_everything_is_about_is_not_named_by_any_word() -> None:
    index = EntityIndex()
    for number in range(MOST_MENTIONS + 1):
        index.put(f"m{number}", "User", f"thing {number}")
    assert index.named_in(["user"]) == set()
