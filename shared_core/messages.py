"""What a caller hands in, turned into validated messages; nothing is written before all of it is valid."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import uuid4

from shared_core.records import ROLES, Message, Role
from shared_core.times import parse_timestamp

#: A message in the OpenAI format, with ``id``, ``name``, ``timestamp`` and ``metadata`` if wanted.
MessageLike = Mapping[str, Any] | Message

#: Other names of a role that the OpenAI format knows.
ROLE_ALIASES: dict[str, Role] = {"developer": "system", "function": "tool"}
#: How much of a bad value an error quotes, in characters.
QUOTED_LENGTH = 120
#: How much of a link to an image or a file is noted, in characters.
NOTED_LENGTH = 500
#: Deepest nesting of metadata, well below what the encoders of JSON can do.
MAX_DEPTH = 100
OWN_KEYS = frozenset({"role", "content", "id", "name", "timestamp", "metadata"})


def quoted(value: object) -> str:
    """``repr`` of a value, shortened for an error message."""
    try:
        text = repr(value)
    except RecursionError:
        return f"a deeply nested {type(value).__name__}"
    return text if len(text) <= QUOTED_LENGTH else f"{text[:QUOTED_LENGTH]}… ({len(text)} characters)"


def parse_messages(
    messages: MessageLike | Iterable[MessageLike],
    *,
    now: datetime,
    metadata: Mapping[str, Any] | None = None,
) -> tuple[Message, ...]:
    """Validate messages in the OpenAI format.

    Args:
        messages: One message or several: ``{"role", "content"}`` with optional ``id``, ``name``,
            ``timestamp`` (a datetime or ISO 8601; naive is UTC) and ``metadata``. Content is a string or a
            list of parts: text parts are joined by newlines, others are noted in ``metadata["parts"]``.
        now: The timestamp of a message that has none.
        metadata: JSON values to attach to each message; its own win.

    Raises:
        ValueError: For the first message that is not valid; its position and the value are quoted.
    """
    if isinstance(messages, (str, bytes)) or not isinstance(messages, (Message, Iterable)):
        raise ValueError(f"messages is {quoted(messages)}: pass [{{'role': 'user', 'content': …}}] instead")
    listed = [messages] if isinstance(messages, (Mapping, Message)) else list(messages)
    common = json_object(metadata, "metadata") if metadata is not None else {}
    parsed = []
    for position, message in enumerate(listed):
        try:
            parsed.append(_parse(message, now=now, common=common))
        except ValueError as error:
            raise ValueError(f"message {position}: {error}") from error
    _refuse_conflicts(parsed)
    return tuple(parsed)


def _parse(message: MessageLike, *, now: datetime, common: dict[str, Any]) -> Message:
    if isinstance(message, Message):
        return _checked(message, common)
    if not isinstance(message, Mapping):
        raise ValueError(f"{quoted(message)} is not a mapping with 'role' and 'content'")
    content, noted = _content(message.get("content"), message)
    extra = {
        key: value
        for key, value in message.items()
        if key not in OWN_KEYS and value is not None and key != "parts"
    }
    own = json_object(message.get("metadata") or {}, "metadata")
    timestamp = message.get("timestamp")
    return Message(
        id=_identifier(message.get("id")),
        role=_role(message.get("role")),
        content=content,
        name=_name(message.get("name")),
        timestamp=now if timestamp is None else parse_timestamp(timestamp),
        metadata={**common, **json_object(extra, "message"), **noted, **own},
    )


def _checked(message: Message, common: dict[str, Any]) -> Message:
    """A message that was built by hand: as strictly as one in the OpenAI format."""
    content, _ = _content(message.content, {})
    changes = {
        "id": _identifier(message.id),
        "name": _name(message.name),
        "content": content,
        "metadata": {**common, **json_object(message.metadata, "metadata")},
    }
    return message.model_copy(update=changes)


def _refuse_conflicts(messages: Sequence[Message]) -> None:
    texts: dict[str, str] = {}
    for message in messages:
        if texts.setdefault(message.id, message.content) != message.content:
            raise ValueError(
                f"id {quoted(message.id)} stands for two texts, {quoted(texts[message.id])} and "
                f"{quoted(message.content)}: give each message an id of its own"
            )


def _role(value: object) -> Role:
    role = ROLE_ALIASES.get(value, value) if isinstance(value, str) else value
    if role not in ROLES:
        raise ValueError(f"role {quoted(value)} is none of {', '.join(ROLES)}")
    return role


def _identifier(value: object) -> str:
    if value is None:
        return uuid4().hex
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"id {quoted(value)} is not a non-empty string")
    return storable(value, "id")


def _name(value: object) -> str | None:
    if value is None:
        return None
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"name {quoted(value)} is not a non-empty string; leave it out where there is none")
    return storable(value.strip(), "name")


def _content(value: object, message: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The text of a message and what to note of the parts that are not text."""
    noted: dict[str, Any] = {}
    if isinstance(value, str):
        text = value
    elif isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray)):
        text, parts = _join_parts(value)
        noted = {"parts": parts} if parts else {}
    elif value is None and message.get("tool_calls"):
        text = ""
    else:
        raise ValueError(f"content {quoted(value)} is neither a string nor a list of content parts")
    if not text.strip():
        text = _description(noted, message)
    if not text.strip():
        raise ValueError(f"content {quoted(value)} is empty: there is nothing to remember")
    return storable(text, "content"), noted


