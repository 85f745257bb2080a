"""The rolling summary of a session: short, linked to its messages, found by questions about the talk."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from shared_core import ContextMemory, Settings
from shared_core.learning.session_summary import SESSION_TITLE
from shared_core.records import Memory
from tests.shared_core.building import NOW, said

TOPICS = "harbour lantern violin orchard glacier kettle compass meadow tunnel falcon".split()


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[ContextMemory]:
    with ContextMemory(tmp_path) as opened:
        yield opened


def talk(
    memory: ContextMemory, count: int, start: int = 0, hours: float = 0.0, conversation: str = "c"
) -> None:
    for number in range(start, start + count, 2):
        moment = NOW + timedelta(hours=hours, seconds=number)
        topic = TOPICS[number // 2 % len(TOPICS)]
        pair = [
            said(f"The {topic} needs a careful repair in Porto before winter.", f"m{number}"),
            said(f"A {topic} like that takes two weeks.", f"m{number + 1}", "assistant"),
        ]
        memory.add([{**message, "timestamp": moment} for message in pair], conversation, now=moment)


def rolling(memory: ContextMemory) -> list[Memory]:
    return [one for one in memory.list(kind="summary", limit=100) if one.title == SESSION_TITLE]


def test_it_is_written_every_twenty_messages(memory: ContextMemory) -> None:
    talk(memory, 18)
    assert rolling(memory) == []
    talk(memory, 2, start=18)
    (summary,) = rolling(memory)
    assert summary.source_ids == tuple(f"m{number}" for number in range(20))
    talk(memory, 18, start=20)
    assert rolling(memory) == [summary]
    talk(memory, 2, start=38)
    (grown,) = rolling(memory)
    assert (grown.id, len(grown.sources)) == (summary.id, 40)
    assert len(grown.text.split()) <= 200


def test_an_eviction_brings_it_up_to_date(tmp_path: Path) -> None:
    settings = Settings(buffer_messages=10, buffer_evict=6)
    with ContextMemory(tmp_path, settings=settings) as memory:
        talk(memory, 12)
        (summary,) = rolling(memory)
        assert len(summary.sources) == 12


def test_each_session_has_its_own(memory: ContextMemory) -> None:
    talk(memory, 20)
    talk(memory, 20, start=20, hours=5)
    assert len({summary.session_id for summary in rolling(memory)}) == 2


def test_many_messages_at_once_make_one_for_each_session(memory: ContextMemory) -> None:
    messages = [
        said(f"The {TOPICS[number % 10]} of day {number // 30} is old.", f"m{number}")
        | {"timestamp": NOW + timedelta(days=number // 30, seconds=number)}
        for number in range(90)
    ]
    memory.add(messages, "c")
    assert sorted(len(summary.sources) for summary in rolling(memory)) == [30, 30, 30]


def test_what_we_discussed_is_a_question_for_it(memory: ContextMemory) -> None:
    talk(memory, 20)
    memory.add([said(f"Earlier we saw boat number {number}.") for number in range(300)], "boats", now=NOW)
    for question in ("What did we discuss earlier?", "Can you give me a recap?"):
        hit = memory.search(question, conversation_id="c").results[0]
        assert (hit.type, hit.record.title) == ("summary", SESSION_TITLE)
    assert memory.search("Which lantern needs a repair?").results[0].type != "summary"


def test_erasing_leaves_no_trace_in_it(memory: ContextMemory) -> None:
    talk(memory, 20)
    memory.erase(message_id="m2")
    memory.erase(message_id="m3")
    (summary,) = rolling(memory)
    assert "lantern" not in summary.text
    assert "m2" not in summary.source_ids
    memory.erase(conversation_id="c")
    assert memory.list() == []
