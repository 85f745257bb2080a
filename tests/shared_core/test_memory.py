from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

from shared_core import ContextMemory, Settings
from shared_core.errors import ContextMemoryError, StoreError
from shared_core.records import Kind
from shared_core.redaction import redact_secrets
from shared_core.retrieval.filters import SEARCHED_KINDS
from shared_core.scoring import PresetName, policy_of
from tests.shared_core.building import NOW, NotesExtractor, days_before, said

TALK = [
    said("I moved to Berlin last week and work at Acme.", "m1", name="Ada"),
    said("How do you like the city?", "m2", role="assistant"),
    said("The canals are lovely, but my bicycle was stolen on Tuesday.", "m3", name="Ada"),
    said("Oh no! Did you tell the police?", "m4", role="assistant"),
    said("Yes, and I bought a red tandem to cheer myself up.", "m5", name="Ada"),
]


def texts(memory: ContextMemory, **filters: Any) -> list[str]:
    return [one.text for one in memory.list(limit=10_000, **filters)]


def is_found(memory: ContextMemory, message: dict[str, Any]) -> bool:
    """Whether a search for a message's own words finds it, or what stands for it."""
    found = memory.search(message["content"], limit=3)
    return any(message["id"] in hit.source_ids for hit in found)


# -- adding and finding ----------------------------------------------------------------------------------


def test_every_turn_is_found_by_its_own_words(memory: ContextMemory) -> None:
    memory.add(TALK, "c1")
    assert [message["id"] for message in TALK if not is_found(memory, message)] == []


def test_the_best_hit_says_where_it_came_from(memory: ContextMemory) -> None:
    memory.add(TALK, "c1", now=NOW)
    best = memory.search("What happened to the bicycle?", now=NOW).results[0]
    assert best.source_ids[0] == "m3"
    assert best.record.conversation_id == "c1"
    assert memory.get(best.memory_id) == best.record


def test_what_is_learnt_and_its_message_never_stand_side_by_side(memory: ContextMemory) -> None:
    memory.add(TALK, "c1")
    for query in ("Berlin", "bicycle stolen", "tandem", "Acme work city"):
        sources = [
            source
            for hit in memory.search(query, limit=20)
            for source in hit.record.sources or (hit.memory_id,)
        ]
        assert len(sources) == len(set(sources))


def test_what_was_learnt_outlives_the_process(tmp_path: Path) -> None:
    with ContextMemory(tmp_path) as memory:
        memory.add(TALK, "c1", now=NOW)
        before = memory.search("stolen bicycle", now=NOW)
        listed = memory.list()
    with ContextMemory(tmp_path) as memory:
        again = memory.search("stolen bicycle", now=NOW)
        assert again.to_dict() == before.to_dict()
        assert [hit.components for hit in again] == [hit.components for hit in before]
        assert [(one.id, one.text) for one in memory.list()] == [(one.id, one.text) for one in listed]


def test_a_search_result_has_the_shape_of_its_seed(memory: ContextMemory) -> None:
    memory.add(TALK, "c1")
    shape = memory.search("bicycle").to_dict()
    assert shape["query"] == "bicycle"
    assert set(shape["results"][0]) == {"memory_id", "memory", "type", "occurred_at", "score", "connections"}


def test_a_search_returns_no_more_than_its_limit_best_first(memory: ContextMemory) -> None:
    memory.add(TALK, "c1")
    for limit in (1, 2, 100):
        result = memory.search("Berlin bicycle", limit=limit)
        scores = [hit.score for hit in result if hit.type != "connected_bubble"]
        assert len(result) <= limit
        assert scores == sorted(scores, reverse=True)


def test_an_empty_memory_answers_everything_with_nothing(memory: ContextMemory) -> None:
    result = memory.search("anything")
    assert (result.results, bool(result), len(result)) == ([], False, 0)
    assert memory.list() == []
    assert memory.get("fact-1") is None
    assert memory.history("fact-1") == []
    assert memory.delete("fact-1") is False
    assert memory.erase(conversation_id="c1") == 0
    assert memory.erase(message_id="m1") == 0
    assert memory.erase(everything=True) == 0
    assert memory.maintain().changed_nothing
    assert memory.context("anything", conversation_id="c1").blocks == ()


def test_adding_nothing_writes_nothing(memory: ContextMemory) -> None:
    assert memory.add([]).memories == ()
    assert memory.list() == []


