"""A real client against a real server that fails in every way: no message is lost, all are learnt from."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from shared_core import ContextMemory
from shared_core.errors import ExtractionError
from shared_core.extraction.llm import LLMExtractor
from shared_core.llm import OpenAILLM
from shared_core.records import Memory
from tests.openai_server import OpenAIServer, Reply, Request, completion, serving

SOON = {"retry-after-ms": "10"}
PAIR = [
    {"role": "user", "content": "I live in Berlin.", "id": "m1"},
    {"role": "assistant", "content": "A fine city.", "id": "m2"},
]
FACT = {"messages": [1], "text": "User lives in Berlin", "category": "place", "importance": 0.8}
GOOD = {"facts": [FACT], "bubbles": [], "triplets": []}


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with serving() as running:
        running.chat = lambda body: json.dumps(GOOD)
        yield running


@contextmanager
def opened(folder: Path, server: OpenAIServer) -> Iterator[ContextMemory]:
    llm = OpenAILLM(
        base_url=server.url, api_key="sk-test-0123456789abcdef", max_retries=1, timeout_seconds=0.4
    )
    with closing(llm), ContextMemory(folder, extractor=LLMExtractor(llm)) as memory:
        yield memory


def messages(memory: ContextMemory) -> list[Memory]:
    return sorted(memory.list(kind="message", limit=100), key=lambda found: found.turn or 0)


def facts(memory: ContextMemory) -> list[str]:
    return [found.text for found in memory.list(kind="fact", limit=100)]


def wrote(content: Any, **choice: Any) -> Any:
    def reply(request: Request) -> Reply:
        body = completion(request.body, "")
        body["choices"][0] |= {"message": {"role": "assistant", "content": content}, **choice}
        return Reply(body)

    return reply


UNANSWERED = {
    "429": Reply({"error": {"message": "slow down"}}, status=429, headers=SOON),
    "500": Reply({"error": {"message": "oops"}}, status=500, headers=SOON),
    "503": Reply("down for maintenance", status=503, headers=SOON),
    "401": Reply({"error": {"message": "who are you"}}, status=401),
    "hang": Reply(delay_seconds=5),
    "broken connection": Reply(drop=True),
    "captive portal": Reply("<html>welcome</html>"),
}


@pytest.mark.parametrize("failure", UNANSWERED.values(), ids=UNANSWERED)
def test_where_no_answer_comes_messages_are_stored_and_maintain_learns_later(
    tmp_path: Path, server: OpenAIServer, failure: Reply
) -> None:
    with opened(tmp_path, server) as memory:
        server.script.extend([failure] * 2)
        with pytest.raises(ExtractionError, match="did not read 2 messages"):
            memory.add(PAIR, "c")
        assert [(m.text, m.pending) for m in messages(memory)] == [(m["content"], True) for m in PAIR]
        assert facts(memory) == []
        assert [hit.memory for hit in memory.search("Berlin", limit=1).results] == ["I live in Berlin."]
        server.script.clear()
        assert len(memory.maintain().resumed) == 2
        assert facts(memory) == ["User lives in Berlin"]
        assert [m.pending for m in messages(memory)] == [False, False]
        asked = len(server.requests)
        assert memory.maintain().resumed == ()
        assert len(server.requests) == asked


def test_maintain_goes_on_while_the_model_is_away(tmp_path: Path, server: OpenAIServer) -> None:
    with opened(tmp_path, server) as memory:
        server.script.extend([UNANSWERED["500"]] * 4)
        with pytest.raises(ExtractionError):
            memory.add(PAIR, "c")
        assert memory.maintain().resumed == ()
        assert [m.pending for m in messages(memory)] == [True, True]
        assert len(memory.maintain().resumed) == 2


def test_messages_that_wait_outlive_the_process(tmp_path: Path, server: OpenAIServer) -> None:
    with opened(tmp_path, server) as memory:
        server.script.extend([UNANSWERED["broken connection"]] * 2)
        with pytest.raises(ExtractionError):
            memory.add(PAIR, "c")
    with opened(tmp_path, server) as memory:
        memory.maintain()
        assert facts(memory) == ["User lives in Berlin"]


@pytest.mark.parametrize("status", [429, 500])
def test_passing_trouble_is_not_noticed(tmp_path: Path, server: OpenAIServer, status: int) -> None:
    with opened(tmp_path, server) as memory:
        server.script.append(Reply({"error": {}}, status=status, headers={"retry-after": "0.05", **SOON}))
        assert memory.add(PAIR, "c").usage.llm_calls == 1
        assert facts(memory) == ["User lives in Berlin"]


USELESS = {
    "refusal": (wrote(None, message={"role": "assistant", "content": None, "refusal": "No."}), 1),
    "content filter": (wrote("", finish_reason="content_filter"), 1),
    "text too long": (Reply({"error": {"message": "exceeds the context window"}}, status=400), 0),
    "refusal in words": (wrote("I'm sorry, I can't help with that."), 2),
    "empty": (wrote(""), 2),
    "no content": (wrote(None), 2),
    "wrong types": (
        wrote(json.dumps({"facts": [{"text": 7}, None, 3], "bubbles": "x", "triplets": [[1]]})),
        2,
    ),
    "absurd": (wrote(json.dumps({"facts": [{"text": "..."}, {"text": "Where do I live?"}]})), 2),
    "another shape": (wrote('{"answer": "Berlin"}'), 2),
    "echo": (wrote("Write each text as one short sentence in the third person"), 2),
    "endless": (wrote("[" * 10_000, finish_reason="length"), 2),
}


@pytest.mark.parametrize(("answer", "calls"), USELESS.values(), ids=USELESS)
def test_where_the_answers_are_of_no_use_rules_take_over(
    tmp_path: Path, server: OpenAIServer, answer: Any, calls: int
) -> None:
    with opened(tmp_path, server) as memory:
        server.script.extend([answer] * 2)
        usage = memory.add(PAIR, "c").usage
        assert facts(memory) == ["User lives in Berlin"]
        assert [(m.text, m.pending) for m in messages(memory)] == [(m["content"], False) for m in PAIR]
        assert (usage.fell_back, usage.llm_calls) == (1, calls)
        server.script.clear()
        asked = len(server.requests)
        memory.maintain()
        assert len(server.requests) == asked


BAD_BUT_USABLE = {
    "a list": (json.dumps([FACT]), 1, 0),
    "a wrapper": (json.dumps({"memories": GOOD}), 1, 0),
    "fences and prose": (f"Of course!\n```json\n{json.dumps(GOOD)}\n```\nGlad to help.", 1, 0),
    "cut off": (json.dumps({"facts": [FACT, FACT]})[:-30], 1, 1),
    "importance of 8": (json.dumps({"facts": [FACT | {"importance": 8}]}), 1, 0),
    "importance is high": (json.dumps({"facts": [FACT | {"importance": "high"}]}), 1, 0),
    "importance of 8/10": (json.dumps({"facts": [FACT | {"importance": "8/10"}]}), 1, 0),
    "an unknown category": (json.dumps({"facts": [FACT | {"category": "city"}]}), 1, 0),
    "poor items": (json.dumps({"facts": [FACT, {"text": ""}, {"text": "What?"}, FACT]}), 1, 3),
    "not a number": (json.dumps({"facts": [FACT | {"importance": 0.8, "confidence": float("nan")}]}), 1, 0),
}


@pytest.mark.parametrize(("text", "repaired", "dropped"), BAD_BUT_USABLE.values(), ids=BAD_BUT_USABLE)
def test_what_can_be_repaired_is_used_and_counted(
    tmp_path: Path, server: OpenAIServer, text: str, repaired: int, dropped: int
) -> None:
    server.chat = lambda body: text
    with opened(tmp_path, server) as memory:
        usage = memory.add(PAIR, "c").usage
        (found,) = memory.list(kind="fact")
        assert (found.text, found.category, found.importance) == ("User lives in Berlin", "place", 0.8)
        assert found.source_ids == ("m1",)
        assert (usage.repaired, usage.dropped, usage.llm_calls, usage.fell_back) == (repaired, dropped, 1, 0)


def test_a_pair_costs_one_call_and_its_cost_is_reported(tmp_path: Path, server: OpenAIServer) -> None:
    with opened(tmp_path, server) as memory:
        usage = memory.add(PAIR, "c").usage
        assert (usage.llm_calls, usage.completion_tokens) == (1, len(json.dumps(GOOD).split()))
        assert usage.prompt_tokens > 100
        assert len(server.requests) == 1
        assert memory.add(PAIR, "c").usage.llm_calls == 0


def test_what_our_own_context_said_never_reaches_the_model(tmp_path: Path, server: OpenAIServer) -> None:
    with opened(tmp_path, server) as memory:
        memory.add(PAIR, "c")
        context = memory.context("Where does she live?", token_budget=300).text
        server.requests.clear()
        memory.add([{"role": "user", "content": f"{context}\n\nWhat is my favourite tea?"}], "d")
        (request,) = server.requests
        assert "Berlin" not in request.body["messages"][1]["content"]


def test_two_users_at_once_keep_their_own(tmp_path: Path, server: OpenAIServer) -> None:
    def chat(body: dict[str, Any]) -> str:
        name = "Anna" if "Anna" in body["messages"][1]["content"] else "Bob"
        return json.dumps({"facts": [FACT | {"text": f"{name} lives in Berlin"}]})

    server.chat = chat
    with opened(tmp_path, server) as anna, anna.for_namespace("bob") as bob:

        def say(memory: ContextMemory, name: str) -> None:
            for n in range(5):
                memory.add([{"role": "user", "content": f"I live in Berlin, {n}", "name": name}], "c")

        threads = [threading.Thread(target=say, args=args) for args in ((anna, "Anna"), (bob, "Bob"))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert (facts(anna), facts(bob)) == (["Anna lives in Berlin"], ["Bob lives in Berlin"])


async def test_waiting_for_a_model_does_not_block_the_loop(tmp_path: Path, server: OpenAIServer) -> None:
    import asyncio

    server.script.append(lambda request: Reply(completion(request.body, json.dumps(GOOD)), delay_seconds=0.3))
    with opened(tmp_path, server) as memory:
        task = asyncio.create_task(memory.aadd(PAIR, "c"))
        ticks = 0
        while not task.done():
            await asyncio.sleep(0.01)
            ticks += 1
        assert ticks > 10
        assert (await task).semantic == ("User lives in Berlin",)
