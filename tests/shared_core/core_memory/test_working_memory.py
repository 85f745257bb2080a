from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared_core import ContextMemory, Settings
from shared_core.namespaces import Namespace
from tests.shared_core.building import NOW, NotesExtractor, days_before, record, said, write


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[ContextMemory]:
    with ContextMemory(tmp_path, extractor=NotesExtractor()) as opened:
        yield opened


@pytest.fixture
def namespace(memory: ContextMemory) -> Namespace:
    return memory.opened()


def working(memory: ContextMemory, days: float = 0.0) -> list[str]:
    return [one.id for one in memory.working_memory(now=NOW + timedelta(days=days))]


# -- promotion -------------------------------------------------------------------------------------------


def test_what_is_said_more_than_three_times_is_promoted(memory: ContextMemory) -> None:
    for times, text in ((3, "fact: Ada likes tea"), (4, "fact: Ada likes cake")):
        for _ in range(times):
            memory.add(said(text), now=NOW)
    report = memory.maintain(now=NOW)
    assert [one.text for one in memory.working_memory(now=NOW)] == ["Ada likes cake"]
    assert [(one.reason, one.until) for one in report.promoted] == [("frequent", NOW + timedelta(days=30))]
    assert memory.maintain(now=NOW).changed_nothing


def test_what_is_recent_and_important_is_promoted(memory: ContextMemory, namespace: Namespace) -> None:
    write(
        namespace,
        record("fact-both", importance=0.8, created_at=days_before(6)),
        record("fact-old", importance=1.0, created_at=days_before(8)),
        record("fact-minor", importance=0.79, created_at=NOW),
        record("bub-both", "bubble", importance=0.9, created_at=NOW),
    )
    report = memory.maintain(now=NOW)
    assert {one.memory_id: one.reason for one in report.promoted} == {
        "fact-both": "important",
        "bub-both": "important",
    }
    assert working(memory) == ["bub-both", "fact-both"]


def test_it_leaves_by_its_own_expiry(memory: ContextMemory, namespace: Namespace) -> None:
    write(namespace, record("fact-1", importance=0.9))
    memory.maintain(now=NOW)
    assert working(memory, days=6.9) == ["fact-1"]
    assert working(memory, days=7) == []
    later = NOW + timedelta(days=8)
    assert memory.maintain(now=later).left == ("fact-1",)
    assert memory.maintain(now=later).changed_nothing
    found = memory.get("fact-1")
    assert found is not None
    assert (found.working_until, found.working_reason) == (None, None)


def test_saying_or_reading_it_again_prolongs_its_stay(memory: ContextMemory, namespace: Namespace) -> None:
    write(namespace, record("fact-1", importance=0.9), record("fact-2", importance=0.9))
    memory.maintain(now=NOW)
    memory.search("fact-1", limit=1, now=NOW + timedelta(days=5))
    report = memory.maintain(now=NOW + timedelta(days=6))
    assert [one.until for one in report.promoted] == [NOW + timedelta(days=12)]
    assert working(memory, days=10) == [report.promoted[0].memory_id]


def test_a_message_that_repeats_a_fact_counts_by_when_it_was_said(memory: ContextMemory) -> None:
    for day in (400, 300, 200, 100):  # an old log, read in today
        memory.add(said("fact: Ada likes cake", timestamp=days_before(day)), now=NOW)
    assert memory.maintain(now=NOW).promoted == ()
    memory.add(said("fact: Ada likes cake", timestamp=days_before(1)), now=NOW)
    assert [one.until for one in memory.maintain(now=NOW).promoted] == [NOW + timedelta(days=29)]


def test_the_capacity_goes_to_what_is_worth_most(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, settings=Settings(working_capacity=2)) as memory:
        write(
            memory.opened(),
            record("fact-a", importance=0.8),
            record("fact-b", importance=0.9),
            record("fact-c", importance=0.8, mention_count=9),
        )
        assert len(memory.maintain(now=NOW).promoted) == 2
        assert working(memory) == ["fact-c", "fact-b"]
        write(memory.opened(), record("fact-d", importance=1.0, mention_count=9))
        report = memory.maintain(now=NOW)
        assert ([one.memory_id for one in report.promoted], report.left) == (["fact-d"], ("fact-b",))
        assert memory.maintain(now=NOW).changed_nothing


def test_a_capacity_of_nothing_keeps_nothing(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, settings=Settings(working_capacity=0)) as memory:
        memory.remember("User is allergic to peanuts", importance=1.0, now=NOW)
        assert memory.maintain(now=NOW).promoted == ()


