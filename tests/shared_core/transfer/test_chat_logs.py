from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, cast

import pytest

from shared_core.transfer.chat_logs import PART_MESSAGES, Format, read_chat_log, select_conversation

HELLO = {"role": "user", "content": "I keep bees on the roof."}
REPLY = {"role": "assistant", "content": "How many hives?"}
LOCOMO: list[dict[str, Any]] = [
    {
        "sample_id": "conv-1",
        "qa": [],
        "conversation": {
            "speaker_a": "Ada",
            "speaker_b": "Bo",
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ada", "dia_id": "D1:1", "text": "I planted a fig tree."},
                {"speaker": "Bo", "dia_id": "D1:2", "text": "Show me!", "blip_caption": "a small green tree"},
            ],
            "session_2_date_time": "9:05 am on 1 June, 2023",
            "session_2": [{"speaker": "Ada", "dia_id": "D2:1", "text": "It has its first fig."}],
            "session_10_date_time": "10:00 am on 2 July, 2023",
            "session_10": [{"speaker": "Bo", "dia_id": "D10:1", "text": "Did the birds eat it?"}],
            "session_11_date_time": "10:00 am on 9 July, 2023",
        },
    },
    {"sample_id": "conv-2", "conversation": {"speaker_a": "Cy", "speaker_b": "Di"}},
]


def written(folder: Path, content: object, name: str = "chat.json") -> Path:
    """A file of that content: bytes and strings as they are, the rest as JSON."""
    path = folder / name
    text = content if isinstance(content, (bytes, str)) else json.dumps(content)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def lines(*values: object) -> str:
    return "\n".join(json.dumps(value) for value in values)


def contents(path: Path, format: Format = "auto") -> dict[str, list[str]]:  # noqa: A002
    found: dict[str, list[str]] = {}
    for part in read_chat_log(path, format=format):
        found.setdefault(part.id, []).extend(message["content"] for message in part.messages)
    return found


BOTH = [HELLO["content"], REPLY["content"]]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ([HELLO, REPLY], {"chat": BOTH}),
        (HELLO, {"chat": BOTH[:1]}),
        ({"messages": [HELLO, REPLY]}, {"chat": BOTH}),
        ({"messages": [HELLO], "conversation_id": "c9"}, {"c9": BOTH[:1]}),
        ([{"messages": [HELLO]}, {"messages": [REPLY]}], {"chat": BOTH[:1], "chat-2": BOTH[1:]}),
        ([{"messages": [HELLO], "id": 7}, {"messages": [REPLY], "id": "x"}], {"7": BOTH[:1], "x": BOTH[1:]}),
        (lines(HELLO, REPLY), {"chat": BOTH}),
        (lines({"messages": [HELLO]}, {"messages": [REPLY]}), {"chat": BOTH[:1], "chat-2": BOTH[1:]}),
        (json.dumps([HELLO, REPLY], indent=2), {"chat": BOTH}),
        (json.dumps({"messages": [HELLO, REPLY]}, indent=2), {"chat": BOTH}),
        (
            b"\xef\xbb\xbf" + lines(HELLO, REPLY).replace("\n", "\r\n\r\n").encode() + b"\r\n\n",
            {"chat": BOTH},
        ),
        (b"\xef\xbb\xbf" + json.dumps([HELLO, REPLY]).encode(), {"chat": BOTH}),
    ],
)
def test_each_form_of_the_openai_format_is_told_from_the_content(
    tmp_path: Path, content: object, expected: dict[str, list[str]]
) -> None:
    path = written(tmp_path, content)
    assert contents(path) == contents(path, "openai") == expected


def test_messages_without_an_id_get_their_position_and_keep_it_when_the_file_grows(tmp_path: Path) -> None:
    before = [
        message["id"] for part in read_chat_log(written(tmp_path, lines(HELLO))) for message in part.messages
    ]
    grown = written(tmp_path, lines(HELLO, {**REPLY, "id": "own"}, HELLO))
    after = [message["id"] for part in read_chat_log(grown) for message in part.messages]
    assert before == ["1"]
    assert after == ["1", "own", "3"]


def test_locomo_turns_become_messages_with_speaker_picture_and_time(tmp_path: Path) -> None:
    path = written(tmp_path, LOCOMO)
    assert contents(path) == contents(path, "locomo")
    messages = [message for part in read_chat_log(path) for message in part.messages]
    assert [message["id"] for message in messages] == ["D1:1", "D1:2", "D2:1", "D10:1"]
    assert messages[1] == {
        "id": "D1:2",
        "role": "user",
        "name": "Bo",
        "content": "Show me! [shares a small green tree]",
        "timestamp": datetime(2023, 5, 8, 13, 56, 30),
    }


