"""What the memory asks of a language model: messages and a schema in, an instance and its cost out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Literal, Protocol, TypeVar, runtime_checkable

from pydantic import BaseModel

from shared_core.errors import ContextMemoryError
from shared_core.llm.repair import read_answer
from shared_core.openai_client import without_key
from shared_core.records import Usage

__all__ = [
    "Completion",
    "LLMError",
    "LLMOutputError",
    "LLMUnavailableError",
    "PromptMessage",
    "StructuredLLM",
    "completed",
    "failure_of",
]

T = TypeVar("T", bound=BaseModel)
T_co = TypeVar("T_co", bound=BaseModel, covariant=True)

#: How much of a bad answer, or of an error, a message quotes, in characters.
_QUOTED = 500
#: In the error of a server that was reached and will never take this text, whoever asks again.
_REFUSALS = (
    "context length",
    "context_length",
    "context size",
    "context window",
    "maximum context",
    "too many tokens",
    "too long",
    "content filter",
    "content_filter",
    "content policy",
    "content_policy",
    "content management policy",
    "safety",
)
#: Errors of clients that had an answer and could not use it.
_BAD_ANSWERS = frozenset(
    "LengthFinishReasonError ContentFilterFinishReasonError OutputParserException".split()
)


class LLMError(ContextMemoryError):
    """A model did not do what it was asked; ``usage`` says what the attempt cost."""

    def __init__(self, message: str, usage: Usage | None = None) -> None:
        super().__init__(message)
        self.usage = usage or Usage()


class LLMUnavailableError(LLMError):
    """No answer came: a timeout, a lost connection, a rate limit, a wrong key. It may work later."""


class LLMOutputError(LLMError):
    """The model was reached, and its answer is of no use.

    Attributes:
        is_final: Whether asking again is pointless: it refused, or the text is too long for it.
    """

    def __init__(self, message: str, usage: Usage | None = None, *, is_final: bool = False) -> None:
        super().__init__(message, usage)
        self.is_final = is_final


@dataclass(frozen=True)
class PromptMessage:
    """One message of a prompt."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Completion(Generic[T_co]):
    """A model's answer.

    Attributes:
        value: An instance of the schema that was asked for.
        usage: What it cost, and how much of it had to be repaired or dropped.
    """

    value: T_co
    usage: Usage


@runtime_checkable
class StructuredLLM(Protocol):
    """A language model that answers in JSON; safe to use from many threads."""

    @property
    def name(self) -> str:
        """What it is called in logs and reports."""
        ...

    def complete(self, messages: Sequence[PromptMessage], schema: type[T]) -> Completion[T]:
        """One answer of the model.

        Args:
            messages: They must say in words, and with the word JSON, what the answer looks like, since not
                every server takes a schema.
            schema: What the answer is read as, see ``read_answer``; sent along where the server takes one.

        Raises:
            LLMUnavailableError: No answer came, after the retries of the client.
            LLMOutputError: The answer is a refusal, or nothing in it fits the schema.
        """
        ...


def completed(text: str | None, schema: type[T], usage: Usage) -> Completion[T]:
    """What a model wrote, read as ``schema``.

    Args:
        text: All of it.
        schema: See ``StructuredLLM.complete``.
        usage: What the answer cost.

    Raises:
        LLMOutputError: Nothing in it fits.
    """
    try:
        reading = read_answer(text or "", schema)
    except ValueError as error:
        raise LLMOutputError(str(error), usage) from error
    cost = usage + Usage(repaired=reading.repaired, dropped=reading.dropped)
    return Completion(reading.value, cost)


def failure_of(error: Exception, *, name: str, key: str | None = None, calls: int = 1) -> LLMError:
    """The error to raise for one of a client or framework; it shows no key, nor chains what does.

    An error with a status of 400, 413 or 422 that speaks of the length or the content of the text, and the
    error of a client that had an answer and found it cut off or filtered, are a matter of the answer; all
    others, of which nobody can know, of the way to it.

    Args:
        error: What the client raised.
        name: The model and its server, for the message.
        key: The API key, where it is known.
        calls: Requests that were sent.
    """
    reason, cause = without_key(error, key)
    message = f"{name} gave no answer: {type(error).__name__}: {reason:.{_QUOTED}}"
    usage = Usage(llm_calls=calls)
    failure: LLMError
    if _is_refused(error, reason):
        failure = LLMOutputError(message, usage, is_final=True)
    elif type(error).__name__ in _BAD_ANSWERS:
        failure = LLMOutputError(message, usage)
    else:
        failure = LLMUnavailableError(message, usage)
    failure.__cause__ = cause
    return failure


def _is_refused(error: Exception, reason: str) -> bool:
    status = getattr(error, "status_code", None)
    if status == 413:
        return True
    return status in (400, 422) and any(words in reason.casefold() for words in _REFUSALS)
