"""A simulated year follows the stages of the seeds; ``tests.benchmarks.year`` draws the same one."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tests.benchmarks.year import HABIT, HOLIDAY, Day, live

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def year(tmp_path_factory: pytest.TempPathFactory) -> list[Day]:
    return list(live(tmp_path_factory.mktemp("year")))


def test_bubbles_pass_through_the_stages_of_seed_000(year: list[Day]) -> None:
    for day in year:
        bubbles = sum(day.stages.values())
        if day.number < HOLIDAY.start:  # one a day, and one more each 30 days
            assert day.stages["active"] in (7, 8) or day.number < 6
            assert day.stages["warm"] <= 24
            assert day.stages["cold"] <= 63
            assert (day.stages["archived"] > 0) == (day.number >= 90)
        assert bubbles == sum(1 + (past % 30 == 0) for past in range(day.number + 1) if past not in HOLIDAY)
    assert {day.stages["archived"] for day in year if day.number < 90} == {0}
    quiet = year[HOLIDAY.start + 90]
    assert (quiet.stages["active"], quiet.stages["warm"], quiet.stages["cold"]) == (0, 0, 0)


def test_a_bubble_is_archived_on_its_ninetieth_day(year: list[Day]) -> None:
    for before, day in pairwise(year):
        due = day.number - 90
        came = 0 if due < 0 or due in HOLIDAY else 1 + (due % 30 == 0)
        assert len(day.report.archived) == came
        assert day.stages["archived"] - before.stages["archived"] == came


def test_what_is_important_or_used_rises_and_nothing_falls(year: list[Day]) -> None:
    assert year[0].report.moved == ()
    first_days = {move.after for day in year[:30] for move in day.report.moved}
    assert first_days == {"mtm"}
    thirtieth = {move.after for move in year[30].report.moved}
    assert "ltm" in thirtieth
    order = ("stm", "mtm", "ltm")
    assert all(
        order.index(move.after) > order.index(move.before) for day in year for move in day.report.moved
    )
    assert all(move.reason for day in year for move in day.report.moved)
    assert year[-1].tiers["ltm"] >= 4


def test_what_is_said_often_stays_in_mind_until_it_is_neither_said_nor_asked(year: list[Day]) -> None:
    assert all(HABIT not in day.working for day in year[:21])
    assert all(HABIT in day.working for day in year[21 : HOLIDAY.start])
    last_asked = max(day for day in HOLIDAY if day % 30 == 15)
    assert all(HABIT in day.working for day in year[HOLIDAY.start : last_asked])
    assert all(len(day.working) <= 10 for day in year)


def test_what_is_important_leaves_after_a_week(year: list[Day]) -> None:
    chapter = "User finished chapter 2 of the book."
    assert [day.number for day in year if chapter in day.working] == list(range(60, 67))


def test_the_blocks_follow(year: list[Day]) -> None:
    assert all(day.blocks["user_profile"].startswith("User's name is Ada.") for day in year)
    assert "current_focus" in year[HOLIDAY.start - 1].blocks
    assert "current_focus" not in year[HOLIDAY.stop - 1].blocks
    assert "current_focus" in year[-1].blocks
