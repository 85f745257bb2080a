from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared_core import ContextMemory, Settings
from shared_core.embedding.base import unit_rows
from shared_core.index.resident import ResidentIndex
from shared_core.namespaces import Namespace
from shared_core.records import Connection
from shared_core.stores.codec import encode
from shared_core.upkeep.maintenance import surplus_rows
from tests.shared_core.building import (
    EMBEDDER,
    NOW,
    NotesExtractor,
    days_before,
    message_record,
    record,
    said,
    write,
)


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[ContextMemory]:
    with ContextMemory(tmp_path, extractor=NotesExtractor(), settings=Settings(capacity=10)) as memory:
        yield memory


@pytest.fixture
def namespace(notes: ContextMemory) -> Namespace:
    return notes.opened()


def ids(memory: ContextMemory, **filters: bool) -> set[str]:
    return {one.id for one in memory.list(limit=10_000, now=NOW, **filters)}  # type: ignore[arg-type]


# -- expiry ----------------------------------------------------------------------------------------------


def test_what_has_expired_is_hidden_at_once_and_deleted_by_maintain(
    notes: ContextMemory, namespace: Namespace
) -> None:
    write(
        namespace,
        record("fact-old", expires_at=NOW - timedelta(seconds=1)),
        record("fact-now", expires_at=NOW),
        record("fact-new", expires_at=NOW + timedelta(seconds=1)),
        record("fact-ever"),
    )
    assert ids(notes) == {"fact-new", "fact-ever"}
    assert "fact-old" not in {hit.memory_id for hit in notes.search("text of fact-old", now=NOW)}
    report = notes.maintain(now=NOW)
    assert set(report.expired) == {"fact-old", "fact-now"}
    assert notes.get("fact-old") is None
    assert notes.maintain(now=NOW).changed_nothing
    assert notes.maintain(now=NOW + timedelta(days=1)).expired == ("fact-new",)


def test_versions_of_one_memory_expire_together(notes: ContextMemory, namespace: Namespace) -> None:
    write(namespace, record("fact-1", text="first", expires_at=NOW))
    notes.update("fact-1", "second")
    report = notes.maintain(now=NOW)
    assert "fact-1" in report.expired
    assert ids(notes, include_superseded=True) == set()


# -- archiving -------------------------------------------------------------------------------------------


def test_a_bubble_is_archived_at_90_days(notes: ContextMemory) -> None:
    for days in (89, 90, 400):
        notes.add(said(f"moment: Ada swam on day {days}.\nfact: Ada counted {days}"), now=days_before(days))
    report = notes.maintain(now=NOW)
    assert len(report.archived) == 2
    assert [one.text for one in notes.list(kind="bubble")] == ["Ada swam on day 89."]
    assert len(notes.list(kind="bubble", include_archived=True)) == 3
    assert len(notes.list(kind="fact")) == 3
    assert notes.maintain(now=NOW).changed_nothing


def test_an_archived_bubble_is_found_on_request(notes: ContextMemory) -> None:
    notes.add(said("moment: Ada swam across the frozen lake."), now=days_before(100))
    notes.maintain(now=NOW)
    assert "bubble" not in {hit.type for hit in notes.search("swam lake", now=NOW)}
    found = notes.search("swam lake", now=NOW, include_archived=True, kind="bubble")
    assert [hit.record.is_active for hit in found] == [False]


def test_its_message_stands_for_an_archived_bubble(notes: ContextMemory) -> None:
    notes.add(said("moment: Ada swam across the frozen lake.", "m1"), now=days_before(100))
    notes.maintain(now=NOW)
    assert [hit.source_ids for hit in notes.search("swam lake", now=NOW)] == [("m1",)]


def test_a_pinned_bubble_is_never_archived(notes: ContextMemory, namespace: Namespace) -> None:
    write(namespace, record("bub-1", "bubble", created_at=days_before(900), pinned=True))
    assert notes.maintain(now=NOW).changed_nothing


