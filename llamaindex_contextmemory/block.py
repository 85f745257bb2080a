"""``ContextMemoryBlock``: long-term memory as a block of LlamaIndex's own ``Memory``."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.bridge.pydantic import Field, field_validator
from llama_index.core.memory import BaseMemoryBlock
from llama_index.core.utils import get_tokenizer

from llamaindex_contextmemory.messages import core_message, identity, last_user_text
from shared_core import ContextMemory
from shared_core.asynchronous import run_in_thread
from shared_core.errors import ExtractionError
from shared_core.memory import DEFAULT_CONVERSATION
from shared_core.messages import quoted

__all__ = ["ContextMemoryBlock"]

logger = logging.getLogger(__name__)

#: Where LlamaIndex notes the session on a message that leaves the short-term memory.
SESSION_KEY = "session_id"
#: Less room than this holds no memory.
LEAST_TOKENS = 24


@dataclass(frozen=True)
class Request:
    """What was asked of the memory, so that it can be asked again for less."""

    namespace: str
    query: str | None
    conversation_id: str
    shown: tuple[str, ...]


class Recalled(str):
    """The text of a context, which knows how it came about: by this it is shortened, memory by memory."""

    request: Request
    tokens: int

    @classmethod
    def of(cls, text: str, request: Request, tokens: int) -> Recalled:
        """``text``, which answers ``request`` in ``tokens`` tokens."""
        recalled = cls(text)
        recalled.request, recalled.tokens = request, tokens
        return recalled


class ContextMemoryBlock(BaseMemoryBlock[str]):
    """Recalls what fits the last message of the user, and learns from what leaves the short-term memory.

    LlamaIndex hands messages to a block only when the history outgrows its share, 21,000 tokens by default:
    a short conversation never reaches it. To learn without that wait, either set ``learn_at_once``, by which
    each recall learns from the history that it is shown, or ``await block.aput(messages, session_id=…)`` at
    the end of a session.

    A block serves the one user whose namespace its memory has. ``namespace_from`` makes it serve many: it
    derives the user from the session's id, and no user sees another's. Nothing about a session is kept on
    the block. In one session the same words of the same speaker are kept once.

    Example:
        >>> block = ContextMemoryBlock(memory=ContextMemory("./memory", namespace="alice"))
        >>> chat = Memory.from_defaults(session_id="c1", memory_blocks=[block])

    Attributes:
        memory: The core memory, which stays the caller's to close.
        token_budget: Most tokens of what is recalled.
        learn_at_once: Whether a recall also learns from the history.
        namespace_from: From the id of a session to the namespace of its user.
    """

    name: str = "long_term_memory"
    description: str | None = "What is known from earlier conversations."
    priority: int = Field(
        default=1, ge=0, description="0 is never shortened; low numbers are shortened first."
    )
    memory: Any = Field(exclude=True)
    token_budget: int = Field(default=2_000, ge=1)
    learn_at_once: bool = False
    namespace_from: Callable[[str], str] | None = Field(default=None, exclude=True)

    @field_validator("memory")
    @classmethod
    def _is_memory(cls, value: Any) -> ContextMemory:
        if not isinstance(value, ContextMemory):
            raise ValueError(f"memory {quoted(value)} is not a ContextMemory: pass ContextMemory('./memory')")
        return value

    async def _aget(self, messages: list[ChatMessage] | None = None, **block_kwargs: Any) -> str:
        return await run_in_thread(self._recall, list(messages or ()), block_kwargs.get("session_id"))

    async def _aput(self, messages: list[ChatMessage]) -> None:
        sessions: dict[str | None, list[ChatMessage]] = {}
        for message in messages:
            sessions.setdefault(message.additional_kwargs.get(SESSION_KEY), []).append(message)
        for session_id, said in sessions.items():
            await run_in_thread(self._learn, said, session_id)

    async def atruncate(self, content: str, tokens_to_truncate: int) -> str | None:
        """``content`` without the memories that fit the question least; None if nothing would be left.

        Args:
            content: What this block recalled.
            tokens_to_truncate: Tokens to save, as LlamaIndex's global tokenizer counts them.
        """
        if not isinstance(content, Recalled):
            return None
        return await run_in_thread(self._shortened, content, tokens_to_truncate)

    def _shortened(self, content: Recalled, tokens_to_truncate: int) -> Recalled | None:
        tokenizer = get_tokenizer()
        allowed = len(tokenizer(content)) - tokens_to_truncate
        shorter, excess = content, tokens_to_truncate
        while excess > 0:
            budget = shorter.tokens - excess
            if budget < LEAST_TOKENS:
                return None
            shorter = self._asked(content.request, budget)
            excess = len(tokenizer(shorter)) - allowed
        return shorter or None

    def _recall(self, messages: Sequence[ChatMessage], session_id: str | None) -> str:
        if self.learn_at_once:
            self._learn(messages, session_id)
        request = Request(
            namespace=self._namespace_of(session_id),
            query=last_user_text(messages),
            conversation_id=session_id or DEFAULT_CONVERSATION,
            shown=tuple(_message_id(message) for message in messages),
        )
        return self._asked(request, self.token_budget)

    def _asked(self, request: Request, token_budget: int) -> Recalled:
        with self._memory_of(request.namespace) as memory:
            context = memory.context(
                request.query, token_budget, request.conversation_id, shown=request.shown
            )
        return Recalled.of(context.text, request, context.tokens)

    def _learn(self, messages: Sequence[ChatMessage], session_id: str | None) -> None:
        converted = {(id_ := _message_id(message)): _core(message, id_) for message in messages}
        if not converted:
            return
        try:
            with self._memory_of(self._namespace_of(session_id)) as memory:
                memory.add(list(converted.values()), session_id or DEFAULT_CONVERSATION)
        except ExtractionError as error:  # the engine's answer must not be lost over it
            logger.warning(
                "session %r: the messages are stored, and learnt from later: %s", session_id, error
            )

    def _namespace_of(self, session_id: str | None) -> str:
        if self.namespace_from is None:
            namespace: str = self.memory.namespace
            return namespace
        if session_id is None:
            raise ValueError(
                "session_id is None, and namespace_from needs it to tell the user: pass session_id"
            )
        return self.namespace_from(session_id)

    @contextmanager
    def _memory_of(self, namespace: str) -> Iterator[ContextMemory]:
        if namespace == self.memory.namespace:
            yield self.memory
        else:
            with self.memory.for_namespace(namespace) as sibling:
                yield sibling


def _core(message: ChatMessage, message_id: str) -> dict[str, Any]:
    """``message`` for the core, without the session that LlamaIndex noted on it."""
    kwargs = {key: value for key, value in message.additional_kwargs.items() if key != SESSION_KEY}
    return core_message(message.model_copy(update={"additional_kwargs": kwargs}), message_id=message_id)


def _message_id(message: ChatMessage) -> str:
    """An id that follows from what is said, so that a message learnt at once is known when it is flushed."""
    said = repr(identity(_core(message, "")))
    return f"li-{hashlib.blake2b(said.encode(), digest_size=12).hexdigest()}"
