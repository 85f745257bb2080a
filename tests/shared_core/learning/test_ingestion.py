from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path

import pytest

from shared_core import ContextMemory, Settings
from shared_core.embedding import WordLlamaEmbedder
from shared_core.embedding.base import FloatArray
from shared_core.errors import ExtractionError
from shared_core.extraction.schema import ExtractedBubble, ExtractedFact, Extraction, ExtractionRequest
from shared_core.records import Memory
from tests.shared_core.building import NOW, NotesExtractor, evicting, said

ROOT = Path(__file__).parents[3]


def lines(count: int, *, start: int = 0, words: str = "said") -> list[dict[str, object]]:
    return [said(f"Line number {n} was {words}.", f"m{n}") for n in range(start, start + count)]


def messages(memory: ContextMemory) -> list[Memory]:
    """In the order in which they were said."""
    return sorted(memory.list(kind="message", limit=10_000), key=lambda message: message.turn or 0)


def pending(memory: ContextMemory) -> list[str | None]:
    return [message.message_id for message in messages(memory) if message.pending]


def covered(memory: ContextMemory) -> dict[str, list[str]]:
    """The ids of the messages that each summary took out of the buffer, by the id of the summary."""
    return {summary.id: list(summary.source_ids) for summary in evicting(memory)}


# -- sessions and turns ----------------------------------------------------------------------------------


def test_turns_go_on_counting_from_call_to_call(memory: ContextMemory) -> None:
    memory.add(lines(2))
    memory.add(lines(2, start=2))
    assert [(one.turn, one.message_id) for one in messages(memory)] == [(n, f"m{n}") for n in range(4)]


def test_a_pause_begins_a_session(memory: ContextMemory) -> None:
    minutes = [0, 29, 59, 90, 95]
    memory.add(
        [said("hi", f"m{n}", timestamp=NOW + timedelta(minutes=minute)) for n, minute in enumerate(minutes)],
        "c",
    )
    assert [one.session_id for one in messages(memory)] == ["c:0", "c:0", "c:0", "c:3", "c:3"]
    memory.add(said("hi", "late", timestamp=NOW + timedelta(hours=9)), "c")
    assert messages(memory)[-1].session_id == "c:5"


def test_messages_said_with_metadata_teach_memories_that_have_it(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, extractor=NotesExtractor()) as memory:
        memory.add(said("fact: Ada rides a tandem", metadata={"mood": "good"}), metadata={"app": "bike"})
        assert sorted(one.kind for one in memory.list()) == ["fact", "message"]
        assert all(one.metadata == {"app": "bike", "mood": "good"} for one in memory.list())


def test_an_add_tells_what_it_cost(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, extractor=NotesExtractor()) as memory:
        text = "fact: Ada rides a tandem\nmoment: Ada fell off."
        first = memory.add([said(text, "m1"), said("hello", "m2"), said("hello", "m3")]).usage
        assert (first.added, first.updated, first.repeated, first.skipped_messages) == (2, 0, 0, 0)
        assert first.embedded_texts == 4
        second = memory.add([said("fact: Ada rides a tandem", "m4"), said("hello", "m2")]).usage
        assert (second.added, second.updated, second.repeated, second.skipped_messages) == (0, 1, 1, 1)


# -- the request of an extractor -------------------------------------------------------------------------


def test_an_extractor_sees_up_to_10_messages_before_the_new_ones(tmp_path: Path) -> None:
    extractor = NotesExtractor()
    with ContextMemory(tmp_path, extractor=extractor) as memory:
        memory.add(lines(14), "c1", now=NOW)
        memory.add(said("elsewhere", "other"), "c2", now=NOW)
        memory.add(said("the new one", "new", name="Ada", metadata={"a": 1}), "c1", now=NOW)
    request = extractor.requests[-1]
    assert [message.id for message in request.recent] == [f"m{n}" for n in range(4, 14)]
    (new,) = request.messages
    assert (new.id, new.name, new.content, new.metadata) == ("new", "Ada", "the new one", {"a": 1})
    assert (request.now, request.summary) == (NOW, "")


def test_an_extractor_sees_the_summary_of_what_left_the_buffer(tmp_path: Path) -> None:
    extractor = NotesExtractor()
    with ContextMemory(
        tmp_path, extractor=extractor, settings=Settings(buffer_messages=4, buffer_evict=3)
    ) as memory:
        memory.add(lines(5))
        (summary,) = evicting(memory)
        memory.add(said("the new one"))
        assert extractor.requests[-1].summary == summary.text
        assert [message.id for message in extractor.requests[-1].recent] == ["m3", "m4"]
        memory.update(summary.id, "By hand: Ada counts lines.")
        memory.add(said("one more"))
        assert extractor.requests[-1].summary == "By hand: Ada counts lines."