@pytest.mark.parametrize("preset", get_args(PresetName))
def test_the_components_of_every_hit_make_its_score_again(tmp_path: Path, preset: PresetName) -> None:
    with ContextMemory(tmp_path, settings=Settings(scoring=preset), extractor=NotesExtractor()) as memory:
        for day in range(4):
            rides = [
                f"moment: Ada rode her red tandem {to}." for to in ("to work", "to the lake", f"home {day}")
            ]
            memory.add([said(ride) for ride in rides], now=days_before(day / 1_440))
            memory.add(said("fact: Ada rides a red tandem"))
        kinds: list[tuple[Kind, ...]] = [SEARCHED_KINDS, ("fact",), ("bubble",), ("bubble", "fact")]
        found = [memory.search("Ada rode a red tandem", limit=50, now=NOW, kind=kind) for kind in kinds]
    for hit in (hit for result in found for hit in result):
        if hit.type == "connected_bubble":
            parts = hit.components
            assert hit.score == parts["origin"] * parts["connection"] * parts["share"]
        else:
            columns = {name: np.array([value]) for name, value in hit.components.items()}
            assert hit.score == float(policy_of(preset).score(columns)[0])
    assert {"semantic", "bubble"} <= {hit.type for result in found for hit in result}


# -- ids -------------------------------------------------------------------------------------------------


def test_adding_the_same_ids_again_changes_nothing(memory: ContextMemory) -> None:
    memory.add(TALK, "c1", now=NOW)
    before = memory.list(limit=100)
    again = memory.add(TALK, "c1", now=NOW + timedelta(days=1))
    assert again.memories == ()
    assert again.usage.skipped_messages == len(TALK)
    assert memory.list(limit=100) == before


def test_a_repeated_message_within_one_add_is_stored_once(memory: ContextMemory) -> None:
    result = memory.add([said("I like tea.", "m1"), said("I like tea.", "m1")])
    assert result.usage.skipped_messages == 1
    assert len(memory.list(kind="message")) == 1


def test_ids_belong_to_their_conversation(memory: ContextMemory) -> None:
    memory.add(said("The first one says yes.", "m1"), "c1")
    memory.add(said("The second one says no.", "m1"), "c2")
    assert len(memory.list(kind="message")) == 2
    assert memory.get("m1") is None
    with pytest.raises(ValueError, match="'m1' stands in 2 conversations"):
        memory.erase(message_id="m1")
    memory.erase(message_id="m1", conversation_id="c1")
    assert texts(memory, kind="message") == ["The second one says no."]


def test_a_message_is_got_by_its_callers_id(memory: ContextMemory) -> None:
    memory.add(TALK, "c1")
    message = memory.get("m3")
    assert message is not None
    assert message.text == TALK[2]["content"]


def test_an_id_that_is_known_with_another_text_is_refused_and_nothing_is_written(
    memory: ContextMemory,
) -> None:
    memory.add(said("I like tea.", "m1"), "c1")
    before = texts(memory)
    with pytest.raises(
        ValueError, match=r"'m1' stands for 'I like tea\.' in conversation 'c1', not for 'I like coffee"
    ):
        memory.add([said("Something new.", "m0"), said("I like coffee.", "m1")], "c1")
    assert texts(memory) == before


def test_numbers_may_name_conversations_and_messages(memory: ContextMemory) -> None:
    memory.add(said("I like tea.", message_id=None, id=5), 7)
    assert len(memory.list(conversation_id="7", kind="message")) == 1
    assert len(memory.list(conversation_id=7, kind="message")) == 1
    assert memory.erase(message_id="5", conversation_id=7) >= 1


def test_a_message_is_named_by_the_number_that_it_was_added_with(memory: ContextMemory) -> None:
    memory.add(said("I like tea.", id=5), "c1")
    message = memory.get(5)
    assert message is not None
    assert memory.erase(message_id=5, conversation_id="c1") >= 1


def test_messages_without_a_conversation_stand_in_the_default_one(memory: ContextMemory) -> None:
    memory.add(said("I like tea."))
    assert len(memory.list(conversation_id="default", kind="message")) == 1


# -- refusals --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ContextMemory]:
    """A memory that every test leaves as it was."""
    with ContextMemory(tmp_path_factory.mktemp("untouched")) as memory:
        memory.add(said("I like tea.", "m1"), "c1", now=NOW)
        yield memory


