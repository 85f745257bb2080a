"""Told in one process, used in another: real agents, a real HTTP server that speaks OpenAI's protocol."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.openai_server import OpenAIServer, Reply, Request, completion, serving

SESSION = """
import asyncio, sys
from dataclasses import dataclass
from langchain.agents import create_agent
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from langgraph.checkpoint.memory import InMemorySaver
from langchain_contextmemory import ContextMemoryMiddleware
from shared_core import ContextMemory

folder, url, thread, user, mode, question = sys.argv[1:]

@dataclass
class Who:
    user_id: str

@tool
def weather(city: str) -> str:
    "The weather of a city."
    return f"Sunny in {city}"

with ContextMemory(folder) as memory:
    ours = ContextMemoryMiddleware(memory, tools=True, raise_errors=True)
    model = ChatOpenAI(model="gpt-4o-mini", base_url=url, api_key="none", max_retries=0)
    agent = create_agent(model, [weather], system_prompt="Be brief.", middleware=[ours], context_schema=Who,
                         checkpointer=InMemorySaver())
    said, config = {"messages": [("user", question)]}, {"configurable": {"thread_id": thread}}
    if mode == "async":
        result = asyncio.run(agent.ainvoke(said, config, context=Who(user)))
    else:
        result = agent.invoke(said, config, context=Who(user))
    print(result["messages"][-1].text)
"""


def session(server: OpenAIServer, folder: Path, thread: str, user: str, mode: str, question: str) -> str:
    arguments = [str(folder), server.url, thread, user, mode, question]
    done = subprocess.run(
        [sys.executable, "-c", SESSION, *arguments], capture_output=True, text=True, timeout=180, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def reads_its_prompt(body: Mapping[str, Any]) -> str:
    """A model that can only say what stands in its prompt."""
    return "To Porto!" if "Porto" in json.dumps(body["messages"]) else "I do not know."


def calls(name: str, **arguments: Any) -> Any:
    def answer(request: Request) -> Reply:
        made = {
            "id": "call_1",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments)},
        }
        body = completion(request.body, "")
        body["choices"][0] = {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {"role": "assistant", "content": None, "tool_calls": [made]},
        }
        return Reply(body)

    return answer


@pytest.mark.parametrize("mode", ["sync", pytest.param("async", marks=pytest.mark.slow)])
def test_told_in_the_first_process_and_used_in_the_second(tmp_path: Path, mode: str) -> None:
    with serving() as server:
        server.chat = reads_its_prompt
        server.script.append(calls("weather", city="Oslo"))
        assert (
            session(server, tmp_path, "monday", "alice", mode, "My sister Carla moved to Porto.")
            == "To Porto!"
        )
        told = len(server.requests)
        answer = session(server, tmp_path, "tuesday", "alice", mode, "Where did my sister Carla move?")
        assert answer == "To Porto!"
        assert (
            session(server, tmp_path, "tuesday", "bob", mode, "Where did my sister Carla move?")
            == "I do not know."
        )
    assert told == 2
    system = server.requests[told].body["messages"][0]
    assert system["role"] == "system"
    assert "Be brief." in json.dumps(system)
    assert "Carla moved to Porto" in json.dumps(system)
    offered = {tool["function"]["name"] for tool in server.requests[0].body["tools"]}
    assert offered == {"weather", "remember", "recall", "forget", "relate"}


@pytest.mark.slow
def test_what_a_tool_stored_in_the_first_process_is_recalled_in_the_second(tmp_path: Path) -> None:
    with serving() as server:
        server.script.append(calls("remember", text="User flies to Porto in June", category="goal"))
        session(server, tmp_path, "monday", "alice", "sync", "Remember my flight.")
        server.script.append(calls("recall", query="When do I fly?"))
        session(server, tmp_path, "tuesday", "alice", "sync", "When do I fly?")
    answer = server.requests[-1].body["messages"][-1]
    assert answer["role"] == "tool"
    assert "User flies to Porto in June" in answer["content"]
