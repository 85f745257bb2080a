"""The extraction path against a real, weak model: ``make test-llm``.

50 turns of the first conversation of LoCoMo go in as 25 pairs, their answers held to the JSON schema by the
server; 10 of them once more without that, where the model never ends and what it writes is seldom JSON. The
file is read from the path in the variable ``LOCOMO``, else from ``../shared/data/locomo10.json``; it is never
part of this project.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from shared_core import ContextMemory
from shared_core.extraction.llm import LLMExtractor
from shared_core.llm import OpenAILLM
from shared_core.llm.openai import ResponseFormat
from shared_core.records import AddResult, Usage
from shared_core.transfer.chat_logs import read_chat_log
from tests.llm_real.model import missing_packages, serving_model

LOCOMO = Path(os.environ.get("LOCOMO", "../shared/data/locomo10.json"))
TURNS = 50
#: Short enough for the model to be cut off now and then.
OUTPUT_TOKENS = 400

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(missing_packages()), reason=f"not installed: {', '.join(missing_packages())}"),
    pytest.mark.skipif(not LOCOMO.is_file(), reason=f"no LoCoMo at {LOCOMO}: name its file in LOCOMO"),
]


@pytest.fixture(scope="module")
def model_url() -> Iterator[str]:
    with serving_model() as url:
        yield url


@pytest.fixture(scope="module")
def turns() -> list[dict[str, Any]]:
    parts = list(read_chat_log(LOCOMO))
    return list(islice((turn for part in parts if part.id == parts[0].id for turn in part.messages), TURNS))


@pytest.mark.parametrize(("response_format", "count"), [("json_schema", TURNS), ("none", 10)])
def test_no_turn_is_lost_on_a_weak_model(
    tmp_path: Path, model_url: str, turns: list[dict[str, Any]], response_format: ResponseFormat, count: int
) -> None:
    said = turns[:count]
    llm = OpenAILLM(
        "gemma-3-270m",
        base_url=model_url,
        max_output_tokens=OUTPUT_TOKENS,
        response_format=response_format,
        timeout_seconds=300,
    )
    with closing(llm), ContextMemory(tmp_path, extractor=LLMExtractor(llm)) as memory:
        results = []
        for place in range(0, count, 2):
            results.append(memory.add(said[place : place + 2], "c"))
            print(f"{place + 2} of {count} turns: {results[-1].usage}", flush=True)
        stored = memory.list(kind="message", limit=2 * TURNS)
        learnt = [m for kind in ("fact", "bubble", "triplet") for m in memory.list(kind=kind, limit=1_000)]
    report(response_format, results)
    assert sorted(m.message_id or "" for m in stored) == sorted(turn["id"] for turn in said)
    assert {m.message_id: m.text for m in stored} == {turn["id"]: turn["content"] for turn in said}
    assert not any(m.pending for m in stored)
    assert all(0 <= m.importance <= 1 and m.text.strip() and m.source_ids for m in learnt)
    assert all(result.usage.llm_calls <= 2 for result in results)


def report(response_format: str, results: list[AddResult]) -> None:
    """Print what became of the model's output."""
    total = sum((result.usage for result in results), Usage())
    by_rules = sum(result.usage.fell_back > 0 for result in results)
    touched = sum(
        not result.usage.fell_back and (result.usage.repaired > 0 or result.usage.dropped > 0)
        for result in results
    )
    clean = len(results) - by_rules - touched
    kept = sum(len(result.memories) for result in results if not result.usage.fell_back)
    pairs = len(results)
    print(f"\n{2 * pairs} turns as {pairs} pairs, response_format={response_format}")
    print(f"  used as they are      {clean:4d} pairs  {clean / pairs:6.1%}")
    print(f"  used after repairs    {touched:4d} pairs  {touched / pairs:6.1%}")
    print(f"  left to the rules     {by_rules:4d} pairs  {by_rules / pairs:6.1%}")
    items = max(1, kept + total.dropped)
    print(f"  items kept            {kept:4d}        {kept / items:6.1%}")
    print(f"  items dropped         {total.dropped:4d}        {total.dropped / items:6.1%}")
    print(f"  repairs               {total.repaired:4d}")
    print(f"  calls {total.llm_calls}, tokens in {total.prompt_tokens}, out {total.completion_tokens}")
