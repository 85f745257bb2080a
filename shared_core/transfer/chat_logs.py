"""Files of conversations, read as messages: the OpenAI format as JSON or JSON lines, and LoCoMo."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal, get_args

from shared_core.messages import parse_messages, quoted
from shared_core.times import utc_now

Format = Literal["auto", "openai", "locomo"]
FORMATS: tuple[Format, ...] = get_args(Format)

#: Messages of one part of a conversation; a longer one comes in several parts, so that memory stays small.
PART_MESSAGES = 1_000
#: LoCoMo dates its sessions, not their turns: each is taken to be this much later than the one before.
LOCOMO_SECONDS_PER_TURN = 30
LOCOMO_DATE = "%I:%M %p on %d %B, %Y"

EXPECTED = (
    "expected messages in the OpenAI format ([{'role', 'content'}, …], {'messages': […]}, a list of those, "
    "or either as JSON lines) or LoCoMo"
)


@dataclass(frozen=True)
class LoggedConversation:
    """Messages of one conversation, or a part of a long one; the next parts follow with the same id.

    Attributes:
        id: From the file, or the file's name without its ending, numbered from the second one on.
        messages: As ``ContextMemory.add`` takes them. Each has an ``id``: its own, or its position in the
            conversation, counted from 1, so that reading the file again gives the same ids.
    """

    id: str
    messages: tuple[dict[str, Any], ...]


def read_chat_log(path: str | Path, *, format: Format = "auto") -> Iterator[LoggedConversation]:  # noqa: A002
    """The conversations of a file, in order; JSON lines are read one by one, whatever the file's size.

    Args:
        path: A file in UTF-8.
        format: ``openai``, ``locomo``, or ``auto`` to tell from the content.

    Raises:
        ValueError: If the file is not of that format; its name, the position and what was expected are told.
        OSError: If it cannot be read.
    """
    if format not in FORMATS:
        raise ValueError(f"format {quoted(format)} is none of {', '.join(FORMATS)}")
    source = Path(path)
    if not source.is_file():
        problem = "is not a regular file" if source.exists() else "does not exist"
        raise ValueError(f"{str(path)!r} {problem}: name a file of conversations")
    numbered = _Numbered(source.name)
    if format != "locomo" and _is_json_lines(source):
        yield from _from_json_lines(source, numbered)
        return
    document = _load(source)
    if format == "locomo" or (format == "auto" and _is_locomo(document)):
        yield from _from_locomo(document, numbered)
    else:
        yield from _from_document(document, numbered)


def select_conversation(path: str | Path, wanted: str, *, format: Format = "auto") -> str:  # noqa: A002
    """The id of the conversation that ``wanted`` names: by its id, or by its position, counted from 0.

    Raises:
        ValueError: If there is none, or the file cannot be read.
    """
    ids = list(dict.fromkeys(part.id for part in read_chat_log(path, format=format)))
    if wanted in ids:
        return wanted
    if wanted.isascii() and wanted.isdigit() and int(wanted) < len(ids):
        return ids[int(wanted)]
    shown = ", ".join(map(quoted, ids[:5])) + (", …" if len(ids) > 5 else "")
    raise ValueError(
        f"{Path(path).name} has no conversation {quoted(wanted)}: it has {len(ids)}, named by position "
        f"from 0, or by id: {shown}"
    )


def decoded_lines(lines: Iterable[bytes], name: str) -> Iterator[str]:
    """Lines of UTF-8 as text, a byte order mark left out.

    Raises:
        ValueError: For the first line that is not UTF-8; ``name`` and the line are told.
    """
    for number, line in enumerate(lines, start=1):
        try:
            yield line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{name}, line {number}, byte {error.start + 1}: not UTF-8 ({error.reason}); "
                "convert the file to UTF-8 first"
            ) from error


def parsed_json(text: str, where: str, *, line: int = 1) -> Any:
    """``text`` as JSON, without NaN and infinities.

    Args:
        text: One JSON value.
        where: Which file, for the message.
        line: The number of its first line.

    Raises:
        ValueError: If it is not JSON; the line and column are told.
    """
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        ends_early = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated")
        cut = "; it seems to be cut short" if ends_early else ""
        raise ValueError(
            f"{where}, line {line + error.lineno - 1}, column {error.colno}: not JSON ({error.msg}){cut}"
        ) from error
    except (ValueError, RecursionError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise ValueError(f"{where}, line {line}: not JSON that can be used ({reason})") from error


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


class _Numbered:
    """Checks messages, and gives those without an id their position in their conversation."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._counts: Counter[str] = Counter()
        self._now = utc_now()

    def part(
        self, conversation_id: str, messages: Sequence[Any], places: Sequence[str]
    ) -> LoggedConversation:
        """A part of a conversation; ``places`` says where in the file each message stands."""
        checked = []
        for message, place in zip(messages, places, strict=True):
            self._counts[conversation_id] += 1
            checked.append(self._checked(message, self._counts[conversation_id], place))
        return LoggedConversation(conversation_id, tuple(checked))

    def default_id(self, number: int) -> str:
        """The id of the ``number``-th conversation without one, counted from 1."""
        stem = Path(self.name).stem
        return stem if number == 1 else f"{stem}-{number}"

    def _checked(self, message: Any, position: int, where: str) -> dict[str, Any]:
        if not isinstance(message, Mapping):
            raise ValueError(
                f"{self.name}, {where}: {quoted(message)} is not a message; expected {{'role', 'content'}}"
            )
        named = {**message, "id": str(position) if message.get("id") is None else message["id"]}
        try:
            parse_messages(named, now=self._now)
        except ValueError as error:
            raise ValueError(f"{self.name}, {where}: {str(error).removeprefix('message 0: ')}") from error
        return named


