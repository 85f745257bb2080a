"""Language models: one small protocol, OpenAI's client, and how their output is read."""

from shared_core.llm.base import (
    Completion,
    LLMError,
    LLMOutputError,
    LLMUnavailableError,
    PromptMessage,
    StructuredLLM,
)
from shared_core.llm.openai import OpenAILLM
from shared_core.llm.repair import Reading, read_answer

__all__ = [
    "Completion",
    "LLMError",
    "LLMOutputError",
    "LLMUnavailableError",
    "OpenAILLM",
    "PromptMessage",
    "Reading",
    "StructuredLLM",
    "read_answer",
]