class Careless:
    """An extractor that names messages which are not there, and says nothing at length."""

    is_slow = False
    name = "careless"

    def extract(self, request: ExtractionRequest) -> Extraction:
        return Extraction(
            facts=(
                ExtractedFact(text="Ada rides a tandem", sources=(0,)),
                ExtractedFact(text="Nobody said this", sources=()),
                ExtractedFact(text="Somebody else said this", sources=(7,)),
                ExtractedFact(text="  ", sources=(0,)),
            ),
            bubbles=(
                ExtractedBubble(text="Ada fell off", sources=(-1,)),
                ExtractedBubble(text="broken \ud800".encode("utf-8", "replace").decode(), sources=(0,)),
            ),
        )


def test_items_that_no_message_says_are_dropped_and_counted(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, extractor=Careless()) as memory:
        result = memory.add(said("I ride a tandem.", "m1"))
        assert result.semantic == ("Ada rides a tandem",)
        assert result.bubbles == ("broken ?",)
        assert result.usage.dropped == 4


# -- the buffer ------------------------------------------------------------------------------------------


def test_the_51st_message_sends_the_oldest_30_into_a_summary_linked_both_ways(memory: ContextMemory) -> None:
    memory.add(lines(50), "c1")
    assert covered(memory) == {}
    memory.add(lines(1, start=50), "c1")
    ((summary_id, source_ids),) = covered(memory).items()
    assert source_ids == [f"m{n}" for n in range(30)]
    summary = memory.get(summary_id)
    assert summary is not None
    with memory.opened().use() as index:
        told = [index.summary_of(message.id) for message in messages(memory)]
        assert [index.text_at(row) for row in index.buffered("c1")] == [m.text for m in messages(memory)[30:]]
    assert told == [summary_id] * 30 + [None] * 21
    assert list(summary.sources) == [message.id for message in messages(memory)[:30]]
    assert (summary.conversation_id, summary.turn) == ("c1", 29)


def test_what_left_the_buffer_stays_stored_and_found(memory: ContextMemory) -> None:
    memory.add(lines(51), "c1")
    assert len(messages(memory)) == 51
    assert "m3" in memory.search("Line number 3 was said.", kind="message", limit=1).results[0].source_ids


def test_one_add_of_many_messages_makes_the_summaries_of_many_adds(tmp_path: Path) -> None:
    settings = Settings(buffer_messages=10, buffer_evict=4)
    with ContextMemory(tmp_path, settings=settings) as memory:
        memory.add(lines(33), "c")
        one_by_one = memory.for_namespace("one by one")
        for line in lines(33):
            one_by_one.add(line, "c")
        assert sorted(covered(memory)) == sorted(covered(one_by_one))
        one_by_one.close()


def test_each_conversation_has_a_buffer_of_its_own(memory: ContextMemory) -> None:
    memory.add(lines(40), "c1")
    memory.add(lines(40), "c2")
    assert covered(memory) == {}


def test_a_buffer_may_be_limited_in_tokens(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, settings=Settings(buffer_tokens=200)) as memory:
        memory.add(lines(20), "c1")
        assert covered(memory) == {}
        memory.add(said("token " * 150, "big"), "c1")
        ((_, source_ids),) = covered(memory).items()
        with memory.opened().use() as index:
            kept = [index.memory_at(row).message_id for row in index.buffered("c1")]
        assert kept == ["big"]
        assert source_ids == [f"m{n}" for n in range(20)]


def test_no_message_is_summarised_twice(tmp_path: Path) -> None:
    extractor = NotesExtractor(is_slow=True, failures=1)
    with ContextMemory(
        tmp_path, extractor=extractor, settings=Settings(buffer_messages=6, buffer_evict=4)
    ) as memory:
        with pytest.raises(ExtractionError):
            memory.add(lines(5), "c")
        memory.add(lines(5, start=5), "c")
        memory.flush()
        memory.add(lines(5, start=10), "c")
        said_once = [name for source_ids in covered(memory).values() for name in source_ids]
        assert sorted(said_once) == sorted(set(said_once))
        assert set(said_once) == {f"m{n}" for n in range(len(said_once))}
        with memory.opened().use() as index:
            kept = [index.memory_at(row).message_id for row in index.buffered("c")]
        assert kept == [f"m{n}" for n in range(len(said_once), 15)]


