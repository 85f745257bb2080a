from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from shared_core import ContextMemory, SearchResult, Settings
from shared_core.scoring import BalancedPolicy, PresetName
from tests.shared_core.building import NOW, NotesExtractor, days_before, record, said, write

TALK = [
    ("Ada", "I finally repaired the red tandem last weekend."),
    ("Grace", "Wonderful! Where will you ride it first?"),
    ("Ada", "Around the frozen lake, if the weather holds."),
    ("Grace", "My violin teacher moved to Lisbon in spring."),
    ("Ada", "Did she take her parrot along?"),
    ("Grace", "Of course, the parrot speaks Portuguese already."),
]


@pytest.fixture
def notes(tmp_path: Path) -> Iterator[ContextMemory]:
    with ContextMemory(tmp_path, extractor=NotesExtractor()) as memory:
        yield memory


def talk(memory: ContextMemory, conversation_id: str = "c1") -> None:
    memory.add(
        [
            said(text, f"m{n}", role="user" if name == "Ada" else "assistant", name=name)
            for n, (name, text) in enumerate(TALK)
        ],
        conversation_id,
        now=NOW,
    )


def best(result: SearchResult) -> str:
    return result.results[0].source_ids[0]


@pytest.mark.parametrize(
    ("question", "message_id"),
    [
        ("What did Ada repair?", "m0"),
        ("Where did the violin teacher move?", "m3"),
        ("Which language does the parrot speak?", "m5"),
        ("red tandem", "m0"),
    ],
)
def test_a_question_finds_the_message_that_answers_it(
    notes: ContextMemory, question: str, message_id: str
) -> None:
    talk(notes)
    assert best(notes.search(question, now=NOW)) == message_id


def test_the_same_search_gives_the_same_hits(notes: ContextMemory) -> None:
    talk(notes)
    first = notes.search("parrot", now=NOW)
    assert notes.search("parrot", now=NOW) == first
    notes.opened().drop_index()
    assert notes.search("parrot", now=NOW) == first


def test_a_search_writes_nothing(notes: ContextMemory) -> None:
    talk(notes)
    before = notes.list(limit=100)
    notes.search("parrot")
    notes.context("parrot", conversation_id="c1")
    notes.opened().drop_index()
    assert notes.list(limit=100) == before


def test_each_kind_of_memory_has_its_type_and_date(notes: ContextMemory) -> None:
    happened = days_before(3)
    write(
        notes.opened(),
        record("fact-1", text="Ada owns a tandem"),
        record("bub-1", "bubble", text="Ada repaired a tandem", occurred_at=happened),
        record("tri-1", "triplet", text="Ada owns tandem"),
        record("sum-1", "summary", text="Ada: my tandem"),
    )
    found = {hit.memory_id: hit for hit in notes.search("Ada tandem", limit=10, now=NOW)}
    assert {memory_id: hit.type for memory_id, hit in found.items()} == {
        "fact-1": "semantic",
        "bub-1": "bubble",
        "tri-1": "triplet",
        "sum-1": "summary",
    }
    assert (found["fact-1"].occurred_at, found["tri-1"].occurred_at) == (None, None)
    assert (found["bub-1"].occurred_at, found["sum-1"].occurred_at) == (happened, NOW)


def test_a_summary_may_stand_beside_its_messages(tmp_path: Path) -> None:
    settings = Settings(buffer_messages=2, buffer_evict=2)
    with ContextMemory(tmp_path, extractor=NotesExtractor(), settings=settings) as memory:
        talk(memory)
        summaries = {one.id for one in memory.list(kind="summary")}
        found = {hit.memory_id for hit in memory.search("red tandem", limit=50)}
        assert summaries
        assert {one.id for one in memory.list(kind="message")} <= found


def test_every_message_is_returned_or_stood_for_when_there_is_room(notes: ContextMemory) -> None:
    talk(notes)
    notes.add(said("fact: Ada knows Grace\nmoment: They met at the lake.", "m6"), "c1", now=NOW)
    found = [source for hit in notes.search("tandem", limit=100, now=NOW) for source in hit.source_ids]
    assert sorted(found) == sorted({*found})
    assert set(found) == {f"m{n}" for n in range(7)}


def test_of_two_equal_moments_the_younger_is_first(notes: ContextMemory) -> None:
    for days, message_id in ((60, "old"), (1, "new")):
        notes.add(said("moment: Ada swam in the lake.", message_id), f"c{days}", now=days_before(days))
    found = [hit.source_ids[0] for hit in notes.search("swam in the lake", kind="bubble", now=NOW)]
    assert found == ["new", "old"]


def test_age_alone_lowers_a_score_within_the_stated_bound(notes: ContextMemory) -> None:
    notes.add(said("moment: Ada swam in the lake.", "m1"), now=NOW)
    young, old = (
        notes.search("swam in the lake", now=NOW + timedelta(days=days)).results[0].score
        for days in (0, 36_500)
    )
    assert old < young
    assert young - old <= BalancedPolicy().recency_bound * young + 1e-12


