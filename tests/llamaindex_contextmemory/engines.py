"""Every engine and agent of LlamaIndex that takes a chat memory, built alike; also a program of its own.

``python -m tests.llamaindex_contextmemory.engines FOLDER CONVERSATION MESSAGE [URL]`` says one message to
each engine, each of which has a namespace of its own in the folder, and prints their answers as JSON. The
model is scripted, or the OpenAI-compatible server at the URL.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentWorkflow, FunctionAgent, ReActAgent
from llama_index.core.chat_engine import (
    CondensePlusContextChatEngine,
    CondenseQuestionChatEngine,
    ContextChatEngine,
    SimpleChatEngine,
)
from llama_index.core.llms import LLM
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, TextNode

from llamaindex_contextmemory import ContextChatMemory, ContextMemoryRetriever
from shared_core import ContextMemory
from tests.llamaindex_contextmemory.scripted import ScriptedLLM

Say = Callable[[str], str]

#: For tests that run agents. LlamaIndex's workflows look through every attribute of an agent, deprecated ones
#: of pydantic included, and its agents use what its workflows deprecate.
FRAMEWORK_WARNINGS = [
    pytest.mark.filterwarnings(rf"ignore:{message}:DeprecationWarning")
    for message in (
        r"The `(__fields__|__fields_set__|model_\w+)` attribute",
        r"Accessing the 'model_\w+' attribute",
        "is_running called from within a step",
    )
]


class Documents(BaseRetriever):
    """One document that has nothing to do with the user."""

    def _retrieve(self, query_bundle: Any) -> list[NodeWithScore]:
        return [NodeWithScore(node=TextNode(text="Bread rises at 26 degrees."), score=0.5)]


def current_time() -> str:
    """The time."""
    return "noon"


def simple(memory: ContextChatMemory, llm: LLM) -> Say:
    engine = SimpleChatEngine.from_defaults(llm=llm, memory=memory, system_prompt="Be brief.")
    return lambda message: str(engine.chat(message))


def context(memory: ContextChatMemory, llm: LLM) -> Say:
    engine = ContextChatEngine.from_defaults(retriever=Documents(), llm=llm, memory=memory)
    return lambda message: str(engine.chat(message))


def condense_plus_context(memory: ContextChatMemory, llm: LLM) -> Say:
    engine = CondensePlusContextChatEngine.from_defaults(
        retriever=Documents(), llm=llm, memory=memory, skip_condense=False
    )
    return lambda message: str(engine.chat(message))


def condense_question(memory: ContextChatMemory, llm: LLM) -> Say:
    from llama_index.core.query_engine import RetrieverQueryEngine

    queries = RetrieverQueryEngine.from_args(ContextMemoryRetriever(memory=memory.memory), llm=llm)
    engine = CondenseQuestionChatEngine.from_defaults(query_engine=queries, llm=llm, memory=memory)
    return lambda message: str(engine.chat(message))


def function_agent(memory: ContextChatMemory, llm: LLM) -> Say:
    return _workflow(FunctionAgent(llm=llm, tools=[current_time], streaming=False), memory)


def react_agent(memory: ContextChatMemory, llm: LLM) -> Say:
    return _workflow(ReActAgent(llm=llm, tools=[current_time], streaming=False), memory)


def agent_workflow(memory: ContextChatMemory, llm: LLM) -> Say:
    agent = FunctionAgent(name="host", description="hosts", llm=llm, tools=[current_time], streaming=False)
    return _workflow(AgentWorkflow(agents=[agent], root_agent="host"), memory)


def _workflow(agent: Any, memory: ContextChatMemory) -> Say:
    async def run(message: str) -> str:
        return str(await agent.run(user_msg=message, memory=memory))

    return lambda message: asyncio.run(run(message))


ENGINES: dict[str, Callable[[ContextChatMemory, LLM], Say]] = {
    "SimpleChatEngine": simple,
    "ContextChatEngine": context,
    "CondensePlusContextChatEngine": condense_plus_context,
    "CondenseQuestionChatEngine": condense_question,
    "FunctionAgent": function_agent,
    "ReActAgent": react_agent,
    "AgentWorkflow": agent_workflow,
}


def model(url: str | None, **clients: Any) -> LLM:
    if url is None:
        return ScriptedLLM.of()
    served: LLM = import_module("llama_index.llms.openai_like").OpenAILike(  # has no types
        model="gpt-4o",
        api_base=url,
        api_key="none",
        is_chat_model=True,
        is_function_calling_model=True,
        max_retries=0,
        **clients,
    )
    return served


def main(folder: str, conversation_id: str, message: str, url: str | None = None) -> None:
    answers = {}
    with ContextMemory(folder) as store:
        for name, build in ENGINES.items():
            memory = ContextChatMemory.from_defaults(
                memory=store, namespace=name, conversation_id=conversation_id
            )
            answers[name] = build(memory, model(url))(message)
    print(json.dumps(answers))


if __name__ == "__main__":
    main(*sys.argv[1:])
