"""``ContextMemoryChatHistory``: the messages of one conversation, as LangChain's chat history."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Sequence
from typing import Any

from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.messages import BaseMessage

from langchain_contextmemory.messages import METADATA_KEY, from_core, to_core
from shared_core.arguments import conversation_of
from shared_core.asynchronous import run_in_thread
from shared_core.errors import ContextMemoryError, ExtractionError
from shared_core.ids import message_record_id
from shared_core.memory import ContextMemory
from shared_core.messages import quoted

__all__ = ["ContextMemoryChatHistory"]

logger = logging.getLogger(__name__)


class ContextMemoryChatHistory(BaseChatMessageHistory):
    """The messages of one conversation: kept whole and in order, and learnt from.

    Every message comes back equal to what was added, with its id, tool calls and parts; of a stream, the
    message that its chunks add up to. Between two writes, two reads are the same. Histories of several
    conversations may share one memory, and what was learnt in one is found from all.

    Messages may say the same. One that has an id and is added again just so is taken for a repeated write and
    stays one; with anything else under that id, it is another message.

    Example:
        >>> from langchain_core.runnables.history import RunnableWithMessageHistory
        >>> from shared_core import ContextMemory
        >>> memory = ContextMemory("./memory")  # doctest: +SKIP
        >>> RunnableWithMessageHistory(
        ...     chain, lambda session_id: ContextMemoryChatHistory(memory, conversation_id=session_id)
        ... )  # doctest: +SKIP
    """

    def __init__(self, memory: ContextMemory, conversation_id: str | int) -> None:
        """The history of one conversation.

        Args:
            memory: What keeps it.
            conversation_id: Which one; new or known.

        Raises:
            ValueError: If there is no such memory, or the id is blank.
        """
        super().__init__()
        if not isinstance(memory, ContextMemory):
            raise ValueError(
                f"memory {quoted(memory)} is not a ContextMemory: pass ContextMemory('./memory')"
            )
        conversation = conversation_of(conversation_id)
        if conversation is None:
            raise ValueError("conversation_id None names no conversation: pass the id of the session")
        self.memory = memory
        self.conversation_id = conversation

    def __repr__(self) -> str:
        return f"ContextMemoryChatHistory({self.memory!r}, conversation_id={self.conversation_id!r})"

    @property
    def messages(self) -> list[BaseMessage]:  # type: ignore[override]  # a property, as in LangChain's own
        """All messages of the conversation, oldest first; a new list of new objects each time.

        Raises:
            StoreError: If they cannot be read.
        """
        return [from_core(record) for record in self.memory.messages(self.conversation_id)]

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Append messages, in one write, and learn from them.

        ``RunnableWithMessageHistory`` swallows what is raised here, so it is logged too. An extractor that
        fails is only logged: by then the messages are stored, and learnt from later.

        Raises:
            ValueError: If one of them is no message that can be kept; nothing is written then.
            StoreError: If they could not be written.
        """
        try:
            self.memory.add(self._told_apart(messages), self.conversation_id)
        except ExtractionError:
            logger.warning(
                "conversation %s: messages are stored, and stay to be learnt from",
                quoted(self.conversation_id),
                exc_info=True,
            )
        except (ContextMemoryError, ValueError):
            logger.exception("conversation %s: messages were not stored", quoted(self.conversation_id))
            raise

    def clear(self) -> None:
        """Erase the conversation, and every memory that was learnt from it alone.

        What was also said in another conversation stays. To begin anew and keep what was learnt, take another
        ``conversation_id`` instead.

        Raises:
            StoreError: If it could not be erased.
        """
        self.memory.erase(conversation_id=self.conversation_id)

    async def aget_messages(self) -> list[BaseMessage]:
        """``messages``, read in a thread."""
        return await run_in_thread(lambda: self.messages)

    async def aadd_messages(self, messages: Sequence[BaseMessage]) -> None:
        """``add_messages`` in a thread, so that the event loop goes on."""
        await run_in_thread(self.add_messages, messages)

    async def aclear(self) -> None:
        """``clear`` in a thread, so that the event loop goes on."""
        await run_in_thread(self.clear)

    def _told_apart(self, messages: Sequence[BaseMessage]) -> list[dict[str, Any]]:
        """``messages`` for the core, in which an id stands for one message only."""
        converted = [to_core(message) for message in messages]
        known: dict[str, Any] = {}
        for message in converted:
            if (message_id := message.get("id")) is None:
                continue
            if message_id not in known:
                record = self.memory.get(message_record_id(self.conversation_id, message_id))
                known[message_id] = (
                    _said(message) if record is None else (record.text, record.metadata.get(METADATA_KEY))
                )
            if known[message_id] != _said(message):
                message["id"] = f"{message_id}:{_digest(message)}"
        return converted


def _said(message: dict[str, Any]) -> tuple[str, Any]:
    return message["content"], message["metadata"][METADATA_KEY]


def _digest(message: dict[str, Any]) -> str:
    """12 hexadecimal digits that follow from all of a message, so that a write may be repeated."""
    return hashlib.blake2b(json.dumps(_said(message), sort_keys=True).encode(), digest_size=6).hexdigest()
