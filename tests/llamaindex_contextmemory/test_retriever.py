from __future__ import annotations

import asyncio
import time

import pytest
from llama_index.core.postprocessor import SimilarityPostprocessor
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import QueryFusionRetriever
from llama_index.core.retrievers.fusion_retriever import FUSION_MODES
from llama_index.core.schema import MetadataMode, NodeRelationship

from llamaindex_contextmemory import ContextMemoryRetriever
from shared_core import ContextMemory
from tests.llamaindex_contextmemory.scripted import ANSWER, ASKED, ScriptedLLM, assistant, texts

SAID = [
    ("m1", "I moved to Lisbon in March and I work as a baker."),
    ("m2", "My sister Clara is a vet in Graz."),
    ("m3", "Yesterday I met Clara at the lake and we swam for an hour."),
    ("m4", "Today I met Clara at the lake again and we swam for two hours."),
]


@pytest.fixture
def told(memory: ContextMemory) -> ContextMemory:
    for message_id, content in SAID:
        memory.add([{"role": "user", "id": message_id, "content": content}], "c1", metadata={"place": "home"})
    return memory


def test_nodes_are_the_hits_of_a_search_in_order(told: ContextMemory) -> None:
    nodes = ContextMemoryRetriever(memory=told, similarity_top_k=3).retrieve(ASKED)
    hits = told.search(ASKED, limit=3).results
    assert [(node.node_id, node.text) for node in nodes] == [(hit.memory_id, hit.memory) for hit in hits]
    assert [node.score for node in nodes] == pytest.approx([hit.score for hit in hits], abs=1e-6)


def test_a_node_tells_where_it_comes_from(told: ContextMemory) -> None:
    nodes = ContextMemoryRetriever(memory=told, similarity_top_k=10).retrieve(
        "swimming with Clara at the lake"
    )
    hits = {hit.memory_id: hit for hit in told.search("swimming with Clara at the lake", limit=10)}
    for node in nodes:
        hit = hits[node.node_id]
        assert node.metadata["source_ids"] == list(hit.source_ids)
        assert node.metadata["kind"] == hit.record.kind
        assert node.metadata["metadata"] == {"place": "home"}
        assert node.node.ref_doc_id == hit.source_ids[0]
        related = node.node.relationships.get(NodeRelationship.CHILD, [])
        assert [info.node_id for info in related] == list(hit.connections)  # type: ignore[union-attr]
    assert any(node.node.child_nodes for node in nodes)


def test_a_model_reads_when_and_who_but_no_ids(told: ContextMemory) -> None:
    (node,) = ContextMemoryRetriever(memory=told, similarity_top_k=1, kind="message").retrieve(
        "Clara is a vet"
    )
    assert "speaker: User" in node.get_content(MetadataMode.LLM)
    assert "source_ids" not in node.get_content(MetadataMode.LLM)
    assert node.get_content(MetadataMode.EMBED) == node.text


def test_a_query_engine_answers_from_memory(told: ContextMemory) -> None:
    llm = ScriptedLLM.of()
    engine = RetrieverQueryEngine.from_args(
        ContextMemoryRetriever(memory=told),
        llm=llm,
        node_postprocessors=[SimilarityPostprocessor(similarity_cutoff=0.01)],
    )
    response = engine.query(ASKED)
    assert str(response) == ANSWER
    assert "Lisbon" in texts(llm.prompts[0])
    assert response.source_nodes


@pytest.mark.parametrize("mode", list(FUSION_MODES))
async def test_it_takes_part_in_a_fusion(mode: FUSION_MODES, told: ContextMemory) -> None:
    fusion = QueryFusionRetriever(
        [
            ContextMemoryRetriever(memory=told, similarity_top_k=3, kind="message"),
            ContextMemoryRetriever(memory=told, similarity_top_k=3),
        ],
        llm=ScriptedLLM.of([assistant("Where do I live?\n\nWhere is my home?")]),
        num_queries=3,
        mode=mode,
        similarity_top_k=4,
    )
    nodes = await fusion.aretrieve(ASKED)
    assert any("Lisbon" in node.text for node in nodes)
    assert len({node.node_id for node in nodes}) == len(nodes)


def test_the_same_memory_is_the_same_node_for_every_question(told: ContextMemory) -> None:
    retriever = ContextMemoryRetriever(memory=told, similarity_top_k=10)
    first = {node.node_id: node.node.hash for node in retriever.retrieve("Clara")}
    second = {node.node_id: node.node.hash for node in retriever.retrieve("baker in Lisbon")}
    shared = first.keys() & second.keys()
    assert shared
    assert all(first[node_id] == second[node_id] for node_id in shared)


def test_filters_narrow_it(told: ContextMemory) -> None:
    told.add([{"role": "user", "content": "Clara came to Lisbon."}], "c2")
    nodes = ContextMemoryRetriever(memory=told, conversation_id="c2").retrieve("Clara")
    assert {node.metadata["conversation_id"] for node in nodes} == {"c2"}
    kinds = ContextMemoryRetriever(memory=told, kind="fact").retrieve("Clara")
    assert {node.metadata["kind"] for node in kinds} == {"fact"}


def test_a_blank_question_finds_nothing(told: ContextMemory) -> None:
    assert ContextMemoryRetriever(memory=told).retrieve("  ") == []


@pytest.mark.parametrize("top_k", [0, -1, "five"])
def test_bad_arguments_are_refused(top_k: int, memory: ContextMemory) -> None:
    with pytest.raises(ValueError, match="similarity_top_k"):
        ContextMemoryRetriever(memory=memory, similarity_top_k=top_k)
    with pytest.raises(ValueError, match="is not a ContextMemory"):
        ContextMemoryRetriever(memory="./memory")  # type: ignore[arg-type]


async def test_many_questions_at_once_leave_the_loop_free(told: ContextMemory) -> None:
    retriever = ContextMemoryRetriever(memory=told)
    longest, last = 0.0, time.monotonic()

    async def tick() -> None:
        nonlocal longest, last
        while True:
            await asyncio.sleep(0.001)
            longest, last = max(longest, time.monotonic() - last), time.monotonic()

    ticking = asyncio.create_task(tick())
    answers = await asyncio.gather(*(retriever.aretrieve(ASKED) for _ in range(20)))
    ticking.cancel()
    assert all(nodes[0].node_id == answers[0][0].node_id for nodes in answers)
    assert longest < 0.5
