"""LlamaIndex's messages as the core's, and back again exactly.

What can be read as text becomes the content; the whole message travels in the metadata under ``EXACT_KEY``,
as JSON, wherever role and text alone would not bring it back.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any

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
from pydantic import BaseModel, ValidationError

from shared_core.records import Memory, Role

#: Where a message's metadata hold it exactly.
EXACT_KEY = "_llama_index"
#: Stands for a message in which nothing can be read.
EMPTY = "[empty message]"
#: How much of a tool's arguments or of a link is told, in characters.
TOLD_LENGTH = 300

ROLES: Mapping[MessageRole, Role] = {
    MessageRole.SYSTEM: "system",
    MessageRole.DEVELOPER: "system",
    MessageRole.USER: "user",
    MessageRole.ASSISTANT: "assistant",
    MessageRole.CHATBOT: "assistant",
    MessageRole.MODEL: "assistant",
    MessageRole.TOOL: "tool",
    MessageRole.FUNCTION: "tool",
}

#: Roles that a record alone brings back.
_PLAIN_ROLES = (MessageRole.SYSTEM, MessageRole.USER, MessageRole.ASSISTANT)

_BLOCKS: dict[str, type[BaseModel]] = {
    "text": TextBlock,
    "image": ImageBlock,
    "audio": AudioBlock,
    "video": VideoBlock,
    "document": DocumentBlock,
    "cache": CachePoint,
    "citable": CitableBlock,
    "citation": CitationBlock,
    "thinking": ThinkingBlock,
    "tool_call": ToolCallBlock,
}
_BYTES = "__bytes__"


def core_message(message: ChatMessage, *, message_id: str | None = None) -> dict[str, Any]:
    """``message`` as the core takes it: role, readable content, and the whole of it where that is more.

    Raises:
        ValueError: If it is not a ``ChatMessage``.
    """
    if not isinstance(message, ChatMessage):
        raise ValueError(f"{message!r:.200} is not a ChatMessage: pass ChatMessage(role=…, content=…)")
    content = readable(message)
    converted: dict[str, Any] = {"role": ROLES[message.role], "content": content, "metadata": {}}
    if not _is_plain(message, content):
        converted["metadata"][EXACT_KEY] = _encoded(message)
    if message_id is not None:
        converted["id"] = message_id
    name = message.additional_kwargs.get("name")
    if converted["role"] == "user" and isinstance(name, str) and name.strip():
        converted["name"] = _valid(name)
    return converted


def chat_message(record: Memory) -> ChatMessage:
    """The message that a record stands for: exactly the one that was put.

    One that was not put here is read as its role and text. A tool's result is then read as the assistant's
    words, since the call that it answers is text too, and models refuse a result without a call.
    """
    exact = record.metadata.get(EXACT_KEY)
    if isinstance(exact, str):
        return _decoded(exact)
    role = "assistant" if record.role == "tool" else record.role
    return ChatMessage(role=MessageRole(role or "user"), blocks=[TextBlock(text=record.text)])


def identity(message: Mapping[str, Any] | Memory) -> tuple[str, str, str | None]:
    """What two equal messages have in common, whether converted or stored: role, text, exact form."""
    if isinstance(message, Memory):
        return message.role or "user", message.text, message.metadata.get(EXACT_KEY)
    return message["role"], message["content"], message["metadata"].get(EXACT_KEY)


def last_user_text(messages: Iterable[ChatMessage]) -> str | None:
    """What the user said last; None if nothing can be read."""
    for message in reversed(list(messages)):
        if message.role == MessageRole.USER and (text := _text_of(message.blocks).strip()):
            return _valid(text)
    return None


def readable(message: ChatMessage) -> str:
    """The text of ``message``, and a line for each part that is not text; never blank.

    Thinking is told of only where nothing else is said: it is not what the speaker said.
    """
    parts = [part for part in (_text_of(message.blocks), *_told(message)) if part.strip()]
    if not parts and any(isinstance(block, ThinkingBlock) for block in message.blocks):
        parts = ["[thinking]"]
    return _valid("\n".join(parts)) or EMPTY


def _text_of(blocks: Sequence[Any]) -> str:
    texts = []
    for block in blocks:
        if isinstance(block, TextBlock):
            texts.append(block.text)
        elif isinstance(block, CitationBlock) and isinstance(block.cited_content, TextBlock):
            texts.append(block.cited_content.text)
        elif isinstance(block, CitableBlock):
            texts.append(_text_of(block.content))
    return "\n".join(texts)


def _told(message: ChatMessage) -> list[str]:
    """A line for each image, recording, document and call of a tool."""
    lines = []
    for block in message.blocks:
        if isinstance(block, (ImageBlock, AudioBlock, VideoBlock, DocumentBlock)):
            title = block.title if isinstance(block, DocumentBlock) else None
            link = str(block.url or "")
            named = "" if link.startswith("data:") else link
            told = " ".join(str(word) for word in (title, block.path or named) if word)
            lines.append(f"[{block.block_type}{' ' + told[:TOLD_LENGTH] if told else ''}]")
        elif isinstance(block, ToolCallBlock):
            lines.append(_call(block.tool_name, block.tool_kwargs))
    if not any(isinstance(block, ToolCallBlock) for block in message.blocks):
        lines += [_call(*_called(call)) for call in message.additional_kwargs.get("tool_calls") or ()]
    return lines


def _call(name: str, arguments: Any) -> str:
    told = arguments if isinstance(arguments, str) else json.dumps(arguments, default=str, ensure_ascii=False)
    return f"[calls {name} {told[:TOLD_LENGTH]}]"


def _called(call: Any) -> tuple[str, Any]:
    """Name and arguments of a call in the format of OpenAI, as an object or a mapping."""
    plain = call.model_dump() if isinstance(call, BaseModel) else call
    function = plain.get("function", plain) if isinstance(plain, Mapping) else {}
    function = function if isinstance(function, Mapping) else {}
    return str(function.get("name") or "tool"), function.get("arguments") or {}


def _is_plain(message: ChatMessage, content: str) -> bool:
    """Whether role and content alone bring ``message`` back."""
    return (
        not message.additional_kwargs
        and message.role in _PLAIN_ROLES
        and len(message.blocks) == 1
        and isinstance(message.blocks[0], TextBlock)
        and message.blocks[0].text == content
    )


def _valid(text: str) -> str:
    """``text`` without lone surrogates, which no store can keep; streams of models may break a pair."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _encoded(message: ChatMessage) -> str:
    """The whole message as ASCII JSON."""
    whole = {
        "role": message.role.value,
        "blocks": [block.model_dump() for block in message.blocks],
        "additional_kwargs": _plain(message.additional_kwargs),
    }
    return json.dumps(whole, default=_plain)


