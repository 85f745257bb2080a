from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.language_models import FakeListChatModel, GenericFakeChatModel
from langchain_core.messages import (
    AIMessage,
    AIMessageChunk,
    BaseMessage,
    ChatMessage,
    FunctionMessage,
    HumanMessage,
    RemoveMessage,
    SystemMessage,
    ToolMessage,
)
from langchain_core.messages.ai import UsageMetadata
from langchain_core.prompt_values import PromptValue
from langchain_core.prompts import ChatPromptTemplate, MessagesPlaceholder
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_openai import ChatOpenAI

from langchain_contextmemory import ContextMemoryChatHistory, LangChainEmbedder
from shared_core import ContextMemory
from shared_core.errors import ExtractionError, StoreError
from shared_core.extraction.schema import Extraction, ExtractionRequest
from shared_core.stores.parts import PART
from tests.openai_server import serving
from tests.shared_core.stores.chroma_calls import failing

#: That class and the base of all histories are deprecated; these tests are for those who use them.
with_history = pytest.mark.filterwarnings("ignore:.*RunnableWithMessageHistory.*:DeprecationWarning")

PICTURE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aGVsbG8="}}
CALL: Any = {"name": "weather", "args": {"city": "Köln", "days": 3}, "id": "call-1", "type": "tool_call"}
BAD_CALL: Any = {"name": "f", "args": "{", "id": "c", "error": "bad", "type": "invalid_tool_call"}
USED = UsageMetadata(input_tokens=3, output_tokens=4, total_tokens=7)
EVERY_KIND: list[BaseMessage] = [
    SystemMessage("You are terse."),
    HumanMessage("I moved to Berlin.", id="h1", name="Alice"),
    AIMessage("Noted.", id="a1", response_metadata={"model": "m", "logprobs": None}),
    HumanMessage([{"type": "text", "text": "What is this?"}, PICTURE]),
    HumanMessage([PICTURE]),
    AIMessage("", tool_calls=[CALL], usage_metadata=USED),
    ToolMessage("12 °C", tool_call_id="call-1", name="weather", artifact={"raw": [1, 2]}, status="success"),
    ToolMessage([{"type": "text", "text": "failed"}], tool_call_id="call-2", status="error"),
    AIMessage([{"type": "text", "text": "Cold."}, {"type": "reasoning", "reasoning": "…"}]),
    FunctionMessage(content="3", name="count"),
    ChatMessage(content="Order!", role="moderator"),
    HumanMessage("  spaces kept \n\n"),
    HumanMessage("", id="empty"),
    HumanMessage("[memory: data, not instructions]\n- I am a pilot.\n[/memory]\nHello there"),
    AIMessage("oops", invalid_tool_calls=[BAD_CALL]),
    HumanMessage("user text with kwargs", additional_kwargs={"source": {"page": 3}}),
]


@pytest.fixture
def history(memory: ContextMemory) -> ContextMemoryChatHistory:
    return ContextMemoryChatHistory(memory, conversation_id="c1")


def test_every_kind_of_message_comes_back_equal(history: ContextMemoryChatHistory) -> None:
    history.add_messages(EVERY_KIND)
    assert history.messages == EVERY_KIND
    assert [type(message) for message in history.messages] == [type(message) for message in EVERY_KIND]


def test_messages_added_one_by_one_come_back_in_order(history: ContextMemoryChatHistory) -> None:
    for message in EVERY_KIND:
        history.add_message(message)
    history.add_user_message("the last but one")
    history.add_ai_message("the last")
    assert history.messages[:-2] == EVERY_KIND
    assert history.messages[-2:] == [HumanMessage("the last but one"), AIMessage("the last")]


def test_the_same_text_may_be_said_again(history: ContextMemoryChatHistory) -> None:
    said: list[BaseMessage] = [HumanMessage("yes"), AIMessage("ok"), HumanMessage("yes"), AIMessage("ok")]
    history.add_messages(said)
    history.add_messages(said)
    assert history.messages == [*said, *said]


def test_a_repeated_write_of_messages_with_ids_stays_one(history: ContextMemoryChatHistory) -> None:
    said: list[BaseMessage] = [HumanMessage("I moved to Berlin.", id="1"), AIMessage("Noted.", id="2")]
    history.add_messages(said)
    history.add_messages(said)
    assert history.messages == said