def test_the_age_of_archiving_is_a_setting(tmp_path: Path) -> None:
    with ContextMemory(
        tmp_path, extractor=NotesExtractor(), settings=Settings(archive_after_days=2)
    ) as memory:
        memory.add(said("moment: Ada swam."), now=days_before(3))
        assert len(memory.maintain(now=NOW).archived) == 1


def test_a_bubble_of_the_future_stays_active(notes: ContextMemory) -> None:
    notes.add(said("moment: Ada will swim."), now=NOW + timedelta(days=3_650))
    assert notes.maintain(now=NOW).changed_nothing


# -- capacity --------------------------------------------------------------------------------------------


def test_the_least_important_and_oldest_are_evicted(notes: ContextMemory, namespace: Namespace) -> None:
    write(
        namespace,
        *(record(f"fact-{n:02}", importance=0.9, created_at=days_before(n)) for n in range(9)),
        record("fact-minor", importance=0.1),
        record("fact-oldest", importance=0.9, created_at=days_before(99)),
        record("fact-often", importance=0.9, created_at=days_before(99), mention_count=5),
    )
    report = notes.maintain(now=NOW)
    assert report.evicted == ("fact-minor", "fact-oldest")
    assert len(ids(notes)) == 10
    assert notes.maintain(now=NOW).changed_nothing


def test_versions_that_were_replaced_and_archived_bubbles_are_evicted_first(
    notes: ContextMemory, namespace: Namespace
) -> None:
    write(
        namespace,
        *(record(f"fact-{n}", importance=0.2) for n in range(9)),
        record("bub-archived", "bubble", importance=1.0, is_active=False),
        record("fact-0~1", importance=1.0, superseded_by="fact-0"),
    )
    assert notes.maintain(now=NOW).evicted == ("fact-0~1",)
    write(namespace, record("fact-9", importance=0.2))
    assert notes.maintain(now=NOW).evicted == ("bub-archived",)


def test_a_memory_and_its_versions_can_be_evicted_together(
    notes: ContextMemory, namespace: Namespace
) -> None:
    write(namespace, record("fact-minor", text="one", importance=0.1))
    for text in ("two", "three"):
        notes.update("fact-minor", text)
    write(namespace, *(record(f"fact-{n}", importance=0.9) for n in range(10)))
    report = notes.maintain(now=NOW)
    assert set(report.evicted) == {"fact-minor~1", "fact-minor~2", "fact-minor"}
    assert len(report.evicted) == 3
    assert len(ids(notes, include_superseded=True)) == 10


def test_pinned_memories_are_never_evicted(notes: ContextMemory, namespace: Namespace) -> None:
    write(namespace, *(record(f"fact-{n:02}", importance=0.0, pinned=True) for n in range(12)))
    assert notes.maintain(now=NOW).changed_nothing
    write(namespace, record("fact-free", importance=1.0))
    assert notes.maintain(now=NOW).evicted == ("fact-free",)
    assert len(ids(notes)) == 12


def test_messages_summaries_and_blocks_do_not_count(notes: ContextMemory, namespace: Namespace) -> None:
    write(
        namespace,
        *(message_record(f"m{n}", n) for n in range(20)),
        *(record(f"sum-{n}", "summary") for n in range(5)),
        *(record(f"blk-{n}", "block") for n in range(5)),
    )
    assert notes.maintain(now=NOW).changed_nothing


