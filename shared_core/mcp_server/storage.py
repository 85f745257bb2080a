"""The tools that write: remember, update, forget, add_messages."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from shared_core.mcp_server.answers import Added, Forgotten, MemoryView
from shared_core.mcp_server.arguments import (
    ID_LENGTH,
    ConversationId,
    Importance,
    MemoryId,
    MessageInput,
    Statement,
)
from shared_core.memory import ContextMemory
from shared_core.records import Category

__all__ = ["StorageTools"]

#: Messages of one call.
MOST_MESSAGES = 200


class StorageTools:
    """Tools that change one memory.

    Args:
        memory: Of the server's namespace.
    """

    def __init__(self, memory: ContextMemory) -> None:
        self._memory = memory

    def remember(
        self,
        text: Statement,
        category: Annotated[Category, Field(description="What it is about.")] = "other",
        importance: Importance = 0.7,
        conversation_id: ConversationId = None,
    ) -> MemoryView:
        """Remember a lasting fact about the user or their world. Said again, it counts as mentioned again."""
        fact = self._memory.remember(
            text, category=category, importance=importance, conversation_id=conversation_id
        )
        return MemoryView.of(fact)

    def update(self, memory_id: MemoryId, text: Statement) -> MemoryView:
        """Correct the text of a memory; its history keeps the present one. Messages cannot be changed."""
        return MemoryView.of(self._memory.update(memory_id, text))

    def forget(self, memory_id: MemoryId) -> Forgotten:
        """Delete a memory and its history for good; a message takes along what was learnt only from it."""
        return Forgotten(id=memory_id, forgotten=self._memory.delete(memory_id))

    def add_messages(
        self,
        messages: Annotated[
            list[MessageInput],
            Field(
                min_length=1, max_length=MOST_MESSAGES, description="In the order in which they were said."
            ),
        ],
        conversation_id: Annotated[
            str,
            Field(min_length=1, max_length=ID_LENGTH, description="The conversation that they belong to."),
        ] = "default",
    ) -> Added:
        """Remember what was said in a conversation, and learn facts and moments from it."""
        result = self._memory.add(
            [message.model_dump(exclude_none=True) for message in messages], conversation_id
        )
        known = result.usage.skipped_messages
        return Added(
            messages=len(messages) - known,
            known=known,
            learnt=[MemoryView.of(memory) for memory in result.memories],
        )
