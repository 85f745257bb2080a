"""A LlamaIndex language model as the language model of a memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from llama_index.core.base.llms.types import ChatMessage, ChatResponse
from llama_index.core.llms import LLM
from pydantic import BaseModel

from shared_core.llm.base import Completion, LLMOutputError, PromptMessage, completed, failure_of
from shared_core.messages import quoted
from shared_core.records import Usage

__all__ = ["LlamaIndexLLM"]

T = TypeVar("T", bound=BaseModel)

_PROMPT_TOKENS = ("prompt_tokens", "input_tokens", "prompt_token_count")
_COMPLETION_TOKENS = ("completion_tokens", "output_tokens", "candidates_token_count")


class LlamaIndexLLM:
    """Makes any LLM of LlamaIndex extract memories: ``LLMExtractor(LlamaIndexLLM(llm))``.

    The model is asked for plain text, which every model gives, and its JSON is read by our own rules:
    ``structured_predict`` raises for each fault in an answer, and does not tell what it cost. Retries and
    timeouts are the model's own.

    Example:
        >>> from llama_index.core.llms import MockLLM
        >>> LlamaIndexLLM(MockLLM()).name
        'llama-index/unknown'
    """

    def __init__(self, llm: LLM, *, options: Mapping[str, Any] | None = None) -> None:
        """A memory's view of ``llm``.

        Args:
            llm: Any LLM, for chat or for completions.
            options: Passed with each call, such as ``{"response_format": {"type": "json_object"}}``.

        Raises:
            ValueError: ``llm`` is no LLM of LlamaIndex.
        """
        if not isinstance(llm, LLM):
            raise ValueError(f"llm {quoted(llm)} is no LLM of LlamaIndex: pass one such as OpenAILike")
        self._llm = llm
        self._options = dict(options or {})

    @property
    def name(self) -> str:
        """``llama-index/<model>``."""
        return f"llama-index/{self._llm.metadata.model_name}"

    def __repr__(self) -> str:
        return f"LlamaIndexLLM({self.name!r})"

    def complete(self, messages: Sequence[PromptMessage], schema: type[T]) -> Completion[T]:
        """One answer of the model; see ``StructuredLLM.complete``.

        Raises:
            LLMUnavailableError: The model raised.
            LLMOutputError: It refused, the text is too long for it, or its answer does not fit.
        """
        prompt = [ChatMessage(role=message.role, content=message.content) for message in messages]
        try:
            answer = self._llm.chat(prompt, **self._options)
        except Exception as error:  # noqa: BLE001 - each integration has errors of its own
            failure = failure_of(error, name=self.name)
        else:
            return self._read(answer, schema)
        try:
            raise failure  # out here, so that it chains no error that shows a key
        finally:
            del failure  # or its traceback and this frame would keep each other alive

    def _read(self, answer: ChatResponse, schema: type[T]) -> Completion[T]:
        usage = _usage_of(answer)
        refusal = _refusal_of(answer.raw)
        if refusal:
            raise LLMOutputError(f"{self.name} refused: {quoted(refusal)}", usage, is_final=True)
        return completed(answer.message.content, schema, usage)


def _usage_of(answer: ChatResponse) -> Usage:
    """What the model says that it cost, where integrations put it; 0 where it does not say."""
    places = (answer.additional_kwargs, _part(answer.raw, "usage"), answer.message.additional_kwargs)
    prompt, completion = (
        next((count for place in places for name in names if (count := _count(place, name))), 0)
        for names in (_PROMPT_TOKENS, _COMPLETION_TOKENS)
    )
    return Usage(llm_calls=1, prompt_tokens=prompt, completion_tokens=completion)


def _refusal_of(raw: Any) -> object:
    """What an answer in OpenAI's form says in place of a content; LlamaIndex hands on the content alone."""
    choices = _part(raw, "choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    is_filtered = _part(first, "finish_reason") == "content_filter"
    return _part(_part(first, "message"), "refusal") or ("its content filter" if is_filtered else None)


def _count(place: Any, name: str) -> int:
    count = _part(place, name)
    return count if isinstance(count, int) and count > 0 else 0


def _part(holder: Any, name: str) -> Any:
    return holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)