BAD_MESSAGES: list[Any] = [
    said("hi", role="narrator"),
    said(""),
    said(" \n\t"),
    said(None),
    said("hi", id=""),
    said("hi", name=" "),
    said("hi", timestamp="yesterday"),
    said("hi", timestamp=5),
    said("broken \ud800"),
    said("hi", id="\udfff"),
    said("hi", metadata={"a": {1}}),
    said("hi", metadata={"a": float("nan")}),
    said("hi", metadata="mood"),
    said([{"type": "text", "text": ""}]),
    said([5]),
    "hi",
    None,
]


@pytest.mark.parametrize("bad", BAD_MESSAGES, ids=repr)
def test_one_bad_message_keeps_the_good_ones_out_as_well(untouched: ContextMemory, bad: Any) -> None:
    before = untouched.list(limit=100)
    with pytest.raises(ValueError, match="message 1"):
        untouched.add([said("good"), bad, said("good too")], "c1")
    assert untouched.list(limit=100) == before


@pytest.mark.parametrize("conversation_id", ["", "  ", True, 1.5, b"c1", ["c1"], "c\ud800"])
def test_a_bad_conversation_id_is_refused_and_quoted(untouched: ContextMemory, conversation_id: Any) -> None:
    before = untouched.list(limit=100)
    calls: list[Callable[[], Any]] = [
        lambda: untouched.add(said("hi"), conversation_id),
        lambda: untouched.search("tea", conversation_id),
        lambda: untouched.list(conversation_id=conversation_id),
        lambda: untouched.erase(conversation_id=conversation_id),
        lambda: untouched.context("tea", conversation_id=conversation_id),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="conversation_id") as raised:
            call()
        assert repr(conversation_id) in str(raised.value)
    assert untouched.list(limit=100) == before


@pytest.mark.parametrize("value", [0, -1, 1.5, "5", None, True])
def test_a_limit_or_budget_below_1_is_refused_and_quoted(untouched: ContextMemory, value: Any) -> None:
    calls: dict[str, Callable[[], Any]] = {
        "limit": lambda: untouched.search("tea", limit=value),
        "limit ": lambda: untouched.list(limit=value),
        "token_budget": lambda: untouched.context("tea", token_budget=value),
    }
    for name, call in calls.items():
        with pytest.raises(ValueError, match=name.strip()) as raised:
            call()
        assert repr(value) in str(raised.value)


@pytest.mark.parametrize("value", [-1, 0.5, "0", None, True])
def test_an_offset_below_0_is_refused_and_quoted(untouched: ContextMemory, value: Any) -> None:
    with pytest.raises(ValueError, match="offset") as raised:
        untouched.list(offset=value)
    assert repr(value) in str(raised.value)


@pytest.mark.parametrize("query", ["", " \n", None, 5, ["tea"], b"tea"])
def test_a_blank_question_is_refused_and_quoted(untouched: ContextMemory, query: Any) -> None:
    with pytest.raises(ValueError, match="query") as raised:
        untouched.search(query)
    assert repr(query) in str(raised.value)


def test_a_question_with_a_lone_surrogate_is_refused(untouched: ContextMemory) -> None:
    with pytest.raises(ValueError, match="lone surrogate"):
        untouched.search("tea \ud800")


@pytest.mark.parametrize(
    ("filters", "quoted"),
    [
        ({"kind": "dream"}, "'dream'"),
        ({"kind": ["fact", "dream"]}, "'dream'"),
        ({"kind": 5}, "5"),
        ({"kind": []}, "[]"),
        ({"category": "colour"}, "'colour'"),
        ({"category": ["name"]}, "['name']"),
        ({"colour": "red"}, "'colour'"),
        ({"since": "yesterday"}, "'yesterday'"),
        ({"until": 5}, "5"),
        ({"session_id": 5}, "5"),
        ({"metadata": "mood"}, "'mood'"),
        ({"metadata": 5}, "5"),
        ({"metadata": {"a": {1}}}, "{1}"),
        ({"include_archived": "maybe"}, "'maybe'"),
        ({"include_superseded": None}, "None"),
    ],
    ids=repr,
)
def test_an_unknown_filter_or_value_is_refused_and_quoted(
    untouched: ContextMemory, filters: dict[str, Any], quoted: str
) -> None:
    for call in (lambda: untouched.search("tea", **filters), lambda: untouched.list(**filters)):
        with pytest.raises(ValueError, match=next(iter(filters))) as raised:
            call()
        assert quoted in str(raised.value)


