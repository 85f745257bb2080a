"""What each system finds of LoCoMo: ``python -m tests.benchmarks.recall [--locomo PATH] [--minilm]``.

Conversations 0 to 4 are those that weights were fitted on, 5 to 9 are held out. A hit counts for one turn.
"""

from __future__ import annotations

import argparse
import math
import statistics
import tempfile
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shared_core.tokens import counter_for
from tests.benchmarks.locomo import HELD_OUT, TUNED, Question, Sample, load_samples
from tests.benchmarks.locomo import recall as recall_of
from tests.benchmarks.machine import circumstances, write
from tests.benchmarks.peers import SYSTEMS, Turn
from tests.benchmarks.processes import Skipped, Worker, contexts, load, searches

CUTOFFS = (5, 10, 20)
BUDGETS = (500, 1_000, 2_000)
#: Ranked turns of which a peer's context is filled: more than 2,000 tokens hold.
CONTEXT_TURNS = 100
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
SPLITS = {"all": (*TUNED, *HELD_OUT), "tuned": tuple(TUNED), "held out": tuple(HELD_OUT)}
SECONDS = 1_800.0
QUICK_CONVERSATIONS, QUICK_QUESTIONS = (0, 5), 25

Score = dict[str, float]


@dataclass(frozen=True)
class Row:
    """The scores of one question."""

    conversation: int
    category: int
    score: Score


def turns_of(sample: Sample) -> list[Turn]:
    """The messages of a conversation as turns."""
    return [
        Turn(m["id"], m["role"], m["content"], m["timestamp"], sample.name, m["name"])
        for m in sample.messages
    ]


def discounted_gain(found: Sequence[str], evidence: Collection[str], depth: int = 10) -> float:
    """nDCG of the first ``depth`` hits; a turn that is found twice counts once."""
    missing, gain = set(evidence), 0.0
    for place, turn in enumerate(found[:depth]):
        if turn in missing:
            missing.remove(turn)
            gain += 1 / math.log2(place + 2)
    ideal = sum(1 / math.log2(place + 2) for place in range(min(depth, len(evidence))))
    return gain / ideal


def filled(ranked: Sequence[str], tokens: dict[str, int], budget: int) -> list[str]:
    """The best ranked turns whose lines fit into the budget; one that does not fit is passed over."""
    kept, used = [], 0
    for turn in dict.fromkeys(ranked):
        if turn in tokens and used + tokens[turn] <= budget:
            kept.append(turn)
            used += tokens[turn]
    return kept


def score_of(question: Question, found: Sequence[str], within: Sequence[Collection[str]]) -> Score:
    """Every figure of one question, 0 to 1."""
    figures = {f"recall@{k}": recall_of(found[:k], question.evidence) for k in CUTOFFS}
    figures["nDCG@10"] = discounted_gain(found, question.evidence)
    for budget, turns in zip(BUDGETS, within, strict=True):
        figures[f"within {budget:,} tokens"] = recall_of(turns, question.evidence)
    return figures


def conversation_rows(worker: Worker, number: int, sample: Sample) -> list[Row]:
    """Load one conversation as a namespace of its own, and ask all its questions."""
    turns, name = turns_of(sample), f"locomo-{number}"
    texts = [question.text for question in sample.questions]
    worker.call(SECONDS, load, name, turns)
    found = worker.call(SECONDS, searches, name, texts, CUTOFFS[-1])
    own = worker.call(SECONDS, contexts, name, texts, BUDGETS)
    if own is None:
        count = counter_for(None).count
        tokens = {turn.id: count(turn.line) for turn in turns}
        ranked = worker.call(SECONDS, searches, name, texts, CONTEXT_TURNS)
        own = [[filled(one, tokens, budget) for budget in BUDGETS] for one in ranked]
    return [
        Row(number, question.category, score_of(question, hits, within))
        for question, hits, within in zip(sample.questions, found, own, strict=True)
    ]


def means(rows: Sequence[Row]) -> Score:
    """The mean of each figure, in percent."""
    return {
        figure: round(100 * statistics.mean(row.score[figure] for row in rows), 2) for figure in rows[0].score
    }


def summary(rows: Sequence[Row]) -> dict[str, Any]:
    """Means over each split, and over each category of each split."""
    result: dict[str, Any] = {}
    for split, conversations in SPLITS.items():
        chosen = [row for row in rows if row.conversation in conversations]
        by_category = {
            name: means([row for row in chosen if row.category == category])
            for category, name in CATEGORIES.items()
            if any(row.category == category for row in chosen)
        }
        if chosen:
            result[split] = {"questions": len(chosen), "overall": means(chosen), "categories": by_category}
    return result


def measured(key: str, embedder: str, samples: dict[int, Sample]) -> dict[str, Any]:
    """All figures of one system, or why there are none."""
    start = time.perf_counter()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            worker = Worker(key, folder, embedder)
        except Skipped as reason:
            return {"skipped": str(reason)}
        try:
            rows = [
                row for number, sample in samples.items() for row in conversation_rows(worker, number, sample)
            ]
        except Skipped as reason:
            return {"skipped": str(reason)}
        finally:
            worker.stop()
    return {"seconds": round(time.perf_counter() - start, 1), "splits": summary(rows)}


def chosen_samples(path: Path, quick: bool) -> dict[int, Sample]:
    """The conversations by number; with ``quick``, a few questions of one of each split."""
    samples = dict(enumerate(load_samples(path)))
    return {number: _fewer(samples[number]) for number in QUICK_CONVERSATIONS} if quick else samples


def _fewer(sample: Sample) -> Sample:
    step = max(1, len(sample.questions) // QUICK_QUESTIONS)
    return replace(sample, questions=sample.questions[::step][:QUICK_QUESTIONS])


def main() -> None:
    """Measure, print a line for each system, and keep everything for the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--locomo", type=Path, default=Path("../shared/data/locomo10.json"))
    parser.add_argument("--systems", nargs="+", choices=list(SYSTEMS), default=list(SYSTEMS))
    parser.add_argument("--minilm", action="store_true", help="ours and the bare product with MiniLM as well")
    parser.add_argument("--quick", action="store_true", help="a few questions: no figures to cite")
    asked = parser.parse_args()
    if not asked.locomo.exists():
        print(f"recall is not measured: no file {asked.locomo}; its authors publish it as locomo10.json")
        return
    samples = chosen_samples(asked.locomo, asked.quick)
    runs = [(key, "wordllama") for key in asked.systems]
    runs += [(key, "minilm") for key in ("ours", "product") if asked.minilm]
    systems: dict[str, Any] = {}
    for key, embedder in runs:
        name = key if embedder == "wordllama" else f"{key}+{embedder}"
        systems[name] = measured(key, embedder, samples)
        overall = systems[name].get("splits", {}).get("all", {}).get("overall")
        print(f"{name:16}", overall or systems[name]["skipped"], flush=True)
    counter = counter_for(None)
    counted = {"counter": {"name": counter.name, "exact": counter.exact}}
    print(
        write("recall", {**circumstances(asked.systems), "quick": asked.quick, **counted, "systems": systems})
    )


if __name__ == "__main__":
    main()
