from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import HumanMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompt_values import PromptValue
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import ConfigurableField, RunnableLambda, RunnablePassthrough
from langchain_core.tools import create_retriever_tool
from langchain_openai import ChatOpenAI

from langchain_contextmemory import ContextMemoryChatHistory, ContextMemoryRetriever, LangChainEmbedder
from shared_core import ContextMemory
from tests.openai_server import serving

MESSAGES = [
    {
        "role": "user",
        "content": "I moved to Berlin in spring.",
        "id": "m1",
        "timestamp": "2024-05-01T10:00:00Z",
    },
    {"role": "user", "content": "I work at Acme.", "id": "m2", "timestamp": "2024-05-02T10:00:00Z"},
    {"role": "user", "content": "I adopted a cat in June.", "id": "m3", "timestamp": "2024-06-03T10:00:00Z"},
]


@pytest.fixture
def told(memory: ContextMemory) -> ContextMemory:
    memory.add(MESSAGES, "c1", metadata={"topic": "home"})
    memory.add([{"role": "user", "content": "My sister lives in Oslo.", "id": "o1"}], "c2")
    return memory


def test_a_document_says_what_the_hit_says(told: ContextMemory) -> None:
    hits = told.search("Where does she live?", limit=5).results
    documents = ContextMemoryRetriever(memory=told).invoke("Where does she live?")
    assert [(d.id, d.page_content) for d in documents] == [(h.memory_id, h.memory) for h in hits]
    for document, hit in zip(documents, hits, strict=True):
        assert document.metadata["score"] == pytest.approx(hit.score, rel=1e-3)
        assert document.metadata["type"] == hit.type
        assert document.metadata["source_ids"] == list(hit.source_ids)
        assert document.metadata["connections"] == list(hit.connections)
        assert document.metadata["components"].keys() == hit.components.keys()
        assert document.metadata["occurred_at"] == (hit.occurred_at.isoformat() if hit.occurred_at else None)


def test_metadata_are_plain_json(told: ContextMemory) -> None:
    for document in ContextMemoryRetriever(memory=told, k=20).invoke("Where does she live and work?"):
        assert json.loads(json.dumps(document.metadata, allow_nan=False)) == document.metadata


def test_what_the_caller_attached_comes_along(told: ContextMemory) -> None:
    documents = ContextMemoryRetriever(memory=told, conversation_id="c1").invoke("Where does she work?")
    assert {document.metadata["metadata"]["topic"] for document in documents} == {"home"}


def test_metadata_hold_no_serialised_message_of_a_history(memory: ContextMemory) -> None:
    ContextMemoryChatHistory(memory, "c1").add_message(HumanMessage("I live in Berlin.", id="m1"))
    documents = ContextMemoryRetriever(memory=memory).invoke("Where does she live?")
    assert documents
    assert all(document.metadata["metadata"] == {} for document in documents)


def test_k_of_a_call_wins(told: ContextMemory) -> None:
    retriever = ContextMemoryRetriever(memory=told, k=2)
    assert len(retriever.invoke("Berlin")) == 2
    assert len(retriever.invoke("Berlin", k=1)) == 1
    assert len(retriever.invoke("Berlin", k=None)) == 2
    assert len(retriever.bind(k=3).invoke("Berlin")) == 3


async def test_async_takes_the_same_keywords(told: ContextMemory) -> None:
    retriever = ContextMemoryRetriever(memory=told, k=2)
    found = await retriever.ainvoke("Berlin", k=1, kind="message")
    assert [document.metadata["type"] for document in found] == ["message"]
    assert found[0].id == retriever.invoke("Berlin", k=1, kind="message")[0].id


