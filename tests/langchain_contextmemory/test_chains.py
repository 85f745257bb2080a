"""Classic chains, as existing programs have them, with our memory in place of theirs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from langchain_classic.agents import AgentExecutor, create_react_agent, create_tool_calling_agent
from langchain_classic.chains import ConversationalRetrievalChain, ConversationChain, LLMChain
from langchain_classic.memory import CombinedMemory, ConversationBufferMemory
from langchain_core.language_models import FakeListChatModel, FakeListLLM
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage
from langchain_core.outputs import ChatResult
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder, PromptTemplate
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI
from pydantic import Field

from langchain_contextmemory import ClassicContextMemory, ContextMemoryRetriever
from shared_core import ContextMemory
from tests.openai_server import serving

#: Every classic chain is deprecated; these tests are for the programs that still have one.
pytestmark = pytest.mark.filterwarnings("ignore:.*:langchain_core._api.LangChainDeprecationWarning")


class Listening(FakeMessagesListChatModel):
    """Keeps the messages that it was sent; takes any tools."""

    seen: list[list[BaseMessage]] = Field(default_factory=list)

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        self.seen.append(messages)
        return super()._generate(messages, *args, **kwargs)

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Any:
        return self


def listening(*answers: str | AIMessage) -> Listening:
    return Listening(responses=[AIMessage(a) if isinstance(a, str) else a for a in answers])


def texts(memory: ContextMemory, conversation_id: str = "default") -> list[str]:
    return [record.text for record in memory.messages(conversation_id)]


def test_conversation_chain(memory: ContextMemory) -> None:
    chain = ConversationChain(
        llm=FakeListLLM(responses=["Noted.", "In Berlin."]), memory=ClassicContextMemory(memory=memory)
    )
    assert chain.invoke("I moved to Berlin.")["response"] == "Noted."
    second = chain.invoke({"input": "Where do I live?"})
    assert second["response"] == "In Berlin."
    assert "I moved to Berlin." in second["history"]
    assert texts(memory) == ["I moved to Berlin.", "Noted.", "Where do I live?", "In Berlin."]


def test_conversation_chain_with_messages(memory: ContextMemory) -> None:
    memory.add([{"role": "user", "content": "I moved to Berlin."}], "earlier")
    model = listening("Good day.", "In Berlin.")
    prompt = ChatPromptTemplate.from_messages(
        [("system", "Be terse."), MessagesPlaceholder("history"), ("human", "{input}")]
    )
    chain = ConversationChain(
        llm=model,
        prompt=prompt,
        memory=ClassicContextMemory(memory=memory, return_messages=True, conversation_id="now"),
    )
    chain.invoke("Good day to you.")
    chain.invoke("Where do I live?")
    assert [message.type for message in model.seen[1]] == ["system", "system", "human", "ai", "human"]
    assert "Berlin" in str(model.seen[1][1].content)
    assert texts(memory, "now") == ["Good day to you.", "Good day.", "Where do I live?", "In Berlin."]


async def test_conversation_chain_async(memory: ContextMemory) -> None:
    chain = ConversationChain(
        llm=FakeListLLM(responses=["Noted.", "In Berlin."]), memory=ClassicContextMemory(memory=memory)
    )
    await chain.ainvoke("I moved to Berlin.")
    assert "I moved to Berlin." in (await chain.ainvoke("Where do I live?"))["history"]
    assert len(texts(memory)) == 4


def test_conversation_chain_on_a_real_server(memory: ContextMemory) -> None:
    memory.add([{"role": "user", "content": "I moved to Berlin."}], "earlier")
    with serving() as server:
        server.chat = lambda body: "In Berlin."
        model = ChatOpenAI(model="gpt-4o", base_url=server.url, api_key="none", max_retries=0)
        chain = ConversationChain(
            llm=model, memory=ClassicContextMemory(memory=memory, conversation_id="now")
        )
        assert chain.invoke("Where do I live?")["response"] == "In Berlin."
        assert "Berlin" in server.requests[0].body["messages"][0]["content"]


def test_llm_chain_with_two_inputs(memory: ContextMemory) -> None:
    prompt = PromptTemplate.from_template("Known: {known}\nAnswer in {language}: {question}")
    chain = LLMChain(
        llm=FakeListLLM(responses=["Genoteerd.", "In Berlijn."]),
        prompt=prompt,
        memory=ClassicContextMemory(memory=memory, memory_key="known", input_key="question"),
    )
    chain.invoke({"question": "I moved to Berlin.", "language": "Dutch"})
    second = chain.invoke({"question": "Where do I live?", "language": "Dutch"})
    assert second["text"] == "In Berlijn."
    assert "I moved to Berlin." in second["known"]
    assert texts(memory) == ["I moved to Berlin.", "Genoteerd.", "Where do I live?", "In Berlijn."]


def test_llm_chain_with_two_inputs_and_no_key_asks_no_model(memory: ContextMemory) -> None:
    model = listening("Genoteerd.")
    chain = LLMChain(
        llm=model,
        prompt=PromptTemplate.from_template("{history} {language} {question}"),
        memory=ClassicContextMemory(memory=memory),
    )
    with pytest.raises(ValueError, match=r"\['language', 'question'\]"):
        chain.invoke({"question": "I moved to Berlin.", "language": "Dutch"})
    assert model.seen == []


def test_braces_in_what_is_remembered_are_no_variables(memory: ContextMemory) -> None:
    chain = ConversationChain(
        llm=FakeListLLM(responses=["Noted {too}.", "Yes."]), memory=ClassicContextMemory(memory=memory)
    )
    chain.invoke("I write {{templates}} such as {name}.")
    assert "{name}" in chain.invoke("What do I write?")["history"]


def test_conversational_retrieval_chain(memory: ContextMemory) -> None:
    library = memory.for_namespace("library")
    try:
        library.add([{"role": "user", "content": "The museum opens at nine."}], "guide")
        model = listening("At nine.", "When does the museum open on Sunday?", "At nine as well.")
        chain = ConversationalRetrievalChain.from_llm(
            model,
            retriever=ContextMemoryRetriever(memory=library, k=1),
            memory=ClassicContextMemory(
                memory=memory, memory_key="chat_history", return_messages=True, output_key="answer"
            ),
            return_source_documents=True,
            return_generated_question=True,
        )
        assert chain.invoke({"question": "When does the museum open?"})["answer"] == "At nine."
        second = chain.invoke({"question": "And on Sunday?"})
    finally:
        library.close()
    assert second["answer"] == "At nine as well."
    assert second["generated_question"] == "When does the museum open on Sunday?"
    assert "nine" in second["source_documents"][0].page_content
    assert "Human: When does the museum open?\nAssistant: At nine." in str(model.seen[1][0].content)
    assert texts(memory) == ["When does the museum open?", "At nine.", "And on Sunday?", "At nine as well."]


@tool
def weather(city: str) -> str:
    """The weather of a city."""
    return f"12 degrees in {city}"


def test_agent_executor_that_calls_tools(memory: ContextMemory) -> None:
    memory.add([{"role": "user", "content": "I moved to Berlin."}], "earlier")
    call: Any = {"name": "weather", "args": {"city": "Berlin"}, "id": "1", "type": "tool_call"}
    model = listening(AIMessage("", tool_calls=[call]), "12 degrees.", "You asked that before.")
    prompt = ChatPromptTemplate.from_messages(
        [MessagesPlaceholder("chat_history"), ("human", "{input}"), MessagesPlaceholder("agent_scratchpad")]
    )
    executor = AgentExecutor(
        agent=create_tool_calling_agent(model, [weather], prompt),
        tools=[weather],
        memory=ClassicContextMemory(
            memory=memory, memory_key="chat_history", return_messages=True, conversation_id="now"
        ),
        return_intermediate_steps=True,
    )
    first = executor.invoke({"input": "How warm is it where I live?"})
    assert first["output"] == "12 degrees."
    assert first["intermediate_steps"][0][1] == "12 degrees in Berlin"
    assert isinstance(model.seen[0][0], SystemMessage)
    assert "Berlin" in str(model.seen[0][0].content)
    executor.invoke({"input": "How warm is it, again?"})
    assert "12 degrees." in [message.content for message in model.seen[2]]
    assert texts(memory, "now") == [
        "How warm is it where I live?",
        "12 degrees.",
        "How warm is it, again?",
        "You asked that before.",
    ]


REACT = """Known: {chat_history}
Tools: {tools}, that is {tool_names}
Question: {input}
{agent_scratchpad}"""


async def test_agent_executor_that_reasons_in_text(memory: ContextMemory) -> None:
    answers = [
        "Action: weather\nAction Input: Berlin",
        "Final Answer: 12 degrees.",
        "Final Answer: Still 12.",
    ]
    executor = AgentExecutor(
        agent=create_react_agent(
            FakeListLLM(responses=answers), [weather], PromptTemplate.from_template(REACT)
        ),
        tools=[weather],
        memory=ClassicContextMemory(memory=memory, memory_key="chat_history"),
    )
    assert (await executor.ainvoke({"input": "How warm is it in Berlin?"}))["output"] == "12 degrees."
    second = executor.invoke({"input": "And now?"})
    assert second["output"] == "Still 12."
    assert "How warm is it in Berlin?" in second["chat_history"]
    assert len(texts(memory)) == 4


def test_beside_another_memory(memory: ContextMemory) -> None:
    combined = CombinedMemory(
        memories=[
            ConversationBufferMemory(memory_key="buffer", input_key="input"),
            ClassicContextMemory(memory=memory, memory_key="known", input_key="input"),
        ]
    )
    chain = ConversationChain(
        llm=FakeListChatModel(responses=["Noted.", "In Berlin."]),
        prompt=PromptTemplate.from_template("{known}\n{buffer}\n{input}"),
        memory=combined,
    )
    chain.invoke("I moved to Berlin.")
    second = chain.invoke("Where do I live?")
    assert "I moved to Berlin." in second["known"]
    assert texts(memory) == ["I moved to Berlin.", "Noted.", "Where do I live?", "In Berlin."]


class Closing(Listening):
    """Closes the memory while it answers."""

    memory: Any

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        self.memory.close()
        return super()._generate(messages, *args, **kwargs)


def test_an_answer_survives_a_memory_that_cannot_write(memory: ContextMemory) -> None:
    classic = ClassicContextMemory(memory=memory)
    chain = ConversationChain(llm=Closing(responses=[AIMessage("Noted.")], memory=memory), memory=classic)
    assert chain.invoke("I moved to Berlin.")["response"] == "Noted."
    assert classic.failures == 1
