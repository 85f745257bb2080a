"""A model decides what new facts do to known ones, over a real client and a server that says anything."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from shared_core import ContextMemory
from shared_core.extraction.llm import LLMExtractor
from shared_core.llm import OpenAILLM
from tests.openai_server import OpenAIServer, Reply, completion, serving
from tests.shared_core.building import said


class Model:
    """What the server writes: the facts to find, then the decisions about them."""

    def __init__(self) -> None:
        self.facts: list[str] = []
        self.decisions: Any = []
        self.asked: list[dict[str, Any]] = []

    def __call__(self, body: dict[str, Any]) -> str:
        prompt = body["messages"][-1]["content"]
        if body["messages"][0]["content"].startswith(
            "You keep the long-term memory of an assistant up to date"
        ):
            self.asked.append(json.loads(prompt))
            return (
                self.decisions
                if isinstance(self.decisions, str)
                else json.dumps({"decisions": self.decisions})
            )
        return json.dumps({"facts": [{"messages": [1], "text": text} for text in self.facts]})


@pytest.fixture
def model() -> Model:
    return Model()


@pytest.fixture
def server(model: Model) -> Iterator[OpenAIServer]:
    with serving() as running:
        running.chat = model
        yield running


@pytest.fixture
def memory(server: OpenAIServer, tmp_path: Path) -> Iterator[ContextMemory]:
    llm = OpenAILLM(base_url=server.url, api_key="sk-test-0123456789abcdef", max_retries=0, timeout_seconds=5)
    with closing(llm), ContextMemory(tmp_path, extractor=LLMExtractor(llm)) as opened:
        yield opened


def tell(memory: ContextMemory, model: Model, *facts: str, decisions: Any = ()) -> Any:
    model.facts, model.decisions = list(facts), decisions if isinstance(decisions, str) else list(decisions)
    return memory.add(said(" ".join(facts)))


def facts(memory: ContextMemory) -> set[str]:
    return {fact.text for fact in memory.list(kind="fact")}


HOME, NEW_HOME = "User has a flat in Paris", "User has a flat in Berlin"


def test_an_update_supersedes_and_may_join_both_sentences(memory: ContextMemory, model: Model) -> None:
    tell(memory, model, HOME)
    joined = "User has flats in Paris and Berlin"
    result = tell(
        memory, model, NEW_HOME, decisions=[{"new": 1, "event": "update", "known": 1, "text": joined}]
    )
    assert model.asked[0] == {
        "known": [{"number": 1, "text": HOME}],
        "new": [{"number": 1, "text": NEW_HOME}],
    }
    assert facts(memory) == {joined}
    assert result.usage.llm_calls == 2
    (fact,) = memory.list(kind="fact")
    assert [version.text for version in memory.history(fact.id)] == [HOME, joined]
    assert memory.search("flat").results[0].memory == joined


def test_a_deletion_keeps_the_statement_that_made_it(memory: ContextMemory, model: Model) -> None:
    tell(memory, model, HOME)
    tell(
        memory,
        model,
        "User gave up the flat in Paris",
        decisions=[{"new": 1, "event": "DELETE", "known": [1]}],
    )
    assert facts(memory) == {"User gave up the flat in Paris"}


def test_what_is_known_is_mentioned_once_more(memory: ContextMemory, model: Model) -> None:
    tell(memory, model, HOME)
    tell(memory, model, "User owns a flat in Paris", decisions=[{"new": 1, "event": "NOOP", "known": [1]}])
    (fact,) = memory.list(kind="fact")
    assert (fact.text, fact.mention_count, len(fact.source_ids)) == (HOME, 2, 2)


def test_a_batch_of_facts_makes_one_call(memory: ContextMemory, model: Model) -> None:
    tell(memory, model, HOME)
    calls = tell(
        memory, model, NEW_HOME, "User has a flat in Rome", "User has a flat in Oslo"
    ).usage.llm_calls
    assert calls == 2
    assert len(facts(memory)) == 4


def test_nothing_near_makes_no_call(memory: ContextMemory, model: Model) -> None:
    assert tell(memory, model, HOME).usage.llm_calls == 1
    assert tell(memory, model, HOME).usage.llm_calls == 1
    assert model.asked == []


@pytest.mark.parametrize(
    "decisions",
    [
        [{"new": 1, "event": "UPDATE", "known": [7]}],
        [{"new": 1, "event": "UPDATE", "known": [0, -1]}],
        [{"new": 1, "event": "UPDATE"}],
        [{"new": 9, "event": "DELETE", "known": [1]}],
        [{"new": 1, "event": "EXPLODE", "known": [1]}],
        [{"new": "x", "event": None}],
        [],
        "no JSON at all",
        '{"decisions": "all of them"}',
        "",
    ],
)
def test_what_makes_no_sense_changes_nothing_known(
    memory: ContextMemory, model: Model, decisions: Any
) -> None:
    tell(memory, model, HOME)
    tell(memory, model, NEW_HOME, decisions=decisions)
    assert facts(memory) == {HOME, NEW_HOME}


def test_where_the_second_call_fails_the_facts_are_kept(
    memory: ContextMemory, model: Model, server: OpenAIServer
) -> None:
    tell(memory, model, HOME)
    model.facts = [NEW_HOME]
    server.script.extend(
        [lambda request: Reply(completion(request.body, model(request.body))), Reply({}, status=500)]
    )
    result = memory.add(said("Another flat."))
    assert facts(memory) == {HOME, NEW_HOME}
    assert result.usage.fell_back == 1
