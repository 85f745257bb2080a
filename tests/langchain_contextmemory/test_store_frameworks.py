"""The store where it is meant to be used: graphs, agents, and langmem's tools and store manager."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langchain.agents import create_agent
from langchain.tools import InjectedStore, ToolRuntime
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.tools import tool
from langgraph.graph import END, START, StateGraph
from langgraph.runtime import Runtime
from langgraph.store.base import BaseStore

from langchain_contextmemory import ContextMemoryStore
from shared_core import ContextMemory

HAS_LANGMEM = find_spec("langmem") is not None  # not among what every run installs: it takes minutes
if HAS_LANGMEM:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # langmem's own, on import
        from langmem import (
            create_manage_memory_tool,
            create_memory_store_manager,
            create_search_memory_tool,
        )


class ScriptedModel(BaseChatModel):
    """Answers with one message after the other, whatever it is asked."""

    answers: list[AIMessage]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> ScriptedModel:
        return self

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        answer = self.answers.pop(0) if self.answers else AIMessage("done")
        return ChatResult(generations=[ChatGeneration(message=answer)])


def calling(name: str, **arguments: Any) -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"call-{name}"}])


@pytest.fixture
def store(memory: ContextMemory) -> ContextMemoryStore:
    return ContextMemoryStore(memory)


class State(TypedDict):
    said: str
    found: list[str]


def graph_on(store: BaseStore) -> Any:
    def remember(state: State, *, store: BaseStore) -> dict[str, Any]:
        store.put(("users", "ada"), state["said"], {"text": state["said"]})
        return {}

    async def look_up(state: State, runtime: Runtime[Any]) -> dict[str, Any]:
        assert runtime.store is not None
        found = await runtime.store.asearch(("users", "ada"), query="vehicle", limit=1)
        return {"found": [item.value["text"] for item in found]}

    builder = StateGraph(State)
    builder.add_node("remember", remember)
    builder.add_node("look_up", look_up)
    builder.add_edge(START, "remember")
    builder.add_edge("remember", "look_up")
    builder.add_edge("look_up", END)
    return builder.compile(store=store)


async def test_a_compiled_graph_writes_in_one_run_and_finds_in_another(tmp_path: Path) -> None:
    with ContextMemory(tmp_path) as memory:
        await graph_on(ContextMemoryStore(memory)).ainvoke({"said": "Ada bought a bicycle", "found": []})
    with ContextMemory(tmp_path) as memory:
        graph = graph_on(ContextMemoryStore(memory))
        result = await graph.ainvoke({"said": "Ada likes leek soup", "found": []})
        assert result["found"] == ["Ada bought a bicycle"]


@tool
def note(text: str, store: Annotated[Any, InjectedStore()]) -> str:
    """Note a text."""
    store.put(("notes",), text, {"text": text})
    return "noted"


@tool
async def recall(query: str, runtime: ToolRuntime) -> str:
    """Find a note."""
    assert runtime.store is not None
    found = await runtime.store.asearch(("notes",), query=query, limit=1)
    return ", ".join(item.value["text"] for item in found)


async def test_an_agents_tools_get_the_store_and_another_agent_finds_what_they_kept(tmp_path: Path) -> None:
    with ContextMemory(tmp_path) as memory:
        model = ScriptedModel(answers=[calling("note", text="the key is under the mat")])
        agent: Any = create_agent(model, tools=[note, recall], store=ContextMemoryStore(memory))
        await agent.ainvoke({"messages": [{"role": "user", "content": "remember where the key is"}]})
    with ContextMemory(tmp_path) as memory:
        model = ScriptedModel(answers=[calling("recall", query="key")])
        agent = create_agent(model, tools=[note, recall], store=ContextMemoryStore(memory))
        state = await agent.ainvoke({"messages": [{"role": "user", "content": "where is the key?"}]})
        (answer,) = [message for message in state["messages"] if isinstance(message, ToolMessage)]
        assert answer.content == "the key is under the mat"


@pytest.mark.skipif(not HAS_LANGMEM, reason="langmem is not installed")
def test_langmems_tools_keep_change_search_and_delete_a_memory(store: ContextMemoryStore) -> None:
    manage = create_manage_memory_tool(namespace=("memories", "{langgraph_user_id}"), store=store)
    search = create_search_memory_tool(namespace=("memories", "{langgraph_user_id}"), store=store)
    ada = {"configurable": {"langgraph_user_id": "ada"}}
    bob = {"configurable": {"langgraph_user_id": "bob"}}
    said = manage.invoke({"content": "Ada prefers dark mode", "action": "create"}, config=ada)
    memory_id = said.split()[-1]
    found = json.loads(search.invoke({"query": "colour scheme"}, config=ada))
    assert found[0]["value"]["content"] == "Ada prefers dark mode"
    assert json.loads(search.invoke({"query": "colour scheme"}, config=bob)) == []
    manage.invoke({"content": "Ada prefers light mode", "id": memory_id, "action": "update"}, config=ada)
    (item,) = store.search(("memories", "ada"))
    assert (item.key, item.value["content"]) == (memory_id, "Ada prefers light mode")
    assert item.updated_at > item.created_at
    manage.invoke({"id": memory_id, "action": "delete"}, config=ada)
    assert store.search(()) == []


@pytest.mark.skipif(not HAS_LANGMEM, reason="langmem is not installed")
async def test_langmems_tools_work_in_an_agent(store: ContextMemoryStore) -> None:
    model = ScriptedModel(answers=[calling("manage_memory", content="Ada cycles", action="create")])
    tools = [
        create_manage_memory_tool(namespace=("memories",)),
        create_search_memory_tool(namespace=("memories",)),
    ]
    agent: Any = create_agent(model, tools=tools, store=store)
    await agent.ainvoke({"messages": [{"role": "user", "content": "I cycle"}]})
    assert [item.value["content"] for item in store.search(("memories",))] == ["Ada cycles"]


@pytest.fixture
def quiet() -> Iterator[None]:
    """Deprecations inside langmem and trustcall are not ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


@pytest.mark.usefixtures("quiet")
@pytest.mark.parametrize("how", ["sync", "async"])
@pytest.mark.skipif(not HAS_LANGMEM, reason="langmem is not installed")
async def test_langmems_store_manager_keeps_what_its_model_extracts(
    store: ContextMemoryStore, how: str
) -> None:
    model = ScriptedModel(
        answers=[
            AIMessage(
                "",
                tool_calls=[
                    {"name": "Memory", "args": {"content": content}, "id": f"call-{place}"}
                    for place, content in enumerate(["Ada cycles to work", "Ada lives in Berlin"])
                ],
            )
        ]
    )
    manager = create_memory_store_manager(model, namespace=("memories", "{langgraph_user_id}"), store=store)
    config: Any = {"configurable": {"langgraph_user_id": "ada"}}
    talk: Any = {"messages": [{"role": "user", "content": "I cycle to work in Berlin"}]}
    kept = (
        manager.invoke(talk, config=config) if how == "sync" else await manager.ainvoke(talk, config=config)
    )
    assert len(kept) == 2
    found = store.search(("memories", "ada"), query="bicycle")
    assert found[0].value == {"kind": "Memory", "content": {"content": "Ada cycles to work"}}
    assert len(found) == 2
    assert len(manager.search(query="Berlin", config=config)) == 2
    assert store.search(("memories", "bob")) == []
