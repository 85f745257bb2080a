from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from shared_core import ContextMemory, Settings
from tests.shared_core.building import NOW, chroma_client, days_before, record, said, write

INTRODUCTION = [
    said("My name is Alex. I work as a software engineer at Acme.", "m1"),
    said("I know Python and TypeScript. I am good at React.", "m2"),
    said("I am building a small compiler in Rust.", "m3"),
]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[ContextMemory]:
    with ContextMemory(tmp_path) as opened:
        yield opened


def texts(memory: ContextMemory) -> dict[str, str]:
    return {block.title or "": block.text for block in memory.blocks.list()}


# -- by hand ---------------------------------------------------------------------------------------------


def test_a_block_is_set_read_listed_and_deleted(memory: ContextMemory) -> None:
    assert memory.blocks.get("persona") is None
    first = memory.blocks.set("persona", "  A patient tutor ", now=NOW)
    assert (first.kind, first.title, first.text) == ("block", "persona", "A patient tutor")
    again = memory.blocks.set("Persona", "A strict tutor", now=NOW + timedelta(days=1))
    assert (again.id, again.created_at, again.updated_at) == (first.id, NOW, NOW + timedelta(days=1))
    assert memory.blocks.get("persona") == again
    assert [block.text for block in memory.blocks.list()] == ["A strict tutor"]
    assert memory.blocks.delete("PERSONA")
    assert not memory.blocks.delete("persona")
    assert memory.blocks.list() == []


def test_every_context_shows_the_blocks_in_their_order(memory: ContextMemory) -> None:
    for name in ("zebra", "top_skills", "Ärger", "user_profile", "persona"):
        memory.blocks.set(name, f"text of {name}")
    lines = memory.context(token_budget=400).text.splitlines()
    shown = [line.split(":")[0] for line in lines if line.startswith("- ")]
    assert shown == ["- persona", "- user_profile", "- top_skills", "- zebra", "- Ärger"]


@pytest.mark.parametrize("name", ["", "  ", "a" * 41, "a\nb", "a:b", "<b>", "-", None, 7])
def test_a_name_that_no_block_can_have_is_refused_and_quoted(memory: ContextMemory, name: Any) -> None:
    for call in (memory.blocks.get, memory.blocks.delete, lambda one: memory.blocks.set(one, "text")):
        with pytest.raises(ValueError, match="block name"):
            call(name)


@pytest.mark.parametrize("text", ["", " \n", None, 7])
def test_a_blank_text_is_refused(memory: ContextMemory, text: Any) -> None:
    with pytest.raises(ValueError, match="text"):
        memory.blocks.set("persona", text)


def test_blocks_belong_to_their_namespace_and_outlive_the_process(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, "alice") as alice, alice.for_namespace("bob") as bob:
        alice.blocks.set("persona", "A patient tutor")
        assert bob.blocks.list() == []
    with ContextMemory(tmp_path, "alice") as alice:
        assert texts(alice) == {"persona": "A patient tutor"}


async def test_the_async_twins_do_the_same(memory: ContextMemory) -> None:
    await memory.blocks.aset("persona", "A patient tutor")
    assert (await memory.blocks.aget("persona")) == (await memory.blocks.alist())[0]
    assert await memory.blocks.adelete("persona")


# -- by maintain -----------------------------------------------------------------------------------------


def test_maintain_writes_profile_focus_and_skills_and_never_a_persona(memory: ContextMemory) -> None:
    memory.add(INTRODUCTION, now=NOW)
    report = memory.maintain(now=NOW)
    assert report.blocks == ("user_profile", "current_focus", "top_skills")
    written = texts(memory)
    assert written["user_profile"].startswith("User's name is Alex. User works as a software engineer.")
    assert "Rust" in written["current_focus"]
    assert set(written["top_skills"].split(", ")) == {"Python", "TypeScript", "React"}
    assert memory.maintain(now=NOW).changed_nothing
    assert "persona" not in written


def test_the_same_facts_make_the_same_blocks(tmp_path: Path) -> None:
    made = []
    for place in range(2):
        with ContextMemory(tmp_path / str(place)) as memory:
            for message in INTRODUCTION[:: 1 - 2 * place]:
                memory.add(message, now=NOW)
            memory.maintain(now=NOW)
            memory.opened().drop_index()
            memory.maintain(now=NOW)
            made.append({name: sorted(text.split()) for name, text in texts(memory).items()})
    assert made[0].keys() == made[1].keys()
    assert made[0]["user_profile"] == made[1]["user_profile"]


def test_what_is_learnt_later_is_written_at_the_next_maintenance(memory: ContextMemory) -> None:
    memory.add(INTRODUCTION, now=NOW)
    memory.maintain(now=NOW)
    for number in range(4):
        memory.add(said(f"I know Haskell. {number}", f"n{number}"), now=NOW)
    assert memory.maintain(now=NOW).blocks == ("top_skills",)
    assert texts(memory)["top_skills"].startswith("Haskell")


