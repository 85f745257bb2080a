"""Chat models for tests: they answer from a script, and tell what they were asked."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from pydantic import Field

Reply = AIMessage | str | Exception
Answer = Callable[[Sequence[BaseMessage]], Reply]


def call(name: str, call_id: str = "call_1", say: str = "", **arguments: Any) -> AIMessage:
    """A reply that calls a tool."""
    return AIMessage(say, tool_calls=[{"name": name, "args": arguments, "id": call_id, "type": "tool_call"}])


def text_in(prompt: Sequence[BaseMessage]) -> str:
    """All text of a prompt, the system message's first."""
    return "\n".join(message.text for message in prompt)


class ScriptedChatModel(BaseChatModel):
    """Answers with the replies of a script in turn, with ``answer`` of the prompt once they are used up.

    Attributes:
        script: Replies, used up; an exception is raised.
        answer: Makes a reply from the prompt.
        prompts: What it was asked, oldest first.
        delay_seconds: How long it thinks.
    """

    script: list[Any] = Field(default_factory=list)
    answer: Any = "Fine."
    prompts: list[list[BaseMessage]] = Field(default_factory=list)
    delay_seconds: float = 0.0

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self

    def _reply(self, prompt: list[BaseMessage]) -> AIMessage:
        self.prompts.append(prompt)
        reply = self.script.pop(0) if self.script else self.answer
        if callable(reply):
            reply = reply(prompt)
        if isinstance(reply, BaseException):
            raise reply
        return AIMessage(reply) if isinstance(reply, str) else reply

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        time.sleep(self.delay_seconds)
        return ChatResult(generations=[ChatGeneration(message=self._reply(messages))])

    async def _agenerate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        await asyncio.sleep(self.delay_seconds)
        return ChatResult(generations=[ChatGeneration(message=self._reply(messages))])


class StreamingChatModel(ScriptedChatModel):
    """The same, word by word."""

    def _stream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        reply = self._reply(messages)
        if reply.tool_calls:
            chunks = [
                tool_call_chunk(name=made["name"], args=json.dumps(made["args"]), id=made["id"], index=0)
                for made in reply.tool_calls
            ]
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=chunks))
        for word in reply.text.split(" "):
            chunk = ChatGenerationChunk(message=AIMessageChunk(content=f"{word} "))
            if run_manager:
                run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk

    async def _astream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in self._stream(messages):
            if run_manager:
                await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            await asyncio.sleep(0)
            yield chunk
