"""What the tools take: types with the descriptions and limits that an assistant is shown."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from shared_core.records import Category, Kind, Role

__all__ = [
    "CategoryFilter",
    "ConversationId",
    "EntityName",
    "Importance",
    "KindFilter",
    "MemoryId",
    "MessageInput",
    "Moment",
    "Query",
    "Statement",
    "Term",
]

#: Longest values, in characters: far beyond what anybody says at once, far below what fills a machine.
STATEMENT_LENGTH, MESSAGE_LENGTH, ID_LENGTH, QUERY_LENGTH, TERM_LENGTH = 10_000, 100_000, 512, 10_000, 200

MemoryId = Annotated[
    str, Field(min_length=1, max_length=ID_LENGTH, description="Id of a memory, as other tools return it.")
]
ConversationId = Annotated[
    str | None, Field(max_length=ID_LENGTH, description="Id of a conversation; left out: all of them.")
]
Statement = Annotated[
    str,
    Field(
        min_length=1,
        max_length=STATEMENT_LENGTH,
        description="One sentence that is understood by itself, such as: User is allergic to peanuts.",
    ),
]
Importance = Annotated[float, Field(ge=0.0, le=1.0, description="0 (trivial) to 1 (vital).")]
Query = Annotated[
    str, Field(min_length=1, max_length=QUERY_LENGTH, description="A question or a topic, in any words.")
]
KindFilter = Annotated[
    Kind | None,
    Field(
        description="Only this type: message (as said), fact (lasting), bubble (a dated moment), triplet (a "
        "relation), summary, or block (core memory)."
    ),
]
CategoryFilter = Annotated[Category | None, Field(description="Only facts about this.")]
Moment = Annotated[
    str | None, Field(max_length=64, description="ISO 8601 date or time, such as 2025-03-01; naive is UTC.")
]
Term = Annotated[
    str,
    Field(min_length=1, max_length=TERM_LENGTH, description="A person, place or thing, as short as can be."),
]
EntityName = Annotated[
    str,
    Field(
        min_length=1, max_length=TERM_LENGTH, description="Name of a person, place or thing; any spelling."
    ),
]
Layout = Literal["markdown", "compact"]


class MessageInput(BaseModel):
    """One message of a conversation."""

    model_config = ConfigDict(extra="forbid")

    role: Role = Field(description="Who speaks.")
    content: str = Field(min_length=1, max_length=MESSAGE_LENGTH, description="What was said.")
    id: str | None = Field(
        default=None,
        max_length=ID_LENGTH,
        description="Its id; a message with a known id is not added again.",
    )
    name: str | None = Field(default=None, max_length=TERM_LENGTH, description="Name of the speaker.")
    timestamp: Moment = Field(default=None, description="When it was said, ISO 8601; left out: now.")