def test_others_are_no_part_of_the_users_profile(memory: ContextMemory) -> None:
    memory.add(
        [said("My sister Anna lives in Paris."), said("I live in Rome.", role="assistant")],
        now=NOW,
    )
    memory.maintain(now=NOW)
    profile = texts(memory).get("user_profile", "")
    assert "Paris" not in profile
    assert "Rome" not in profile


def test_what_was_set_by_hand_is_never_overwritten(memory: ContextMemory) -> None:
    memory.blocks.set("user_profile", "Ask me nothing", now=NOW)
    memory.add(INTRODUCTION, now=NOW)
    assert "user_profile" not in memory.maintain(now=NOW).blocks
    assert texts(memory)["user_profile"] == "Ask me nothing"
    assert memory.maintain(now=NOW + timedelta(days=400)).blocks == ()
    assert texts(memory)["user_profile"] == "Ask me nothing"
    memory.blocks.delete("user_profile")
    assert memory.maintain(now=NOW).blocks[0] == "user_profile"


def test_a_generated_block_that_was_changed_by_hand_stays_so(memory: ContextMemory) -> None:
    memory.add(INTRODUCTION, now=NOW)
    memory.maintain(now=NOW)
    block = memory.blocks.get("top_skills")
    assert block is not None
    memory.update(block.id, "Python, and nothing else")
    memory.add(said("I know Haskell."), now=NOW)
    assert "top_skills" not in memory.maintain(now=NOW).blocks
    assert texts(memory)["top_skills"] == "Python, and nothing else"


def test_the_focus_goes_with_its_days(memory: ContextMemory) -> None:
    memory.add(INTRODUCTION, now=NOW)
    memory.maintain(now=NOW)
    report = memory.maintain(now=NOW + timedelta(days=31))
    assert len(report.blocks_removed) == 1
    assert set(texts(memory)) == {"user_profile", "top_skills"}


def test_a_block_is_short(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, settings=Settings(block_words=8)) as memory:
        memory.remember("word " * 5_000, category="health", now=NOW)
        memory.add(INTRODUCTION, now=NOW)
        memory.maintain(now=NOW)
        assert all(len(text.split()) <= 8 for text in texts(memory).values())
        assert memory.maintain(now=NOW).changed_nothing


# -- erasure ---------------------------------------------------------------------------------------------


def test_erasing_its_source_leaves_no_trace_in_a_block(tmp_path: Path) -> None:
    with ContextMemory(tmp_path) as memory:
        memory.add([*INTRODUCTION, said("I am allergic to zanzibar nuts.", "secret")], now=NOW)
        memory.maintain(now=NOW)
        block = memory.blocks.get("user_profile")
        assert block is not None
        assert "zanzibar" in block.text
        assert "secret" in block.source_ids
        memory.update(block.id, "Ask me nothing")  # what was written before stays as a version
        memory.erase(message_id="secret")
        memory.opened().drop_index()
        assert texts(memory)["user_profile"] == "Ask me nothing"
        memory.blocks.delete("user_profile")
        memory.maintain(now=NOW)
        assert "Alex" in texts(memory)["user_profile"]
    with chroma_client(tmp_path) as client:
        stored = [collection.get() for collection in client.list_collections()]
        assert "zanzibar" not in str([(one["documents"], one["metadatas"]) for one in stored]).casefold()


def test_a_generated_block_goes_with_a_memory_that_it_is_made_of(memory: ContextMemory) -> None:
    secret = memory.remember("User is allergic to zanzibar nuts", category="health", now=NOW)
    memory.remember("User's name is Alex", category="name", now=NOW)
    memory.blocks.set("persona", "A patient tutor")
    memory.maintain(now=NOW)
    assert "zanzibar" in texts(memory)["user_profile"]
    memory.delete(secret.id)
    assert texts(memory) == {"persona": "A patient tutor"}
    memory.maintain(now=NOW)
    assert texts(memory)["user_profile"] == "User's name is Alex."


def test_what_expires_or_exceeds_the_capacity_stands_in_no_block(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, settings=Settings(capacity=1)) as memory:
        write(
            memory.opened(),
            record("fact-1", text="User's name is Alex", category="name", importance=0.9),
            record("fact-2", text="User is allergic to nuts", category="health", importance=0.1),
            record("fact-3", text="User works at Acme", category="work", expires_at=days_before(1)),
        )
        memory.maintain(now=NOW)
        assert texts(memory) == {"user_profile": "User's name is Alex."}
        assert memory.maintain(now=NOW).changed_nothing
