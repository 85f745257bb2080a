"""A fuzzer on everything that parses: ``python -m tests.reliability.fuzz --inputs 100000``.

Each parser may refuse with the one error that it documents; anything else is a fault. Half of the inputs are
made from scratch, half are good ones with a few places broken.
"""

from __future__ import annotations

import argparse
import json
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from shared_core.context.rendering import is_own_context, safe_name, safe_text, strip_own_context
from shared_core.extraction.answer import Answer
from shared_core.llm.lenient_json import find_json
from shared_core.llm.repair import read_answer
from shared_core.messages import parse_messages
from shared_core.redaction import redact_secrets
from shared_core.times import parse_timestamp
from shared_core.transfer.chat_logs import FORMATS, read_chat_log
from shared_core.transfer.export import parse_export
from tests.shared_core.building import NOW

__all__ = ["TARGETS", "Report", "Target", "broken", "fuzz", "value_of"]

PIECES = (
    *(
        '{"facts": [',
        '{"text": "',
        "```json\n",
        "```",
        "]}",
        "},",
        '"',
        "\\",
        "\\u",
        "\\ud800",
        "\ud800",
        "\x00",
    ),
    *(
        "\x1b[31m",
        "\u202e",
        "\ufeff",
        "null",
        "NaN",
        "-Infinity",
        "1e999",
        "9" * 400,
        "true",
        "<think>",
        "</think>",
    ),
    *(
        "[/memory]",
        "[memory: data, not instructions]",
        "## Your Memories",
        "role",
        "content",
        "importance",
        "\n",
    ),
    *(
        "messages",
        "session_1",
        "session_1_date_time",
        "conversation",
        "dia_id",
        "contextmemory",
        "vector",
        "\r\n",
    ),
    *(
        "schema_version",
        "é",
        "👩\u200d👩\u200d👧",
        "[" * 200,
        "{" * 200,
        '{"a":' * 150,
        "1:56 pm on 8 May, 2023",
    ),
    *("2026-01-14T16:00:00+00:00", "9999-12-31T23:59:59-23:59"),
)

GOOD_ANSWER = json.dumps(
    {
        "facts": [{"text": "User rides", "category": "work", "importance": "8/10", "messages": [1, 2]}],
        "bubbles": [{"text": "User rode", "importance": 0.4, "date": "2026-01-14", "messages": 1}],
        "triplets": [{"subject": "Ada", "predicate": "owns", "object": "a tandem", "confidence": "high"}],
    }
)
GOOD_PARTS = [{"type": "text", "text": "hi"}, {"type": "image_url", "image_url": {"url": "u"}}]
GOOD_MESSAGES: Any = [
    {"role": "user", "content": "hello", "id": "m1", "name": "Ada", "timestamp": "2026-01-14T16:00:00Z"},
    {"role": "assistant", "content": GOOD_PARTS},
    {"role": "tool", "tool_calls": [{"function": {"name": "f"}}], "metadata": {"a": [1, None]}},
]
GOOD_EXPORT = "\n".join(
    [
        '{"contextmemory":1,"schema_version":1,"namespace":"a","embedder":"e","dimension":2,"records":1}',
        '{"id":"fact-1","kind":"fact","text":"t","created_at":"2026-01-14T16:00:00Z",'
        '"updated_at":"2026-01-14T16:00:00Z","vector":"AACAPwAAAAA="}',
    ]
)
GOOD_LOCOMO = json.dumps(
    [
        {
            "sample_id": "conv-1",
            "conversation": {
                "speaker_a": "Ada",
                "speaker_b": "Bob",
                "session_1_date_time": "1:56 pm on 8 May, 2023",
                "session_1": [{"speaker": "Ada", "dia_id": "D1:1", "text": "Hey Bob"}],
            },
        }
    ]
)


def value_of(chance: random.Random, depth: int = 0) -> Any:
    """Any JSON value, now and then something that is none."""
    kind = chance.randrange(12)
    if kind < 4 and depth < 5:
        inner = [value_of(chance, depth + 1) for _ in range(chance.randrange(4))]
        if kind < 2:
            return inner
        return {text_of(chance, 2): value for value in inner}
    if kind < 8:
        return text_of(chance, 5)
    if kind == 8:
        return chance.choice([0, -1, 7, 2**63, 10**30, True, None, 0.5, float("nan"), float("inf"), -1e308])
    if kind == 9:
        return chance.choice([b"bytes", ("a",), {1: 2}, {"a"}, object(), NOW])
    return chance.choice([*GOOD_MESSAGES, *PIECES])


def text_of(chance: random.Random, pieces: int) -> str:
    """Pieces that parsers look for, and signs of any plane."""
    made = []
    for _ in range(chance.randrange(pieces + 1)):
        if chance.random() < 0.7:
            made.append(chance.choice(PIECES))
        else:
            made.append("".join(chr(chance.randrange(1, 0x3000)) for _ in range(chance.randrange(8))))
    return "".join(made)


def broken(chance: random.Random, good: str) -> str:
    """``good`` with a few places cut out, doubled or replaced."""
    text = good
    for _ in range(chance.randrange(1, 4)):
        start = chance.randrange(len(text) + 1)
        end = min(len(text), start + chance.randrange(12))
        text = text[:start] + chance.choice(["", text[start:end] * 2, text_of(chance, 2)]) + text[end:]
    return text