def _is_json_lines(path: Path) -> bool:
    """Whether the first line that is not blank is a JSON object on its own, and others follow."""
    with path.open("rb") as stream:
        filled = (line for line in decoded_lines(stream, path.name) if line.strip())
        first = next(filled, None)
        if first is None:
            raise ValueError(f"{path.name} is empty: {EXPECTED}")
        try:
            is_object = isinstance(json.loads(first), dict)
        except (ValueError, RecursionError):
            return False
        return is_object and next(filled, None) is not None


def _load(path: Path) -> Any:
    with path.open("rb") as stream:
        return parsed_json("".join(decoded_lines(stream, path.name)), path.name)


def _from_json_lines(path: Path, numbered: _Numbered) -> Iterator[LoggedConversation]:
    """One message per line, which make one conversation, or one ``{"messages": […]}`` per line."""
    held: list[Any] = []
    places: list[str] = []
    conversations = 0
    for number, value in _json_lines(path):
        if isinstance(value, dict) and "messages" in value:
            conversations += 1
            yield from _conversation(value, numbered.default_id(conversations), numbered, f"line {number}")
            continue
        held.append(value)
        places.append(f"line {number}")
        if len(held) == PART_MESSAGES:
            yield numbered.part(path.stem, held, places)
            held, places = [], []
    if held:
        yield numbered.part(path.stem, held, places)


def _json_lines(path: Path) -> Iterator[tuple[int, Any]]:
    with path.open("rb") as stream:
        for number, line in enumerate(decoded_lines(stream, path.name), start=1):
            if line.strip():
                yield number, parsed_json(line, path.name, line=number)


def _from_document(document: Any, numbered: _Numbered) -> Iterator[LoggedConversation]:
    """A list of messages, one ``{"messages": […]}``, a list of those, or a single message."""
    listed = document if isinstance(document, list) else [document]
    if not listed or not isinstance(listed[0], Mapping):
        raise ValueError(f"{numbered.name} holds {quoted(document)}: {EXPECTED}")
    if "messages" not in listed[0]:
        if "role" not in listed[0] and "content" not in listed[0]:
            raise ValueError(f"{numbered.name} begins with {quoted(listed[0])}: {EXPECTED}")
        yield from _parts(numbered.default_id(1), listed, numbered, "")
        return
    for number, value in enumerate(listed):
        yield from _conversation(value, numbered.default_id(number + 1), numbered, f"conversation {number}")


