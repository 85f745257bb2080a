"""A short story that shows what a memory is for: three talks in five months, then two questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from shared_core.context.assembly import Context
from shared_core.memory import ContextMemory
from shared_core.retrieval.search import SearchResult

NAMESPACE = "demo-maya"
#: When the questions are asked; fixed, so that the same story always gives the same ages and scores.
ASKED_AT = datetime(2026, 6, 12, 18, 0, tzinfo=timezone.utc)
DINNER = "What should I cook when Jonas comes for dinner?"
BUG = "Where did we leave the JWT bug?"
TOKEN_BUDGET = 160
HITS = 3


@dataclass(frozen=True)
class Session:
    """One talk, whose turns come a minute apart.

    Attributes:
        id: Its conversation id.
        begin: When it began.
        turns: Who said what.
        highlighted: Which turn a summary of the story quotes, counted from 0.
    """

    id: str
    begin: datetime
    turns: tuple[tuple[str, str], ...]
    highlighted: int

    @property
    def highlight(self) -> str:
        """What a summary of the story quotes."""
        return self.turns[self.highlighted][1]

    def messages(self) -> list[Mapping[str, Any]]:
        """The talk as messages in the OpenAI format, with ids, names and timestamps."""
        return [
            {
                "id": f"{self.id}-{number}",
                "role": "user" if speaker == "Maya" else "assistant",
                "name": speaker,
                "content": text,
                "timestamp": self.begin + timedelta(minutes=number),
            }
            for number, (speaker, text) in enumerate(self.turns, start=1)
        ]


STORY: tuple[Session, ...] = (
    Session(
        "january",
        datetime(2026, 1, 14, 19, 5, tzinfo=timezone.utc),
        (
            ("Maya", "Hi! I'm Maya, a backend developer at Northwind."),
            ("Assistant", "Nice to meet you, Maya. What can I do for you?"),
            ("Maya", "Dinner ideas, please. I'm vegetarian and I'm allergic to walnuts."),
            ("Assistant", "Then a mushroom risotto would suit you: no meat, no nuts."),
            ("Maya", "I love risotto. And Jonas, my brother, cannot eat gluten, so rice suits us both."),
        ),
        highlighted=2,
    ),
    Session(
        "april",
        datetime(2026, 4, 3, 8, 40, tzinfo=timezone.utc),
        (
            ("Maya", "I moved from Hamburg to Lisbon last week, for a new office of Northwind."),
            ("Assistant", "Congratulations! How is the new flat?"),
            ("Maya", "Tiny, but it has a balcony. Jonas will visit me in June."),
        ),
        highlighted=0,
    ),
    Session(
        "may",
        datetime(2026, 5, 28, 15, 20, tzinfo=timezone.utc),
        (
            ("Maya", "Our login throws 401 errors, although the JWT has not expired yet."),
            ("Assistant", "Compare the clocks of the servers: a skew of a minute is enough for that."),
            ("Maya", "The JWT bug is clock skew: auth-2 runs 90 seconds ahead. I set the leeway to 120 s."),
            ("Assistant", "Good. What remains is to turn on NTP on auth-2, then take the leeway back."),
            ("Maya", "I will do that after the release. I prefer small pull requests, so two of them."),
        ),
        highlighted=2,
    ),
)


@dataclass(frozen=True)
class Told:
    """What the story left in a memory.

    Attributes:
        messages, facts, moments: How many of each it holds.
    """

    messages: int
    facts: int
    moments: int


@dataclass(frozen=True)
class Answers:
    """What a memory that was opened again says to the two questions.

    Attributes:
        dinner: The context for ``DINNER``, within ``TOKEN_BUDGET``.
        bug: The best hits for ``BUG``.
    """

    dinner: Context
    bug: SearchResult


def tell(folder: str | Path) -> Told:
    """Add the story to the memory in ``folder``, each talk as a conversation, and close it; repeatable."""
    with ContextMemory(folder, NAMESPACE) as memory:
        for session in STORY:
            memory.add(session.messages(), session.id, now=session.messages()[-1]["timestamp"])
        count = {kind: len(memory.list(kind=kind, limit=1_000)) for kind in ("message", "fact", "bubble")}
    return Told(messages=count["message"], facts=count["fact"], moments=count["bubble"])


def ask(folder: str | Path) -> Answers:
    """Open the memory in ``folder`` again, and ask it the two questions."""
    with ContextMemory(folder, NAMESPACE) as memory:
        return Answers(
            dinner=memory.context(DINNER, token_budget=TOKEN_BUDGET, now=ASKED_AT),
            bug=memory.search(BUG, limit=HITS, now=ASKED_AT),
        )