@pytest.mark.parametrize("now", ["2026-01-14", 5, NOW.date()])
def test_a_present_that_is_no_datetime_is_refused_and_quoted(untouched: ContextMemory, now: Any) -> None:
    calls: list[Callable[[], Any]] = [
        lambda: untouched.add(said("hi"), now=now),
        lambda: untouched.search("tea", now=now),
        lambda: untouched.list(now=now),
        lambda: untouched.maintain(now),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="is not a datetime") as raised:
            call()
        assert repr(now) in str(raised.value)
    assert len(untouched.list(kind="message")) == 1


@pytest.mark.parametrize("text", ["", "  ", None, 5, "broken \ud800"])
def test_an_update_to_no_text_is_refused_and_quoted(untouched: ContextMemory, text: Any) -> None:
    (known,) = untouched.list(kind="fact")
    with pytest.raises(ValueError, match="text") as raised:
        untouched.update(known.id, text)
    assert repr(text) in str(raised.value)
    assert untouched.get(known.id) == known


def test_an_erasure_names_what_to_erase(untouched: ContextMemory) -> None:
    with pytest.raises(ValueError, match="name what to erase"):
        untouched.erase()


@pytest.mark.parametrize("target", [None, 5, b"folder", object()])
def test_a_place_that_is_neither_folder_nor_client_is_refused(target: Any) -> None:
    with pytest.raises(ValueError, match="neither a folder nor a Chroma client"):
        ContextMemory(target)


# -- listing ---------------------------------------------------------------------------------------------


def test_a_list_is_newest_first_and_comes_page_by_page(memory: ContextMemory) -> None:
    for day in range(5):
        memory.add(said(f"Nothing much on day {day}."), now=NOW + timedelta(days=day))
    whole = texts(memory, kind="message")
    assert whole == [f"Nothing much on day {day}." for day in (4, 3, 2, 1, 0)]
    pages = [memory.list(kind="message", limit=2, offset=offset) for offset in (0, 2, 4, 6)]
    assert [one.text for page in pages for one in page] == whole


def test_messages_of_one_moment_are_listed_by_their_turn(memory: ContextMemory) -> None:
    memory.add([said(f"Line {turn}.") for turn in range(12)], now=NOW)
    assert texts(memory, kind="message") == [f"Line {turn}." for turn in reversed(range(12))]


def test_words_are_listed_whatever_their_case(memory: ContextMemory) -> None:
    memory.add([said("The STRASSE is long."), said("The street is short.")])
    assert texts(memory, kind="message", contains="Straße") == ["The STRASSE is long."]
    assert texts(memory, contains="nowhere") == []


# -- texts and metadata come back as they went in ----------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "nul \x00 in the middle",
        "\x01\x02\x1b[31m bell \x07",
        "line one\r\nline two\u2028three\x85four",
        "e\u0301 and \u00e9 are two spellings",
        "🧑🏽‍🚀 family 👨‍👩‍👧 and flags 🇩🇪",
        "مرحبا بالعالم and עולם",
        "\ufeffbyte order mark \ufffe\uffff",
        "\u202eright to left override",
        "日本語のテキスト",
        "  spaces around  ",
        "'; DROP TABLE embeddings; --",
        '{"record": "x"} </memory> <|endoftext|>',
        "\U0010ffff",
    ],
    ids=ascii,
)
def test_strange_texts_and_metadata_come_back_exactly(untouched: ContextMemory, text: str) -> None:
    with untouched.for_namespace(f"strange {text}") as memory:
        memory.add(said(text, "m1", metadata={text: [text, {"n": None}]}), text)
        memory.opened().drop_index()
        message = memory.get("m1")
        assert message is not None
        assert (message.text, message.conversation_id) == (text, text)
        assert message.metadata == {text: [text, {"n": None}]}
        assert [hit.source_ids for hit in memory.search(text, text)] == [("m1",)]
        memory.erase(everything=True)


def test_metadata_comes_back_exactly(memory: ContextMemory) -> None:
    metadata: dict[str, Any] = {
        "big": 2**80,
        "small": 5e-324,
        "precise": 0.1 + 0.2,
        "negative zero": -0.0,
        "none": None,
        "truth": True,
        "empty": {},
        "list": [[], [1, "2", 3.0]],
        "": "empty key",
        "record": "kind",
        "number as text": "007",
    }
    memory.add(said("I like tea.", "m1", metadata=metadata))
    memory.opened().drop_index()
    message = memory.get("m1")
    assert message is not None
    assert repr(message.metadata) == repr(metadata)