# -- pending messages ------------------------------------------------------------------------------------


@pytest.mark.parametrize("finish", ["flush", "maintain", "next add and flush"])
def test_what_a_failing_extractor_left_is_learnt_later(tmp_path: Path, finish: str) -> None:
    extractor = NotesExtractor(is_slow=True, failures=1)
    with ContextMemory(tmp_path, extractor=extractor) as memory:
        with pytest.raises(ExtractionError, match="the notebook is closed"):
            memory.add([said("fact: Ada rides a tandem", "m1"), said("Really?", "m2")], "c1")
        assert pending(memory) == ["m1", "m2"]
        assert memory.list(kind="fact") == []
        assert memory.search("tandem").results[0].source_ids == ("m1",)
        if finish == "next add and flush":
            memory.add(said("fact: Ada fell off", "m3"), "c1")
        if finish == "maintain":
            assert len(memory.maintain().resumed) == 2
        else:
            memory.flush()
        assert pending(memory) == []
        assert "Ada rides a tandem" in [fact.text for fact in memory.list(kind="fact")]
        before = len(extractor.requests)
        memory.flush()
        assert len(extractor.requests) == before


def test_a_retried_add_leaves_pending_messages_to_flush(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, extractor=NotesExtractor(is_slow=True, failures=1)) as memory:
        for _ in range(2):
            try:
                memory.add(said("fact: Ada rides a tandem", "m1"))
            except ExtractionError:
                continue
        memory.flush()
        (fact,) = memory.list(kind="fact")
        assert (fact.mention_count, fact.source_ids) == (1, ("m1",))


def test_every_message_of_a_large_add_is_stored_before_a_slow_extractor_is_asked(tmp_path: Path) -> None:
    extractor = NotesExtractor(is_slow=True, failures=1)
    with ContextMemory(tmp_path, extractor=extractor) as memory:
        with pytest.raises(ExtractionError):
            memory.add(lines(1_500), "c1")
        assert len(messages(memory)) == 1_500
        memory.flush()
        assert pending(memory) == []


def test_messages_erased_while_an_extractor_reads_them_teach_nothing(tmp_path: Path) -> None:
    reading, erased = threading.Event(), threading.Event()

    class Slow(NotesExtractor):
        def extract(self, request: ExtractionRequest) -> Extraction:
            reading.set()
            assert erased.wait(20)
            return super().extract(request)

    with ContextMemory(tmp_path, extractor=Slow(is_slow=True)) as memory:
        adding = threading.Thread(
            target=memory.add,
            args=([said("fact: Ada has a secret", "m1"), said("fact: Ada rides", "m2")], "c1"),
        )
        adding.start()
        assert reading.wait(20)
        memory.erase(message_id="m1")
        erased.set()
        adding.join()
        assert sorted(one.text for one in memory.list()) == ["Ada rides", "fact: Ada rides"]


def test_searches_go_on_while_a_slow_extractor_reads(tmp_path: Path) -> None:
    reading, finish = threading.Event(), threading.Event()

    class Slow(NotesExtractor):
        def extract(self, request: ExtractionRequest) -> Extraction:
            reading.set()
            assert finish.wait(20)
            return super().extract(request)

    with ContextMemory(tmp_path, extractor=Slow(is_slow=True)) as memory:
        adding = threading.Thread(target=memory.add, args=(said("fact: Ada rides a tandem", "m1"),))
        adding.start()
        assert reading.wait(20)
        assert memory.search("tandem").results[0].source_ids == ("m1",)
        assert pending(memory) == ["m1"]
        finish.set()
        adding.join()
        assert pending(memory) == []


KILLED = """
import os, sys
from shared_core import ContextMemory
from tests.shared_core.building import NotesExtractor, said

class Killed(NotesExtractor):
    def extract(self, request):
        os._exit(9)

memory = ContextMemory(sys.argv[1], extractor=Killed(is_slow=True))
memory.add([said("fact: Ada rides a tandem", "m1"), said("Really?", "m2")], "c1")
"""


@pytest.mark.skipif("CHROMA_URL" in os.environ, reason="the process that is killed has an embedded folder")
def test_a_killed_process_leaves_its_messages_to_the_next_one(tmp_path: Path) -> None:
    killed = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(KILLED), str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        timeout=60,
        check=False,
    )
    assert killed.returncode == 9
    with ContextMemory(tmp_path, extractor=NotesExtractor(is_slow=True)) as memory:
        assert pending(memory) == ["m1", "m2"]
        report = memory.maintain()
        assert len(report.resumed) == 2
        assert [fact.source_ids for fact in memory.list(kind="fact")] == [("m1",)]
        assert memory.maintain().changed_nothing


