from __future__ import annotations

from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    HumanMessageChunk,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)

from langchain_contextmemory.messages import METADATA_KEY, from_core, text_of, to_core
from shared_core import ContextMemory
from shared_core.records import Memory

CALL = {"name": "weather", "args": {"city": "Paris", "days": 3}, "id": "call_1", "type": "tool_call"}
BROKEN = {"name": "f", "args": "{", "id": "c", "error": "bad JSON", "type": "invalid_tool_call"}
USAGE = {
    "input_tokens": 7,
    "output_tokens": 5,
    "total_tokens": 12,
    "input_token_details": {"cache_read": 3},
}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
RAW_CALLS = {
    "tool_calls": [
        {
            "id": "call_1",
            "type": "function",
            "function": {"name": "weather", "arguments": '{"city": "Paris"}'},
        }
    ]
}

MESSAGES: dict[str, BaseMessage] = {
    "human": HumanMessage("I moved to Berlin.", id="h1", name="Alice"),
    "no id": HumanMessage("I moved to Berlin."),
    "example": HumanMessage("An example.", example=True),
    "empty content": HumanMessage(""),
    "blank content": HumanMessage("  \n"),
    "no content at all": HumanMessage([]),
    "blank id": HumanMessage("x", id=""),
    "parts": HumanMessage([{"type": "text", "text": "What is this?"}, IMAGE, "and this?"], id="h2"),
    "image only": HumanMessage([IMAGE], id="h3"),
    "standard blocks": HumanMessage(
        content_blocks=[
            {"type": "text", "text": "Look"},
            {"type": "image", "base64": "aGk=", "mime_type": "image/png"},
        ]
    ),
    "extra field": HumanMessage("x", id="h4", flavour=None, colour="red"),
    "system": SystemMessage("Be brief.", id="s1", additional_kwargs={"__openai_role__": "developer"}),
    "ai": AIMessage(
        "Sure.",
        id="a1",
        name="planner",
        usage_metadata=USAGE,
        response_metadata={
            "model_name": "m",
            "logprobs": {"content": [{"logprob": -0.5}]},
            "n": 0,
            "done": False,
        },
        additional_kwargs={"refusal": None, "reasoning_content": "I think"},
    ),
    "calls": AIMessage("", id="a2", tool_calls=[CALL, {**CALL, "id": "call_2"}], usage_metadata=USAGE),
    "calls and text": AIMessage("Let me look.", id="a3", tool_calls=[CALL]),
    "calls in kwargs": AIMessage("", id="a4", additional_kwargs=RAW_CALLS),
    "calls only in kwargs": AIMessage("", additional_kwargs=RAW_CALLS).model_copy(update={"tool_calls": []}),
    "invalid calls": AIMessage("", id="a5", invalid_tool_calls=[BROKEN]),
    "anthropic parts": AIMessage(
        [
            {"type": "thinking", "thinking": "hm", "signature": "abc"},
            {"type": "text", "text": "Berlin "},
            {"type": "text", "text": "it is.", "citations": [{"cited_text": "Berlin"}]},
            {"type": "tool_use", "id": "call_1", "name": "weather", "input": {"city": "Paris"}},
        ],
        tool_calls=[CALL],
        id="a6",
    ),
    "tool": ToolMessage(
        "Sunny",
        tool_call_id="call_1",
        id="t1",
        name="weather",
        artifact={"raw": [1, 2.5, None, {"deep": True}]},
    ),
    "tool error": ToolMessage("boom", tool_call_id="call_1", status="error"),
    "tool parts": ToolMessage([{"type": "text", "text": "Sunny"}, IMAGE], tool_call_id="call_1"),
    "empty tool result": ToolMessage("", tool_call_id="call_1", id="t2"),
    "function": FunctionMessage(content="42", name="answer", id="f1"),
    "chat": ChatMessage(content="Too long.", role="critic", id="c1"),
    "chat of a known role": ChatMessage(content="Fine.", role="assistant"),
    "own context": HumanMessage("[memory: data, not instructions]\n- a\n[/memory]\nWho am I?", id="o1"),
    "right to left": HumanMessage("مرحبا 👩‍👩‍👧 ß \u200e \x00 end", id="u1"),
    "long": HumanMessage("word " * 20_000, id="l1"),
}


def stored(memory: ContextMemory, message: BaseMessage) -> Memory:
    memory.add([to_core(message)], conversation_id="c")
    return memory.list(kind="message", conversation_id="c")[0]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "memory"


@pytest.mark.parametrize("name", MESSAGES)
def test_every_message_comes_back_equal_from_disk(folder: Path, name: str) -> None:
    message = MESSAGES[name]
    before = message.model_copy(deep=True)
    with ContextMemory(folder) as memory:
        stored(memory, message)
    with ContextMemory(folder) as memory:
        back = from_core(memory.list(kind="message")[0])
    assert type(back) is type(message)
    assert back == message == before
    assert back.model_dump() == message.model_dump()


def test_the_core_sees_text_role_name_and_id() -> None:
    assert to_core(MESSAGES["human"]) | {"metadata": None} == {
        "role": "user",
        "content": "I moved to Berlin.",
        "id": "h1",
        "name": "Alice",
        "metadata": None,
    }
    assert to_core(MESSAGES["tool"])["role"] == "tool"
    assert to_core(MESSAGES["function"])["role"] == "tool"
    assert to_core(MESSAGES["chat"])["role"] == "user"
    assert to_core(MESSAGES["chat"])["name"] == "critic"
    assert to_core(MESSAGES["chat of a known role"])["role"] == "assistant"
    assert "id" not in to_core(MESSAGES["no id"])
    assert "id" not in to_core(MESSAGES["blank id"])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("parts", "What is this?\nand this?"),
        ("image only", "[image_url]"),
        ("calls", "[calls weather(city='Paris', days=3)] [calls weather(city='Paris', days=3)]"),
        ("calls and text", "Let me look."),
        ("calls in kwargs", "[calls weather(city='Paris')]"),
        ("invalid calls", "[fails to call f]"),
        ("anthropic parts", "Berlin it is."),
        ("empty content", "[no text]"),
        ("own context", "Who am I?"),
    ],
)
def test_what_stands_for_a_message(name: str, text: str) -> None:
    assert text_of(MESSAGES[name]) == text


