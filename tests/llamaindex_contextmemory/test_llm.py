from __future__ import annotations

import json
import traceback
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx
import pytest
from llama_index.core.base.llms.types import ChatMessage, ChatResponse, CompletionResponse, LLMMetadata
from llama_index.core.llms import LLM, CustomLLM, MockLLM
from pydantic import BaseModel

from llamaindex_contextmemory.llm import LlamaIndexLLM
from shared_core import ContextMemory
from shared_core.errors import ExtractionError
from shared_core.extraction.llm import LLMExtractor
from shared_core.llm import LLMOutputError, PromptMessage, StructuredLLM
from shared_core.records import Usage
from tests.openai_server import OpenAIServer, Reply, Request, completion, serving

KEY = "sk-test-0123456789abcdef"
SOON = {"retry-after-ms": "10"}
PROMPT = [PromptMessage("system", "Answer in JSON."), PromptMessage("user", "Which city?")]
SAID = [{"role": "user", "content": "I live in Berlin.", "id": "m1"}]
FACT = {"messages": [1], "text": "User lives in Berlin", "category": "place", "importance": 8}


class City(BaseModel):
    name: str


#: The connections that a test opened.
CLIENTS: list[httpx.Client] = []


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with serving() as running:
        running.chat = lambda body: 'Sure:\n```json\n{"name": "Berlin"}\n```'
        yield running
    while CLIENTS:  # so that no socket is left to the garbage collector
        CLIENTS.pop().close()


def openai_for(server: OpenAIServer, **options: Any) -> LLM:
    given: dict[str, Any] = {
        "model": "qwen3",
        "api_base": server.url,
        "api_key": KEY,
        "is_chat_model": True,
        "max_retries": 0,
    }
    CLIENTS.append(httpx.Client(timeout=options.get("timeout", 60)))
    given["http_client"] = CLIENTS[-1]
    made: LLM = import_module("llama_index.llms.openai_like").OpenAILike(**(given | options))  # has no types
    return made


def test_a_chat_model_answers_with_its_cost(server: OpenAIServer) -> None:
    llm = LlamaIndexLLM(openai_for(server))
    assert isinstance(llm, StructuredLLM)
    assert llm.name == "llama-index/qwen3"
    answer = llm.complete(PROMPT, City)
    assert answer.value == City(name="Berlin")
    assert answer.usage == Usage(llm_calls=1, prompt_tokens=5, completion_tokens=5, repaired=1)
    (request,) = server.requests
    assert [m["role"] for m in request.body["messages"]] == ["system", "user"]


def test_options_go_along(server: OpenAIServer) -> None:
    LlamaIndexLLM(openai_for(server), options={"max_tokens": 7}).complete(PROMPT, City)
    assert server.requests[0].body["max_tokens"] == 7


def test_a_memory_learns_through_it(server: OpenAIServer, tmp_path: Path) -> None:
    server.chat = lambda body: json.dumps([FACT])
    extractor = LLMExtractor(LlamaIndexLLM(openai_for(server)))
    with ContextMemory(tmp_path, extractor=extractor) as memory:
        added = memory.add(SAID)
        (fact,) = memory.list(kind="fact")
    assert (fact.text, fact.importance, fact.source_ids) == ("User lives in Berlin", 0.8, ("m1",))
    assert (added.usage.llm_calls, added.usage.repaired) == (1, 2)
    assert added.usage.prompt_tokens > 100


@pytest.mark.parametrize(
    "failure",
    [
        Reply({"error": {"message": "slow down"}}, status=429, headers=SOON),
        Reply({"error": {"message": f"wrong key {KEY}"}}, status=401),
        Reply({"error": {"message": "oops"}}, status=500, headers=SOON),
        Reply(drop=True),
        Reply(delay_seconds=5),
        Reply("<html>welcome</html>"),
        Reply({"choices": []}),
    ],
)
def test_where_no_answer_comes_messages_wait(server: OpenAIServer, tmp_path: Path, failure: Reply) -> None:
    extractor = LLMExtractor(LlamaIndexLLM(openai_for(server, timeout=0.4)))
    with ContextMemory(tmp_path, extractor=extractor) as memory:
        server.script.append(failure)
        with pytest.raises(ExtractionError) as caught:
            memory.add(SAID)
        assert KEY not in "".join(traceback.format_exception(caught.value))
        assert [m.pending for m in memory.list(kind="message")] == [True]
        server.chat = lambda body: json.dumps({"facts": [FACT]})
        memory.maintain()
        assert [fact.text for fact in memory.list(kind="fact")] == ["User lives in Berlin"]


def refusing(request: Request) -> Reply:
    body = completion(request.body, "")
    body["choices"][0]["message"] = {"role": "assistant", "content": None, "refusal": "I will not"}
    return Reply(body)


def filtered(request: Request) -> Reply:
    body = completion(request.body, "")
    body["choices"][0]["finish_reason"] = "content_filter"
    return Reply(body)


@pytest.mark.parametrize(
    "reply",
    [refusing, filtered, Reply({"error": {"message": "maximum context length is 10"}}, status=400)],
)
def test_a_refusal_is_final(server: OpenAIServer, reply: Any) -> None:
    server.script.append(reply)
    with pytest.raises(LLMOutputError) as caught:
        LlamaIndexLLM(openai_for(server)).complete(PROMPT, City)
    assert caught.value.is_final


def test_prose_is_of_no_use() -> None:
    with pytest.raises(LLMOutputError) as caught:
        LlamaIndexLLM(MockLLM()).complete(PROMPT, City)
    assert (caught.value.is_final, caught.value.usage.llm_calls) == (False, 1)


class Completer(CustomLLM):
    """A model for completions alone."""

    @property
    def metadata(self) -> LLMMetadata:
        return LLMMetadata(model_name="completer")

    def complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        assert "Which city?" in prompt
        return CompletionResponse(text='{"name": "Rome"}')

    def stream_complete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> Any:
        raise NotImplementedError


class Counting(Completer):
    """A model whose answers tell their cost in an integration's own way."""

    raw: Any = None

    def chat(self, messages: Any, **kwargs: Any) -> ChatResponse:
        return ChatResponse(message=ChatMessage(role="assistant", content='{"name": "Rome"}'), raw=self.raw)


def test_models_for_completions_and_without_costs_serve() -> None:
    answer = LlamaIndexLLM(Completer()).complete(PROMPT, City)
    assert (answer.value.name, answer.usage) == ("Rome", Usage(llm_calls=1))


@pytest.mark.parametrize(
    "raw",
    [
        {"usage": {"input_tokens": 3, "output_tokens": 2}},
        {"usage": {"prompt_tokens": 3, "completion_tokens": 2}},
    ],
)
def test_costs_are_found_where_integrations_put_them(raw: Any) -> None:
    usage = LlamaIndexLLM(Counting(raw=raw)).complete(PROMPT, City).usage
    assert (usage.prompt_tokens, usage.completion_tokens) == (3, 2)


def test_something_else_than_a_model_is_refused() -> None:
    with pytest.raises(ValueError, match="llm 'gpt-4o' is no LLM of LlamaIndex"):
        LlamaIndexLLM("gpt-4o")  # type: ignore[arg-type]
