"""A LangChain chat model as the language model of a memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from pydantic import BaseModel

from shared_core.llm.base import Completion, LLMOutputError, PromptMessage, completed, failure_of
from shared_core.messages import quoted
from shared_core.records import Usage

__all__ = ["LangChainLLM"]

T = TypeVar("T", bound=BaseModel)

_MESSAGES: dict[str, type[BaseMessage]] = {
    "system": SystemMessage,
    "user": HumanMessage,
    "assistant": AIMessage,
}
#: Within a run of LangGraph the callbacks of its stream would be inherited: what the model writes for the
#: memory would show up in a stream of messages, and be asked for in pieces, without its cost.
_APART: RunnableConfig = {"callbacks": [], "tags": ["nostream"]}


class LangChainLLM:
    """Makes any chat model of LangChain extract memories: ``LLMExtractor(LangChainLLM(model))``.

    The model is asked for plain text, which every model gives, and its JSON is read by our own rules:
    ``with_structured_output`` needs tools or a JSON mode, and loses an answer that is cut off. Retries and
    timeouts are the model's own, as are its callbacks; those of a run around it are not called.

    Example:
        >>> from langchain_core.language_models import FakeListChatModel
        >>> LangChainLLM(FakeListChatModel(responses=["{}"])).name
        'langchain/fake-list-chat-model'
    """

    def __init__(self, model: BaseChatModel, *, options: Mapping[str, Any] | None = None) -> None:
        """A memory's view of ``model``.

        Args:
            model: Any chat model.
            options: Passed with each call, such as ``{"response_format": {"type": "json_object"}}``.

        Raises:
            ValueError: ``model`` is no chat model.
        """
        if not isinstance(model, BaseChatModel):
            raise ValueError(
                f"model {quoted(model)} is no BaseChatModel: pass a chat model such as ChatOpenAI"
            )
        self._model = model
        self._options = dict(options or {})

    @property
    def name(self) -> str:
        """``langchain/<model>``."""
        model = getattr(self._model, "model_name", None) or getattr(self._model, "model", None)
        return f"langchain/{model if isinstance(model, str) else self._model._llm_type}"

    def __repr__(self) -> str:
        return f"LangChainLLM({self.name!r})"

    def complete(self, messages: Sequence[PromptMessage], schema: type[T]) -> Completion[T]:
        """One answer of the model; see ``StructuredLLM.complete``.

        Raises:
            LLMUnavailableError: The model raised.
            LLMOutputError: It refused, the text is too long for it, or its answer does not fit.
        """
        prompt = [_MESSAGES[message.role](content=message.content) for message in messages]
        try:
            answer = self._model.invoke(prompt, _APART, **self._options)
        except Exception as error:  # noqa: BLE001 - each integration has errors of its own
            failure = failure_of(error, name=self.name)
        else:
            return self._read(answer, schema)
        try:
            raise failure  # out here, so that it chains no error that shows a key
        finally:
            del failure  # or its traceback and this frame would keep each other alive

    def _read(self, answer: AIMessage, schema: type[T]) -> Completion[T]:
        usage = _usage_of(answer)
        refusal = answer.additional_kwargs.get("refusal")
        is_filtered = answer.response_metadata.get("finish_reason") == "content_filter"
        if refusal or is_filtered:
            why = quoted(refusal) if refusal else "its content filter"
            raise LLMOutputError(f"{self.name} refused: {why}", usage, is_final=True)
        return completed(str(answer.text), schema, usage)


def _usage_of(answer: AIMessage) -> Usage:
    """What the model says that it cost; 0 where it does not say."""
    told: Mapping[str, Any] = answer.usage_metadata or {}
    return Usage(
        llm_calls=1,
        prompt_tokens=told.get("input_tokens") or 0,
        completion_tokens=told.get("output_tokens") or 0,
    )
