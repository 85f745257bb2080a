"""Fit the weights of the ranking model: ``python -m tests.benchmarks.fit [--locomo PATH]``.

Conversations at index 0 to 4 only. Prints the weights for
``shared_core/retrieval/relevance_weights.py``, and what each conversation reaches
with weights that were fitted on the other four.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq, minimize

from shared_core import ContextMemory
from shared_core.index.resident import ResidentIndex
from shared_core.retrieval.question import read_question
from shared_core.retrieval.relevance import candidate_rows, features, first_look, scan
from shared_core.retrieval.relevance_weights import FIRST_LOOK
from shared_core.times import utc_now
from tests.benchmarks.locomo import TUNED, Sample, load_samples

PENALTY = 0.005
Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class Case:
    """One question: features ``[candidates, f]``, which candidates answer it, and how many turns do."""

    columns: Matrix
    positive: NDArray[np.bool_]
    evidence: int


def cases_of(sample: Sample, look: str) -> tuple[list[Case], list[str]]:
    """The questions of a conversation as one of the two looks sees them, turns only."""
    with tempfile.TemporaryDirectory() as folder, ContextMemory(folder) as memory:
        memory.add(sample.messages, sample.name)
        with memory.opened().use() as index:
            turns = np.flatnonzero(index.turns())
            ids = [str(index.memory_at(int(row)).message_id) for row in turns]
            place = dict(zip(ids, (int(row) for row in turns), strict=True))
            cases, names = [], list[str]()
            for question in sample.questions:
                rows, columns = _look(index, memory, question.text, turns, look)
                names = list(columns)
                evidence = [place[turn] for turn in question.evidence if turn in place]
                if evidence:
                    matrix = np.stack([columns[name] for name in names], axis=1).astype(np.float64)
                    cases.append(Case(matrix, np.isin(rows, evidence), len(question.evidence)))
    return cases, names


def _look(index: ResidentIndex, memory: ContextMemory, text: str, turns: Any, look: str) -> Any:
    question = read_question(text, names=index.names, now=utc_now())
    around = index.surroundings()
    scanned = scan(index, around, question, memory.embedder.embed_query(question.subject))
    if look == "first":
        nothing = dict.fromkeys(FIRST_LOOK, 0.0)
        return turns, {
            name: first_look(index, around, scanned, question, {**nothing, name: 1.0})[turns]
            for name in FIRST_LOOK
        }
    rows = candidate_rows(index, around, scanned, question, turns) if len(turns) > 200 else turns
    return rows, features(index, around, scanned, question, rows)


def fitted(cases: Sequence[Case]) -> Matrix:
    """Weights of the raw columns that minimise the softmax loss plus the penalty on standardised weights."""
    every = np.concatenate([case.columns for case in cases])
    spread = every.std(axis=0) + 1e-9
    scaled = [
        Case(case.columns / spread, case.positive, case.evidence) for case in cases if case.positive.any()
    ]

    def loss(weights: Matrix) -> tuple[float, Matrix]:
        total, gradient = 0.0, np.zeros_like(weights)
        for case in scaled:
            logits = case.columns @ weights
            logits -= logits.max()
            chances = np.exp(logits) / np.exp(logits).sum()
            total -= float(np.log(chances[case.positive]).mean())
            gradient += chances @ case.columns - case.columns[case.positive].mean(axis=0)
        count = len(scaled)
        return total / count + PENALTY * float(weights @ weights), gradient / count + 2 * PENALTY * weights

    start = np.zeros(every.shape[1])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 300})
    return np.asarray(found.x / spread, dtype=np.float64)


def recall_at(cases: Sequence[Case], weights: Matrix, count: int) -> float:
    """Mean share of the evidence among the best ``count`` candidates, in percent."""
    shares = [
        case.positive[np.argsort(-(case.columns @ weights), kind="stable")[:count]].sum() / case.evidence
        for case in cases
    ]
    return 100 * float(np.mean(shares))


def intercept(cases: Sequence[Case], weights: Matrix) -> float:
    """What makes the chances of all candidates add up to the number of those that answer."""
    logits = np.concatenate([case.columns @ weights for case in cases])
    answers = sum(int(case.positive.sum()) for case in cases)
    return float(brentq(lambda shift: (1 / (1 + np.exp(-logits - shift))).sum() - answers, -60, 60))


def main() -> None:
    """Print both sets of weights and their cross-validation."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--locomo", type=Path, default=Path("../shared/data/locomo10.json"))
    parser.add_argument("--look", choices=["first", "second"], default="second")
    options = parser.parse_args()
    samples = load_samples(options.locomo)
    held: list[list[Case]] = []
    for number in TUNED:
        cases, names = cases_of(samples[number], options.look)
        held.append(cases)
    for number in TUNED:
        weights = fitted([case for other in TUNED if other != number for case in held[other]])
        figures = [recall_at(held[number], weights, count) for count in (5, 10, 20, 200)]
        print(f"left out {number}: recall@5/10/20/200", *(f"{figure:.1f}" for figure in figures))
    together = [case for cases in held for case in cases]
    weights = fitted(together)
    print("all five: recall@10", f"{recall_at(together, weights, 10):.1f}")
    for name, weight in zip(names, weights, strict=True):
        print(f'    "{name}": {weight:.4f},')
    turns = np.mean([len(samples[number].messages) for number in TUNED])
    print(f"INTERCEPT = {intercept(together, weights) + np.log(turns):.4f}")


if __name__ == "__main__":
    main()
