from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage
from llama_index.core.chat_engine import SimpleChatEngine
from llama_index.core.workflow import Context

from llamaindex_contextmemory import ContextChatMemory
from shared_core import ContextMemory
from tests.llamaindex_contextmemory.engines import ENGINES, FRAMEWORK_WARNINGS, current_time, model
from tests.llamaindex_contextmemory.scripted import (
    ANSWER,
    ASKED,
    TOLD,
    UNKNOWN,
    ScriptedLLM,
    assistant,
    calling,
    from_prompt,
    texts,
)
from tests.openai_server import OpenAIServer, Reply, Request, completion, serving

pytestmark = FRAMEWORK_WARNINGS

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with serving() as running:
        running.chat = lambda body: from_prompt(
            "\n".join(str(message["content"]) for message in body["messages"]),
            str(body["messages"][-1]["content"]),
        )
        yield running


def say(folder: Path, conversation_id: str, message: str, url: str | None) -> dict[str, str]:
    """The answers of all engines, in a process of their own."""
    command = [sys.executable, "-m", "tests.llamaindex_contextmemory.engines"]
    command += [str(folder), conversation_id, message, *([url] if url else [])]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    answers: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return answers


@pytest.fixture(scope="module", params=[pytest.param("scripted", marks=pytest.mark.slow), "openai"])
def second_session(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, server: OpenAIServer
) -> dict[str, str]:
    """What each engine answers in its second session, in another process than the first."""
    folder = tmp_path_factory.mktemp("sessions") / request.param
    url = server.url if request.param == "openai" else None
    say(folder, "monday", TOLD, url)
    return say(folder, "friday", ASKED, url)


@pytest.mark.parametrize("engine", ENGINES)
def test_what_was_told_in_one_session_is_used_in_the_next_by(
    engine: str, second_session: dict[str, str]
) -> None:
    assert second_session[engine] == ANSWER


@pytest.mark.parametrize("engine", ENGINES)
def test_users_who_alternate_on_one_factory_never_see_each_other_in(
    engine: str, memory: ContextMemory
) -> None:
    def talk(user: str, conversation: str, message: str) -> tuple[str, str]:
        llm = ScriptedLLM.of()
        chat = ContextChatMemory.from_defaults(memory=memory, namespace=user, conversation_id=conversation)
        with ThreadPoolExecutor(max_workers=1) as thread:  # LlamaIndex leaves open the main thread's loop
            answer = thread.submit(ENGINES[engine](chat, llm), message).result()
        return answer, "\n".join(texts(prompt) for prompt in llm.prompts)

    talk("ann", "c1", TOLD)
    talk("bob", "c1", "I keep bees in Oslo.")
    ann = talk("ann", "c2", ASKED)
    bob = talk("bob", "c2", ASKED)
    assert ann[0] == ANSWER
    assert bob[0] == UNKNOWN
    assert "Oslo" not in ann[1]
    assert "Lisbon" not in bob[1]


async def test_a_function_agent_keeps_its_tool_calls_in_the_history(memory: ContextMemory) -> None:
    chat = ContextChatMemory.from_defaults(memory=memory, conversation_id="c1")
    llm = ScriptedLLM.of([calling("current_time"), assistant("It is noon."), assistant("As I said, noon.")])
    agent = FunctionAgent(llm=llm, tools=[current_time])
    await agent.run(user_msg="What time is it?", memory=chat)
    await agent.run(user_msg="Again please, what time is it?", memory=chat)
    roles = [message.role.value for message in chat.get_all()]
    assert roles == ["user", "assistant", "tool", "assistant", "user", "assistant"]
    second = llm.prompts[-1]
    assert [message.role.value for message in second if message.role != "system"] == roles[:5]
    assert second[-3].additional_kwargs["tool_call_id"] == "call-1"


async def test_an_agents_context_goes_on_after_it_was_written_down(memory: ContextMemory) -> None:
    chat = ContextChatMemory.from_defaults(memory=memory, conversation_id="c1")
    agent = FunctionAgent(llm=ScriptedLLM.of(), tools=[current_time])
    context = Context(agent)
    await agent.run(user_msg=TOLD, memory=chat, ctx=context)
    written = json.loads(json.dumps(context.to_dict()))
    again = Context.from_dict(agent, written)
    answer = await agent.run(user_msg=ASKED, ctx=again)
    restored = await again.store.get("memory")
    assert str(answer) == ANSWER
    assert [message.content for message in restored.get_all()] == [TOLD, "Noted.", ASKED, ANSWER]
    assert restored.memory is memory


def test_a_chat_engines_state_goes_the_way_that_it_wants(memory: ContextMemory) -> None:
    chat = ContextChatMemory.from_defaults(memory=memory, conversation_id="c1")
    engine = SimpleChatEngine.from_defaults(llm=ScriptedLLM.of(), memory=chat)
    engine.chat(TOLD)
    assert [message.content for message in engine.chat_history] == [TOLD, "Noted."]
    engine.reset()
    assert engine.chat_history == []
    assert str(engine.chat(ASKED)) == ANSWER
    history = [ChatMessage(role="user", content="Good day to you."), assistant("And to you.")]
    engine.chat("Thank you so much.", chat_history=history)
    assert [message.content for message in engine.chat_history] == [
        "Good day to you.",
        "And to you.",
        "Thank you so much.",
        "Noted.",
    ]