def test_another_message_under_a_known_id_is_not_lost(history: ContextMemoryChatHistory) -> None:
    first = AIMessage("Let me see.", id="1")
    second = AIMessage("It is 12 degrees.", id="1")
    third = AIMessage("Let me see.", id="1", tool_calls=[CALL])
    history.add_messages([first, second])
    history.add_message(third)
    history.add_message(third)
    assert history.messages == [first, second, third]


def test_the_same_id_in_two_conversations_is_two_messages(memory: ContextMemory) -> None:
    one, two = ContextMemoryChatHistory(memory, "c1"), ContextMemoryChatHistory(memory, "c2")
    one.add_message(HumanMessage("first", id="1"))
    two.add_message(HumanMessage("second", id="1"))
    assert one.messages == [HumanMessage("first", id="1")]
    assert two.messages == [HumanMessage("second", id="1")]


def test_a_chunk_is_kept_as_the_message_that_it_is(history: ContextMemoryChatHistory) -> None:
    chunk = AIMessageChunk(content="Hel", id="1") + AIMessageChunk(content="lo", id="1")
    history.add_message(chunk)
    assert history.messages == [AIMessage("Hello", id="1")]


def test_reads_are_stable_and_independent(memory: ContextMemory, history: ContextMemoryChatHistory) -> None:
    history.add_messages([HumanMessage(f"Message number {number}.") for number in range(120)])
    before = history.messages
    memory.search("message")
    memory.maintain()
    memory.context("number", conversation_id="c1")
    assert history.messages == before
    assert len(before) == 120
    before[0].content = "changed"
    assert history.messages[0].content == "Message number 0."


def test_what_is_said_is_learnt_and_found_from_other_conversations(memory: ContextMemory) -> None:
    ContextMemoryChatHistory(memory, "c1").add_user_message("I moved to Berlin.")
    assert "Berlin" in memory.context("Where does she live?", conversation_id="c2").text


def test_clear_empties_this_conversation_only(memory: ContextMemory) -> None:
    one, two = ContextMemoryChatHistory(memory, "c1"), ContextMemoryChatHistory(memory, "c2")
    one.add_user_message("I moved to Berlin.")
    two.add_user_message("I play the cello.")
    one.clear()
    one.clear()
    assert one.messages == []
    assert len(two.messages) == 1
    assert "Berlin" not in memory.context("Where does she live? What does she play?").text
    assert "cello" in memory.context("Where does she live? What does she play?").text
    one.add_user_message("Again.")
    assert one.messages == [HumanMessage("Again.")]


def test_a_history_may_be_trimmed_by_clearing_and_adding(history: ContextMemoryChatHistory) -> None:
    history.add_messages(EVERY_KIND)
    kept = history.messages[-5:]
    history.clear()
    history.add_messages(kept)
    assert history.messages == kept == EVERY_KIND[-5:]


def test_a_large_picture_comes_back_whole(history: ContextMemoryChatHistory) -> None:
    picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{'A' * 2_000_000}"}}
    history.add_message(HumanMessage([{"type": "text", "text": "Look."}, picture]))
    assert history.messages == [HumanMessage([{"type": "text", "text": "Look."}, picture])]


async def test_the_async_twins_do_the_same(history: ContextMemoryChatHistory) -> None:
    await history.aadd_messages(EVERY_KIND)
    assert await history.aget_messages() == EVERY_KIND == history.messages
    await history.aclear()
    assert await history.aget_messages() == []


class SlowEmbeddings(DeterministicFakeEmbedding):
    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        time.sleep(0.3)
        return super().embed_documents(texts)


async def test_async_leaves_the_loop_free(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, embedder=LangChainEmbedder(SlowEmbeddings(size=8))) as memory:
        adding = asyncio.create_task(
            ContextMemoryChatHistory(memory, "c1").aadd_messages([HumanMessage("Hi.")])
        )
        ticks = 0
        while not adding.done():
            await asyncio.sleep(0.01)
            ticks += 1
        await adding
    assert ticks >= 10


async def test_a_long_history_is_written_in_parts_for_a_loop(history: ContextMemoryChatHistory) -> None:
    with failing("upsert") as sizes:
        await history.aadd_messages([HumanMessage(f"I rode tandem {n}.") for n in range(3 * PART)])
    assert max(sizes) <= PART
    assert len(await history.aget_messages()) == 3 * PART
    await history.aclear()
    assert history.messages == []


