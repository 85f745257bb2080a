"""LoCoMo (Maharana et al., 2024) as messages and questions; its file is never part of this project."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

#: Conversations that weights may be fitted on, and those that are only ever reported.
TUNED, HELD_OUT = range(5), range(5, 10)
SECONDS_PER_TURN = 30

_TURN_ID = re.compile(r"D\d+:\d+")


@dataclass(frozen=True)
class Question:
    """A question, the ids of the turns that answer it, and its category (1 to 5)."""

    text: str
    evidence: frozenset[str]
    category: int


@dataclass(frozen=True)
class Sample:
    """One conversation with the questions that have evidence."""

    name: str
    messages: list[dict[str, Any]]
    questions: list[Question]


def load_samples(path: Path) -> list[Sample]:
    """Every conversation of the file, in its order."""
    return [_sample(raw) for raw in json.loads(path.read_text(encoding="utf-8"))]


def recall(found: Sequence[str] | Collection[str], evidence: frozenset[str]) -> float:
    """The share of the evidence that was found."""
    return len(evidence.intersection(found)) / len(evidence)


def _sample(raw: dict[str, Any]) -> Sample:
    conversation = raw["conversation"]
    numbers = sorted(int(key.split("_")[1]) for key in conversation if re.fullmatch(r"session_\d+", key))
    messages = [message for number in numbers for message in _session(conversation, number)]
    questions = [
        Question(
            str(qa["question"]), frozenset(_TURN_ID.findall(" ".join(qa["evidence"]))), int(qa["category"])
        )
        for qa in raw["qa"]
    ]
    return Sample(raw["sample_id"], messages, [question for question in questions if question.evidence])


def _session(conversation: dict[str, Any], number: int) -> list[dict[str, Any]]:
    start = datetime.strptime(conversation[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y")
    return [
        {
            "id": turn["dia_id"],
            "role": "user",
            "name": turn["speaker"],
            "content": turn["text"]
            + (f" [shares {turn['blip_caption']}]" if turn.get("blip_caption") else ""),
            "timestamp": start + timedelta(seconds=SECONDS_PER_TURN * place),
        }
        for place, turn in enumerate(conversation[f"session_{number}"])
    ]