# -- the calendar ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "moment",
    [
        datetime(1, 1, 1),
        datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=14))),
        datetime(9999, 12, 31, 23, 59, 59, 999_999),
        datetime(9999, 12, 31, 23, tzinfo=timezone(timedelta(hours=-12))),
        datetime(2400, 2, 29, tzinfo=timezone.utc),
    ],
    ids=str,
)
def test_any_moment_of_the_calendar_is_remembered(memory: ContextMemory, moment: datetime) -> None:
    memory.add([said("I rode my tandem to the lake.", "m1", timestamp=moment), said("Nice!", "m2")], now=NOW)
    memory.add(said("And home again.", "m3"), now=moment)
    memory.opened().drop_index()
    message = memory.get("m1")
    assert message is not None
    assert message.created_at.replace(tzinfo=None).year == moment.year
    for now in (NOW, datetime.min, datetime.max):
        assert memory.search("tandem lake", now=now).results[0].source_ids == ("m1",)
        memory.maintain(now=now)
    assert len(memory.list(kind="message")) == 3


def test_a_clock_that_goes_back_loses_nothing(memory: ContextMemory) -> None:
    for day in (0, -10, 5, -400):
        memory.add(said(f"Nothing much on day {day}."), "c1", now=NOW + timedelta(days=day))
    assert [one.turn for one in memory.list(kind="message", conversation_id="c1")] == [2, 0, 1, 3]
    assert len(memory.context(conversation_id="c1").blocks) == 1


# -- size ------------------------------------------------------------------------------------------------


def test_a_message_of_a_megabyte_is_remembered_within_seconds(memory: ContextMemory) -> None:
    long = " ".join(f"I bought item number {number} in shop {number % 97}." for number in range(30_000))
    assert len(long) > 1_000_000
    started = time.monotonic()
    memory.add(said(long, "long"))
    memory.add([said(f"Short message number {number}.", f"m{number}") for number in range(60)])
    assert time.monotonic() - started < 15
    message = memory.get("long")
    assert message is not None
    assert message.text == long
    assert memory.search("item number 12 in shop 12", limit=60).results


def test_3000_messages_in_one_add_are_all_kept_in_order(memory: ContextMemory) -> None:
    messages = [said(f"Parcel {number} weighs {number * 7} grams.", f"m{number}") for number in range(3_000)]
    memory.add(messages, "c1", now=NOW)
    listed = memory.list(kind="message", limit=5_000)
    assert [one.message_id for one in reversed(listed)] == [f"m{number}" for number in range(3_000)]
    assert [one.turn for one in reversed(listed)] == list(range(3_000))
    assert is_found(memory, messages[0])
    assert is_found(memory, messages[2_999])


def test_a_question_of_a_megabyte_is_answered(memory: ContextMemory) -> None:
    memory.add(TALK, "c1")
    assert memory.search("bicycle " * 130_000).results[0].source_ids == ("m3",)


# -- threads and coroutines ------------------------------------------------------------------------------


def test_eight_threads_lose_no_message(memory: ContextMemory) -> None:
    def add(thread: int) -> None:
        for number in range(8):
            memory.add(said(f"Thread {thread} says {number}.", f"{thread}-{number}"), f"c{thread % 3}")
            memory.search(f"thread {thread}")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(8)))
    wanted = {f"{thread}-{number}" for thread in range(8) for number in range(8)}
    assert {one.message_id for one in memory.list(kind="message", limit=1_000)} == wanted
    memory.opened().drop_index()
    assert {one.message_id for one in memory.list(kind="message", limit=1_000)} == wanted
    for conversation in ("c0", "c1", "c2"):
        listed = memory.list(kind="message", conversation_id=conversation, limit=1_000)
        assert sorted(one.turn or 0 for one in listed) == list(range(len(listed)))


def test_threads_that_retry_the_same_messages_store_them_once(memory: ContextMemory) -> None:
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda _: memory.add(TALK, "c1"), range(6)))
    assert len(memory.list(kind="message")) == len(TALK)
    assert all(one.mention_count == 1 for one in memory.list(kind="fact"))


async def test_fifty_coroutines_at_once_lose_nothing(memory: ContextMemory) -> None:
    await asyncio.gather(
        *(memory.aadd(said(f"Coroutine {n} says hello.", f"m{n}"), f"c{n % 5}") for n in range(50))
    )
    found = await asyncio.gather(*(memory.asearch(f"Coroutine {n} says hello.", limit=1) for n in range(50)))
    assert [result.results[0].source_ids for result in found] == [(f"m{n}",) for n in range(50)]


