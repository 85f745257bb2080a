from __future__ import annotations

import logging
import pickle
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from typing import Any

import openai
import pytest
from pydantic import BaseModel, Field

from shared_core.errors import ContextMemoryError
from shared_core.llm import (
    LLMError,
    LLMOutputError,
    LLMUnavailableError,
    OpenAILLM,
    PromptMessage,
    StructuredLLM,
)
from shared_core.llm.openai import strict_schema
from shared_core.records import Usage
from tests.openai_server import OpenAIServer, Reply, Request, completion, serving

KEY = "sk-test-0123456789abcdef"
PROMPT = [PromptMessage("system", "Answer in JSON."), PromptMessage("user", "Which city?")]
SOON = {"retry-after-ms": "10"}


class City(BaseModel):
    name: str
    people: int = 0


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with serving() as running:
        running.chat = lambda body: '{"name": "Berlin", "people": 4}'
        yield running


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    """Close what a test opened, so that no socket is left to the garbage collector."""
    yield
    while OPENED:
        OPENED.pop().close()


OPENED: list[OpenAILLM] = []


def llm_for(server: OpenAIServer, **options: Any) -> OpenAILLM:
    OPENED.append(OpenAILLM(**({"base_url": server.url, "api_key": KEY} | options)))
    return OPENED[-1]


def answered(request: Request, content: Any = '{"name": "Rome"}', **changes: Any) -> Reply:
    """A good completion with changes to its choice."""
    body = completion(request.body, "")
    choice = body["choices"][0]
    choice["message"] = {"role": "assistant", "content": content} | changes.pop("message", {})
    choice.update(changes)
    return Reply(body)


def refusing(*words: str) -> Any:
    """A server of few words: status 400 while the request has one of ``words``."""

    def reply(request: Request) -> Reply:
        found = next((word for word in words if word in str(request.body)), None)
        if found is None:
            return answered(request)
        return Reply({"error": {"message": f"unsupported: {found}", "code": None}}, status=400)

    return reply


def test_an_answer_is_an_instance_with_its_cost(server: OpenAIServer) -> None:
    llm = llm_for(server)
    assert isinstance(llm, StructuredLLM)
    assert llm.name == "openai/gpt-4o-mini"
    answer = llm.complete(PROMPT, City)
    assert answer.value == City(name="Berlin", people=4)
    assert answer.usage == Usage(llm_calls=1, prompt_tokens=5, completion_tokens=4)
    (request,) = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == f"Bearer {KEY}"
    assert request.body["messages"] == [{"role": m.role, "content": m.content} for m in PROMPT]
    assert (request.body["model"], request.body["temperature"]) == ("gpt-4o-mini", 0.1)
    described = request.body["response_format"]["json_schema"]
    assert (described["name"], described["strict"], described["schema"]["required"]) == (
        "City",
        True,
        ["name", "people"],
    )