def test_a_conversation_narrows(told: ContextMemory) -> None:
    everywhere = ContextMemoryRetriever(memory=told, k=10)
    assert {d.metadata["conversation_id"] for d in everywhere.invoke("Who lives where?")} == {"c1", "c2"}
    one = ContextMemoryRetriever(memory=told, k=10, conversation_id="c2")
    assert {d.metadata["conversation_id"] for d in one.invoke("Who lives where?")} == {"c2"}
    assert {d.metadata["conversation_id"] for d in one.invoke("Who?", conversation_id="c1")} == {"c1"}
    assert len(one.invoke("Who lives where?", conversation_id=None)) == len(
        everywhere.invoke("Who lives where?")
    )


@pytest.mark.parametrize(
    ("filters", "sources"),
    [
        ({"kind": "message"}, {"m1", "m2", "m3", "o1"}),
        ({"kind": "message", "since": "2024-05-02", "until": "2024-06-01"}, {"m2"}),
        ({"kind": ["message"], "metadata": {"topic": "home"}}, {"m1", "m2", "m3"}),
        ({"kind": "message", "session_id": "c2:0"}, {"o1"}),
        ({"category": "work"}, {"m2"}),
    ],
)
def test_filters_narrow(told: ContextMemory, filters: dict[str, Any], sources: set[str]) -> None:
    question = "Where does she live and work?"
    for documents in (
        ContextMemoryRetriever(memory=told, k=20, filters=filters).invoke(question),
        ContextMemoryRetriever(memory=told, k=20).invoke(question, **filters),
    ):
        assert {source for document in documents for source in document.metadata["source_ids"]} == sources


def test_a_filter_of_a_call_joins_those_of_the_retriever(told: ContextMemory) -> None:
    retriever = ContextMemoryRetriever(
        memory=told, k=20, filters={"kind": "message", "metadata": {"topic": "home"}}
    )
    found = retriever.invoke("Berlin", until="2024-05-02")
    assert [document.metadata["source_ids"] for document in found] == [["m1"]]
    assert retriever.filters == {"kind": "message", "metadata": {"topic": "home"}}