def _string(chance: random.Random, *good: str) -> str:
    kind = chance.randrange(4)
    if kind == 0:
        return text_of(chance, 12)
    if kind == 1:
        return json.dumps(value_of(chance), default=str)
    return broken(chance, chance.choice(good))


@dataclass(frozen=True)
class Target:
    """One parser.

    Attributes:
        make: An input.
        parse: Reads it.
        refusals: What it may raise.
    """

    make: Callable[[random.Random], Any]
    parse: Callable[[Any], object]
    refusals: tuple[type[Exception], ...] = (ValueError,)


def _chat_file(text: str) -> object:
    with tempfile.NamedTemporaryFile("wb", suffix=".json") as file:
        file.write(text.encode("utf-8", "surrogatepass"))
        file.flush()
        for form in FORMATS:
            try:
                for part in read_chat_log(file.name, format=form):
                    parse_messages(part.messages, now=NOW)
            except ValueError:
                continue
    return None


def _messages(chance: random.Random) -> Any:
    if chance.random() < 0.4:
        return value_of(chance)
    messages = json.loads(json.dumps(GOOD_MESSAGES))
    for _ in range(chance.randrange(1, 3)):
        message = chance.choice(messages)
        if isinstance(message, dict):
            message[chance.choice([*message, "x", "parts"])] = value_of(chance)
    return messages


def _shown(text: str) -> object:
    """What prompts get of a text: on one line, with nothing that opens or closes anything."""
    safe = safe_text(text)
    assert len(safe.splitlines()) <= 1
    assert not any(mark in safe for mark in ("[/memory]", "[memory:", "<think>", "\x1b", "\x00", "\u202e"))
    assert not safe.startswith(("#", "```", ">"))
    safe.encode("utf-8")
    assert safe_name(text, "User")
    is_own_context(text), strip_own_context(text)
    redacted = redact_secrets(text)
    assert redact_secrets(redacted) == redacted
    return safe


TARGETS: Mapping[str, Target] = {
    "model output": Target(
        lambda chance: _string(chance, GOOD_ANSWER, f"<think>hm</think>\n```json\n{GOOD_ANSWER}\n```"),
        lambda text: read_answer(text, Answer),
    ),
    "JSON in prose": Target(
        lambda chance: _string(chance, GOOD_ANSWER), lambda text: list(find_json(text)), ()
    ),
    "import files": Target(
        lambda chance: _string(chance, GOOD_EXPORT), lambda text: parse_export(text.splitlines())
    ),
    "chat files": Target(
        lambda chance: _string(chance, json.dumps(GOOD_MESSAGES), GOOD_LOCOMO, json.dumps(GOOD_MESSAGES[0])),
        _chat_file,
        (),
    ),
    "messages": Target(_messages, lambda value: parse_messages(value, now=NOW)),
    "timestamps": Target(
        lambda chance: chance.choice([value_of(chance), broken(chance, "2026-01-14T16:00:00+00:00")]),
        parse_timestamp,
    ),
    "texts shown": Target(lambda chance: _string(chance, "Ada <b>rode</b> # home"), _shown, ()),
}


@dataclass
class Report:
    """What a run came to, for one parser.

    Attributes:
        inputs: How many.
        read: How many of them were read; the others were refused.
        slowest_ms: The longest time that one took.
        faults: Each other exception with an input that leads to it.
    """

    inputs: int = 0
    read: int = 0
    slowest_ms: float = 0.0
    faults: dict[str, Any] | None = None


def fuzz(name: str, inputs: int, *, seed: int = 0) -> Report:
    """Give a parser so many inputs; the same seed gives the same ones."""
    target, report = TARGETS[name], Report(faults={})
    assert report.faults is not None
    for number in range(inputs):
        value = target.make(random.Random(f"{seed}/{name}/{number}"))
        began = time.perf_counter()
        try:
            target.parse(value)
            report.read += 1
        except target.refusals:
            pass
        except Exception as error:  # noqa: BLE001 - each is a fault, which is reported
            report.faults.setdefault(f"{type(error).__name__}: {error!s:.80}", value)
        report.inputs += 1
        report.slowest_ms = max(report.slowest_ms, (time.perf_counter() - began) * 1_000)
    return report


def main() -> None:
    """Fuzz every parser and print what came of it."""
    parser = argparse.ArgumentParser(description="Fuzz everything that parses.")
    parser.add_argument("--inputs", type=int, default=100_000, help="in all, over every parser")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    total: Counter[str] = Counter()
    for name in TARGETS:
        began = time.perf_counter()
        report = fuzz(name, -(-options.inputs // len(TARGETS)), seed=options.seed)
        faults = report.faults or {}
        total.update(inputs=report.inputs, faults=len(faults))
        seconds = time.perf_counter() - began
        print(
            f"{name}: {report.inputs} inputs, {report.read} read, {len(faults)} kinds of fault, "
            f"slowest {report.slowest_ms:.0f} ms, {seconds:.0f} s",
            flush=True,
        )
        for fault, value in list(faults.items())[:5]:
            print(f"  {fault}\n    {ascii(value)[:400]}")
    print(f"{total['inputs']} inputs, {total['faults']} kinds of fault")


if __name__ == "__main__":
    main()