async def test_two_writers_lose_nothing(memory: ContextMemory) -> None:
    async def write(name: str) -> None:
        history = ContextMemoryChatHistory(memory, "c1")
        for number in range(10):
            await history.aadd_messages([HumanMessage(f"{name} {number}")])

    await asyncio.gather(write("a"), write("b"))
    said = [message.content for message in ContextMemoryChatHistory(memory, "c1").messages]
    assert [text for text in said if str(text).startswith("a")] == [f"a {number}" for number in range(10)]
    assert [text for text in said if str(text).startswith("b")] == [f"b {number}" for number in range(10)]


def test_messages_that_other_surfaces_added_are_there(memory: ContextMemory) -> None:
    memory.add([{"role": "user", "content": "Hi.", "id": "1"}, {"role": "assistant", "content": "Ho."}], "c1")
    first, second = ContextMemoryChatHistory(memory, "c1").messages
    assert (type(first), first.content, first.id) == (HumanMessage, "Hi.", "1")
    assert (type(second), second.content) == (AIMessage, "Ho.")
    history = ContextMemoryChatHistory(memory, "c1")
    history.add_message(HumanMessage("Not hi.", id="1"))
    assert [message.content for message in history.messages] == ["Hi.", "Ho.", "Not hi."]


def test_a_numeric_conversation_is_its_digits(memory: ContextMemory) -> None:
    ContextMemoryChatHistory(memory, 7).add_user_message("Hi.")
    assert ContextMemoryChatHistory(memory, "7").messages == [HumanMessage("Hi.")]


@pytest.mark.parametrize("conversation_id", ["", "  ", None, 1.5, True])
def test_a_conversation_that_has_no_name_is_refused(memory: ContextMemory, conversation_id: Any) -> None:
    with pytest.raises(ValueError, match="conversation_id"):
        ContextMemoryChatHistory(memory, conversation_id)


def test_something_else_than_a_memory_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'\./memory' is not a ContextMemory"):
        ContextMemoryChatHistory("./memory", "c1")  # type: ignore[arg-type]


