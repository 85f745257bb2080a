"""Facts and relations that are stated outright, messages of a conversation, messages that a prompt shows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shared_core import ContextMemory


@pytest.fixture
def memory(tmp_path: Path) -> Any:
    with ContextMemory(tmp_path / "memory") as opened:
        yield opened


def test_a_stated_fact_is_found_and_survives_reopening(memory: ContextMemory, tmp_path: Path) -> None:
    fact = memory.remember("Alice is allergic to peanuts", category="health", importance=0.9)
    memory.close()
    with ContextMemory(tmp_path / "memory") as again:
        hit = again.search("What is Alice allergic to?").results[0]
        assert (hit.memory_id, hit.type) == (fact.id, "semantic")
        assert again.get(fact.id) == fact


def test_a_fact_stated_twice_is_mentioned_twice(memory: ContextMemory) -> None:
    first = memory.remember("Alice plays chess", metadata={"by": "a"})
    second = memory.remember("  alice plays  chess ", importance=0.9, metadata={"tool": 1})
    assert second.id == first.id
    assert (second.mention_count, second.importance) == (2, 0.9)
    assert second.metadata == {"by": "a", "tool": 1}


def test_a_relation_is_a_triplet(memory: ContextMemory) -> None:
    triplet = memory.relate("Alice", "Works at", "Acme", confidence=0.8)
    assert (triplet.kind, triplet.text) == ("triplet", "Alice works at Acme")
    assert (triplet.subject, triplet.predicate, triplet.object) == ("Alice", "works_at", "Acme")
    assert memory.relate("alice", "works_at", "ACME").mention_count == 2


@pytest.mark.parametrize(
    ("call", "quoted"),
    [
        (lambda memory: memory.remember("  "), "'  '"),
        (lambda memory: memory.remember(3), "3"),
        (lambda memory: memory.remember("x", category="colour"), "colour"),
        (lambda memory: memory.remember("x", importance=7), "7"),
        (lambda memory: memory.relate("a", "", "b"), "''"),
        (lambda memory: memory.messages("c", last=0), "0"),
        (lambda memory: memory.context("x", shown="m1"), "'m1'"),
    ],
)
def test_bad_statements_are_refused_with_the_value_quoted(
    memory: ContextMemory, call: Any, quoted: str
) -> None:
    with pytest.raises(ValueError, match=quoted):
        call(memory)
    assert memory.list() == []


def test_messages_come_in_the_order_in_which_they_were_said(memory: ContextMemory) -> None:
    said = [{"role": "user", "content": f"Line {number}", "id": f"m{number}"} for number in range(5)]
    memory.add(said, conversation_id="c")
    memory.add({"role": "user", "content": "Elsewhere"}, conversation_id="other")
    assert [message.message_id for message in memory.messages("c")] == ["m0", "m1", "m2", "m3", "m4"]
    assert [message.message_id for message in memory.messages("c", last=2)] == ["m3", "m4"]
    assert memory.messages("unknown") == []


def test_a_context_leaves_out_messages_that_the_prompt_shows(memory: ContextMemory) -> None:
    said = [
        {"role": "user", "content": "The harbour cat is called Mango.", "id": "m0"},
        {"role": "assistant", "content": "What a fine name for a cat in a harbour.", "id": "m1"},
    ]
    memory.add(said, conversation_id="c")
    memory.add([{**said[0], "content": "My boat is called Mango too."}], conversation_id="other")
    text = memory.context("Who is called Mango?", conversation_id="c", shown=["m0"]).text
    assert "harbour cat" not in text
    assert "fine name" in text
    assert "boat" in text, "the same id in another conversation is another message"


def test_a_stated_relation_supersedes_what_it_contradicts(memory: ContextMemory) -> None:
    memory.relate("Alice", "lives in", "Paris")
    moved = memory.relate("Alice", "lives in", "Berlin", conversation_id="c")
    assert [one.object for one in memory.list(kind="triplet")] == ["Berlin"]
    assert [one.object for one in memory.history(moved.id)] == ["Paris", "Berlin"]
    back = memory.relate("Alice", "lives in", "Paris")
    assert [one.object for one in memory.history(back.id)] == ["Paris", "Berlin", "Paris"]


def test_a_fact_of_messages_that_the_prompt_shows_is_not_repeated(memory: ContextMemory) -> None:
    memory.add({"role": "user", "content": "I love chess.", "id": "m0"}, conversation_id="c")
    assert "User loves chess" in memory.context("What do I love?").text
    assert "chess" not in memory.context("What do I love?", conversation_id="c", shown=["m0"]).text