@pytest.mark.parametrize("k", [0, -1, "x", 1.5, True])
def test_a_k_that_is_no_count_is_refused(told: ContextMemory, k: Any) -> None:
    with pytest.raises(ValueError, match=f"k {k!r} is not a whole number of at least 1"):
        ContextMemoryRetriever(memory=told, k=k)
    with pytest.raises(ValueError, match=f"k {k!r} is not a whole number of at least 1"):
        ContextMemoryRetriever(memory=told).invoke("Berlin", k=k)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kk": 1}, "kk"),
        ({"filters": {"knd": "fact"}}, "filter 'knd' is none of"),
        ({"filters": {"kind": "facts"}}, "kind 'facts' is none of"),
        ({"filters": {"since": "no day"}}, "since"),
        ({"filters": {"limit": 3}}, "filter 'limit' is none of"),
        ({"conversation_id": " "}, "conversation_id ' '"),
    ],
)
def test_a_wrong_option_is_refused_at_once(
    told: ContextMemory, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        ContextMemoryRetriever(memory=told, **options)


@pytest.mark.parametrize("options", [{"limit": 3}, {"now": 1}, {"colour": "red"}])
def test_a_wrong_keyword_of_a_call_is_refused(told: ContextMemory, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"filter '{next(iter(options))}' is none of"):
        ContextMemoryRetriever(memory=told).invoke("Berlin", **options)


def test_something_else_than_a_memory_is_refused() -> None:
    with pytest.raises(ValueError, match="instance of ContextMemory"):
        ContextMemoryRetriever(memory="./memory")


def test_an_empty_memory_gives_no_documents(memory: ContextMemory) -> None:
    assert ContextMemoryRetriever(memory=memory).invoke("Anything?") == []


def test_a_blank_question_is_refused(told: ContextMemory) -> None:
    with pytest.raises(ValueError, match="ask something"):
        ContextMemoryRetriever(memory=told).invoke("  ")


def as_text(documents: list[Document]) -> str:
    return "\n".join(document.page_content for document in documents)


PROMPT = ChatPromptTemplate.from_messages([("system", "Known:\n{known}"), ("human", "{question}")])


def test_a_chain_answers_from_what_was_told(told: ContextMemory) -> None:
    retriever = ContextMemoryRetriever(memory=told, k=3)
    seen: list[str] = []

    def look(prompt: PromptValue) -> PromptValue:
        seen.append(prompt.to_string())
        return prompt

    chain = (
        {"known": retriever | as_text, "question": RunnablePassthrough()}
        | PROMPT
        | RunnableLambda(look)
        | FakeListChatModel(responses=["In Berlin."])
        | StrOutputParser()
    )
    assert chain.invoke("Where does she live?") == "In Berlin."
    assert "Berlin" in seen[0].split("Human:")[0]
    assert asyncio.run(chain.ainvoke("Where does she live?")) == "In Berlin."
    assert "".join(chain.stream("Where does she live?")) == "In Berlin."


def test_its_fields_are_configurable_for_a_call(told: ContextMemory) -> None:
    retriever = ContextMemoryRetriever(memory=told, k=10).configurable_fields(
        k=ConfigurableField(id="k"), conversation_id=ConfigurableField(id="conversation")
    )
    assert len(retriever.invoke("Berlin", config={"configurable": {"k": 1}})) == 1
    found = retriever.invoke("Berlin", config={"configurable": {"conversation": "c2"}})
    assert {document.metadata["conversation_id"] for document in found} == {"c2"}
    with pytest.raises(ValueError, match="k 0 is not"):
        retriever.invoke("Berlin", config={"configurable": {"k": 0}})


def test_it_serves_as_a_tool(told: ContextMemory) -> None:
    tool = create_retriever_tool(
        ContextMemoryRetriever(memory=told, k=2), "memory", "What is known of the user."
    )
    assert "Berlin" in tool.invoke({"query": "Where does she live?"})


async def test_its_events_carry_the_documents(told: ContextMemory) -> None:
    retriever = ContextMemoryRetriever(memory=told, k=2)
    events = [event async for event in retriever.astream_events("Where does she live?", version="v2")]
    assert [event["event"] for event in events] == ["on_retriever_start", "on_retriever_end"]
    assert len(events[1]["data"]["output"]) == 2


async def test_a_chain_asks_a_real_server(told: ContextMemory) -> None:
    with serving() as server:
        model = ChatOpenAI(model="gpt-4o", base_url=server.url, api_key="none", max_retries=0)
        chain = (
            {"known": ContextMemoryRetriever(memory=told) | as_text, "question": RunnablePassthrough()}
            | PROMPT
            | model
            | StrOutputParser()
        )
        answers = await chain.abatch(["Where does she live?", "Where does she work?"])
        assert answers == ["Where does she live?", "Where does she work?"]
        assert all("Berlin" in request.body["messages"][0]["content"] for request in server.requests)


class SlowEmbeddings(DeterministicFakeEmbedding):
    """As slow as a server far away."""

    def embed_query(self, text: str) -> list[float]:
        time.sleep(0.3)
        return super().embed_query(text)


async def test_async_leaves_the_loop_free(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, embedder=LangChainEmbedder(SlowEmbeddings(size=8))) as memory:
        memory.add(MESSAGES, "c1")
        searching = asyncio.create_task(ContextMemoryRetriever(memory=memory).ainvoke("Berlin"))
        ticks = 0
        while not searching.done():
            await asyncio.sleep(0.01)
            ticks += 1
        assert await searching
    assert ticks >= 10


async def test_users_in_parallel_see_their_own(memory: ContextMemory) -> None:
    users = [memory.for_namespace(f"user-{number}") for number in range(8)]
    try:
        for number, user in enumerate(users):
            user.add([{"role": "user", "content": f"My code word is zebra{number}."}], "c1")
        found = await asyncio.gather(
            *(ContextMemoryRetriever(memory=user, k=20).ainvoke("What is my code word?") for user in users)
        )
    finally:
        for user in users:
            user.close()
    for number, documents in enumerate(found):
        assert documents
        assert all(f"zebra{number}" in document.page_content for document in documents)