def test_an_engine_streams_into_the_history(memory: ContextMemory) -> None:
    chat = ContextChatMemory.from_defaults(memory=memory, conversation_id="c1")
    engine = SimpleChatEngine.from_defaults(llm=ScriptedLLM.of(), memory=chat)
    streamed = engine.stream_chat(TOLD)
    assert "".join(streamed.response_gen) == "Noted."
    writer = getattr(streamed, "write_response_to_history_thread", None)  # not in LlamaIndex 0.14.5
    if writer is not None:
        writer.join()
    assert [message.content for message in chat.get_all()] == [TOLD, "Noted."]


def calling_reply(name: str, **arguments: str) -> Callable[[Request], Reply]:
    """A reply of the server in which the model calls a tool."""

    def reply(request: Request) -> Reply:
        body = completion(request.body, "")
        function = {"name": name, "arguments": json.dumps(arguments)}
        call = {"id": "call-9", "type": "function", "function": function}
        body["choices"][0]["message"] = {"role": "assistant", "content": None, "tool_calls": [call]}
        body["choices"][0]["finish_reason"] = "tool_calls"
        return Reply(body)

    return reply


def test_an_agents_context_goes_on_in_another_process(tmp_path: Path) -> None:
    program = """
import asyncio, json, sys
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.workflow import Context
from llamaindex_contextmemory import ContextChatMemory
from shared_core import ContextMemory
from tests.llamaindex_contextmemory.scripted import ASKED, TOLD, ScriptedLLM

agent = FunctionAgent(llm=ScriptedLLM.of(), tools=[])

async def tell(folder):
    context = Context(agent)
    with ContextMemory(folder, "ann") as memory:
        await agent.run(user_msg=TOLD, memory=ContextChatMemory.from_defaults(memory=memory), ctx=context)
        print(json.dumps(context.to_dict()))

async def ask(written):
    print(await agent.run(user_msg=ASKED, ctx=Context.from_dict(agent, json.loads(written))))

asyncio.run({"tell": tell, "ask": ask}[sys.argv[1]](sys.argv[2]))
"""

    def run(*arguments: str) -> str:
        command = [sys.executable, "-c", program, *arguments]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()[-1]

    written = run("tell", str(tmp_path / "store"))
    assert run("ask", written) == ANSWER


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    """What the client of OpenAI talks through, which it would leave open."""
    async with httpx.AsyncClient() as opened:
        yield opened


async def test_a_served_model_calls_tools_and_reads_them_in_the_history(
    memory: ContextMemory, client: httpx.AsyncClient
) -> None:
    with serving() as running:
        running.chat = lambda body: "It is noon."
        running.script.append(calling_reply("current_time"))
        llm = model(running.url, async_http_client=client)
        for message in ("What time is it?", "And what time is it now?"):
            chat = ContextChatMemory.from_defaults(memory=memory, conversation_id="c1")
            agent = FunctionAgent(llm=llm, tools=[current_time], streaming=False)
            await agent.run(user_msg=message, memory=chat)
        sent = [message for message in running.requests[-1].body["messages"] if message["role"] != "system"]
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "assistant", "user"]
    assert sent[1]["tool_calls"][0]["id"] == sent[2]["tool_call_id"] == "call-9"


async def test_a_model_that_fails_leaves_what_was_said(
    memory: ContextMemory, client: httpx.AsyncClient
) -> None:
    with serving() as running:
        running.script.append(Reply({"error": {"message": "overloaded"}}, status=500))
        chat = ContextChatMemory.from_defaults(memory=memory, conversation_id="c1")
        llm = model(running.url, async_http_client=client)
        with pytest.raises(Exception, match="overloaded"):
            await SimpleChatEngine.from_defaults(llm=llm, memory=chat).achat(TOLD)
    assert [message.content for message in chat.get_all()] == [TOLD]
    later = ContextChatMemory.from_defaults(memory=memory, conversation_id="c2")
    assert "Lisbon" in texts(later.get("Which city?"))


async def test_users_who_talk_at_once_never_see_each_other(memory: ContextMemory) -> None:
    async def talk(user: str) -> str:
        llm = ScriptedLLM.of()
        chat = ContextChatMemory.from_defaults(memory=memory, namespace=user, conversation_id="c1")
        agent = FunctionAgent(llm=llm, tools=[current_time])
        for turn in range(3):
            await agent.run(user_msg=f"The secret of {user} is number {turn}.", memory=chat)
        return "\n".join(texts(prompt) for prompt in llm.prompts)

    users = ["ann", "bob", "cid", "dan"]
    saw = await asyncio.gather(*(talk(user) for user in users))
    for user, prompts in zip(users, saw, strict=True):
        assert f"secret of {user}" in prompts
        assert not any(f"secret of {other}" in prompts for other in users if other != user)