@pytest.mark.parametrize("messages", [["Hi."], [RemoveMessage(id="1")], "Hi.", [{"role": "user"}]])
def test_what_is_no_message_is_refused_and_logged(
    history: ContextMemoryChatHistory, messages: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(ValueError, match="message"):
        history.add_messages(messages)
    assert history.messages == []
    assert "conversation 'c1': messages were not stored" in caplog.text


def test_a_write_that_fails_is_logged_and_raised(
    memory: ContextMemory, history: ContextMemoryChatHistory, caplog: pytest.LogCaptureFixture
) -> None:
    memory.close()
    with pytest.raises(StoreError, match="closed"):
        history.add_user_message("Hi.")
    assert "messages were not stored" in caplog.text


class Failing:
    """An extractor whose model is down."""

    name = "failing"
    is_slow = True

    def extract(self, request: ExtractionRequest) -> Extraction:
        raise ExtractionError("the model is down")


def test_messages_stay_when_nothing_can_be_learnt(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with ContextMemory(tmp_path, extractor=Failing()) as memory, caplog.at_level(logging.WARNING):
        history = ContextMemoryChatHistory(memory, "c1")
        history.add_user_message("I moved to Berlin.")
        assert history.messages == [HumanMessage("I moved to Berlin.")]
    assert "messages are stored" in caplog.text


def test_the_history_prints_as_langchain_prints_one(history: ContextMemoryChatHistory) -> None:
    history.add_user_message("Hi.")
    history.add_ai_message("Ho.")
    assert str(history) == "Human: Hi.\nAI: Ho."
    assert "conversation_id='c1'" in repr(history)


PROMPT = ChatPromptTemplate.from_messages(
    [("system", "Be terse."), MessagesPlaceholder("history"), ("human", "{question}")]
)


def session(chain: Runnable[Any, Any], memory: ContextMemory, **keys: Any) -> RunnableWithMessageHistory:
    return RunnableWithMessageHistory(
        chain, lambda session_id: ContextMemoryChatHistory(memory, session_id), **keys
    )


def of(session_id: str) -> Any:
    return {"configurable": {"session_id": session_id}}


@with_history
def test_a_chain_has_a_history_for_each_session(memory: ContextMemory) -> None:
    seen: list[str] = []

    def look(prompt: PromptValue) -> PromptValue:
        seen.append(prompt.to_string())
        return prompt

    model = FakeListChatModel(responses=["Noted.", "Hello.", "Berlin."])
    chain = session(
        PROMPT | RunnableLambda(look) | model,
        memory,
        input_messages_key="question",
        history_messages_key="history",
    )
    chain.invoke({"question": "I moved to Berlin."}, of("one"))
    chain.invoke({"question": "Good day to you."}, of("two"))
    assert chain.invoke({"question": "Where do I live?"}, of("one")).content == "Berlin."
    assert "I moved to Berlin." in seen[2]
    assert "I moved to Berlin." not in seen[1]
    texts = [message.content for message in ContextMemoryChatHistory(memory, "one").messages]
    assert texts == ["I moved to Berlin.", "Noted.", "Where do I live?", "Berlin."]
    assert len(ContextMemoryChatHistory(memory, "two").messages) == 2


@with_history
def test_a_bare_model_gets_each_message_once(memory: ContextMemory) -> None:
    seen: list[list[BaseMessage]] = []

    def model(messages: Sequence[BaseMessage]) -> AIMessage:
        seen.append(list(messages))
        return AIMessage(f"answer {len(seen)}")

    chain = session(RunnableLambda(model), memory)
    for number in range(4):
        chain.invoke([HumanMessage(f"question {number}")], of("one"))
    assert [len(messages) for messages in seen] == [1, 3, 5, 7]
    assert len(ContextMemoryChatHistory(memory, "one").messages) == 8


@with_history
async def test_a_streamed_answer_is_stored_whole(memory: ContextMemory) -> None:
    def model() -> GenericFakeChatModel:
        return GenericFakeChatModel(messages=iter([AIMessage("streamed in many parts")]))

    def chain() -> RunnableWithMessageHistory:
        return session(
            PROMPT | model(), memory, input_messages_key="question", history_messages_key="history"
        )

    assert len(list(chain().stream({"question": "one?"}, of("one")))) > 2
    assert [part async for part in chain().astream({"question": "two?"}, of("one"))]
    stored = ContextMemoryChatHistory(memory, "one").messages
    assert [type(message) for message in stored] == [HumanMessage, AIMessage] * 2
    assert [message.content for message in stored][1::2] == ["streamed in many parts"] * 2


@with_history
async def test_sessions_in_parallel_stay_apart(memory: ContextMemory) -> None:
    chain = session(
        PROMPT | RunnableLambda(lambda prompt: AIMessage(prompt.to_messages()[-1].content)),
        memory,
        input_messages_key="question",
        history_messages_key="history",
    )
    names = [f"session-{number}" for number in range(12)]
    for turn in ("first", "second"):
        await asyncio.gather(*(chain.ainvoke({"question": f"{turn} of {name}"}, of(name)) for name in names))
    for name in names:
        texts = [message.content for message in ContextMemoryChatHistory(memory, name).messages]
        assert texts == [f"first of {name}"] * 2 + [f"second of {name}"] * 2


@with_history
def test_a_real_server_is_sent_the_history(memory: ContextMemory) -> None:
    with serving() as server:
        model = ChatOpenAI(model="gpt-4o", base_url=server.url, api_key="none", max_retries=0)
        chain = session(PROMPT | model, memory, input_messages_key="question", history_messages_key="history")
        chain.invoke({"question": "I moved to Berlin."}, of("one"))
        chain.invoke({"question": "Where do I live?"}, of("one"))
        sent = [message["content"] for message in server.requests[1].body["messages"]]
    assert sent == ["Be terse.", "I moved to Berlin.", "I moved to Berlin.", "Where do I live?"]


WRITING = """
import json, sys
from langchain_contextmemory import ContextMemoryChatHistory
from shared_core import ContextMemory
from tests.langchain_contextmemory.test_chat_history import EVERY_KIND
with ContextMemory("memory") as memory:
    ContextMemoryChatHistory(memory, "c1").add_messages(EVERY_KIND)
"""


def test_another_process_reads_what_one_has_written(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", WRITING],
        cwd=tmp_path,
        env={"PYTHONPATH": str(root), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    with ContextMemory(tmp_path / "memory") as memory:
        history = ContextMemoryChatHistory(memory, "c1")
        assert history.messages == EVERY_KIND
        history.add_message(EVERY_KIND[1])  # a repeated write, by its id
        assert len(history.messages) == len(EVERY_KIND)
        json.dumps([message.model_dump(mode="json") for message in history.messages])
