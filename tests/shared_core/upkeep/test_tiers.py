from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core import ContextMemory, Settings
from shared_core.namespaces import Namespace
from shared_core.records import TIERS, Tier
from shared_core.upkeep.tiers import Threshold, thresholds, tier_of
from tests.shared_core.building import NOW, NotesExtractor, days_before, record, write

EARNED_BY = thresholds(Settings())
MEASURES = st.fixed_dictionaries(
    {"importance": st.floats(0, 1), "uses": st.integers(0, 50), "age_days": st.floats(0, 400)}
)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[ContextMemory]:
    with ContextMemory(tmp_path, extractor=NotesExtractor()) as opened:
        yield opened


@pytest.fixture
def namespace(memory: ContextMemory) -> Namespace:
    return memory.opened()


def tiers(memory: ContextMemory) -> dict[str, Tier]:
    return {one.id: one.tier for one in memory.list(limit=1_000, now=NOW, include_archived=True)}


@given(tier=st.sampled_from(TIERS), measures=MEASURES)
def test_a_tier_is_earned_once_and_never_lost(tier: Tier, measures: dict[str, float]) -> None:
    reached = tier_of(tier, EARNED_BY, **measures)
    assert TIERS.index(reached) >= TIERS.index(tier)
    assert tier_of(reached, EARNED_BY, **measures) == reached


@given(tier=st.sampled_from(TIERS), less=MEASURES, more=MEASURES)
def test_age_importance_and_use_never_lower_a_tier(
    tier: Tier, less: dict[str, float], more: dict[str, float]
) -> None:
    highest = {name: max(value, more[name]) for name, value in less.items()}
    before, after = tier_of(tier, EARNED_BY, **less), tier_of(tier, EARNED_BY, **highest)
    assert TIERS.index(after) >= TIERS.index(before)


@pytest.mark.parametrize(
    ("importance", "uses", "age_days", "reached"),
    [
        (1.0, 99, 0.9, "stm"),  # too new
        (0.59, 2, 400, "stm"),  # neither important nor used
        (0.6, 1, 1, "mtm"),
        (0.1, 3, 1, "mtm"),
        (0.8, 1, 29, "mtm"),  # not old enough for more
        (0.79, 5, 30, "mtm"),
        (0.8, 1, 30, "ltm"),
        (0.1, 6, 30, "ltm"),
        (0.6, 6, 300, "ltm"),
    ],
)
def test_importance_or_use_and_age_earn_a_tier(
    importance: float, uses: int, age_days: float, reached: Tier
) -> None:
    assert tier_of("stm", EARNED_BY, importance=importance, uses=uses, age_days=age_days) == reached


def test_the_long_term_is_reached_through_the_medium_term() -> None:
    never, at_once = Threshold(1, 1.0, 1_000), Threshold(0, 0.0, 0)
    assert tier_of("stm", (never, at_once), importance=0.9, uses=5, age_days=99) == "stm"


def test_what_is_new_is_short_term(memory: ContextMemory) -> None:
    assert memory.remember("User is allergic to peanuts", importance=1.0, now=NOW).tier == "stm"
    assert memory.maintain(now=NOW).moved == ()


def test_consolidation_tells_what_moved_and_why(memory: ContextMemory, namespace: Namespace) -> None:
    write(
        namespace,
        record("fact-vital", importance=0.9, created_at=days_before(40)),
        record("fact-often", importance=0.2, created_at=days_before(2), mention_count=2, access_count=1),
        record("fact-minor", importance=0.2, created_at=days_before(300)),
        record("bub-vital", "bubble", importance=0.7, created_at=days_before(5)),
        record("tri-vital", "triplet", importance=0.7, created_at=days_before(5), subject="a", object="b"),
    )
    moved = {move.memory_id: move for move in memory.maintain(now=NOW).moved}
    assert set(moved) == {"fact-vital", "fact-often", "bub-vital", "tri-vital"}
    assert (moved["fact-vital"].before, moved["fact-vital"].after) == ("stm", "ltm")
    assert moved["fact-vital"].reason == "40 days old, importance 0.90 of 0.80"
    assert moved["fact-often"].reason == "2 days old, said or read 3 times of 3"
    assert tiers(memory)["fact-often"] == "mtm"
    assert tiers(memory)["fact-minor"] == "stm"
    assert memory.maintain(now=NOW).changed_nothing


def test_what_is_archived_superseded_or_said_stays_where_it_is(
    memory: ContextMemory, namespace: Namespace
) -> None:
    write(
        namespace,
        record("bub-old", "bubble", importance=0.9, created_at=days_before(200)),
        record("fact-1", importance=0.9, created_at=days_before(200)),
        record("fact-1~1", importance=0.9, created_at=days_before(200), superseded_by="fact-1"),
        record("sum-1", "summary", importance=0.9, created_at=days_before(200)),
    )
    assert [move.memory_id for move in memory.maintain(now=NOW).moved] == ["fact-1"]


def test_a_tier_survives_the_process_and_moves_leave_the_time_of_the_last_change(tmp_path: Path) -> None:
    with ContextMemory(tmp_path) as memory:
        write(memory.opened(), record("fact-1", importance=0.9, created_at=days_before(3)))
        memory.maintain(now=NOW)
    with ContextMemory(tmp_path) as memory:
        found = memory.get("fact-1")
        assert found is not None
        assert found.tier == "mtm"
        assert found.updated_at == days_before(3)
        assert memory.maintain(now=NOW).moved == ()


def test_the_thresholds_are_settings(tmp_path: Path) -> None:
    chosen = Settings(mtm_after_days=0, mtm_importance=0, ltm_after_days=0, ltm_importance=0)
    with ContextMemory(tmp_path, settings=chosen) as memory:
        memory.remember("User likes tea", importance=0.0, now=NOW)
        assert [move.after for move in memory.maintain(now=NOW).moved] == ["ltm"]


def test_the_long_term_does_not_fade_where_the_capacity_is_exceeded(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, settings=Settings(capacity=1)) as memory:
        write(
            memory.opened(),
            record("bub-firm", "bubble", importance=0.5, created_at=days_before(80), tier="ltm"),
            record("bub-new", "bubble", importance=0.5, created_at=days_before(60)),
        )
        assert memory.maintain(now=NOW).evicted == ("bub-new",)
