from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core.messages import QUOTED_LENGTH, parse_messages, quoted
from shared_core.records import Message
from tests.shared_core.building import NOW, said

JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda values: (
        st.lists(values, max_size=3)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), values, max_size=3)
    ),
    max_leaves=10,
)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)


def parse_one(message: Any, **options: Any) -> Message:
    (parsed,) = parse_messages([message], now=NOW, **options)
    return parsed


def refusal(messages: Any, **options: Any) -> str:
    with pytest.raises(ValueError, match=r".") as raised:
        parse_messages(messages, now=NOW, **options)
    return str(raised.value)


# -- what is accepted ------------------------------------------------------------------------------------


def test_a_message_keeps_what_its_caller_said() -> None:
    message = parse_one(
        said("I moved.", "m1", name="Ada", timestamp="2026-01-14T16:00:00+02:00", metadata={"mood": 3})
    )
    assert (message.id, message.role, message.content, message.name) == ("m1", "user", "I moved.", "Ada")
    assert message.timestamp == datetime(2026, 1, 14, 14, tzinfo=timezone.utc)
    assert message.metadata == {"mood": 3}


def test_a_message_without_id_and_time_gets_an_id_of_its_own_and_the_present() -> None:
    one, other = parse_messages([said("hi"), said("hi")], now=NOW)
    assert one.id != other.id
    assert one.timestamp == NOW


def test_one_message_need_not_stand_in_a_list() -> None:
    assert [message.content for message in parse_messages(said("hi"), now=NOW)] == ["hi"]


def test_messages_may_come_from_a_generator() -> None:
    def coming() -> Iterator[dict[str, Any]]:
        yield said("one")
        yield said("two")

    assert [message.content for message in parse_messages(coming(), now=NOW)] == ["one", "two"]


def test_no_messages_are_no_messages() -> None:
    assert parse_messages([], now=NOW) == ()


@pytest.mark.parametrize(
    ("role", "kept"),
    [("developer", "system"), ("function", "tool"), ("tool", "tool"), ("system", "system"), ("user", "user")],
)
def test_the_roles_of_the_openai_format_are_known(role: str, kept: str) -> None:
    assert parse_one(said("hi", role=role)).role == kept


def test_a_naive_time_is_utc() -> None:
    message = parse_one(said("hi", timestamp=datetime(2026, 1, 14, 16)))
    assert message.timestamp == datetime(2026, 1, 14, 16, tzinfo=timezone.utc)


def test_a_number_may_be_an_id() -> None:
    assert parse_one(said("hi", id=7)).id == "7"
    assert parse_one(said("hi", id=0)).id == "0"


def test_text_parts_are_joined_by_lines() -> None:
    parts = [{"type": "text", "text": "Look at this."}, {"type": "input_text", "text": "And that."}, "Well?"]
    assert parse_one(said(parts)).content == "Look at this.\nAnd that.\nWell?"


