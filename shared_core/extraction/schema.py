"""What an extractor is given and what it gives back, whether rules or a model do the work."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol, runtime_checkable

from shared_core.records import Category, Message, Record, Score, Usage, UtcDatetime


class ExtractedFact(Record):
    """Something stable that is worth knowing in every later conversation.

    Attributes:
        text: A sentence in the third person that stands by itself: ``User lives in Berlin``.
        category: What it is about.
        importance, confidence: 0 to 1.
        subject, predicate, object: The same as a triplet, where it can be said as one.
        sources: Positions in ``ExtractionRequest.messages`` of the messages that say it.
    """

    text: str
    category: Category = "other"
    importance: Score = 0.7
    confidence: Score = 1.0
    subject: str | None = None
    predicate: str | None = None
    object: str | None = None
    sources: tuple[int, ...]


class ExtractedBubble(Record):
    """A moment: something that happened, is happening or is planned.

    Attributes:
        text: A sentence in the third person that stands by itself.
        importance, confidence: 0 to 1.
        occurred_at: When it happened or will; None where the message does not say, which means the
            time of the message.
        sources: Positions in ``ExtractionRequest.messages``.
    """

    text: str
    importance: Score = 0.5
    confidence: Score = 1.0
    occurred_at: UtcDatetime | None = None
    sources: tuple[int, ...]


class ExtractedTriplet(Record):
    """A relation between two things: ``(Alice, works_at, Google)``; the predicate is in snake case."""

    subject: str
    predicate: str
    object: str
    confidence: Score = 1.0
    sources: tuple[int, ...]


class Extraction(Record):
    """Everything learnt from one request."""

    facts: tuple[ExtractedFact, ...] = ()
    bubbles: tuple[ExtractedBubble, ...] = ()
    triplets: tuple[ExtractedTriplet, ...] = ()
    usage: Usage = Usage()


class ExtractionRequest(Record):
    """New messages of one conversation, and what was said before.

    Attributes:
        messages: The new messages, in order.
        recent: Up to 10 messages before them.
        summary: The summary of the session so far; empty if there is none.
        now: The present, for messages that speak of it.
    """

    messages: tuple[Message, ...]
    recent: tuple[Message, ...] = ()
    summary: str = ""
    now: datetime


@runtime_checkable
class Extractor(Protocol):
    """Finds facts, moments and relations in messages; several threads may ask it at once."""

    @property
    def name(self) -> str:
        """What it is called in logs and reports."""
        ...

    @property
    def is_slow(self) -> bool:
        """Whether it waits for something outside this process, so that messages are stored first."""
        ...

    def extract(self, request: ExtractionRequest) -> Extraction:
        """Everything worth remembering in ``request.messages``.

        Raises:
            ExtractionError: If it failed as a whole; a poor item is dropped instead.
        """
        ...
