from __future__ import annotations

import json
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypedDict

import httpx
import pytest
from langchain_core.language_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_openai import ChatOpenAI
from langgraph.graph import StateGraph
from pydantic import BaseModel

from langchain_contextmemory.llm import LangChainLLM
from shared_core import ContextMemory
from shared_core.errors import ExtractionError
from shared_core.extraction.llm import LLMExtractor
from shared_core.llm import LLMOutputError, LLMUnavailableError, PromptMessage, StructuredLLM
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


def openai_for(server: OpenAIServer, **options: Any) -> ChatOpenAI:
    given: dict[str, Any] = {"model": "gpt-4o-mini", "base_url": server.url, "api_key": KEY, "max_retries": 0}
    CLIENTS.append(httpx.Client(timeout=options.get("timeout", 60)))
    given["http_client"] = CLIENTS[-1]
    return ChatOpenAI(**(given | options))


def test_a_chat_model_answers_with_its_cost(server: OpenAIServer) -> None:
    llm = LangChainLLM(openai_for(server))
    assert isinstance(llm, StructuredLLM)
    assert llm.name == "langchain/gpt-4o-mini"
    answer = llm.complete(PROMPT, City)
    assert answer.value == City(name="Berlin")
    assert answer.usage == Usage(llm_calls=1, prompt_tokens=5, completion_tokens=5, repaired=1)
    (request,) = server.requests
    assert [m["role"] for m in request.body["messages"]] == ["system", "user"]


def test_options_go_along(server: OpenAIServer) -> None:
    LangChainLLM(openai_for(server), options={"max_tokens": 7}).complete(PROMPT, City)
    assert 7 in server.requests[0].body.values()


def test_a_memory_learns_through_it(server: OpenAIServer, tmp_path: Path) -> None:
    server.chat = lambda body: json.dumps([FACT])
    extractor = LLMExtractor(LangChainLLM(openai_for(server)))
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
    ],
)
def test_where_no_answer_comes_messages_wait(server: OpenAIServer, tmp_path: Path, failure: Reply) -> None:
    extractor = LLMExtractor(LangChainLLM(openai_for(server, timeout=0.4)))
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


@pytest.mark.parametrize(
    "reply", [refusing, Reply({"error": {"message": "maximum context length is 10"}}, status=400)]
)
def test_a_refusal_is_final(server: OpenAIServer, reply: Any) -> None:
    server.script.append(reply)
    with pytest.raises(LLMOutputError) as caught:
        LangChainLLM(openai_for(server)).complete(PROMPT, City)
    assert caught.value.is_final


def test_prose_is_of_no_use(server: OpenAIServer) -> None:
    server.chat = lambda body: "I'd rather not say."
    with pytest.raises(LLMOutputError) as caught:
        LangChainLLM(openai_for(server)).complete(PROMPT, City)
    assert (caught.value.is_final, caught.value.usage.llm_calls) == (False, 1)


def test_an_answer_cut_off_in_a_json_mode_is_of_no_use_rather_than_an_outage(server: OpenAIServer) -> None:
    def cut(request: Request) -> Reply:
        body = completion(request.body, '{"name": "Ber')
        body["choices"][0]["finish_reason"] = "length"
        return Reply(body)

    server.script.append(cut)
    llm = LangChainLLM(openai_for(server), options={"response_format": {"type": "json_object"}})
    with pytest.raises(LLMOutputError):
        llm.complete(PROMPT, City)


def test_models_without_tools_or_costs_serve() -> None:
    llm = LangChainLLM(FakeListChatModel(responses=['{"name": "Rome"}']))
    assert llm.complete(PROMPT, City).usage == Usage(llm_calls=1)
    blocks: Any = [{"type": "text", "text": '{"name": '}, {"type": "text", "text": '"Rome"}'}]
    parts = GenericFakeChatModel(messages=iter([AIMessage(content=blocks)]))
    assert LangChainLLM(parts).complete(PROMPT, City).value.name == "Rome"
    spent = GenericFakeChatModel(messages=iter([]))
    with pytest.raises(LLMUnavailableError, match="gave no answer"):
        LangChainLLM(spent).complete(PROMPT, City)


class State(TypedDict):
    city: str


def test_what_it_writes_stays_out_of_a_stream_of_messages(server: OpenAIServer) -> None:
    llm = LangChainLLM(openai_for(server))
    graph = StateGraph(State)
    graph.add_node("learn", lambda state: {"city": llm.complete(PROMPT, City).value.name})
    graph.set_entry_point("learn")
    streamed = list(graph.compile().stream({"city": ""}, stream_mode=["messages", "values"]))
    assert [kind for kind, _ in streamed if kind == "messages"] == []
    assert streamed[-1] == ("values", {"city": "Berlin"})


def test_something_else_than_a_chat_model_is_refused() -> None:
    with pytest.raises(ValueError, match="model 'gpt-4o' is no BaseChatModel"):
        LangChainLLM("gpt-4o")  # type: ignore[arg-type]