def _plain(value: Any) -> Any:
    """``value`` as JSON can say it; what cannot be said is told by its ``str``."""
    if isinstance(value, BaseModel):
        return value.model_dump()
    if isinstance(value, bytes):
        return {_BYTES: base64.b64encode(value).decode("ascii")}
    if isinstance(value, Mapping):
        return {str(key): item for key, item in value.items()}
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)
    return value.value if isinstance(value, Enum) else str(value)


def _decoded(exact: str) -> ChatMessage:
    whole = json.loads(exact, object_hook=_bytes_again)
    message = ChatMessage(
        role=MessageRole(whole["role"]), blocks=[_block(block) for block in whole["blocks"]]
    )
    # Set afterwards: the constructor would turn ``images`` into blocks that are there already.
    message.additional_kwargs = whole["additional_kwargs"]
    return message


def _bytes_again(value: dict[str, Any]) -> Any:
    return base64.b64decode(value[_BYTES]) if value.keys() == {_BYTES} else value


def _block(fields: dict[str, Any]) -> Any:
    """The block of these fields; one whose file has gone meanwhile is kept as it was."""
    kind = _BLOCKS[fields["block_type"]]
    if kind is CitableBlock:
        fields = {**fields, "content": [_block(part) for part in fields["content"]]}
    elif kind is CitationBlock:
        fields = {**fields, "cited_content": _block(fields["cited_content"])}
    # None that a field has anyway is left out: some releases of LlamaIndex do not take it back.
    absent = {name for name, field in kind.model_fields.items() if field.default is None}
    fields = {name: value for name, value in fields.items() if value is not None or name not in absent}
    try:
        return kind.model_validate(fields)
    except ValidationError:
        if not isinstance(fields.get("path"), str):
            raise
        without = kind.model_validate({**fields, "path": None})
        return without.model_copy(update={"path": Path(fields["path"])})