def test_a_long_conversation_comes_in_parts_whose_ids_go_on(tmp_path: Path) -> None:
    many = [{"role": "user", "content": f"note {number}"} for number in range(PART_MESSAGES + 1)]
    for path in (written(tmp_path, many), written(tmp_path, lines(*many), "many.jsonl")):
        parts = list(read_chat_log(path))
        assert [len(part.messages) for part in parts] == [PART_MESSAGES, 1]
        assert parts[1].messages[0]["id"] == str(PART_MESSAGES + 1)
        assert len({part.id for part in parts}) == 1


def test_json_lines_are_read_as_they_are_asked_for(tmp_path: Path) -> None:
    path = written(tmp_path, lines(*[{"messages": [HELLO]}] * 3) + "\n{broken", "talks.jsonl")
    parts: Iterator[Any] = read_chat_log(path)
    assert [next(parts).id for _ in range(3)] == ["talks", "talks-2", "talks-3"]
    with pytest.raises(ValueError, match=r"talks\.jsonl, line 4, column 2: not JSON"):
        next(parts)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"", "chat.json is empty: expected messages in the OpenAI format"),
        (b" \r\n \n", "is empty"),
        (b"[]", "holds []: expected"),
        (b"7", "holds 7: expected"),
        (b"Dear diary", "line 1, column 1: not JSON"),
        (
            b'[{"role": "user",\n "content": "hi"}',
            "line 2, column 18: not JSON (Expecting ',' delimiter); it seems",
        ),
        (
            b'{"role": "user", "content": "hi"}\n{"role": "us',
            "line 2, column 10: not JSON (Unterminated string",
        ),
        (b'[{"role": "user", "content": "caf\xe9"}]', "line 1, byte 34: not UTF-8"),
        ('[{"role": "user", "content": "hi"}]'.encode("utf-16"), "line 1, byte 1: not UTF-8"),
        (b"[" * 100_000, "nested too deeply"),
        ([HELLO, "hi"], "message 1: 'hi' is not a message"),
        ([HELLO, {"role": "boss", "content": "hi"}], "message 1: role 'boss' is none of"),
        ([HELLO, {"role": "user"}], "message 1: content None is neither"),
        (lines(HELLO, {"role": "user", "content": " "}), "line 2: content ' ' is empty"),
        (lines(HELLO, [HELLO]), "line 2: ["),
        (lines({"messages": [HELLO]}, {"messages": "hi"}), "line 2: {'messages': 'hi'} has no list"),
        ([{"messages": [HELLO]}, {"text": "hi"}], "conversation 1: {'text': 'hi'} has no list of 'messages'"),
        ([{"messages": [HELLO], "id": ["x"]}], "the id ['x'] is not a non-empty string"),
        ([{"text": "hi"}], "begins with {'text': 'hi'}: expected"),
        ('[{"role": "user", "content": "x", "n": NaN}]', "NaN is no JSON number"),
        ([LOCOMO[0], {"sample_id": "c"}], "sample 1: {'sample_id': 'c'} has no 'conversation'"),
        ([{"conversation": {"session_1": []}}], "session_1: date None is not like"),
        ([{"conversation": {"session_1_date_time": "8 May", "session_1": []}}], "date '8 May' is not like"),
        (
            [
                {
                    "conversation": {
                        "session_1_date_time": "1:56 pm on 8 May, 2023",
                        "session_1": [{"text": "a"}],
                    }
                }
            ],
            "sample 0, session_1, turn 0: {'text': 'a'} lacks one of",
        ),
    ],
)
def test_a_bad_file_is_told_with_its_name_and_the_place(tmp_path: Path, content: object, told: str) -> None:
    with pytest.raises(ValueError, match=r"^chat\.json") as caught:
        contents(written(tmp_path, content))
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_named_format_is_not_guessed(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no 'conversation'"):
        contents(written(tmp_path, [HELLO]), "locomo")
    with pytest.raises(ValueError, match="expected messages in the OpenAI format"):
        contents(written(tmp_path, LOCOMO), "openai")
    with pytest.raises(ValueError, match="format 'csv' is none of auto, openai, locomo"):
        contents(written(tmp_path, [HELLO]), cast("Format", "csv"))


def test_a_missing_file_and_a_folder_are_told(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="does not exist"):
        contents(tmp_path / "none.json")
    with pytest.raises(ValueError, match="not a regular file"):
        contents(tmp_path)


def test_a_conversation_is_selected_by_id_before_position(tmp_path: Path) -> None:
    path = written(tmp_path, [{"messages": [HELLO], "id": name} for name in ("a", "b", "0")])
    assert [select_conversation(path, wanted) for wanted in ("b", "1", "0")] == ["b", "b", "0"]
    with pytest.raises(ValueError, match=r"no conversation '3': it has 3, .*'a', 'b', '0'$"):
        select_conversation(path, "3")
