"""Seed 004's question, asked of a memory that was told the seed's graph."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from shared_core import ContextMemory
from shared_core.extraction.schema import ExtractedTriplet, Extraction, ExtractionRequest
from shared_core.scoring import policy_of
from tests.shared_core.building import NOW, said
from tests.shared_core.graph.test_view import SEED

QUESTION = "which technologies does Alex use for WebMCP?"
DIRECT = {"WebMCP uses React", "WebMCP uses PG-Lite", "WebMCP uses Drizzle"}
CYCLE = {"Python uses FastAPI", "FastAPI related to Python"}
EVERYTHING = DIRECT | CYCLE | {"Alex works on WebMCP", "Alex prefers Python"}

#: What was said for each relation of the seed, in its order; hardly a word of the question among it.
SENTENCES = (
    "Hi, I'm Alex, and I work on WebMCP these days.",
    "Honestly Python is my favourite.",
    "We render everything with React.",
    "The storage layer is PG-Lite, right in the browser.",
    "Queries go through Drizzle.",
    "My API is FastAPI.",
    "FastAPI is all typed.",
)
OTHER_TALK = (
    "Bea bought apples.",
    "The weather in Rome was awful.",
    "Which technologies should one learn?",
    "I watched a film about robots.",
    "Alex is a common name.",
    "We use paper for notes.",
    "For dinner I use the oven.",
)


class SeedExtractor:
    """Finds the relation that each of ``SENTENCES`` states, as a model would."""

    name = "seed"
    is_slow = False

    def extract(self, request: ExtractionRequest) -> Extraction:
        triplets = []
        for position, message in enumerate(request.messages):
            if message.content in SENTENCES:
                subject, predicate, thing = SEED[SENTENCES.index(message.content)]
                triplets.append(
                    ExtractedTriplet(subject=subject, predicate=predicate, object=thing, sources=(position,))
                )
        return Extraction(triplets=tuple(triplets))


@pytest.fixture
def told(tmp_path: Path) -> Iterator[ContextMemory]:
    """A memory of three conversations in which the seed's graph was told, among other talk."""
    with ContextMemory(tmp_path, extractor=SeedExtractor()) as memory:
        for place, content in enumerate((*SENTENCES, *OTHER_TALK * 3)):
            memory.add(said(content, f"m{place}", timestamp=NOW), f"c{place % 3}")
        yield memory


def test_the_question_finds_the_technologies_first_and_then_the_cycle(told: ContextMemory) -> None:
    found = [hit.memory for hit in told.search(QUESTION, limit=12, now=NOW)]
    assert set(found[:4]) == DIRECT | {"Alex works on WebMCP"}
    assert set(found) >= EVERYTHING


def test_a_hit_that_is_raised_because_the_question_names_it_still_explains_its_score(
    told: ContextMemory,
) -> None:
    policy = policy_of(told.settings.scoring)
    hit = told.search("What is WebMCP's storage?", now=NOW).results[0]
    assert "WebMCP" in hit.memory
    factors = {name: np.array([value]) for name, value in hit.components.items()}
    assert policy.score(factors)[0] == pytest.approx(hit.score)
    assert 0.0 <= hit.components["relevance"] <= 1.0


def test_among_relations_the_question_finds_each_of_the_graph_once(told: ContextMemory) -> None:
    found = [hit.memory for hit in told.search(QUESTION, limit=10, kind="triplet", now=NOW)]
    assert sorted(found) == sorted(EVERYTHING)


def test_places_that_are_left_go_to_what_shares_no_word_with_the_question(memory: ContextMemory) -> None:
    for triple in SEED:
        memory.relate(*triple, now=NOW)
    assert {hit.memory for hit in memory.search(QUESTION, limit=10, now=NOW)} == EVERYTHING


def test_the_graph_answers_it_within_two_hops_and_the_cycle_ends(told: ContextMemory) -> None:
    graph = told.graph(now=NOW)
    near = graph.neighbourhood("Alex", hops=2)
    technologies = {one.name for one in near.entities if one.type == "technology"}
    assert technologies == {"React", "PG-Lite", "Drizzle", "FastAPI", "Python"}
    for_the_project = graph.neighbourhood("WebMCP", hops=1, directed=True)
    assert set(for_the_project.distances) == {"WebMCP", "React", "PG-Lite", "Drizzle"}
    indirectly = graph.neighbourhood("Alex", hops=9, directed=True)
    assert set(indirectly.distances) == {one.name for one in graph.entities()}
    assert [str(step) for step in graph.path("Alex", "React") or ()] == [
        "Alex works_on WebMCP",
        "WebMCP uses React",
    ]


def test_what_several_conversations_speak_of_links_them(told: ContextMemory) -> None:
    links = {one.name: set(one.conversations) for one in told.graph(now=NOW).across_conversations()}
    assert links == {
        "WebMCP": {"c0", "c1", "c2"},
        "Alex": {"c0", "c1"},
        "Python": {"c0", "c1", "c2"},
        "FastAPI": {"c0", "c2"},
    }
