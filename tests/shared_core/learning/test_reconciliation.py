"""What a new statement does to the ones that are known."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from shared_core import ContextMemory
from shared_core.extraction.schema import ExtractedFact
from shared_core.learning.reconciliation import Decision, decide
from tests.shared_core.building import NOW, said

KNOWN = {
    ("user", "lives_in"): {"paris": "Paris"},
    ("user", "likes"): {"tea": "tea", "coffee": "coffee"},
    ("user", "no_longer_works_at"): {"left": "Nokia"},
    ("user", "dislikes"): {"rain": "rain"},
}


def held(subject: str, predicate: str) -> dict[str, str]:
    return KNOWN.get((subject.casefold(), predicate), {})


def stated(predicate: str | None, value: str | None, subject: str | None = "User") -> ExtractedFact:
    return ExtractedFact(text="it", subject=subject, predicate=predicate, object=value, sources=(0,))


@pytest.mark.parametrize(
    ("predicate", "value", "decision"),
    [
        ("lives_in", "Berlin", Decision("UPDATE", ("paris",))),
        ("lives_in", "PARIS", Decision("NOOP", ("paris",))),
        ("lives_in", "Paris, France", Decision("UPDATE", ("paris",))),
        ("likes", "green tea", Decision("UPDATE", ("tea",))),
        ("likes", "tea", Decision("NOOP", ("tea",))),
        ("likes", "cocoa", Decision("ADD")),
        ("no_longer_likes", "coffee", Decision("DELETE", ("coffee",))),
        ("not_likes", "coffee", Decision("DELETE", ("coffee",))),
        ("dislikes", "coffee", Decision("DELETE", ("coffee",))),
        ("dislikes", "milk", Decision("ADD")),
        ("likes", "rain", Decision("DELETE", ("rain",))),
        ("works_at", "Nokia", Decision("DELETE", ("left",))),
        ("works_at", "Acme", Decision("ADD")),
        ("no_longer_works_at", "Acme", Decision("ADD")),
        (None, None, Decision("ADD")),
    ],
)
def test_rules_decide_by_subject_predicate_and_object(
    predicate: str | None, value: str | None, decision: Decision
) -> None:
    assert decide(stated(predicate, value), held) == decision


def test_what_is_said_of_another_is_another_matter() -> None:
    assert decide(stated("lives_in", "Berlin", subject="Ada"), held) == Decision("ADD")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[ContextMemory]:
    with ContextMemory(tmp_path / "m") as opened:
        yield opened


def tell(memory: ContextMemory, *texts: str, day: int = 0) -> None:
    for number, text in enumerate(texts):
        moment = NOW + timedelta(days=day, minutes=number)
        memory.add(said(text, f"m{day}-{number}", timestamp=moment), "c", now=moment)


def facts(memory: ContextMemory) -> set[str]:
    return {fact.text for fact in memory.list(kind="fact")}


def test_a_move_supersedes_the_old_home_and_its_history_tells_both(memory: ContextMemory) -> None:
    tell(memory, "I live in Paris.")
    tell(memory, "I moved from Paris to Berlin.", day=1)
    assert "User lives in Berlin" in facts(memory)
    assert "User lives in Paris" not in facts(memory)
    hit = memory.search("Where does the user live?", kind="fact").results[0]
    assert hit.memory == "User lives in Berlin"
    assert [fact.text for fact in memory.history(hit.memory_id)] == [
        "User lives in Paris",
        "User lives in Berlin",
    ]
    current = {triplet.text for triplet in memory.list(kind="triplet")}
    assert "User lives in Paris" not in current
    replaced = memory.list(kind="fact", include_superseded=True)
    assert "User lives in Paris" in {fact.text for fact in replaced}


def test_a_chain_of_homes_is_told_from_the_first(memory: ContextMemory) -> None:
    for day, city in enumerate(("Paris", "Berlin", "Rome")):
        tell(memory, f"I live in {city}.", day=day)
    (home,) = (fact for fact in memory.list(kind="fact") if fact.predicate == "lives_in")
    assert [fact.object for fact in memory.history(home.id)] == ["Paris", "Berlin", "Rome"]


def test_going_back_keeps_both_stays(memory: ContextMemory) -> None:
    for day, city in enumerate(("Paris", "Berlin", "Paris")):
        tell(memory, f"I live in {city}.", day=day)
    (home,) = (fact for fact in memory.list(kind="fact") if fact.predicate == "lives_in")
    assert (home.object, home.mention_count) == ("Paris", 1)
    assert [fact.object for fact in memory.history(home.id)] == ["Paris", "Berlin", "Paris"]
    memory.erase(message_id="m0-0")
    assert [fact.object for fact in memory.history(home.id)] == ["Berlin", "Paris"]


def test_what_is_no_longer_liked_leaves_and_comes_back_when_it_is_liked_again(memory: ContextMemory) -> None:
    tell(memory, "I like coffee.")
    tell(memory, "I no longer like coffee.", day=1)
    assert "User likes coffee" not in facts(memory)
    tell(memory, "I like coffee.", day=2)
    assert "User likes coffee" in facts(memory)
    assert not any("no longer" in fact for fact in facts(memory))


def test_a_fact_that_was_deleted_and_is_said_again_is_added_again(memory: ContextMemory) -> None:
    tell(memory, "I live in Paris.")
    (home,) = (fact for fact in memory.list(kind="fact") if fact.predicate == "lives_in")
    memory.delete(home.id)
    assert "User lives in Paris" not in facts(memory)
    tell(memory, "I live in Paris.", day=1)
    assert "User lives in Paris" in facts(memory)


def test_a_repeated_fact_is_counted_not_stored_twice(memory: ContextMemory) -> None:
    tell(memory, "I live in Paris.", "By the way, I live in Paris.")
    (home,) = (fact for fact in memory.list(kind="fact") if fact.predicate == "lives_in")
    assert home.mention_count == 2


def test_what_was_said_later_stays_when_an_older_message_comes_after_it(memory: ContextMemory) -> None:
    tell(memory, "I live in Berlin.", day=5)
    tell(memory, "I live in Paris.", day=1)
    assert "User lives in Berlin" in facts(memory)
    assert "User lives in Paris" not in facts(memory)


def test_one_add_with_a_change_of_mind_keeps_the_last_word(memory: ContextMemory) -> None:
    memory.add([said("I live in Paris.", "a"), said("I moved to Berlin.", "b")], "c", now=NOW)
    assert "User lives in Berlin" in facts(memory)
    assert "User lives in Paris" not in facts(memory)


def test_an_update_by_hand_replaces_the_triplet_as_well(memory: ContextMemory) -> None:
    tell(memory, "I live in Paris.")
    (home,) = (fact for fact in memory.list(kind="fact") if fact.predicate == "lives_in")
    memory.update(home.id, "User lives on a boat")
    assert not [triplet for triplet in memory.list(kind="triplet") if triplet.object == "Paris"]
    assert [fact.text for fact in memory.history(home.id)] == ["User lives in Paris", "User lives on a boat"]


def test_nothing_of_an_erased_conversation_is_left_in_any_version(
    memory: ContextMemory, tmp_path: Path
) -> None:
    tell(memory, "I live in Paris.", "I moved to Berlin.", "I live in Paris.")
    memory.erase(conversation_id="c")
    assert memory.list(include_superseded=True, include_archived=True) == []