# -- more than one write can hold ------------------------------------------------------------------------


@pytest.mark.slow
def test_messages_that_teach_more_than_one_write_holds_are_learnt_from(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, extractor=NotesExtractor()) as memory:
        limit = memory.opened().batch_limit
        teaching = "\n".join(f"moment: parcel {n} came." for n in range(limit + 10))
        result = memory.add([said(teaching, "m1"), said("Thanks!", "m2")])
        assert len(result.bubbles) == limit + 10
        assert pending(memory) == []
        memory.opened().drop_index()
        assert len(memory.list(kind="bubble", limit=100_000)) == limit + 10
        assert memory.erase(message_id="m1") == limit + 11
        assert [one.text for one in memory.list()] == ["Thanks!"]


class _WaitsAtFirst:
    """Finds one moment in each request; the first request waits until it may go on."""

    name, is_slow = "waits at first", True

    def __init__(self) -> None:
        self.requests = 0
        self.asked, self.may_go_on = threading.Event(), threading.Event()

    def extract(self, request: ExtractionRequest) -> Extraction:
        self.requests += 1
        number = self.requests
        if number == 1:
            self.asked.set()
            assert self.may_go_on.wait(20)
        return Extraction(bubbles=(ExtractedBubble(text=f"Moment of request {number}", sources=(0,)),))


def test_a_flush_while_an_add_is_learning_teaches_nothing_twice(tmp_path: Path) -> None:
    extractor = _WaitsAtFirst()
    with ContextMemory(tmp_path, extractor=extractor) as memory:
        adding = threading.Thread(target=memory.add, args=(said("We went to Rome."),))
        adding.start()
        assert extractor.asked.wait(20)
        memory.flush()
        extractor.may_go_on.set()
        adding.join(20)
        assert [bubble.text for bubble in memory.list(kind="bubble")] == ["Moment of request 2"]
        assert pending(memory) == []


class _HeldEmbedder(WordLlamaEmbedder):
    """Waits before texts of that beginning, as for an answer of a server that is far away."""

    def __init__(self, beginning: str) -> None:
        super().__init__()
        self.beginning = beginning
        self.asked, self.may_go_on = threading.Event(), threading.Event()

    def embed(self, texts: Sequence[str]) -> FloatArray:
        if any(text.startswith(self.beginning) for text in texts):
            self.asked.set()
            assert self.may_go_on.wait(20)
        return super().embed(texts)


@pytest.mark.parametrize("is_slow", [False, True])
@pytest.mark.parametrize("beginning", ["moment:", "We rode"])
def test_nobody_waits_for_the_namespace_while_texts_are_embedded(
    tmp_path: Path, beginning: str, is_slow: bool
) -> None:
    embedder = _HeldEmbedder(beginning)
    with ContextMemory(tmp_path, extractor=NotesExtractor(is_slow=is_slow), embedder=embedder) as memory:
        memory.remember("Ada keeps bees")
        adding = threading.Thread(target=memory.add, args=(said("moment: We rode to Rome."),))
        adding.start()
        assert embedder.asked.wait(20)
        with ThreadPoolExecutor(1) as reader:
            found = reader.submit(memory.search, "bees").result(20)
        assert found.results[0].memory == "Ada keeps bees"
        embedder.may_go_on.set()
        adding.join(20)
        assert [bubble.text for bubble in memory.list(kind="bubble")] == ["We rode to Rome."]


def test_what_was_said_while_texts_were_embedded_is_what_an_extractor_is_shown(tmp_path: Path) -> None:
    embedder, extractor = _HeldEmbedder("moment: We rode"), NotesExtractor()
    with ContextMemory(tmp_path, extractor=extractor, embedder=embedder) as memory:
        memory.add(said("Hello"))
        adding = threading.Thread(target=memory.add, args=(said("moment: We rode to Rome."),))
        adding.start()
        assert embedder.asked.wait(20)
        with ThreadPoolExecutor(1) as writer:
            writer.submit(memory.add, said("It rained.")).result(20)
        embedder.may_go_on.set()
        adding.join(20)
        assert [one.content for one in extractor.requests[-1].recent] == ["Hello", "It rained."]
        assert [one.turn for one in messages(memory)] == [0, 1, 2]
        assert [one.text for one in messages(memory)][2] == "moment: We rode to Rome."
        assert [bubble.text for bubble in memory.list(kind="bubble")] == ["We rode to Rome."]
