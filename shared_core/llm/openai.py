"""Chat completions of OpenAI, or of any server that speaks its protocol (vLLM, Ollama, llama.cpp)."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

from pydantic import BaseModel

from shared_core.llm.base import (
    Completion,
    LLMOutputError,
    LLMUnavailableError,
    PromptMessage,
    completed,
    failure_of,
)
from shared_core.messages import quoted
from shared_core.openai_client import openai_client
from shared_core.records import Usage

if TYPE_CHECKING:
    from openai import OpenAI
    from openai.types.chat import ChatCompletion

__all__ = ["OpenAILLM"]

T = TypeVar("T", bound=BaseModel)
ResponseFormat = Literal["json_schema", "json_object", "none"]

#: Tokens of one answer, at most: a model that never ends would cost without limit.
MAX_OUTPUT_TOKENS = 2_048
#: What OpenAI's strict mode understands of a JSON schema; our own checks see to the rest.
_KEPT = frozenset("type properties items anyOf enum const description required $ref $defs".split())


@dataclass(frozen=True)
class _Dialect:
    """What a server was found to take; it is known after the first answer, and then remembered.

    Attributes:
        format: The ``response_format``: a schema, any JSON object, or none.
        limit: The name of the parameter that limits an answer.
        has_temperature: Whether it takes a temperature; some of OpenAI's models take only their own.
    """

    format: ResponseFormat = "json_schema"
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    has_temperature: bool = True

    def without(self, reason: str) -> _Dialect | None:
        """The dialect to try after a server refused this one; None if there is none left."""
        reason = reason.casefold()
        if "temperature" in reason and self.has_temperature:
            return replace(self, has_temperature=False)
        if "max_completion_tokens" in reason and self.limit == "max_tokens":
            return replace(self, limit="max_completion_tokens")
        if self.format == "json_schema":
            return replace(self, format="json_object")
        return replace(self, format="none") if self.format == "json_object" else None


class OpenAILLM:
    """A model behind the chat completions of OpenAI's protocol; safe to use from many threads.

    Rate limits (429), server errors and lost connections are retried with growing pauses, or after the
    pause that the server's ``Retry-After`` names. A server that refuses a JSON schema (status 400 or 422) is
    asked for any JSON object, or for plain text, from then on.

    Example:
        >>> llm = OpenAILLM("qwen3", base_url="http://localhost:11434/v1")
        >>> llm.name
        'openai/qwen3'
    """

    def __init__(
        self,
        model: str = "gpt-4o-mini",
        *,
        temperature: float = 0.1,
        max_output_tokens: int = MAX_OUTPUT_TOKENS,
        response_format: ResponseFormat = "json_schema",
        base_url: str | None = None,
        api_key: str | None = None,
        timeout_seconds: float = 60.0,
        max_retries: int = 3,
        client: OpenAI | None = None,
    ) -> None:
        """A client for one model; nothing is sent before the first prompt.

        Args:
            model: Its name on the server.
            temperature: 0 to 2; seed 000 has 0.1.
            max_output_tokens: Of a longer answer, what is complete by then is used.
            response_format: The strictest one to ask for; less where the server refuses it.
            base_url: Of another server; by default ``OPENAI_BASE_URL``, else OpenAI's.
            api_key: By default ``OPENAI_API_KEY``; not needed with a ``base_url``.
            timeout_seconds: How long to wait for the server before a retry.
            max_retries: Further attempts of one request.
            client: An ``openai.OpenAI`` of your own, in place of the address, key, timeout and retries.

        Raises:
            ValueError: An argument is out of range, or there is no key for OpenAI.
            MissingExtraError: The ``openai`` package is not installed.
        """
        if not isinstance(model, str) or not model.strip():
            raise ValueError(f"model must be a name, not {quoted(model)}")
        if not (math.isfinite(temperature) and 0 <= temperature <= 2):
            raise ValueError(f"temperature must be 0 to 2, not {temperature!r}")
        if max_output_tokens < 1:
            raise ValueError(f"max_output_tokens must be 1 or more, not {max_output_tokens!r}")
        if response_format not in get_args(ResponseFormat):
            known = ", ".join(get_args(ResponseFormat))
            raise ValueError(f"response_format {quoted(response_format)} is none of {known}")
        if client is not None and (base_url is not None or api_key is not None):
            raise ValueError("pass a client, or a base_url and api_key, not both")
        if client is not None and inspect.iscoroutinefunction(inspect.unwrap(client.chat.completions.create)):
            raise ValueError(f"client must be an openai.OpenAI, not the asynchronous {type(client).__name__}")
        self._model = model
        self._temperature = temperature
        self._max_output_tokens = max_output_tokens
        self._client = client or openai_client(
            base_url, api_key, timeout_seconds=timeout_seconds, max_retries=max_retries
        )
        self._dialect = _Dialect(response_format)

    @property
    def name(self) -> str:
        """``openai/<model>``."""
        return f"openai/{self._model}"

    def __repr__(self) -> str:
        return f"OpenAILLM({self._model!r}, temperature={self._temperature})"

    def close(self) -> None:
        """Close the connections; a later prompt raises ``LLMUnavailableError``."""
        self._client.close()

    def complete(self, messages: Sequence[PromptMessage], schema: type[T]) -> Completion[T]:
        """One answer of the model; see ``StructuredLLM.complete``.

        Raises:
            LLMUnavailableError: No answer came after the last retry, or the server does not take the key.
            LLMOutputError: The model refused, the text is too long for it, or its answer does not fit.
        """
        response = self._answer([{"role": m.role, "content": m.content} for m in messages], schema)
        usage = _usage_of(response)
        choice = next(iter(getattr(response, "choices", None) or ()), None)
        message = getattr(choice, "message", None)
        if message is None:
            raise LLMUnavailableError(f"{self._source} sent no answer: {quoted(response)}", usage)
        refusal = getattr(message, "refusal", None)
        if refusal or getattr(choice, "finish_reason", None) == "content_filter":
            why = quoted(refusal) if refusal else "its content filter"
            raise LLMOutputError(f"{self._source} refused: {why}", usage, is_final=True)
        content = message.content
        return completed(content if isinstance(content, str) else None, schema, usage)

    def _answer(self, messages: list[dict[str, str]], schema: type[BaseModel]) -> ChatCompletion:
        """The server's answer, in the first dialect that it takes."""
        from openai import BadRequestError, OpenAIError, UnprocessableEntityError

        dialect: _Dialect | None = self._dialect
        failure, calls = None, 0
        while dialect is not None:
            calls += 1
            try:
                create: Callable[..., ChatCompletion] = self._client.chat.completions.create
                response = create(model=self._model, messages=messages, **self._options(dialect, schema))
            except (BadRequestError, UnprocessableEntityError) as error:
                # The first refusal tells most; one that is about the text needs no other dialect.
                failed = failure_of(error, name=self._source, key=self._client.api_key, calls=0)
                failure = failure or failed
                dialect = None if isinstance(failed, LLMOutputError) else dialect.without(str(error))
            # Besides its own errors, the client lets those of an unreadable answer through, and since 3.0
            # that it was closed.
            except (OpenAIError, ValueError, TypeError, AttributeError, RuntimeError) as error:
                failure = failure_of(error, name=self._source, key=self._client.api_key)
                break
            else:
                self._dialect = dialect
                return response
        assert failure is not None
        try:
            raise failure
        finally:
            del failure  # or its traceback and this frame would keep each other, and the connection, alive

    @property
    def _source(self) -> str:
        return f"{self._model} at {self._client.base_url.copy_with(userinfo=b'')}"

    def _options(self, dialect: _Dialect, schema: type[BaseModel]) -> dict[str, Any]:
        options: dict[str, Any] = {dialect.limit: self._max_output_tokens}
        if dialect.has_temperature:
            options["temperature"] = self._temperature
        if dialect.format == "json_schema":
            described = {"name": schema.__name__, "strict": True, "schema": strict_schema(schema)}
            options["response_format"] = {"type": "json_schema", "json_schema": described}
        elif dialect.format == "json_object":
            options["response_format"] = {"type": "json_object"}
        return options


def strict_schema(schema: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of ``schema`` in OpenAI's strict form: each key required, none but these allowed."""
    strict: dict[str, Any] = _strict(schema.model_json_schema())
    return strict


def _strict(node: Any) -> Any:
    if isinstance(node, list):
        return [_strict(inner) for inner in node]
    if not isinstance(node, dict):
        return node
    made = {key: _strict(value) for key, value in node.items() if key in _KEPT - {"properties", "$defs"}}
    for key in ("properties", "$defs"):  # their keys are names
        if key in node:
            made[key] = {name: _strict(value) for name, value in node[key].items()}
    if "properties" in made:
        made.pop("description", None)  # a docstring, which is for readers of the code
        made["required"] = list(made["properties"])
        made["additionalProperties"] = False
    return made


def _usage_of(response: Any) -> Usage:
    """What an answer cost; not every server says so, and not every one in whole numbers."""
    usage = getattr(response, "usage", None)
    counts = (getattr(usage, name, 0) for name in ("prompt_tokens", "completion_tokens"))
    prompt, completion = (count if isinstance(count, int) and count > 0 else 0 for count in counts)
    return Usage(llm_calls=1, prompt_tokens=prompt, completion_tokens=completion)
