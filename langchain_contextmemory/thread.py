"""A thread's messages against the memory: what it knows of them, and what is to be learnt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage

from langchain_contextmemory.messages import spoken_text, to_core
from langchain_contextmemory.tools import is_tool_result
from shared_core import ContextMemory
from shared_core.context.rendering import is_own_context
from shared_core.ids import message_record_id

__all__ = ["ids_in_prompt", "is_synthetic", "known_ids", "question_in", "unlearnt"]

#: Stored messages that are compared by their text, beyond twice as many as the thread has.
MARGIN = 50


def question_in(messages: Sequence[BaseMessage]) -> int | None:
    """The position of the last message that a person wrote; None if there is none."""
    for position in range(len(messages) - 1, -1, -1):
        message = messages[position]
        if isinstance(message, HumanMessage) and not is_synthetic(message):
            return position
    return None


def is_synthetic(message: BaseMessage) -> bool:
    """Whether another middleware wrote it, such as a summary in place of older messages."""
    return "lc_source" in message.additional_kwargs


def known_ids(memory: ContextMemory, conversation: str, messages: Sequence[BaseMessage]) -> Mapping[int, str]:
    """The ids under which messages are stored, by their position among ``messages``.

    A thread with a checkpointer keeps its ids. Without one, callers hand in the whole history again, and
    each message gets a new id each time: what stands before the question is then also known by its role and
    text, in the order in which it was stored.
    """
    with memory.opened().use() as index:
        known = {
            position: message.id
            for position, message in enumerate(messages)
            if message.id and message_record_id(conversation, message.id) in index
        }
    before = [position for position in range(question_in(messages) or 0) if position not in known]
    if not before:
        return known
    taken = set(known.values())
    stored = [
        record
        for record in memory.messages(conversation, last=2 * len(messages) + MARGIN)
        if record.message_id not in taken
    ]
    start = 0
    for position in before:
        converted = to_core(messages[position]) if _is_learnable(messages[position]) else {}
        for place in range(start, len(stored)):
            record = stored[place]
            if (record.role, record.text) == (converted.get("role"), converted.get("content")):
                known[position] = record.message_id or record.id
                start = place + 1
                break
    return known


def ids_in_prompt(memory: ContextMemory, conversation: str, messages: Sequence[BaseMessage]) -> set[str]:
    """Every id by which the memory may know the messages of a prompt.

    That is mostly their own. Only where the oldest of them is unknown is a history looked for that was handed
    in again: a thread may be long, and the model waits.
    """
    own = {message.id or "" for message in messages}
    own.discard("")
    oldest = next((message for message in messages if message.id and _is_learnable(message)), None)
    if oldest is None or oldest is messages[-1]:
        return own
    with memory.opened().use(catch_up=False) as index:
        if message_record_id(conversation, oldest.id or "") in index:
            return own
    return own.union(known_ids(memory, conversation, messages).values())


def unlearnt(memory: ContextMemory, conversation: str, messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The messages that the memory does not know and should, in order.

    What was stored once stays as it was, whatever another middleware makes of it later. The answers of our
    own tools, and messages that only call these, are left out: the memory holds what they did.
    """
    known = known_ids(memory, conversation, messages)
    ours = {message.tool_call_id for message in messages if is_tool_result(message)}  # type: ignore[attr-defined]
    return [
        message
        for position, message in enumerate(messages)
        if position not in known and _is_learnable(message) and not _only_calls(message, ours)
    ]


def _is_learnable(message: BaseMessage) -> bool:
    if isinstance(message, SystemMessage) or is_synthetic(message) or is_tool_result(message):
        return False
    return bool(spoken_text(message)) or not is_own_context(message.text)


def _only_calls(message: BaseMessage, ours: set[str]) -> bool:
    """Whether a message says nothing, and calls nothing but our own tools."""
    if not isinstance(message, AIMessage) or not message.tool_calls or spoken_text(message):
        return False
    return all(call["id"] in ours for call in message.tool_calls)
