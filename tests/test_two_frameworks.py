"""One memory, two frameworks: what is told to one is known to the other, and both rank alike."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from llama_index.core.chat_engine import SimpleChatEngine

from langchain_contextmemory import ContextMemoryChatHistory, ContextMemoryMiddleware
from langchain_contextmemory import ContextMemoryRetriever as LangChainRetriever
from llamaindex_contextmemory import ContextChatMemory
from llamaindex_contextmemory import ContextMemoryRetriever as LlamaIndexRetriever
from shared_core import ContextMemory
from tests.llamaindex_contextmemory.scripted import ANSWER, ASKED, TOLD, UNKNOWN, ScriptedLLM, from_prompt

SAID = [
    "I moved to Lisbon in March and I work as a baker.",
    "My sister Clara is a vet in Graz.",
    "Yesterday I met Clara at the lake and we swam for an hour.",
    "Please always answer in short sentences.",
    "My daughter Ida starts school in September.",
    "I sold the old van and bought a cargo bike.",
]
QUESTIONS = [ASKED, "What does Clara do?", "Who goes to school?", "How do I get around?", "swimming"]


class PromptReader(BaseChatModel):
    """A chat model of LangChain that answers from what stands in its prompt."""

    @property
    def _llm_type(self) -> str:
        return "prompt-reader"

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        prompt = "\n".join(str(message.content) for message in messages)
        answer = from_prompt(prompt, str(messages[-1].content))
        return ChatResult(generations=[ChatGeneration(message=AIMessage(answer))])


def ask_langchain(memory: ContextMemory, user: str, thread: str, message: str) -> str:
    middleware: Sequence[Any] = [ContextMemoryMiddleware(memory)]
    agent: Any = create_agent(PromptReader(), middleware=middleware)
    state = agent.invoke(
        {"messages": [("user", message)]}, config={"configurable": {"user_id": user, "thread_id": thread}}
    )
    memory.flush()
    return str(state["messages"][-1].content)


def ask_llama_index(memory: ContextMemory, user: str, conversation: str, message: str) -> str:
    chat = ContextChatMemory.from_defaults(memory=memory, namespace=user, conversation_id=conversation)
    return str(SimpleChatEngine.from_defaults(llm=ScriptedLLM.of(), memory=chat).chat(message))


def test_told_to_a_langchain_agent_known_to_a_llama_index_engine(memory: ContextMemory) -> None:
    ask_langchain(memory, "ann", "monday", TOLD)
    assert ask_llama_index(memory, "ann", "friday", ASKED) == ANSWER
    assert ask_llama_index(memory, "bob", "friday", ASKED) == UNKNOWN


def test_told_to_a_llama_index_engine_known_to_a_langchain_agent(memory: ContextMemory) -> None:
    ask_llama_index(memory, "ann", "monday", TOLD)
    assert ask_langchain(memory, "ann", "friday", ASKED) == ANSWER
    assert ask_langchain(memory, "bob", "friday", ASKED) == UNKNOWN


@pytest.mark.parametrize("question", QUESTIONS)
def test_both_retrievers_rank_alike(question: str, memory: ContextMemory) -> None:
    for number, content in enumerate(SAID):
        memory.add([{"role": "user", "id": f"m{number}", "content": content}], f"c{number % 2}")
    documents = LangChainRetriever(memory=memory, k=6).invoke(question)
    nodes = LlamaIndexRetriever(memory=memory, similarity_top_k=6).retrieve(question)
    assert documents
    assert [document.id for document in documents] == [node.node_id for node in nodes]
    assert [document.page_content for document in documents] == [node.text for node in nodes]
    assert [document.metadata["source_ids"] for document in documents] == [
        node.metadata["source_ids"] for node in nodes
    ]


def test_one_conversation_may_go_on_in_the_other_framework(memory: ContextMemory) -> None:
    history = ContextMemoryChatHistory(memory, conversation_id="c1")
    history.add_messages([AIMessage("How can I help?")])
    chat = ContextChatMemory.from_defaults(memory=memory, conversation_id="c1")
    assert [message.content for message in chat.get_all()] == ["How can I help?"]
    SimpleChatEngine.from_defaults(llm=ScriptedLLM.of(), memory=chat).chat(TOLD)
    assert [message.content for message in history.messages] == ["How can I help?", TOLD, "Noted."]


def test_both_work_side_by_side_on_one_folder(tmp_path: Path) -> None:
    with ContextMemory(tmp_path) as first, ContextMemory(tmp_path) as second:
        ask_langchain(first, "ann", "monday", TOLD)
        assert ask_llama_index(second, "ann", "friday", ASKED) == ANSWER