def test_parts_that_are_not_text_are_noted() -> None:
    parts = [
        {"type": "text", "text": "What is this?"},
        {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
    ]
    message = parse_one(said(parts))
    assert message.content == "What is this?"
    assert message.metadata["parts"] == [
        {"type": "image_url", "url": "https://example.org/cat.png"},
        {"type": "image_url"},
        {"type": "input_audio"},
    ]


def test_a_message_of_images_alone_is_described() -> None:
    parts = [{"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}}]
    assert parse_one(said(parts)).content == "[image_url]"


def test_a_call_of_a_tool_without_words_is_described_and_kept() -> None:
    calls = [{"id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}]
    message = parse_one({"role": "assistant", "content": None, "tool_calls": calls})
    assert message.content == "[calls get_weather]"
    assert message.metadata["tool_calls"] == calls


def test_the_answer_of_a_tool_keeps_the_id_of_its_call() -> None:
    message = parse_one(said("22 degrees", role="tool", tool_call_id="call_1"))
    assert message.metadata == {"tool_call_id": "call_1"}


def test_metadata_of_all_messages_yield_to_those_of_one() -> None:
    message = parse_one(said("hi", metadata={"a": 1}), metadata={"a": 0, "b": 2})
    assert message.metadata == {"a": 1, "b": 2}


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), JSON, max_size=4))
def test_json_metadata_is_kept_exactly_and_apart_from_the_callers(metadata: dict[str, Any]) -> None:
    before = json.dumps(metadata)
    kept = parse_one(said("hi", metadata=metadata)).metadata
    assert json.dumps(kept) == before
    kept["added later"] = True
    assert json.dumps(metadata) == before


@given(TEXTS)
def test_any_text_that_is_not_blank_is_kept_as_it_is(text: str) -> None:
    assert parse_one(said(text)).content == text


def test_a_validated_message_may_be_given_back() -> None:
    message = parse_one(said("hi", "m1", metadata={"a": 1}))
    assert parse_one(message) == message
    assert parse_one(message, metadata={"a": 0, "b": 2}).metadata == {"a": 1, "b": 2}


def test_the_same_message_twice_is_no_conflict() -> None:
    assert len(parse_messages([said("hi", "m1"), said("hi", "m1")], now=NOW)) == 2


def test_the_edges_of_the_calendar_are_times() -> None:
    first, last = (
        parse_one(said("hi", timestamp=moment)).timestamp
        for moment in (datetime.min, datetime.max.replace(tzinfo=timezone(timedelta(hours=-23))))
    )
    assert (first.year, last.year) == (1, 9999)


# -- what is refused -------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", ["narrator", "", "User", None, 5, ["user"]])
def test_an_unknown_role_is_refused_and_quoted(role: Any) -> None:
    message = refusal([said("hi", role=role)])
    assert f"role {role!r} is none of system, user, assistant, tool" in message


@pytest.mark.parametrize(
    "content",
    [
        "",
        " ",
        "\n\t ",
        "\u2003\u00a0",
        None,
        5,
        b"bytes",
        [],
        [""],
        [{"type": "text", "text": " "}],
        {"a": 1},
    ],
)
def test_a_message_without_words_is_refused_and_quoted(content: Any) -> None:
    assert f"content {content!r}" in refusal([said(content)])


@pytest.mark.parametrize("part", [5, None, {"text": 5}, {"image_url": {}}])
def test_a_part_that_is_nothing_known_is_refused_and_quoted(part: Any) -> None:
    assert repr(part) in refusal([said(["hello", part])])


@pytest.mark.parametrize("message_id", ["", "  ", True, 1.5, ["m1"], b"m1"])
def test_an_id_that_is_no_string_is_refused_and_quoted(message_id: Any) -> None:
    assert f"id {message_id!r} is not a non-empty string" in refusal([said("hi", id=message_id)])


@pytest.mark.parametrize("name", ["", " ", 5, ["Ada"]])
def test_a_name_that_is_no_string_is_refused_and_quoted(name: Any) -> None:
    assert f"name {name!r} is not a non-empty string" in refusal([said("hi", name=name)])


@pytest.mark.parametrize("timestamp", ["yesterday", "", 1_700_000_000, "2026-13-01T00:00:00"])
def test_a_bad_time_is_refused_and_quoted(timestamp: Any) -> None:
    assert f"timestamp {timestamp!r}" in refusal([said("hi", timestamp=timestamp)])


@pytest.mark.parametrize("field", ["content", "id", "name"])
def test_a_lone_surrogate_is_refused_with_its_place(field: str) -> None:
    message = refusal([{**said("hi"), field: "ab\ud800"}])
    assert f"{field} 'ab\\ud800' holds a lone surrogate at 2" in message


@pytest.mark.parametrize(
    "metadata", [{"a": {1, 2}}, {"a": float("nan")}, {"a": float("inf")}, {"a": b"x"}, {"a": NOW}]
)
def test_metadata_that_is_no_json_is_refused_and_quoted(metadata: dict[str, Any]) -> None:
    assert quoted(metadata) in refusal([said("hi", metadata=metadata)])
    assert quoted(metadata) in refusal([said("hi")], metadata=metadata)


@pytest.mark.parametrize("metadata", [{"a": "\ud800"}, {"\ud800": 1}, {"a": [{"b": "\ud800"}]}])
def test_metadata_with_a_lone_surrogate_is_refused(metadata: dict[str, Any]) -> None:
    assert "holds a lone surrogate" in refusal([said("hi", metadata=metadata)])


def test_an_unknown_key_that_is_no_json_is_refused() -> None:
    assert "not plain JSON" in refusal([said("hi", attachment=object())])


@pytest.mark.parametrize("metadata", ["mood", 5, [("a", 1)]])
def test_metadata_that_is_no_mapping_is_refused_and_quoted(metadata: Any) -> None:
    assert f"metadata {metadata!r} is not a mapping" in refusal([said("hi", metadata=metadata)])
    assert f"metadata {metadata!r} is not a mapping" in refusal([said("hi")], metadata=metadata)


@pytest.mark.parametrize("depth", [200, 100_000])
def test_metadata_nested_too_deeply_is_refused(depth: int) -> None:
    nested: Any = 1
    for _ in range(depth):
        nested = [nested]
    assert "is nested more than" in refusal([said("hi", metadata={"a": nested})])


def test_metadata_that_contains_itself_is_refused() -> None:
    looped: dict[str, Any] = {}
    looped["self"] = looped
    assert "metadata" in refusal([said("hi", metadata=looped)])


def test_one_id_for_two_texts_is_refused_and_both_are_quoted() -> None:
    message = refusal([said("yes", "m1"), said("no", "m1")])
    assert "'m1' stands for two texts, 'yes' and 'no'" in message


@pytest.mark.parametrize("messages", ["hello", b"hello", None, 5, 1.5])
def test_messages_that_are_no_messages_are_refused_and_quoted(messages: Any) -> None:
    assert f"messages is {messages!r}" in refusal(messages)


@pytest.mark.parametrize("message", ["hello", None, 5, ["user", "hi"]])
def test_a_message_that_is_no_mapping_is_refused_with_its_position(message: Any) -> None:
    assert f"message 1: {message!r} is not a mapping" in refusal([said("hi"), message])


@pytest.mark.parametrize("content", ["", "  \n"])
def test_a_message_object_without_words_is_refused_as_well(content: str) -> None:
    message = Message(id="m1", role="user", content=content, timestamp=NOW)
    assert f"content {content!r}" in refusal([message])


def test_a_message_object_with_a_blank_id_or_name_is_refused_as_well() -> None:
    assert "id ' '" in refusal([Message(id=" ", role="user", content="hi", timestamp=NOW)])
    assert "name ''" in refusal([Message(id="1", role="user", content="hi", name="", timestamp=NOW)])


@pytest.mark.parametrize("metadata", [{"a": object()}, {"a": float("nan")}, {"a": "\ud800"}])
def test_a_message_object_with_metadata_that_is_no_json_is_refused_as_well(metadata: dict[str, Any]) -> None:
    message = Message(id="m1", role="user", content="hi", timestamp=NOW, metadata=metadata)
    assert "metadata" in refusal([message])


def test_long_values_are_quoted_in_part() -> None:
    message = refusal([said("hi", role="x" * 1_000_000)])
    assert len(message) < 2 * QUOTED_LENGTH + 100
    assert "(1000002 characters)" in message


@pytest.mark.parametrize("call", [{"function": None}, {"function": "x"}, {"function": {"name": None}}, {}])
def test_a_call_of_a_tool_that_is_not_named_is_a_call_all_the_same(call: dict[str, Any]) -> None:
    message = parse_one({"role": "assistant", "content": None, "tool_calls": [call]})
    assert message.content == "[calls tool]"


@pytest.mark.parametrize("calls", [5, "x", ["x"], {"a": 1}])
def test_calls_that_are_no_calls_are_refused(calls: object) -> None:
    with pytest.raises(ValueError, match="nothing to remember"):
        parse_one({"role": "assistant", "content": None, "tool_calls": calls})