def test_a_relation_that_a_fact_says_as_well_is_not_promoted_beside_it(
    memory: ContextMemory, namespace: Namespace
) -> None:
    said_twice: dict[str, Any] = {
        "subject": "Ada",
        "predicate": "likes",
        "object": "Cake",
        "mention_count": 9,
    }
    write(
        namespace,
        record("fact-1", **said_twice),
        record("tri-1", "triplet", **said_twice),
        record("tri-2", "triplet", **{**said_twice, "object": "tea"}),
    )
    assert {one.memory_id for one in memory.maintain(now=NOW).promoted} == {"fact-1", "tri-2"}


def test_what_is_superseded_archived_or_expired_is_not_in_working_memory(
    memory: ContextMemory, namespace: Namespace
) -> None:
    fields: dict[str, Any] = {"importance": 1.0, "mention_count": 9}
    write(
        namespace,
        record("fact-1~1", superseded_by="fact-1", **fields),
        record("fact-1", **fields),
        record("bub-1", "bubble", is_active=False, **fields),
        record("fact-2", expires_at=NOW + timedelta(days=1), **fields),
    )
    memory.maintain(now=NOW)
    assert set(working(memory)) == {"fact-1", "fact-2"}
    assert working(memory, days=2) == ["fact-1"]


def test_what_the_capacity_takes_leaves_room_in_the_same_run(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, settings=Settings(capacity=2, working_capacity=2)) as memory:
        write(
            memory.opened(),
            *(record(f"fact-{n}", importance=0.8 + n / 100, created_at=days_before(n)) for n in range(6)),
        )
        memory.maintain(now=NOW)
        assert len(working(memory)) == 2
        assert memory.maintain(now=NOW).changed_nothing


# -- holding ---------------------------------------------------------------------------------------------


def test_what_is_held_comes_first_and_leaves_by_itself(memory: ContextMemory, namespace: Namespace) -> None:
    write(namespace, record("fact-1", importance=1.0, mention_count=50), record("fact-2", importance=0.0))
    memory.maintain(now=NOW)
    held = memory.focus("fact-2", minutes=90, now=NOW)
    assert (held.working_reason, held.working_until) == ("held", NOW + timedelta(minutes=90))
    assert working(memory) == ["fact-2", "fact-1"]
    assert memory.maintain(now=NOW).changed_nothing
    later = NOW + timedelta(minutes=90)
    assert [one.id for one in memory.working_memory(now=later)] == ["fact-1"]
    assert memory.maintain(now=later).left == ("fact-2",)


def test_what_is_held_stays_beyond_the_capacity(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, settings=Settings(working_capacity=1)) as memory:
        write(memory.opened(), *(record(f"fact-{n}", importance=1.0) for n in range(4)))
        for n in range(3):
            memory.focus(f"fact-{n}", now=NOW)
        memory.maintain(now=NOW)
        assert sorted(working(memory)) == ["fact-0", "fact-1", "fact-2"]


def test_what_was_released_stays_out_until_it_is_used_again(
    memory: ContextMemory, namespace: Namespace
) -> None:
    write(namespace, record("fact-1", importance=1.0, mention_count=9))
    memory.maintain(now=NOW)
    assert memory.release("fact-1", now=NOW + timedelta(hours=1))
    assert not memory.release("fact-1", now=NOW + timedelta(hours=1))
    assert memory.maintain(now=NOW + timedelta(hours=2)).changed_nothing
    assert working(memory, days=1) == []
    memory.search("fact-1", now=NOW + timedelta(days=1))
    assert len(memory.maintain(now=NOW + timedelta(days=1)).promoted) == 1
    assert working(memory, days=1) == ["fact-1"]


def test_a_message_may_be_held_by_the_id_of_its_author(memory: ContextMemory) -> None:
    memory.add(said("The door code is 4711.", "m1"), "c1", now=NOW)
    memory.focus("m1", now=NOW)
    assert "4711" in memory.context(token_budget=200, now=NOW).text
    assert memory.release("m1", now=NOW)


@pytest.mark.parametrize("minutes", [0, -1, float("nan"), float("inf"), "60", True, None])
def test_bad_minutes_are_refused_and_quoted(
    memory: ContextMemory, namespace: Namespace, minutes: Any
) -> None:
    write(namespace, record("fact-1"))
    with pytest.raises(ValueError, match="minutes"):
        memory.focus("fact-1", minutes=minutes)


def test_minutes_beyond_the_calendar_last_for_ever(memory: ContextMemory, namespace: Namespace) -> None:
    write(namespace, record("fact-1"))
    memory.focus("fact-1", minutes=1e15, now=NOW)
    assert working(memory, days=100_000) == ["fact-1"]
    assert memory.maintain(now=NOW).changed_nothing


