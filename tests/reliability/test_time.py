"""Clocks that go back, future timestamps, daylight saving, and the ends of the calendar."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import get_args
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared_core import ContextMemory, Settings
from shared_core.scoring import PresetName
from shared_core.times import age_days, as_utc, parse_timestamp
from shared_core.transfer.export import export_records, import_records
from tests.shared_core.building import NOW, NotesExtractor, said

UTC = timezone.utc
BERLIN = ZoneInfo("Europe/Berlin")
FIRST, LAST = datetime.min, datetime.max
MOMENTS: list[datetime | str] = [
    *(FIRST, LAST, FIRST.replace(tzinfo=UTC), LAST.replace(tzinfo=UTC)),
    FIRST.replace(tzinfo=timezone(timedelta(hours=14))),
    LAST.replace(tzinfo=timezone(-timedelta(hours=12))),
    datetime(2026, 3, 29, 2, 30, tzinfo=BERLIN),  # left out when the clock is put forward
    *(datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN, fold=fold) for fold in (0, 1)),
    *(datetime(1970, 1, 1), datetime(1969, 12, 31, tzinfo=UTC), datetime(2000, 2, 29), NOW),
    *("0001-01-01T00:00:00", "9999-12-31T23:59:59.999999-23:59", "0001-01-01T00:00:00+23:59"),
]
moments = st.one_of(
    st.sampled_from([moment for moment in MOMENTS if isinstance(moment, datetime)]),
    st.datetimes(timezones=st.none() | st.sampled_from([UTC, BERLIN, ZoneInfo("Asia/Kathmandu")])),
)


@given(moments, moments)
def test_no_age_is_negative(moment: datetime, now: datetime) -> None:
    assert age_days(as_utc(moment), as_utc(now)) >= 0.0
    assert parse_timestamp(as_utc(moment).isoformat()) == as_utc(moment)


def works(memory: ContextMemory, now: datetime) -> None:
    """Everything that looks at the clock, at one moment."""
    for hit in memory.search("tandem", limit=20, now=now):
        assert 0.0 <= hit.score < 100.0
        assert all(value == value for value in hit.components.values())
    memory.context("tandem", 300, "c", now=now)
    memory.list(now=now)
    memory.working_memory(now=now)
    memory.maintain(now=now)
    memory.graph(now=now)


def fill(memory: ContextMemory, moment: datetime | str, now: datetime, mark: str) -> None:
    memory.add(
        said(f"moment: Ada rode tandem {mark}\nfact: Ada owns {mark}", mark, timestamp=moment), "c", now=now
    )


def test_any_moments_mix_in_one_conversation(tmp_path: Path) -> None:
    with ContextMemory(tmp_path / "one", extractor=NotesExtractor()) as memory:
        for number, moment in enumerate(MOMENTS):
            fill(memory, moment, NOW, f"m{number}")
        for now in (FIRST, NOW, LAST, FIRST.replace(tzinfo=UTC)):
            works(memory, now)
        memory.opened().drop_index()
        kept = {one.message_id: one.created_at for one in memory.messages("c")}
        for number, moment in enumerate(MOMENTS):
            assert kept[f"m{number}"] == parse_timestamp(moment)
        lines = list(export_records(memory))
        with ContextMemory(tmp_path / "two", extractor=NotesExtractor()) as other:
            import_records(other, lines)
            assert list(export_records(other))[1:] == lines[1:]


@pytest.mark.parametrize("preset", get_args(PresetName))
def test_no_policy_minds_the_ends_of_the_calendar(tmp_path: Path, preset: PresetName) -> None:
    settings_ = Settings(scoring=preset)
    with ContextMemory(tmp_path, extractor=NotesExtractor(), settings=settings_) as memory:
        for number, moment in enumerate((FIRST, NOW, LAST)):
            fill(memory, moment, NOW, f"m{number}")
        for now in (FIRST, NOW, LAST):
            works(memory, now)


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(moments, moments), min_size=1, max_size=4))
def test_a_clock_may_go_where_it_likes(tmp_path: Path, pairs: list[tuple[datetime, datetime]]) -> None:
    with ContextMemory(tmp_path, extractor=NotesExtractor()) as memory:
        for number, (moment, now) in enumerate(pairs):
            fill(memory, moment, now, f"m{number}")
            fact = memory.remember("Ada likes the lake", now=now)
            memory.relate("Ada", "likes", "the lake", now=now)
            memory.focus(fact.id, now=now)
            works(memory, now)
        assert memory.messages("c")
        memory.erase(everything=True)


def test_a_clock_that_goes_back_loses_and_reorders_nothing(memory: ContextMemory) -> None:
    for number in range(4):
        now = NOW - timedelta(days=number)
        memory.add(said(f"I rode tandem {number}.", f"m{number}"), "c", now=now)
    assert [one.message_id for one in memory.messages("c")] == ["m0", "m1", "m2", "m3"]
    fact = memory.remember("Ada likes the lake", now=NOW)
    again = memory.remember("Ada likes the lake", now=NOW - timedelta(days=400))
    assert again.mention_count == fact.mention_count + 1
    assert memory.search("lake", now=NOW - timedelta(days=4_000)).results


def test_the_two_half_past_twos_of_a_night_are_an_hour_apart() -> None:
    one, two = (datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN, fold=fold) for fold in (0, 1))
    assert as_utc(two) - as_utc(one) == timedelta(hours=1)
    assert age_days(as_utc(one), as_utc(two)) == pytest.approx(1 / 24)
