"""How much of a history goes into a prompt: the newest messages that fit, tool calls with their results."""

from __future__ import annotations

import json
from collections.abc import Sequence
from copy import deepcopy
from functools import partial

from llama_index.core.base.llms.types import (
    CachePoint,
    ChatMessage,
    DocumentBlock,
    MessageRole,
    TextBlock,
    ThinkingBlock,
    ToolCallBlock,
)

from llamaindex_contextmemory.messages import readable
from shared_core.context.rendering import shortened
from shared_core.tokens import TokenCounter

#: What the format of a chat costs for each message, as OpenAI counts it.
TOKENS_PER_MESSAGE = 4
#: Estimates of LlamaIndex's own memory for what has no text to count.
MEDIA_TOKENS = 256
DOCUMENT_TOKENS = 2_048

_RESULTS = (MessageRole.TOOL, MessageRole.FUNCTION)
_STARTS = (MessageRole.USER, MessageRole.SYSTEM, MessageRole.DEVELOPER)


def tokens_of(message: ChatMessage, counter: TokenCounter) -> int:
    """Tokens of ``message`` in a prompt; what is not text is estimated."""
    total = TOKENS_PER_MESSAGE
    for block in message.blocks:
        if isinstance(block, TextBlock):
            total += counter.count(block.text)
        elif isinstance(block, ThinkingBlock):
            total += counter.count(block.content or "")
        elif isinstance(block, ToolCallBlock):
            total += counter.count(f"{block.tool_name} {json.dumps(block.tool_kwargs, default=str)}")
        elif isinstance(block, DocumentBlock):
            total += DOCUMENT_TOKENS
        elif not isinstance(block, CachePoint):
            total += MEDIA_TOKENS + counter.count(readable(ChatMessage(blocks=[block])))
    if message.additional_kwargs:
        total += counter.count(json.dumps(message.additional_kwargs, default=str))
    return total


def newest_that_fit(
    messages: Sequence[ChatMessage], *, token_budget: int, at_most: int, counter: TokenCounter
) -> list[ChatMessage]:
    """The newest of ``messages``, oldest first: the end of the list, of which nothing is left out.

    A result of a tool never comes without its call, nor a call without its results. The history does not
    begin with an answer, unless there is nothing else.

    Args:
        messages: Oldest first.
        token_budget: Tokens of those that are returned.
        at_most: Tokens that the newest may have, with its results of tools. If it has more, its texts are
            cut, the longest first.
        counter: What counts them.
    """
    groups = _groups(messages)
    taken: list[list[ChatMessage]] = []
    left = token_budget
    for group in reversed(groups):
        cost = sum(tokens_of(message, counter) for message in group)
        if cost > (left if taken else at_most):
            break
        taken.insert(0, group)
        left -= cost
    if groups and not taken:
        return _cut(groups[-1], at_most, counter)
    return _without_answers_first([message for group in taken for message in group])


def _groups(messages: Sequence[ChatMessage]) -> list[list[ChatMessage]]:
    """``messages`` in groups that belong together: each with the results of tools that follow it."""
    groups: list[list[ChatMessage]] = []
    for message in messages:
        if message.role not in _RESULTS:
            groups.append([message])
        elif groups:  # a result whose call lies further back than what was read has nothing to stand on
            groups[-1].append(message)
    return groups


def _without_answers_first(messages: list[ChatMessage]) -> list[ChatMessage]:
    starts = (place for place, message in enumerate(messages) if message.role in _STARTS)
    return messages[next(starts, 0) :]


def _cut(group: Sequence[ChatMessage], token_budget: int, counter: TokenCounter) -> list[ChatMessage]:
    """``group`` with its texts cut to ``token_budget``; nothing if that is not enough."""
    copies = [deepcopy(message) for message in group]
    blocks = [block for message in copies for block in message.blocks if isinstance(block, TextBlock)]

    def excess() -> int:
        return sum(tokens_of(message, counter) for message in copies) - token_budget

    for block in sorted(blocks, key=lambda block: len(block.text), reverse=True):
        if (surplus := excess()) <= 0:
            break
        room = counter.count(block.text) - surplus
        fits = partial(_fits, room=room, counter=counter)
        block.text = shortened(block.text, fits) if room > 0 else ""
    return copies if excess() <= 0 and any(block.text for block in blocks) else []


def _fits(text: str, *, room: int, counter: TokenCounter) -> bool:
    return counter.count(text) <= room
