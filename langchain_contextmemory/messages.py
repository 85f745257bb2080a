"""LangChain's messages as the core's, and back: nothing of a message is lost on the way."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
    message_chunk_to_message,
)
from pydantic_core import to_jsonable_python

from shared_core.context.rendering import strip_own_context
from shared_core.messages import ROLE_ALIASES, json_object, quoted
from shared_core.records import ROLES, Memory

__all__ = ["METADATA_KEY", "from_core", "spoken_text", "text_of", "to_core"]

#: Where a message's metadata in the core hold what LangChain knows of it: ``{"type", "data"}``.
METADATA_KEY = "_langchain"
#: Longest arguments of a tool call in the line that stands for a message without text, in characters.
ARGUMENTS_LENGTH = 200
#: The line for a message that holds neither text nor calls nor parts.
NO_TEXT = "[no text]"

_CLASSES: Mapping[str, type[BaseMessage]] = {
    "human": HumanMessage,
    "ai": AIMessage,
    "system": SystemMessage,
    "tool": ToolMessage,
    "function": FunctionMessage,
    "chat": ChatMessage,
}
_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "tool"}


def to_core(message: BaseMessage) -> dict[str, Any]:
    """A message as ``ContextMemory.add`` takes it.

    Its text becomes the content, or a line such as ``[calls weather(city='Paris')]`` where it has none; our
    own context is cut out of it. Everything else of it travels in ``metadata["_langchain"]``, from which
    ``from_core`` makes an equal message. A chunk is stored as the message that it adds up to. What JSON
    cannot hold becomes its ``repr``: only an ``artifact`` of a tool or foreign extras can be like that.

    Raises:
        ValueError: If it is no message, or one that says nothing, such as ``RemoveMessage``.
    """
    if not isinstance(message, BaseMessage):
        raise ValueError(f"{quoted(message)} is not a LangChain message: pass a BaseMessage")
    whole = message_chunk_to_message(message)
    if whole.type not in _CLASSES:
        raise ValueError(
            f"a message of type {quoted(whole.type)} cannot be remembered, only {', '.join(_CLASSES)}"
        )
    text = text_of(whole)
    converted: dict[str, Any] = {
        "role": _role_of(whole),
        "content": text,
        "metadata": {METADATA_KEY: {"type": whole.type, "data": _data_of(whole, text)}},
    }
    if whole.id and whole.id.strip():
        converted["id"] = _unicode(whole.id)
    name = whole.name or (whole.role if isinstance(whole, ChatMessage) and whole.role not in ROLES else None)
    if name and name.strip():
        converted["name"] = _unicode(name)
    return converted


def from_core(record: Memory) -> BaseMessage:
    """The LangChain message of a stored one; equal to what ``to_core`` was given.

    A message that came from elsewhere, such as an OpenAI dict or another framework, is converted by its role,
    with its tool calls where its metadata hold them.

    Raises:
        ValueError: If the record is not a message.
    """
    if record.kind != "message":
        raise ValueError(f"memory {quoted(record.id)} is a {record.kind}, not a message")
    stored = record.metadata.get(METADATA_KEY)
    kept = stored if isinstance(stored, Mapping) else {}
    made = _CLASSES.get(kept.get("type", ""))
    if made is None:
        return _foreign(record)
    data = {"content": record.text, **kept["data"]}
    message = made(**data)
    if isinstance(message, AIMessage):  # its constructor would guess calls from additional_kwargs
        message.tool_calls = data.get("tool_calls", [])
        message.invalid_tool_calls = data.get("invalid_tool_calls", [])
    return message


def text_of(message: BaseMessage) -> str:
    """The text of a message, or a line that stands for one without text; never blank."""
    return spoken_text(message) or _unicode(_description(message))


def spoken_text(message: BaseMessage) -> str:
    """The text of a message without our own context; ``""`` if it has none."""
    # A model's reply arrives in pieces of one text; a person's parts are texts of their own.
    text = ("" if message.type == "ai" else "\n").join(_texts(message))
    text = strip_own_context(_unicode(text))
    return text if text.strip() else ""


def _texts(message: BaseMessage) -> Iterator[str]:
    for part in [message.content] if isinstance(message.content, str) else message.content:
        if isinstance(part, str):
            yield part
        elif part.get("type") == "text" and isinstance(part.get("text"), str):
            yield part["text"]


def _description(message: BaseMessage) -> str:
    """A line that stands for a message without text: the tools that it calls, or the parts it is made of."""
    words = [
        f"[{part['type']}]"
        for part in message.content
        if isinstance(part, dict) and isinstance(part.get("type"), str) and part["type"] not in _CALL_PARTS
    ]
    if isinstance(message, AIMessage):
        words += [f"[calls {call['name']}({_arguments(call['args'])})]" for call in message.tool_calls]
        words += [f"[fails to call {call['name'] or 'a tool'}]" for call in message.invalid_tool_calls]
        refusal = message.additional_kwargs.get("refusal")
        words += [refusal] if isinstance(refusal, str) and refusal.strip() else []
    return " ".join(words) or NO_TEXT


#: Parts of a reply that say again what its calls say, or that hold no text.
_CALL_PARTS = frozenset(("text", "tool_call", "tool_use", "function_call", "reasoning", "thinking"))


def _arguments(arguments: Mapping[str, Any]) -> str:
    text = ", ".join(f"{key}={quoted(value)}" for key, value in arguments.items())
    return text if len(text) <= ARGUMENTS_LENGTH else f"{text[:ARGUMENTS_LENGTH]}…"


def _role_of(message: BaseMessage) -> str:
    if not isinstance(message, ChatMessage):
        return _ROLES[message.type]
    return message.role if message.role in ROLES or message.role in ROLE_ALIASES else "user"


def _data_of(message: BaseMessage, text: str) -> dict[str, Any]:
    """The fields of a message as JSON, without empty ones, and without content that is the text already."""
    declared = type(message).model_fields
    fields = {
        name: value
        for name, value in message
        if name != "type" and not (name in declared and name != "content" and _is_empty(value))
    }
    if message.content == text:
        del fields["content"]
    try:
        return _json(fields)
    except (ValueError, RecursionError):  # one field is circular, or too deep to store: the others are kept
        return {name: plain for name, value in fields.items() for plain in _json_or_nothing(name, value)}


def _is_empty(value: Any) -> bool:
    return value is None or value is False or (isinstance(value, (list, dict)) and not value)


def _json(value: dict[str, Any]) -> dict[str, Any]:
    plain = to_jsonable_python(value, fallback=repr, bytes_mode="base64")
    text = _unicode(json.dumps(plain, ensure_ascii=False))
    found: dict[str, Any] = json.loads(text, parse_constant=str)  # NaN and infinity become words
    json_object({METADATA_KEY: {"data": found}}, "message")
    return found


def _json_or_nothing(name: str, value: Any) -> list[Any]:
    try:
        return [_json({name: value})[name]]
    except (ValueError, RecursionError):
        return []


def _unicode(text: str) -> str:
    """``text`` with halves of surrogate pairs joined, and lone ones replaced: models do send them."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _foreign(record: Memory) -> BaseMessage:
    """A message that did not come through ``to_core``."""
    role = record.role or "user"
    message: dict[str, Any] = {"role": role, "content": record.text, "id": record.message_id}
    if record.speaker and record.speaker != role.capitalize():
        message["name"] = record.speaker
    if role == "tool":
        message["tool_call_id"] = str(record.metadata.get("tool_call_id") or record.message_id)
    elif role == "assistant" and isinstance(calls := record.metadata.get("tool_calls"), list):
        message["tool_calls"] = calls
    try:
        return convert_to_messages([message])[0]
    except (ValueError, KeyError, TypeError):  # tool calls in nobody's format: the text is what counts
        return convert_to_messages([{key: message[key] for key in message if key != "tool_calls"}])[0]
