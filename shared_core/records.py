"""The records of a memory: frozen values, the same in Python, in the index and in Chroma."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from shared_core.decay import Stage, stage_of
from shared_core.times import age_days, as_utc

Role = Literal["system", "user", "assistant", "tool"]
Kind = Literal["message", "fact", "bubble", "triplet", "summary", "block", "item"]
Category = Literal[
    "name", "work", "place", "family", "preference", "skill", "goal", "rule", "possession", "health", "other"
]
HitType = Literal["semantic", "bubble", "connected_bubble", "message", "summary", "triplet", "block"]

#: How firmly a memory is kept (seed 003): short-term, medium-term, long-term.
Tier = Literal["stm", "mtm", "ltm"]
#: Why a memory is in working memory, or that it was let go of.
WorkingReason = Literal["frequent", "important", "held", "released"]

ROLES: tuple[Role, ...] = get_args(Role)
#: What a memory may hold. An ``item`` belongs to an application and lives in a collection of its own.
KINDS: tuple[Kind, ...] = tuple(kind for kind in get_args(Kind) if kind != "item")
CATEGORIES: tuple[Category, ...] = get_args(Category)
TIERS: tuple[Tier, ...] = get_args(Tier)
WORKING_REASONS: tuple[WorkingReason, ...] = get_args(WorkingReason)
#: What was learnt, not said: it moves through the tiers, enters working memory, and counts for the capacity.
LEARNT_KINDS: tuple[Kind, ...] = ("fact", "bubble", "triplet")
#: Positions in ``KINDS``, by which the index knows a kind.
MESSAGE, BUBBLE, SUMMARY = (KINDS.index(kind) for kind in ("message", "bubble", "summary"))

#: What a memory of each kind is called in a search result (the words of seed 000 where it has one).
HIT_TYPES: dict[Kind, HitType] = {
    "message": "message",
    "fact": "semantic",
    "bubble": "bubble",
    "triplet": "triplet",
    "summary": "summary",
    "block": "block",
}

Score = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
#: A whole number that the index can keep.
Count = Annotated[int, Field(ge=0, lt=2**31)]
UtcDatetime = Annotated[datetime, AfterValidator(as_utc)]


def text_digest(text: str) -> str:
    """A few digits that tell one text from another."""
    return blake2b(text.encode("utf-8"), digest_size=8).hexdigest()


class Record(BaseModel):
    """Base of the values below: immutable, and strict about unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def _repr_html_(self) -> str | None:
        """How a notebook shows it; None for as text."""
        from shared_core.inspection.html import html_of

        return html_of(self)


class Message(Record):
    """One validated message of a conversation.

    Attributes:
        id: The caller's id, or one made for it; unique within its conversation.
        role: Who speaks, in the words of the OpenAI format.
        content: Its text, never blank; parts that are not text are noted in ``metadata["parts"]``.
        name: The speaker, where the caller names one.
        timestamp: When it was said, in UTC.
        metadata: JSON values that the caller attached.
    """

    id: str
    role: Role
    content: str
    name: str | None = None
    timestamp: UtcDatetime
    metadata: dict[str, Any] = Field(default_factory=dict)

    @property
    def speaker(self) -> str:
        """The name of who speaks, or ``User``, ``Assistant``, ``System``, ``Tool``."""
        return self.name or self.role.capitalize()


@dataclass(frozen=True, slots=True)
class Connection:
    """A link to another memory, with the cosine similarity that made it."""

    memory_id: str
    score: float


