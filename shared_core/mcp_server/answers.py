"""What the tools return, as structured values; what is empty is left out."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, SerializerFunctionWrapHandler, model_serializer

from shared_core.records import Category, HitType, Kind

if TYPE_CHECKING:
    from shared_core.graph.entity import Entity
    from shared_core.graph.relation import Relation
    from shared_core.records import Memory
    from shared_core.retrieval.search import SearchHit

__all__ = [
    "Added",
    "ContextText",
    "Forgotten",
    "Found",
    "HitView",
    "MemoryPage",
    "MemoryView",
    "Related",
    "RelationView",
    "ThingView",
    "Versions",
    "Way",
]


class Answer(BaseModel):
    """Base of the values below."""

    model_config = ConfigDict(frozen=True)

    @model_serializer(mode="wrap")
    def _without_empty(self, serialize: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Optional fields that hold nothing cost an assistant tokens, and tell it nothing."""
        required = {name for name, field in type(self).model_fields.items() if field.is_required()}
        values: dict[str, Any] = serialize(self)
        return {name: value for name, value in values.items() if name in required or value not in (None, [])}


class MemoryView(Answer):
    """One memory."""

    id: str
    type: Kind
    text: str
    category: Category | None = None
    speaker: str | None = None
    title: str | None = None
    conversation_id: str | None = None
    occurred_at: datetime | None = None
    created_at: datetime
    mention_count: int = 1
    importance: float | None = None
    is_current: bool = True
    superseded_by: str | None = None

    @classmethod
    def of(cls, memory: Memory) -> MemoryView:
        """What an assistant needs of a record."""
        return cls(
            id=memory.id,
            type=memory.kind,
            text=memory.text,
            category=memory.category,
            speaker=memory.speaker,
            title=memory.title,
            conversation_id=memory.conversation_id,
            occurred_at=memory.occurred_at,
            created_at=memory.created_at,
            mention_count=memory.mention_count,
            importance=None if memory.kind == "message" else memory.importance,
            is_current=memory.is_current,
            superseded_by=memory.superseded_by,
        )


class HitView(Answer):
    """One memory that a search found."""

    id: str
    type: HitType
    text: str
    score: float = Field(description="Higher is better.")
    speaker: str | None = None
    category: Category | None = None
    conversation_id: str | None = None
    occurred_at: datetime | None = None
    created_at: datetime
    connections: list[str] = Field(default=[], description="Ids of memories connected to it.")

    @classmethod
    def of(cls, hit: SearchHit) -> HitView:
        """What an assistant needs of a hit."""
        return cls(
            id=hit.memory_id,
            type=hit.type,
            text=hit.memory,
            score=round(hit.score, 4),
            speaker=hit.record.speaker,
            category=hit.record.category,
            conversation_id=hit.record.conversation_id,
            occurred_at=hit.occurred_at,
            created_at=hit.record.created_at,
            connections=list(hit.connections),
        )


class Added(Answer):
    """What was learnt from messages."""

    messages: int = Field(description="Messages that were new.")
    known: int = Field(description="Messages whose id was known already.")
    learnt: list[MemoryView] = Field(description="Memories that were made or changed.")


class Forgotten(Answer):
    """Whether there was anything to forget."""

    id: str
    forgotten: bool


class Found(Answer):
    """What a search found, best first."""

    query: str
    results: list[HitView]


class MemoryPage(Answer):
    """One page of memories, newest first."""

    memories: list[MemoryView]
    offset: int
    next_offset: int | None = Field(
        default=None, description="Where the next page begins; left out: no more."
    )


class Versions(Answer):
    """Every version of a memory, oldest first."""

    id: str
    versions: list[MemoryView]


class ContextText(Answer):
    """A block of text for a prompt."""

    text: str
    tokens: int
    token_budget: int
    memory_ids: list[str] = Field(default=[], description="The memories that stand in it.")


class ThingView(Answer):
    """A person, place or thing that memories speak of."""

    name: str
    type: str
    aliases: list[str] = []
    mention_count: int
    distance: int = Field(description="Relations between it and where the walk began.")

    @classmethod
    def of(cls, entity: Entity, distance: int) -> ThingView:
        """What an assistant needs of an entity."""
        return cls(
            name=entity.name,
            type=entity.type,
            aliases=list(entity.aliases),
            mention_count=entity.mention_count,
            distance=distance,
        )


class RelationView(Answer):
    """How two things relate."""

    subject: str
    predicate: str
    object: str
    mention_count: int
    memory_id: str
    last_mentioned: datetime

    @classmethod
    def of(cls, relation: Relation) -> RelationView:
        """What an assistant needs of a relation."""
        return cls(
            subject=relation.subject,
            predicate=relation.predicate,
            object=relation.object,
            mention_count=relation.mention_count,
            memory_id=relation.memory_id,
            last_mentioned=relation.last_mentioned,
        )


class Related(Answer):
    """What is near a thing, nearest first."""

    centre: str
    things: list[ThingView]
    relations: list[RelationView]
    left_out: int = Field(default=0, description="Further things that the limit left out.")


class Way(Answer):
    """The shortest way from one thing to another, as the relations to walk in either direction."""

    start: str
    end: str
    found: bool
    relations: list[RelationView]
