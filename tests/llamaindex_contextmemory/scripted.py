"""A chat model that follows a script, for engines and agents: it answers from what stands in its prompt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llama_index.core.base.llms.types import (
    ChatMessage,
    ChatResponse,
    ChatResponseAsyncGen,
    ChatResponseGen,
    CompletionResponse,
    CompletionResponseGen,
    LLMMetadata,
    MessageRole,
    TextBlock,
    ToolCallBlock,
)
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.llm import ToolSelection
from pydantic import PrivateAttr

Script = Callable[[Sequence[ChatMessage]], ChatMessage]

TOLD = "I moved to Lisbon in March and I work as a baker."
ASKED = "Which city do I live in now?"
ANSWER = "You live in Lisbon."
UNKNOWN = "I do not know."
REACT = "Thought: I can answer without using any more tools. I'll use the user's language to answer\nAnswer: "


def from_prompt(text: str, question: str) -> str:
    """The answer to ``question`` by a model whose prompt is ``text``."""
    if "tandalone" in question:  # asked to condense: the question stands by itself already
        return ASKED if ASKED in question else question.rpartition("essage")[2]
    known = ANSWER if "Lisbon" in text else UNKNOWN
    answer = known if ASKED in question else "Noted."
    return f"{REACT}{answer}" if "Thought:" in text else answer


def from_messages(messages: Sequence[ChatMessage]) -> ChatMessage:
    """The script of every engine: answers from the prompt, and condenses a question by leaving it alone."""
    text = "\n".join(message.content or "" for message in messages)
    return assistant(from_prompt(text, messages[-1].content or ""))


def assistant(text: str) -> ChatMessage:
    return ChatMessage(role="assistant", content=text)


def calling(name: str, call_id: str = "call-1", **arguments: Any) -> ChatMessage:
    """A message in which the model calls a tool."""
    block = ToolCallBlock(tool_call_id=call_id, tool_name=name, tool_kwargs=arguments)
    return ChatMessage(role="assistant", blocks=[block])


class ScriptedLLM(FunctionCallingLLM):
    """Answers by a script; keeps the prompts that it was given."""

    _script: Script = PrivateAttr(default_factory=lambda: from_messages)
    _prompts: list[list[ChatMessage]] = PrivateAttr(default_factory=list)

    @classmethod
    def of(cls, script: Script | Sequence[ChatMessage] = from_messages) -> ScriptedLLM:
        model = cls()
        if callable(script):
            model._script = script
        else:
            answers = iter(script)
            model._script = lambda messages: next(answers)
        return model

    @property
    def prompts(self) -> list[list[ChatMessage]]:
        return self._prompts

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(is_chat_model=True, is_function_calling_model=True, model_name="scripted")

    def chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        self._prompts.append([message.model_copy(deep=True) for message in messages])
        return ChatResponse(message=self._script(messages))

    def stream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseGen:
        def generate() -> ChatResponseGen:
            response = self.chat(messages)
            response.delta = response.message.content
            yield response

        return generate()

    async def achat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponse:
        return self.chat(messages)

    async def astream_chat(self, messages: Sequence[ChatMessage], **kwargs: Any) -> ChatResponseAsyncGen:
        async def generate() -> ChatResponseAsyncGen:
            for response in self.stream_chat(messages):
                yield response

        return generate()

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        response = self.chat([ChatMessage(role=MessageRole.USER, content=prompt)])
        return CompletionResponse(text=response.message.content or "")

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponseGen:
        return iter([self.complete(prompt)])  # type: ignore[return-value]

    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        return self.complete(prompt)

    async def astream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        raise NotImplementedError

    def _prepare_chat_with_tools(  # type: ignore[override]  # what it is asked for makes no difference
        self,
        tools: Any,
        user_msg: str | ChatMessage | None = None,
        chat_history: list[ChatMessage] | None = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        return {"messages": chat_history or []}

    def get_tool_calls_from_response(
        self, response: ChatResponse, error_on_no_tool_call: bool = True, **kwargs: Any
    ) -> list[ToolSelection]:
        return [
            ToolSelection(tool_id=block.tool_call_id or "", tool_name=block.tool_name, tool_kwargs=arguments)
            for block in response.message.blocks
            if isinstance(block, ToolCallBlock) and isinstance(arguments := block.tool_kwargs, dict)
        ]


def texts(messages: Sequence[ChatMessage]) -> str:
    """All text of ``messages``."""
    return "\n".join(
        block.text for message in messages for block in message.blocks if isinstance(block, TextBlock)
    )