def test_eviction_takes_connections_to_the_evicted_along(notes: ContextMemory) -> None:
    for n in range(14):
        notes.add(said(f"moment: Ada rode her red tandem on day {n}.", f"m{n}"), now=days_before(20 - n))
    report = notes.maintain(now=NOW)
    assert len(report.evicted) == 4
    notes.opened().drop_index()
    left = notes.list(kind="bubble", limit=100)
    assert len(left) == 10
    assert {c.memory_id for one in left for c in one.connections}.isdisjoint(report.evicted)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(
    capacity=st.integers(1, 12),
    memories=st.lists(
        st.tuples(
            st.sampled_from(["fact", "bubble", "triplet", "message"]),
            st.floats(0, 1),
            st.booleans(),
            st.booleans(),
        ),
        max_size=20,
    ),
)
def test_eviction_respects_the_capacity_and_takes_no_more_than_the_surplus(
    capacity: int, memories: list[tuple[str, float, bool, bool]]
) -> None:
    index = ResidentIndex(4)
    import numpy as np

    for n, (kind, importance, pinned, active) in enumerate(memories):
        made = (
            message_record(f"m{n}", n)
            if kind == "message"
            else record(f"{kind}-{n}", kind, importance=importance, pinned=pinned, is_active=active)  # type: ignore[arg-type]
        )
        index.put(made, encode(made), unit_rows(np.ones((1, 4), dtype=np.float32))[0])
    in_use = index.columns["active"]
    none = np.zeros_like(in_use)
    surplus = surplus_rows(index, NOW, capacity=capacity, active=in_use, is_long_term=none, working=none)
    evicted = [index.id_at(int(row)) for row in surplus]
    counted = [index.stored(one) for one in index if index.stored(one).kind != "message"]
    free = [one for one in counted if not one.pinned]
    assert len(evicted) == len(set(evicted)) == min(len(free), max(0, len(counted) - capacity))
    assert all(not index.stored(one).pinned and index.stored(one).kind != "message" for one in evicted)
    kept = [one for one in free if one.id not in evicted and one.is_active]
    gone = [index.stored(one) for one in evicted if index.stored(one).is_active]
    if kept and gone:
        lowest = np.float32(min(one.importance for one in kept))
        assert max(np.float32(one.importance) for one in gone) <= lowest


# -- pruning and repair ----------------------------------------------------------------------------------


def test_a_weak_relation_that_is_old_and_was_never_read_is_pruned(
    notes: ContextMemory, namespace: Namespace
) -> None:
    weak: dict[str, Any] = {"confidence": 0.2, "created_at": days_before(90)}
    write(
        namespace,
        record("tri-weak", "triplet", **weak),
        record("tri-young", "triplet", **weak | {"created_at": days_before(89)}),
        record("tri-sure", "triplet", **weak | {"confidence": 0.3}),
        record("tri-twice", "triplet", mention_count=2, **weak),
        record("tri-read", "triplet", access_count=1, **weak),
        record("tri-pinned", "triplet", pinned=True, **weak),
        record("tri-held", "triplet", **weak),
        record("fact-weak", **weak),
    )
    notes.focus("tri-held", now=NOW)
    assert notes.maintain(now=NOW).pruned == ("tri-weak",)
    assert notes.maintain(now=NOW).changed_nothing


def test_references_to_what_is_not_there_are_taken_out(notes: ContextMemory, namespace: Namespace) -> None:
    links = (Connection("fact-gone", 0.9), Connection("fact-1", 0.8))
    write(
        namespace,
        record("fact-1"),
        record("bub-1", "bubble", connections=links),
        record("fact-2", superseded_by="fact-gone"),
    )
    assert set(notes.maintain(now=NOW).repaired) == {"bub-1", "fact-2"}
    bubble, fact = notes.get("bub-1"), notes.get("fact-2")
    assert bubble is not None
    assert bubble.connections == (Connection("fact-1", 0.8),)
    assert fact is not None
    assert fact.is_current
    assert notes.maintain(now=NOW + timedelta(hours=1)).repaired == ()


# -- all together ----------------------------------------------------------------------------------------


def test_maintain_is_idempotent_on_a_lived_in_memory(notes: ContextMemory) -> None:
    for day in range(0, 200, 10):
        text = f"fact: Ada counted {day}\nmoment: Ada rode on day {day}.\nrelation: Ada | counted | {day}"
        notes.add([said(text), said("Hm.")], now=days_before(day))
    first = notes.maintain(now=NOW)
    assert first.archived
    assert first.evicted
    before = notes.list(limit=1_000, include_archived=True, include_superseded=True)
    assert notes.maintain(now=NOW).changed_nothing
    assert notes.list(limit=1_000, include_archived=True, include_superseded=True) == before


