from __future__ import annotations

import pandas as pd

from shared_core import ContextMemory
from tests.shared_core.inspection.told import NOW, tell


def test_each_record_stands_in_one_table_with_its_id(memory: ContextMemory) -> None:
    tell(memory)
    look = memory.inspect(now=NOW)
    messages, learnt = look.messages(), look.memories()
    assert list(messages["message_id"]) == ["m1", "m2", "m3", "m4", "m5"]
    assert list(messages["text"]) == [
        record.text for name in ("spring", "summer") for record in memory.messages(name)
    ]
    listed = memory.list(kind=["fact", "bubble", "triplet"], include_superseded=True, include_archived=True)
    assert set(learnt.index) == {record.id for record in listed}
    assert "message" not in set(learnt["kind"])


def test_ages_count_in_days_from_now(memory: ContextMemory) -> None:
    memory.add({"role": "user", "content": "I live in Berlin."}, now=NOW)
    later = pd.Timestamp(NOW) + pd.Timedelta(days=3)
    ages = memory.inspect(now=later.to_pydatetime()).memories()["age_days"]
    assert ages.tolist() == [3.0] * len(ages)
    assert len(ages) > 0


def test_times_are_utc(memory: ContextMemory) -> None:
    tell(memory)
    look = memory.inspect(now=NOW)
    assert str(look.messages()["created_at"].dt.tz) == "UTC"
    assert str(look.memories()["occurred_at"].dt.tz) == "UTC"
    assert str(look.sessions()["begin"].dt.tz) == "UTC"


def test_each_connection_stands_once(memory: ContextMemory) -> None:
    tell(memory)
    table = memory.inspect(now=NOW).connections()
    pairs = [frozenset(pair) for pair in zip(table["source"], table["target"], strict=True)]
    assert len(pairs) == len(set(pairs)) >= 1
    assert table["score"].between(-1, 1).all()
    assert table["score"].is_monotonic_decreasing


def test_sessions_count_what_was_said_and_learnt(memory: ContextMemory) -> None:
    tell(memory)
    table = memory.inspect(now=NOW).sessions()
    assert list(table["conversation_id"]) == ["spring", "summer"]
    assert list(table["messages"]) == [4, 1]
    assert (table["learnt"] > 0).all()


def test_kinds_over_time_end_at_what_there_is(memory: ContextMemory) -> None:
    tell(memory)
    look = memory.inspect(now=NOW)
    counts = look.kinds_over_time()
    assert counts.index.is_monotonic_increasing
    assert counts.iloc[-1]["message"] == 5
    assert counts.iloc[-1].sum() == len(look.messages()) + len(look.memories())
    assert (counts.diff().dropna() >= 0).all(axis=None)


def test_an_empty_memory_has_empty_tables_with_all_columns(memory: ContextMemory) -> None:
    tell(memory)
    full = memory.inspect(now=NOW)
    memory.erase(everything=True)
    empty = memory.inspect(now=NOW)
    for name in ("memories", "messages", "connections", "sessions", "kinds_over_time"):
        before, after = getattr(full, name)(), getattr(empty, name)()
        assert len(after) == 0
        assert list(after.columns) == list(before.columns)


def test_looking_does_not_count_as_reading(memory: ContextMemory) -> None:
    tell(memory)
    look = memory.inspect(now=NOW)
    look.memories(), look.plot_growth(), look.plot_graph()
    memory.flush()
    assert memory.inspect(now=NOW).memories()["access_count"].sum() == 0


def test_a_snapshot_stays_as_it_was(memory: ContextMemory) -> None:
    tell(memory)
    look = memory.inspect(now=NOW)
    memory.erase(everything=True)
    assert len(look.messages()) == 5
    assert repr(look).startswith("Inspection(namespace='default', records=")
