from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from pydantic import ValidationError

from shared_core import AddResult
from shared_core.records import HIT_TYPES, KINDS, ROLES, Connection, Message, Usage
from tests.shared_core.building import NOW, record


def test_records_do_not_change() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        record("fact-1").text = "other"  # type: ignore[misc]


def test_an_unknown_field_is_refused() -> None:
    with pytest.raises(ValidationError, match="colour"):
        record("fact-1", colour="red")


@pytest.mark.parametrize("value", [-0.1, 1.1, float("nan"), float("inf")])
def test_importance_and_confidence_lie_between_0_and_1(value: float) -> None:
    with pytest.raises(ValidationError):
        record("fact-1", importance=value)
    with pytest.raises(ValidationError):
        record("fact-1", confidence=value)


def test_a_revision_leaves_the_record_as_it_was_and_is_validated() -> None:
    first = record("fact-1", text="before")
    assert first.revised(text="after").text == "after"
    assert first.text == "before"
    with pytest.raises(ValidationError):
        first.revised(importance=7)


def test_a_record_is_dated_by_what_happened_before_what_was_said() -> None:
    happened = NOW - timedelta(days=3)
    assert record("bub-1", "bubble", occurred_at=happened).dated == happened
    assert record("bub-1", "bubble").dated == NOW


def test_dates_of_other_zones_become_utc() -> None:
    berlin = datetime(2026, 1, 14, 16, tzinfo=timezone(timedelta(hours=2)))
    assert record("fact-1", created_at=berlin).created_at.isoformat() == "2026-01-14T14:00:00+00:00"


def test_what_is_superseded_is_not_current() -> None:
    assert record("fact-1").is_current
    assert not record("fact-1", superseded_by="fact-2").is_current


def test_a_message_without_a_name_is_spoken_by_its_role() -> None:
    message = Message(id="1", role="assistant", content="hello", timestamp=NOW)
    assert message.speaker == "Assistant"
    assert message.model_copy(update={"name": "Ada"}).speaker == "Ada"


def test_every_kind_has_a_name_among_the_hits() -> None:
    assert set(HIT_TYPES) == set(KINDS)
    assert HIT_TYPES["fact"] == "semantic"
    assert ROLES == ("system", "user", "assistant", "tool")


def test_usage_adds_up() -> None:
    total = Usage(llm_calls=1, prompt_tokens=10, added=2) + Usage(prompt_tokens=5, dropped=1)
    assert total == Usage(llm_calls=1, prompt_tokens=15, added=2, dropped=1)


def test_the_result_of_an_add_has_the_shape_of_its_seed() -> None:
    fact, bubble = record("fact-1", text="a fact"), record("bub-1", "bubble", text="a moment")
    result = AddResult.of([fact, bubble, record("tri-1", "triplet")], Usage(added=3))
    assert result.to_dict() == {"semantic": ["a fact"], "bubbles": ["a moment"]}
    assert [memory.id for memory in result.memories] == ["fact-1", "bub-1", "tri-1"]


def test_connections_are_values() -> None:
    assert Connection(memory_id="a", score=0.5) == Connection(memory_id="a", score=0.5)