def test_maintaining_far_in_the_future_and_past_is_harmless(notes: ContextMemory) -> None:
    notes.add(said("fact: Ada rides a tandem"), now=NOW)
    assert EMBEDDER.dimension == notes.embedder.dimension
    for now in (NOW.replace(year=1), NOW.replace(year=9999)):
        notes.maintain(now=now)
    assert len(notes.list(kind="fact")) == 1


def lived_in(memory: ContextMemory) -> None:
    """A little of everything that maintenance may want to change, more than once."""
    for day in (200, 100, 95, 60, 20, 5, 1, 0):
        text = f"fact: Ada likes tea\nfact: Ada counted {day}\nmoment: Ada rode on day {day}."
        memory.add([said(text), said("Hm.")], now=days_before(day))
    memory.remember("User is allergic to peanuts", category="health", importance=1.0, now=NOW)
    memory.focus(memory.remember("User knows Python", category="skill", now=NOW).id, now=NOW)
    memory.blocks.set("persona", "A patient tutor", now=NOW)
    memory.search("tea", now=NOW)


def thousand_runs(memory: ContextMemory, step: timedelta) -> None:
    lived_in(memory)
    first = memory.maintain(now=NOW)
    assert not first.changed_nothing
    assert all(first.counts[name] for name in ("accessed", "archived", "moved", "promoted", "blocks"))
    before = memory.list(limit=1_000, now=NOW, include_archived=True, include_superseded=True)
    for run in range(1_000):
        assert memory.maintain(now=NOW + run * step).changed_nothing
    assert memory.list(limit=1_000, now=NOW, include_archived=True, include_superseded=True) == before


def test_a_thousand_runs_in_a_row_change_nothing_after_the_first(notes: ContextMemory) -> None:
    thousand_runs(notes, timedelta(0))


@pytest.mark.slow
def test_a_thousand_runs_within_the_hour_change_nothing_after_the_first(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, extractor=NotesExtractor()) as memory:
        for number in range(2_000):
            memory.add(said(f"fact: Ada counted to {number}", f"n{number}"), now=days_before(number % 300))
        memory.maintain(now=NOW)
        thousand_runs(memory, timedelta(seconds=3))


def test_each_record_is_written_once_whatever_became_of_it(
    notes: ContextMemory, namespace: Namespace
) -> None:
    write(
        namespace,
        record("bub-1", "bubble", importance=0.9, created_at=days_before(40), occurred_at=NOW),
        record("fact-1", importance=0.9, created_at=days_before(40), mention_count=9, updated_at=NOW),
    )
    report = notes.maintain(now=NOW)
    fact = notes.get("fact-1")
    assert fact is not None
    assert (fact.tier, fact.working_reason, fact.updated_at) == ("ltm", "frequent", NOW)
    assert {"fact-1"} == {one.memory_id for one in report.promoted}
    assert {"fact-1", "bub-1"} == {one.memory_id for one in report.moved}


def test_a_report_counts_every_step(notes: ContextMemory) -> None:
    lived_in(notes)
    report = notes.maintain(now=NOW)
    assert report.counts == {name: len(getattr(report, name)) for name in type(report).model_fields}
    assert notes.maintain(now=NOW).counts == dict.fromkeys(report.counts, 0)


async def test_the_async_twin_does_the_same(notes: ContextMemory) -> None:
    lived_in(notes)
    assert not (await notes.amaintain(now=NOW)).changed_nothing
    assert (await notes.amaintain(now=NOW)).changed_nothing


@pytest.mark.slow
def test_twenty_thousand_records_are_tended_in_seconds(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, settings=Settings(capacity=100_000)) as memory:
        many = [
            record(
                f"fact-{n}", importance=(n % 10) / 10, created_at=days_before(n % 300), mention_count=n % 5
            )
            for n in range(20_000)
        ]
        for start in range(0, len(many), 4_000):
            write(memory.opened(), *many[start : start + 4_000])
        memory.maintain(now=NOW)
        began = time.perf_counter()
        assert memory.maintain(now=NOW).changed_nothing
        assert time.perf_counter() - began < 2.0