async def test_the_event_loop_goes_on_while_a_memory_works(memory: ContextMemory) -> None:
    beats = 0

    async def heart() -> None:
        nonlocal beats
        while True:
            await asyncio.sleep(0.001)
            beats += 1

    task = asyncio.create_task(heart())
    await memory.aadd([said(f"Parcel {number}.") for number in range(300)])
    task.cancel()
    assert beats > 3


def public_methods() -> list[str]:
    return [
        name
        for name, member in inspect.getmembers(ContextMemory, inspect.isfunction)
        if not name.startswith("_") and not inspect.iscoroutinefunction(member)
    ]


#: What does not wait for the store, or hands out something that is not awaited.
WITHOUT_TWIN = {"for_namespace", "inspect", "items", "namespaces", "opened"}


@pytest.mark.parametrize("name", sorted(set(public_methods()) - WITHOUT_TWIN))
def test_each_method_has_an_async_twin_with_its_signature_and_words(name: str) -> None:
    method, twin = getattr(ContextMemory, name), getattr(ContextMemory, f"a{name}")
    assert inspect.iscoroutinefunction(twin)
    assert inspect.signature(twin) == inspect.signature(method)
    assert twin.__doc__ == method.__doc__


async def test_async_twins_do_what_their_methods_do(tmp_path: Path) -> None:
    async with ContextMemory(tmp_path, extractor=NotesExtractor()) as memory:
        added = await memory.aadd(said("fact: Ada rides a tandem", "m1"), "c1")
        (fact,) = added.memories
        assert await memory.aget(fact.id) == memory.get(fact.id)
        assert await memory.alist(kind="fact") == memory.list(kind="fact")
        assert (await memory.asearch("tandem", now=NOW)) == memory.search("tandem", now=NOW)
        assert (await memory.acontext("tandem", now=NOW)) == memory.context("tandem", now=NOW)
        assert (await memory.aupdate(fact.id, "Ada rides a bicycle")).text == "Ada rides a bicycle"
        assert [one.text for one in await memory.ahistory(fact.id)] == [
            "Ada rides a tandem",
            "Ada rides a bicycle",
        ]
        await memory.aflush()
        assert (await memory.amaintain()).changed_nothing
        assert await memory.adelete(fact.id)
        assert await memory.aerase(message_id="m1") == 1
        with pytest.raises(ValueError, match="limit"):
            await memory.asearch("tandem", limit=0)
    with pytest.raises(StoreError, match="closed"):
        await memory.asearch("tandem")


# -- life ------------------------------------------------------------------------------------------------


def test_closing_twice_is_harmless_and_use_afterwards_says_so(tmp_path: Path) -> None:
    memory = ContextMemory(tmp_path, "alice")
    memory.close()
    memory.close()
    calls: list[Callable[[], Any]] = [
        lambda: memory.add(said("hi")),
        lambda: memory.search("hi"),
        lambda: memory.context("hi"),
        lambda: memory.list(),
        lambda: memory.get("m1"),
        lambda: memory.update("m1", "hi"),
        lambda: memory.delete("m1"),
        lambda: memory.history("m1"),
        lambda: memory.erase(everything=True),
        lambda: memory.maintain(),
        lambda: memory.flush(),
        lambda: memory.namespaces(),
        lambda: memory.for_namespace("bob"),
    ]
    for call in calls:
        with pytest.raises(StoreError, match="namespace 'alice' is closed: open it again"):
            call()


def test_a_memory_says_what_it_is(memory: ContextMemory) -> None:
    assert repr(memory) == "ContextMemory(namespace='default', embedder='wordllama/l2_supercat-256')"
    assert memory.embedder.dimension == 256


def test_an_extractor_that_fails_outright_writes_nothing_by_halves(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, extractor=NotesExtractor(failures=1)) as memory:
        with pytest.raises(ContextMemoryError, match="the notebook is closed"):
            memory.add(said("fact: Ada rides a tandem", "m1"))
        assert memory.list() == []
        memory.add(said("fact: Ada rides a tandem", "m1"))
        assert len(memory.list()) == 2


def test_the_redactor_can_be_asked_for_and_a_sibling_has_it_too(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, redact=redact_secrets) as memory, memory.for_namespace("other") as sibling:
        assert memory.redactor is sibling.redactor is redact_secrets
        with pytest.raises(AttributeError):
            memory.redactor = None  # type: ignore[misc]
    with ContextMemory(tmp_path) as memory:
        assert memory.redactor is None