def test_the_schema_is_strict_all_the_way_down() -> None:
    class Street(BaseModel):
        """Where houses stand."""

        type: str = Field(default="road", max_length=20, description="its kind")

    class Town(BaseModel):
        streets: list[Street] = []
        mayor: str | None = None

    assert strict_schema(Town) == {
        "type": "object",
        "properties": {
            "streets": {"type": "array", "items": {"$ref": "#/$defs/Street"}},
            "mayor": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
        "required": ["streets", "mayor"],
        "additionalProperties": False,
        "$defs": {
            "Street": {
                "type": "object",
                "properties": {"type": {"type": "string", "description": "its kind"}},
                "required": ["type"],
                "additionalProperties": False,
            }
        },
    }


@pytest.mark.parametrize(
    ("words", "left"),
    [
        (["json_schema"], {"type": "json_object"}),
        (["response_format"], None),
    ],
)
def test_what_a_server_refuses_is_asked_for_once(
    server: OpenAIServer, words: list[str], left: dict[str, str] | None
) -> None:
    llm = llm_for(server)
    server.script.extend([refusing(*words)] * 5)
    assert llm.complete(PROMPT, City).value == City(name="Rome")
    asked = len(server.requests)
    assert llm.complete(PROMPT, City).value == City(name="Rome")
    assert len(server.requests) == asked + 1
    assert server.requests[-1].body.get("response_format") == left


def test_a_server_may_be_asked_for_less_from_the_start(server: OpenAIServer) -> None:
    llm_for(server, response_format="json_object").complete(PROMPT, City)
    llm_for(server, response_format="none").complete(PROMPT, City)
    assert [r.body.get("response_format") for r in server.requests] == [{"type": "json_object"}, None]


def test_models_with_other_parameters_are_served(server: OpenAIServer) -> None:
    def reply(request: Request) -> Reply:
        if "max_tokens" in request.body:
            return Reply({"error": {"message": "use 'max_completion_tokens' instead of 'max_tokens'"}}, 400)
        if "temperature" in request.body:
            return Reply({"error": {"message": "'temperature' does not support 0.1"}}, 400)
        return answered(request)

    server.script.extend([reply] * 5)
    llm = llm_for(server, max_output_tokens=77)
    llm.complete(PROMPT, City)
    llm.complete(PROMPT, City)
    assert len(server.requests) == 4
    assert server.requests[-1].body["max_completion_tokens"] == 77
    assert server.requests[-1].body["response_format"]["type"] == "json_schema"


def test_a_server_that_refuses_everything_is_unavailable_and_not_remembered(server: OpenAIServer) -> None:
    llm = llm_for(server)
    server.script.extend([Reply({"error": {"message": "bad day"}}, status=400)] * 3)
    with pytest.raises(LLMUnavailableError, match=r"gpt-4o-mini at http.*bad day"):
        llm.complete(PROMPT, City)
    assert len(server.requests) == 3
    llm.complete(PROMPT, City)
    assert server.requests[-1].body["response_format"]["type"] == "json_schema"


@pytest.mark.parametrize(
    "failure",
    [
        Reply({"error": {"message": "slow down"}}, status=429, headers=SOON),
        Reply({"error": {"message": "oops"}}, status=500, headers=SOON),
        Reply("bad gateway", status=502, headers=SOON),
        Reply(drop=True),
    ],
)
def test_passing_trouble_is_retried(server: OpenAIServer, failure: Reply) -> None:
    server.script.extend([failure])
    assert llm_for(server).complete(PROMPT, City).usage.llm_calls == 1
    assert len(server.requests) == 2


def test_retry_after_is_honoured(server: OpenAIServer) -> None:
    server.script.append(Reply({"error": {}}, status=429, headers={"retry-after": "1"}))
    begin = time.monotonic()
    llm_for(server).complete(PROMPT, City)
    assert 0.9 <= time.monotonic() - begin < 5


@pytest.mark.parametrize(
    "failure",
    [
        Reply({"error": {"message": "slow down"}}, status=429, headers=SOON),
        Reply({"error": {"message": "oops"}}, status=500, headers=SOON),
        Reply({"error": {"message": "who are you"}}, status=401),
        Reply({"error": {"message": "no such model"}}, status=404),
        Reply(drop=True),
        Reply(delay_seconds=5),
        Reply("<html>welcome to the hotel</html>"),
        Reply({"error": {"message": "rate limit, said with status 200"}}),
        Reply({"choices": []}),
        Reply({"choices": None}),
        Reply([]),
        Reply("{", headers={"content-type": "application/json"}),
    ],
)
def test_lasting_trouble_is_that_no_answer_came(server: OpenAIServer, failure: Reply) -> None:
    server.script.extend([failure] * 2)
    llm = llm_for(server, max_retries=1, timeout_seconds=0.3)
    with pytest.raises(LLMUnavailableError, match="gpt-4o-mini at http://127"):
        llm.complete(PROMPT, City)
    assert len(server.requests) <= 2


def test_a_closed_client_gives_no_answer(server: OpenAIServer) -> None:
    llm = llm_for(server)
    llm.close()
    with pytest.raises(LLMUnavailableError):
        llm.complete(PROMPT, City)


def test_nobody_listening_is_that_no_answer_came() -> None:
    llm = OpenAILLM(base_url="http://127.0.0.1:9/v1", max_retries=0)
    with pytest.raises(LLMUnavailableError, match="APIConnectionError"):
        llm.complete(PROMPT, City)


@pytest.mark.parametrize(
    "reply",
    [
        lambda request: answered(request, None, message={"refusal": "I will not"}),
        lambda request: answered(request, "", finish_reason="content_filter"),
        Reply({"error": {"message": "maximum context length is 4096 tokens"}}, status=400),
        Reply({"error": {"message": "the response was filtered: content_filter"}}, status=400),
        Reply({"error": {"message": "payload"}}, status=413),
    ],
)
def test_a_refusal_is_final(server: OpenAIServer, reply: Any) -> None:
    server.script.append(reply)
    with pytest.raises(LLMOutputError) as caught:
        llm_for(server, max_retries=0).complete(PROMPT, City)
    assert caught.value.is_final
    assert len(server.requests) == 1


@pytest.mark.parametrize("content", [None, "", "I'm sorry, I can't.", '{"people": 3}', 7, ["Berlin"]])
def test_an_answer_of_no_use_tells_what_it_cost(server: OpenAIServer, content: Any) -> None:
    server.script.append(lambda request: answered(request, content))
    with pytest.raises(LLMOutputError) as caught:
        llm_for(server).complete(PROMPT, City)
    assert (caught.value.is_final, caught.value.usage.llm_calls, caught.value.usage.prompt_tokens) == (
        False,
        1,
        5,
    )


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": None}, {"prompt_tokens": "many"}, 7])
def test_servers_that_tell_no_cost_are_served(server: OpenAIServer, usage: Any) -> None:
    server.script.append(lambda r: Reply(completion(r.body, '{"name": "Rome"}') | {"usage": usage}))
    assert llm_for(server).complete(PROMPT, City).usage == Usage(llm_calls=1)


def test_the_key_is_never_shown(server: OpenAIServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    llm = llm_for(server)
    assert KEY not in repr(llm)
    for status in (400, 401, 500):
        server.script.extend([Reply({"error": {"message": f"wrong: {KEY}"}}, status, SOON)] * 4)
        with pytest.raises(LLMError) as caught:
            llm_for(server, max_retries=0).complete(PROMPT, City)
        assert KEY not in "".join(traceback.format_exception(caught.value))
        server.script.clear()
    assert KEY not in caplog.text


def test_an_address_shows_no_password() -> None:
    llm = OpenAILLM(base_url="http://me:secret@127.0.0.1:9/v1", max_retries=0)
    with pytest.raises(LLMUnavailableError) as caught:
        llm.complete(PROMPT, City)
    assert "secret" not in str(caught.value)


def test_errors_of_a_model_are_the_library_s_and_cross_process_boundaries() -> None:
    error = LLMOutputError("no", Usage(llm_calls=2), is_final=True)
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.usage, copy.is_final) == ("no", Usage(llm_calls=2), True)
    assert issubclass(LLMError, ContextMemoryError)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": " "}, "model must be a name, not ' '"),
        ({"model": 4}, "model must be a name, not 4"),
        ({"temperature": 3}, "temperature must be 0 to 2, not 3"),
        ({"temperature": float("nan")}, "temperature must be 0 to 2"),
        ({"response_format": "xml"}, "response_format 'xml' is none of json_schema, json_object, none"),
        ({"max_output_tokens": 0}, "max_output_tokens must be 1 or more, not 0"),
        ({"timeout_seconds": 0}, "timeout_seconds must be above 0"),
        ({"max_retries": -1}, "max_retries must be 0 or more"),
    ],
)
def test_bad_arguments_are_quoted(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        OpenAILLM(**({"api_key": KEY} | options))


def test_openai_itself_needs_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ValueError, match="OpenAI needs a key"):
        OpenAILLM()


def test_a_client_of_one_s_own_is_used(server: OpenAIServer) -> None:
    client = openai.OpenAI(base_url=server.url, api_key=KEY)
    OPENED.append(OpenAILLM(client=client))
    assert OPENED[-1].complete(PROMPT, City).value.name == "Berlin"
    with pytest.raises(ValueError, match="a client, or a base_url and api_key, not both"):
        OpenAILLM(client=client, api_key=KEY)
    with pytest.raises(ValueError, match="not the asynchronous AsyncOpenAI"):
        OpenAILLM(client=openai.AsyncOpenAI(base_url=server.url, api_key=KEY))  # type: ignore[arg-type]


def test_the_package_loads_no_client() -> None:
    script = "import sys, shared_core.llm, shared_core.extraction.llm; assert 'openai' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