@pytest.mark.parametrize("preset", get_args(PresetName))
def test_scores_are_finite_whatever_the_age(tmp_path: Path, preset: PresetName) -> None:
    with ContextMemory(tmp_path, extractor=NotesExtractor(), settings=Settings(scoring=preset)) as memory:
        memory.add(
            said("moment: Ada swam in the lake.", "m1", timestamp="0001-01-01T00:00:00"), "c1", now=NOW
        )
        memory.add(said("moment: Ada swam again.", "m2", timestamp="9999-12-31T00:00:00"), "c2", now=NOW)
        for now in (NOW, NOW.replace(year=1), NOW.replace(year=9999)):
            scores = [hit.score for hit in memory.search("Ada swam", now=now, limit=10)]
            assert np.isfinite(scores).all()
            assert all(score >= 0 for score in scores)


def test_a_fact_does_not_age(notes: ContextMemory) -> None:
    notes.add(said("fact: Ada owns a tandem", "m1"), now=NOW)
    now, later = (notes.search("tandem", kind="fact", now=NOW + timedelta(days=d)) for d in (0, 9_999))
    assert now.results[0].score == later.results[0].score


def test_a_result_can_be_iterated_counted_and_asked(notes: ContextMemory) -> None:
    talk(notes)
    result = notes.search("parrot", limit=3)
    assert len(list(result)) == len(result) == len(result.results) == 3
    assert result
    assert [hit.to_dict() for hit in result] == result.to_dict()["results"]


def test_no_message_speaks_for_another_conversation(notes: ContextMemory) -> None:
    talk(notes, "c1")
    notes.add(said("A parrot and a red tandem!", "x"), "c2", now=NOW)
    found = notes.search("parrot red tandem", "c1", limit=50, now=NOW)
    assert {hit.record.conversation_id for hit in found} == {"c1"}


def test_the_erased_and_their_names_leave_no_trace_in_the_scores_of_others(notes: ContextMemory) -> None:
    talk(notes)
    notes.add(said("Zora keeps a parrot as well, a red one.", "z", name="Zora"), "c9", now=NOW)
    notes.erase(conversation_id="c9")
    questions = ["parrot", "What does Zora keep?", "red tandem of Zora", "Where did the teacher move?"]
    kept = [notes.search(question, limit=10, now=NOW) for question in questions]
    notes.opened().drop_index()
    for question, before in zip(questions, kept, strict=True):
        after = notes.search(question, limit=10, now=NOW)
        assert [hit.memory_id for hit in before] == [hit.memory_id for hit in after]
        assert [hit.score for hit in before] == pytest.approx([hit.score for hit in after], abs=1e-6)


def test_words_of_a_speakers_name_do_not_hide_what_was_said_of_it(notes: ContextMemory) -> None:
    notes.add(
        [said("The rose in my garden is in bloom.", "m1", name="Rose"), said("Hm.", "m2", name="Bob")], "c1"
    )
    assert best(notes.search("rose")) == "m1"
    assert best(notes.search("Rose's garden")) == "m1"


@pytest.mark.parametrize(
    "question", ["???", "the", "\x00", "🦜", "a" * 10_000, "ADA", "東京", "'; DROP TABLE"]
)
def test_any_question_is_answered_without_an_error(notes: ContextMemory, question: str) -> None:
    talk(notes)
    assert len(notes.search(question, limit=3)) <= 3


def test_what_was_learnt_is_found_by_its_own_words_among_many(notes: ContextMemory) -> None:
    notes.add([said(f"fact: I like hobby number {number}", f"h{number}") for number in range(300)])
    fact = notes.list(kind="fact", contains="number 42", limit=1)[0]
    notes.update(fact.id, "The wifi password of the lake house is zebra.")
    found = notes.search("What is the wifi password of the lake house?", limit=3)
    assert found.results[0].memory_id == fact.id


def test_as_many_hits_come_as_were_asked_for(notes: ContextMemory) -> None:
    notes.add([said(f"Hobby number {number}", f"h{number}") for number in range(260)])
    assert len(notes.search("hobby", limit=250)) == 250


def test_a_bubble_that_says_nothing_of_the_question_is_reached_through_its_connection(tmp_path: Path) -> None:
    fruits = ("apples", "pears", "plums", "figs", "dates")
    with ContextMemory(
        tmp_path, extractor=NotesExtractor(), settings=Settings(connection_threshold=0.2)
    ) as memory:
        for number in range(30):
            told = f"moment: User bought {fruits[number % 5]} for basket {number} at the JWT market"
            memory.add(said(told), f"c{number}", now=NOW)
        memory.add(said("moment: User repaired the login middleware of the server", "m1"), "a", now=NOW)
        memory.add(said("moment: User repaired JWT token validation of the login server", "m2"), "b", now=NOW)
        first, second, third = memory.search("JWT token validation", limit=3, now=NOW).results
        assert (first.source_ids, first.type) == (("m2",), "bubble")
        assert (second.source_ids, second.type) == (("m1",), "connected_bubble")
        assert third.type == "bubble"
        assert second.score == pytest.approx(np.prod(list(second.components.values())))
        assert second.components["origin"] == first.score