def _join_parts(parts: Sequence[Any]) -> tuple[str, list[dict[str, Any]]]:
    texts, noted = [], []
    for part in parts:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping) and isinstance(part.get("text"), str):
            texts.append(part["text"])
        elif isinstance(part, Mapping) and isinstance(part.get("type"), str):
            noted.append(_note(part))
        else:
            raise ValueError(f"content part {quoted(part)} has neither a text nor a type")
    return "\n".join(texts), noted


def _note(part: Mapping[str, Any]) -> dict[str, Any]:
    """What is kept of a part that is not text: its type, and a link where it has a short one."""
    note: dict[str, Any] = {"type": part["type"]}
    body = part.get(part["type"], part)
    link = body.get("url") if isinstance(body, Mapping) else body
    if isinstance(link, str) and not link.startswith("data:"):
        note["url"] = link[:NOTED_LENGTH]
    return note


def _description(noted: Mapping[str, Any], message: Mapping[str, Any]) -> str:
    """A line that stands for a message without text, such as an image or a call of a tool."""
    calls = message.get("tool_calls")
    called = [call for call in calls if isinstance(call, Mapping)] if isinstance(calls, (list, tuple)) else []
    words = [f"[{part['type']}]" for part in noted.get("parts", ())]
    words += [f"[calls {_function_name(call)}]" for call in called]
    return " ".join(words)


def _function_name(call: Mapping[str, Any]) -> str:
    function = call.get("function", call)
    name = function.get("name") if isinstance(function, Mapping) else None
    return name if isinstance(name, str) and name.strip() else "tool"


def json_object(value: object, label: str) -> dict[str, Any]:
    """A copy of ``value`` that is plain JSON.

    Raises:
        ValueError: If it is not a mapping of JSON values.
    """
    if not isinstance(value, Mapping):
        raise ValueError(f"{label} {quoted(value)} is not a mapping")
    if not value:
        return {}
    try:
        plain: dict[str, Any] = json.loads(json.dumps(dict(value), allow_nan=False))
    except RecursionError as error:
        raise ValueError(f"{label} {quoted(value)} is nested more than {MAX_DEPTH} deep") from error
    except (TypeError, ValueError) as error:
        raise ValueError(f"{label} {quoted(value)} is not plain JSON: {error}") from error
    if _is_too_deep(plain):
        raise ValueError(f"{label} {quoted(value)} is nested more than {MAX_DEPTH} deep")
    storable(json.dumps(plain, ensure_ascii=False), label)
    return plain


def _is_too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        if not level:
            return False
        level = [
            inner
            for outer in level
            if isinstance(outer, (dict, list))
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
    return bool(level)


def storable(text: str, label: str) -> str:
    """``text``, if it is valid Unicode.

    Raises:
        ValueError: If it holds a lone surrogate, which no store can keep.
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(
            f"{label} {quoted(text)} holds a lone surrogate at {error.start}: "
            "decode it again with errors='replace'"
        ) from error
    return text


def passed_on(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """What of a message's metadata belongs to what is learnt from it as well.

    All but what the message itself is made of: its parts, and keys that begin with ``_``.
    """
    return {key: value for key, value in metadata.items() if key != "parts" and not key.startswith("_")}