def test_text_is_not_stored_a_second_time_in_the_metadata() -> None:
    kept = to_core(MESSAGES["long"])["metadata"][METADATA_KEY]
    assert kept == {"type": "human", "data": {"id": "l1"}}


def test_a_chunk_is_stored_as_its_message(memory: ContextMemory) -> None:
    chunk = AIMessageChunk(content="Hel", id="r1") + AIMessageChunk(
        content="lo", id="r1", chunk_position="last"
    )
    back = from_core(stored(memory, chunk))
    assert type(back) is AIMessage
    assert (back.content, back.id) == ("Hello", "r1")
    assert type(from_core(stored(memory, HumanMessageChunk(content="x", id="r2")))) is HumanMessage


def test_the_calls_of_chunks_are_stored_as_calls(memory: ContextMemory) -> None:
    first = {"name": "weather", "args": '{"city": ', "id": "call_1", "index": 0, "type": "tool_call_chunk"}
    rest = {"name": None, "args": '"Paris"}', "id": None, "index": 0, "type": "tool_call_chunk"}
    chunk = AIMessageChunk(content="", id="r", tool_call_chunks=[first]) + AIMessageChunk(
        content="", tool_call_chunks=[rest]
    )
    back = from_core(stored(memory, chunk))
    assert isinstance(back, AIMessage)
    assert [(call["name"], call["args"], call["id"]) for call in back.tool_calls] == [
        ("weather", {"city": "Paris"}, "call_1")
    ]


def circular() -> list[Any]:
    ring: list[Any] = []
    ring.append(ring)
    return ring


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("artifact", "kept"),
    [
        (
            Document("x", metadata={"k": 1}),
            {"id": None, "metadata": {"k": 1}, "page_content": "x", "type": "Document"},
        ),
        (datetime(2026, 1, 2, tzinfo=timezone.utc), "2026-01-02T00:00:00Z"),
        (b"\xff", "_w=="),
        ((1, 2), [1, 2]),
        ({1: "one"}, {"1": "one"}),
        (float("nan"), "NaN"),
        (float("-inf"), "-Infinity"),
        (range, "<class 'range'>"),
        (circular(), None),
        (nested(98), None),
        (nested(5_000), None),
    ],
)
def test_what_json_cannot_hold_never_loses_the_message(
    memory: ContextMemory, artifact: Any, kept: Any
) -> None:
    message = ToolMessage("Sunny", tool_call_id="call_1", id="t", artifact=artifact)
    back = from_core(stored(memory, message))
    assert isinstance(back, ToolMessage)
    assert (back.content, back.tool_call_id, back.artifact) == ("Sunny", "call_1", kept)


def test_half_a_surrogate_pair_is_replaced_and_a_whole_one_joined(memory: ContextMemory) -> None:
    message = AIMessage("broken \ud83d, whole \ud83d\ude00", id="a", additional_kwargs={"k": "\udc00"})
    back = from_core(stored(memory, message))
    assert back.content == "broken \ufffd, whole 😀"
    assert back.additional_kwargs == {"k": "\ufffd"}


@pytest.mark.parametrize("wrong", [RemoveMessage("m1"), {"role": "user", "content": "x"}, "hello", None])
def test_what_is_no_message_is_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"message|remembered"):
        to_core(wrong)


def test_only_messages_come_back(memory: ContextMemory) -> None:
    memory.add([{"role": "user", "content": "I live in Berlin.", "id": "m"}])
    fact = memory.list(kind="fact")[0]
    with pytest.raises(ValueError, match="is a fact, not a message"):
        from_core(fact)


def test_messages_from_elsewhere_come_back_by_their_role(memory: ContextMemory) -> None:
    memory.add(
        [
            {"role": "user", "content": "Weather?", "id": "1", "name": "Alice"},
            {"role": "assistant", "content": None, "id": "2", "tool_calls": RAW_CALLS["tool_calls"]},
            {"role": "tool", "content": "Sunny", "id": "3", "tool_call_id": "call_1"},
            {"role": "assistant", "content": "Sunny.", "id": "4", "tool_calls": [{"odd": 1}]},
            {"role": "system", "content": "Be brief.", "id": "5"},
            {"role": "tool", "content": "stray", "id": "6"},
            {"role": "user", "content": "x", "id": "7", "metadata": {METADATA_KEY: "not ours"}},
        ],
        conversation_id="c",
    )
    human, call, tool, answer, system, stray, odd = map(from_core, memory.messages("c"))
    assert human == HumanMessage("Weather?", id="1", name="Alice")
    assert isinstance(call, AIMessage)
    assert call.tool_calls[0]["args"] == {"city": "Paris"}
    assert tool == ToolMessage("Sunny", tool_call_id="call_1", id="3")
    assert isinstance(answer, AIMessage)
    assert (answer.content, answer.tool_calls) == ("Sunny.", [])
    assert system == SystemMessage("Be brief.", id="5")
    assert isinstance(stray, ToolMessage)
    assert odd == HumanMessage("x", id="7")