class Memory(Record):
    """One record of a namespace, whatever its kind.

    Attributes:
        id: Unique within the namespace.
        kind: ``message``, ``fact`` (stable, does not decay), ``bubble`` (a moment, decays), ``triplet``,
            ``summary`` or ``block`` (core memory).
        text: What is embedded, searched and shown.
        conversation_id: The conversation that it belongs to; None for what spans them.
        session_id: The stretch of that conversation without a long pause.
        turn: Position of a message within its conversation, counted from 0; that of its source
            for what was learnt from it.
        role: Of a message.
        speaker: Who said it, or whom it is about.
        message_id: Of a message, the id by which its author's program knows it.
        category: Of a fact.
        importance: 0 to 1; assigned on extraction, 0.5 where nothing was said.
        confidence: 0 to 1; how sure the extractor was.
        occurred_at: When the moment happened, or will; None for what has no date. UTC.
        created_at: When the message was said, or the one that this was learnt from. UTC.
        updated_at: When the record was last changed. UTC.
        expires_at: When it may be deleted; None for never. UTC.
        mention_count: How often it was said.
        access_count: How often it was read.
        last_accessed_at: When it was last read. UTC.
        source_ids: The ``message_id`` of each message that it came from, first mention first.
        sources: The ids of the same messages as records of this namespace, in the same order.
        connections: Links to other memories, strongest first. A link is stored with the younger of
            the two memories and seen from both.
        subject, predicate, object: Of a triplet, and of a fact that says one.
        superseded_by: The id of the memory that replaced this one; None while it is current.
        is_active: False once archived.
        pinned: Never evicted by a cap.
        pending: Of a message that nothing was learnt from yet, because its process was interrupted.
        title: Of a core memory block, its name; of a summary, what it sums up: ``buffer`` or ``session``.
        tier: Of what was learnt, how firmly it is kept; ``maintain`` raises it, and nothing lowers it.
        working_until: When it leaves working memory; None if it was never in it, or has left. UTC.
        working_reason: Why it is in working memory; ``released`` for what was let go of at ``working_until``.
        made_of: Of a block that ``maintain`` wrote, the ids of the memories that it was written from.
        generated: Of such a block, a digest of the text that was written: with another text, the block has
            been set by hand since.
        metadata: JSON values that the caller attached.
    """

    id: str
    kind: Kind
    text: str
    conversation_id: str | None = None
    session_id: str | None = None
    turn: Count | None = None
    role: Role | None = None
    speaker: str | None = None
    message_id: str | None = None
    category: Category | None = None
    importance: Score = 0.5
    confidence: Score = 1.0
    occurred_at: UtcDatetime | None = None
    created_at: UtcDatetime
    updated_at: UtcDatetime
    expires_at: UtcDatetime | None = None
    mention_count: Count = 1
    access_count: Count = 0
    last_accessed_at: UtcDatetime | None = None
    source_ids: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    connections: tuple[Connection, ...] = ()
    subject: str | None = None
    predicate: str | None = None
    object: str | None = None
    superseded_by: str | None = None
    is_active: bool = True
    pinned: bool = False
    pending: bool = False
    title: str | None = None
    tier: Tier = "stm"
    working_until: UtcDatetime | None = None
    working_reason: WorkingReason | None = None
    made_of: tuple[str, ...] = ()
    generated: str | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)

    @property
    def is_current(self) -> bool:
        """Whether nothing has replaced it."""
        return self.superseded_by is None

    @property
    def is_generated(self) -> bool:
        """Whether it is a block that ``maintain`` wrote and nobody has changed since."""
        return self.generated is not None and self.generated == text_digest(self.text)

    @property
    def dated(self) -> datetime:
        """The moment that its age counts from: when it happened, or was said."""
        return self.occurred_at or self.created_at

    def stage(self, now: datetime) -> Stage | None:
        """The stage of a bubble's life at ``now`` (seed 000); None for what does not decay."""
        return stage_of(age_days(self.dated, now)) if self.kind == "bubble" else None

    def revised(self, **changes: Any) -> Memory:
        """A validated copy with ``changes``; this record stays as it is."""
        return type(self).model_validate({**self.model_dump(), **changes})


class Memories(list[Memory]):
    """A list of memories that a notebook shows as a table."""

    def _repr_html_(self) -> str:
        from shared_core.inspection.html import memories_html

        return memories_html(self)


class Usage(Record):
    """What an ``add`` cost and what became of the extractor's output.

    Attributes:
        llm_calls, prompt_tokens, completion_tokens: Zero when rules extract.
        embedded_texts: Texts that were embedded; equal texts count once.
        added, updated, repeated: Memories written, rewritten, and found to be known already.
        skipped_messages: Messages whose id was known already.
        dropped: Items of the extractor that could not be used.
        repaired: Items of a model's answers, and whole answers, that a rule put right; also of those items
            that were dropped later.
        fell_back: Batches of messages that rules read because the model's answers could not be used.
    """

    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    embedded_texts: int = 0
    added: int = 0
    updated: int = 0
    repeated: int = 0
    skipped_messages: int = 0
    dropped: int = 0
    repaired: int = 0
    fell_back: int = 0

    def __add__(self, other: Usage) -> Usage:
        mine, theirs = self.model_dump(), other.model_dump()
        return Usage(**{name: mine[name] + theirs[name] for name in mine})


class AddResult(Record):
    """What one ``add`` learnt.

    Attributes:
        semantic: The texts of the facts.
        bubbles: The texts of the moments.
        memories: Every record learnt or changed, messages left out.
        usage: What it cost.
    """

    semantic: tuple[str, ...] = ()
    bubbles: tuple[str, ...] = ()
    memories: tuple[Memory, ...] = ()
    usage: Usage = Usage()

    @classmethod
    def of(cls, memories: Iterable[Memory], usage: Usage) -> AddResult:
        """The result that tells of ``memories``."""
        learnt = tuple(memories)
        return cls(
            semantic=tuple(memory.text for memory in learnt if memory.kind == "fact" and memory.is_current),
            bubbles=tuple(memory.text for memory in learnt if memory.kind == "bubble"),
            memories=learnt,
            usage=usage,
        )

    def to_dict(self) -> dict[str, list[str]]:
        """The JSON shape of seed 000: ``{"semantic": […], "bubbles": […]}``."""
        return {"semantic": list(self.semantic), "bubbles": list(self.bubbles)}