def test_what_is_not_there_or_a_block_cannot_be_held(memory: ContextMemory) -> None:
    with pytest.raises(ValueError, match="there is no memory 'fact-9'"):
        memory.focus("fact-9")
    assert not memory.release("fact-9")
    block = memory.blocks.set("persona", "A patient tutor")
    with pytest.raises(ValueError, match="core block"):
        memory.focus(block.id)


# -- where it shows --------------------------------------------------------------------------------------


def test_a_context_shows_working_memory_in_its_block_whatever_is_asked(memory: ContextMemory) -> None:
    memory.remember("User is allergic to peanuts", importance=1.0, now=NOW)
    assert "peanuts" not in memory.context(token_budget=300, now=NOW).text
    memory.maintain(now=NOW)
    for query in (None, "Which trains run on Sundays?", "peanuts"):
        context = memory.context(query, token_budget=300, now=NOW)
        assert "## Working Memory\n- User is allergic to peanuts" in context.text
        assert context.text.count("peanuts") == 1
    assert "peanuts" not in memory.context(token_budget=300, now=NOW + timedelta(days=8)).text


def test_what_a_generated_block_says_is_not_said_again(memory: ContextMemory) -> None:
    memory.remember("User is allergic to peanuts", category="health", importance=1.0, now=NOW)
    memory.maintain(now=NOW)
    context = memory.context(token_budget=300, now=NOW)
    assert context.text.count("peanuts") == 1
    assert "user_profile: User is allergic to peanuts" in context.text


def test_the_webmcp_preset_rewards_what_is_in_working_memory(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, settings=Settings(scoring="webmcp")) as memory:
        for n in range(2):
            memory.remember(f"User rides tandem {n}", now=NOW)
        before = {hit.memory_id: hit.score for hit in memory.search("tandem", now=NOW)}
        held = next(iter(before))
        memory.focus(held, now=NOW)
        for hit in memory.search("tandem", now=NOW):
            bonus = 0.1 if hit.memory_id == held else 0.0
            assert hit.components["working_memory"] == (1.0 if bonus else 0.0)
            assert hit.score == pytest.approx(before[hit.memory_id] + bonus)
        later = NOW + timedelta(hours=2)
        assert {hit.components["working_memory"] for hit in memory.search("tandem", now=later)} == {0.0}


def test_it_outlives_the_process(tmp_path: Path) -> None:
    for _ in range(2):
        with ContextMemory(tmp_path) as memory:
            memory.remember("User is allergic to peanuts", importance=1.0, now=NOW)
            memory.maintain(now=NOW)
            assert len(working(memory)) == 1


async def test_the_async_twins_do_the_same(memory: ContextMemory) -> None:
    fact = await memory.aremember("User likes tea", now=NOW)
    await memory.afocus(fact.id, now=NOW)
    assert [one.id for one in await memory.aworking_memory(now=NOW)] == [fact.id]
    assert await memory.arelease(fact.id, now=NOW)


MEMORIES = st.lists(
    st.tuples(st.floats(0, 1), st.integers(1, 9), st.floats(0, 40), st.booleans(), st.booleans()), max_size=12
)


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ContextMemory]:
    with ContextMemory(tmp_path_factory.mktemp("shared"), settings=Settings(working_capacity=3)) as opened:
        yield opened


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
@given(memories=MEMORIES, days=st.lists(st.floats(0, 60), min_size=1, max_size=3))
def test_it_never_exceeds_its_capacity_and_holds_only_what_earned_it(
    shared: ContextMemory, memories: list[tuple[float, int, float, bool, bool]], days: list[float]
) -> None:
    shared.erase(everything=True)
    records = [
        record(f"fact-{n}", importance=importance, mention_count=mentions, created_at=days_before(age))
        for n, (importance, mentions, age, _, _) in enumerate(memories)
    ]
    if records:
        write(shared.opened(), *records)
    held = {f"fact-{n}" for n, one in enumerate(memories) if one[3] and one[4]}
    for memory_id in sorted(held):
        shared.focus(memory_id, minutes=1, now=NOW)
    for day in sorted(days):
        now = NOW + timedelta(days=day)
        shared.maintain(now=now)
        assert shared.maintain(now=now).changed_nothing
        found = shared.working_memory(now=now)
        assert len(found) <= max(3, len(held))
        for one in found:
            assert one.working_reason == "held" or one.mention_count > 3 or one.importance >= 0.8