def _conversation(
    value: Any, default_id: str, numbered: _Numbered, where: str
) -> Iterator[LoggedConversation]:
    """The conversation of one ``{"messages": […]}``, under its own id if it has one."""
    messages = _mapping(value).get("messages")
    if not isinstance(messages, list):
        raise ValueError(f"{numbered.name}, {where}: {quoted(value)} has no list of 'messages'; {EXPECTED}")
    found = next((value[key] for key in ("conversation_id", "id") if value.get(key) is not None), default_id)
    if not isinstance(found, (str, int)) or isinstance(found, bool) or not str(found).strip():
        raise ValueError(f"{numbered.name}, {where}: the id {quoted(found)} is not a non-empty string")
    yield from _parts(str(found), messages, numbered, f"{where}, ")


def _parts(
    conversation_id: str, messages: Sequence[Any], numbered: _Numbered, where: str
) -> Iterator[LoggedConversation]:
    for start in range(0, len(messages), PART_MESSAGES):
        part = messages[start : start + PART_MESSAGES]
        places = [f"{where}message {start + place}" for place in range(len(part))]
        yield numbered.part(conversation_id, part, places)


def _is_locomo(document: Any) -> bool:
    first = document[0] if isinstance(document, list) and document else document
    return isinstance(_mapping(first).get("conversation"), Mapping)


def _from_locomo(document: Any, numbered: _Numbered) -> Iterator[LoggedConversation]:
    for number, sample in enumerate(document if isinstance(document, list) else [document]):
        conversation = _mapping(sample).get("conversation")
        if not isinstance(conversation, Mapping):
            raise ValueError(
                f"{numbered.name}, sample {number}: {quoted(sample)} has no 'conversation'; expected LoCoMo"
            )
        sample_id = str(sample.get("sample_id") or numbered.default_id(number + 1))
        for session in _locomo_sessions(conversation):
            where = f"sample {number}, session_{session}"
            messages = _locomo_messages(conversation, session, f"{numbered.name}, {where}")
            yield numbered.part(sample_id, messages, [f"{where}, turn {n}" for n in range(len(messages))])


def _locomo_sessions(conversation: Mapping[str, Any]) -> list[int]:
    """The numbers of the sessions that hold turns, in order."""
    names = (key.removeprefix("session_") for key in conversation if key.startswith("session_"))
    return sorted(int(name) for name in names if name.isascii() and name.isdigit())


def _locomo_messages(conversation: Mapping[str, Any], session: int, where: str) -> list[dict[str, Any]]:
    date, turns = conversation.get(f"session_{session}_date_time"), conversation[f"session_{session}"]
    try:
        begin = datetime.strptime(str(date), LOCOMO_DATE)
    except ValueError as error:
        raise ValueError(f"{where}: date {quoted(date)} is not like '1:56 pm on 8 May, 2023'") from error
    if not isinstance(turns, list):
        raise ValueError(f"{where}: {quoted(turns)} is not a list of turns")
    return [
        _locomo_message(
            turn, begin + timedelta(seconds=LOCOMO_SECONDS_PER_TURN * place), f"{where}, turn {place}"
        )
        for place, turn in enumerate(turns)
    ]


def _locomo_message(turn: Any, timestamp: datetime, where: str) -> dict[str, Any]:
    turn = _mapping(turn)
    if not all(isinstance(turn.get(key), str) for key in ("speaker", "dia_id", "text")):
        raise ValueError(f"{where}: {quoted(turn)} lacks one of 'speaker', 'dia_id' and 'text'")
    caption = turn.get("blip_caption")
    return {
        "id": turn["dia_id"],
        "role": "user",
        "name": turn["speaker"],
        "content": f"{turn['text']} [shares {caption}]".lstrip() if caption else turn["text"],
        "timestamp": timestamp,
    }


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
