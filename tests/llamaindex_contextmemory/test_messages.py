from __future__ import annotations

import base64
from pathlib import Path

import pytest
from llama_index.core.base.llms.types import (
    AudioBlock,
    CachePoint,
    ChatMessage,
    CitableBlock,
    CitationBlock,
    DocumentBlock,
    ImageBlock,
    MessageRole,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
    VideoBlock,
)

from llamaindex_contextmemory.messages import EMPTY, EXACT_KEY, chat_message, core_message, readable
from shared_core import ContextMemory

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)

MESSAGES = {
    "text": ChatMessage(role="user", content="I live in Lisbon."),
    "two texts": ChatMessage(role="user", blocks=[TextBlock(text="one"), TextBlock(text="two")]),
    "nothing": ChatMessage(role="assistant", blocks=[]),
    "blank": ChatMessage(role="assistant", content="  \n"),
    "padded": ChatMessage(role="user", content="  padded \n"),
    "image": ChatMessage(
        role="user", blocks=[TextBlock(text="My dog"), ImageBlock(image=PIXEL, detail="low")]
    ),
    "linked image": ChatMessage(role="user", blocks=[ImageBlock(url="https://example.org/a.png")]),
    "audio": ChatMessage(role="user", blocks=[AudioBlock(audio=b"RIFF\x00\xff\xfe", format="wav")]),
    "video": ChatMessage(role="user", blocks=[VideoBlock(url="https://example.org/a.mp4", fps=2)]),
    "document": ChatMessage(
        role="user", blocks=[DocumentBlock(data=b"%PDF-1.4 \xff", title="offer.pdf", url=None)]
    ),
    "tool call": ChatMessage(
        role="assistant",
        blocks=[
            TextBlock(text="Let me see."),
            ToolCallBlock(tool_call_id="c1", tool_name="weather", tool_kwargs={"city": "Köln", "days": [1]}),
        ],
    ),
    "tool call of text": ChatMessage(
        role="assistant", blocks=[ToolCallBlock(tool_name="weather", tool_kwargs='{"city": ')]
    ),
    "old tool call": ChatMessage(
        role="assistant",
        additional_kwargs={
            "tool_calls": [
                {"id": "c1", "function": {"name": "weather", "arguments": "{}"}, "type": "function"}
            ]
        },
    ),
    "tool result": ChatMessage(role="tool", content="12 °C", additional_kwargs={"tool_call_id": "c1"}),
    "thinking": ChatMessage(
        role="assistant",
        blocks=[
            ThinkingBlock(content="Hm.", num_tokens=2, additional_information={"signature": "abc="}),
            TextBlock(text="Yes."),
        ],
    ),
    "only thinking": ChatMessage(role="assistant", blocks=[ThinkingBlock(content="Hm.")]),
    "cache point": ChatMessage(
        role="system",
        blocks=[TextBlock(text="Rules."), CachePoint(cache_control={"type": "ephemeral", "ttl": "5m"})],
    ),
    "citable": ChatMessage(
        role="user", blocks=[CitableBlock(title="T", source="S", content=[TextBlock(text="cited")])]
    ),
    "citation": ChatMessage(
        role="assistant",
        blocks=[
            CitationBlock(
                cited_content=TextBlock(text="cited"),
                source="S",
                title="T",
                additional_location_info={"page": 3},
            )
        ],
    ),
    "bytes in arguments": ChatMessage(role="user", content="x", additional_kwargs={"raw": b"\xff\x00"}),
    "lone surrogate": ChatMessage(role="assistant", content="half \ud83d of a pair"),
    "deep": ChatMessage(role="user", content="x", additional_kwargs={"a": [{"b": {"c": [1, 2.5, None]}}]}),
    **{f"role {role.value}": ChatMessage(role=role, content="Hello there.") for role in MessageRole},
}


@pytest.mark.parametrize("kind", MESSAGES)
def test_a_message_comes_back_from_the_store_exactly(kind: str, memory: ContextMemory) -> None:
    message = MESSAGES[kind]
    memory.add([core_message(message)], "c1")
    restored = chat_message(memory.messages("c1")[0])
    assert restored == message
    assert restored is not message


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("text", "I live in Lisbon."),
        ("nothing", EMPTY),
        ("image", "My dog\n[image]"),
        ("linked image", "[image https://example.org/a.png]"),
        ("document", "[document offer.pdf]"),
        ("tool call", 'Let me see.\n[calls weather {"city": "Köln", "days": [1]}]'),
        ("old tool call", "[calls weather {}]"),
        ("thinking", "Yes."),
        ("only thinking", "[thinking]"),
        ("citable", "cited"),
        ("citation", "cited"),
    ],
)
def test_what_is_not_text_is_described(kind: str, content: str) -> None:
    assert readable(MESSAGES[kind]) == content


def test_a_plain_message_is_stored_once() -> None:
    assert core_message(MESSAGES["text"])["metadata"] == {}
    assert EXACT_KEY in core_message(MESSAGES["image"])["metadata"]


def test_a_file_that_has_gone_meanwhile_is_kept_as_it_was(tmp_path: Path, memory: ContextMemory) -> None:
    file = tmp_path / "dog.png"
    file.write_bytes(PIXEL)
    message = ChatMessage(role="user", blocks=[ImageBlock(path=file)])
    nested = ChatMessage(
        role="user", blocks=[CitableBlock(title="T", source="S", content=[ImageBlock(path=file)])]
    )
    memory.add([core_message(message), core_message(nested)], "c1")
    file.unlink()
    assert [chat_message(record) for record in memory.messages("c1")] == [message, nested]


def test_a_message_of_another_framework_is_read_as_its_text(memory: ContextMemory) -> None:
    memory.add([{"role": "assistant", "content": "Hello.", "metadata": {"other": 1}}], "c1")
    assert chat_message(memory.messages("c1")[0]) == ChatMessage(role="assistant", content="Hello.")


def test_a_tools_result_of_another_framework_is_text(memory: ContextMemory) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "clock", "arguments": "{}"}}
    memory.add(
        [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "content": "noon", "tool_call_id": "c1"},
        ],
        "c1",
    )
    read = [chat_message(record) for record in memory.messages("c1")]
    assert [message.role.value for message in read] == ["assistant", "assistant"]
    assert read[1].content == "noon"


def test_a_user_may_have_a_name() -> None:
    message = ChatMessage(role="user", content="Hi.", additional_kwargs={"name": "Ann"})
    assert core_message(message)["name"] == "Ann"


def test_something_else_than_a_message_is_refused() -> None:
    with pytest.raises(ValueError, match="'hello' is not a ChatMessage"):
        core_message("hello")  # type: ignore[arg-type]
