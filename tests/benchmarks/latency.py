"""What each system costs: ``python -m tests.benchmarks.latency [--sizes N ...] [--systems NAME ...]``.

Every system sits in a process of its own with the same texts and the same embedder; they are measured in
turn, round by round, so that whatever else the machine does hits all of them. What counts is the ratio within
a run. ``--quick`` ends within two minutes, and shows no more than that everything works.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tests.benchmarks import cold
from tests.benchmarks.bench import Bench, bench
from tests.benchmarks.machine import circumstances, write
from tests.benchmarks.peers import SYSTEMS, embedder_named
from tests.benchmarks.processes import (
    bulk_synthetic,
    load_others,
    load_synthetic,
    overhead,
    record_count,
    timed_adds,
    timed_searches,
)
from tests.benchmarks.texts import ADDED, turns

NAMESPACE = "records"
VECTOR_BYTES = 256 * 4
MEMORY_MODES = ("client", "query", "ours", "written")
#: A round of one system ends after so long, with what it has.
ROUND_SECONDS = 5.0

Table = dict[str, Any]


@dataclass(frozen=True)
class Plan:
    """How much is measured; ``budget_seconds`` is the longest that one step of one system may take."""

    sizes: tuple[int, ...] = (1_000, 10_000, 20_000, 100_000)
    rounds: int = 5
    searches: int = 20
    adds: int = 6
    others: int = 99
    other_turns: int = 1_000
    cold_turns: int = 10_000
    cold_runs: int = 3
    cold_systems: tuple[str, ...] = tuple(key for key, system in SYSTEMS.items() if system.persistent)
    bulk_turns: int = 5_000
    budget_seconds: float = 600.0


QUICK = Plan((200, 400), 2, 8, 3, 3, 100, 400, 1, ("ours", "chroma"), 200, 30.0)


def spread(seconds: Sequence[float]) -> dict[str, float]:
    """Median and 95th percentile in milliseconds."""
    p50, p95 = 1_000 * np.percentile(seconds, [50, 95])
    return {"p50": round(float(p50), 4), "p95": round(float(p95), 4), "repeats": len(seconds)}


def search_times(field: Bench, plan: Plan, count: int, offset: int) -> Table:
    """Searches for 5 of ``count`` turns, the question's embedding included; and how many found the answer."""
    taken: defaultdict[str, list[float]] = defaultdict(list)
    right: defaultdict[str, int] = defaultdict(int)
    for number in range(plan.rounds):
        first = offset + number * plan.searches
        answers = field.each(timed_searches, NAMESPACE, first, plan.searches, count, ROUND_SECONDS)
        for key, (seconds, found) in answers.items():
            taken[key] += seconds
            right[key] += found
    return field.cells(
        {key: {**spread(times), "found": right[key] / len(times)} for key, times in taken.items()}
    )


def add_times(field: Bench, plan: Plan, offset: int) -> Table:
    """Adds of a pair of turns, each durable where the system keeps anything."""
    taken: defaultdict[str, list[float]] = defaultdict(list)
    for number in range(plan.rounds):
        first = ADDED + 2 * (offset + number) * plan.adds
        for key, seconds in field.each(timed_adds, NAMESPACE, first, plan.adds, ROUND_SECONDS).items():
            taken[key] += seconds
    return field.cells({key: spread(times) for key, times in taken.items()})


def by_size(keys: Sequence[str], plan: Plan) -> Table:
    """Search and add in a namespace that grows; at its largest, the memory that ours takes."""
    tables: Table = {"search": {}, "add": {}, "records": {}}
    held = 0
    with bench(keys, plan.budget_seconds) as field:
        for step, size in enumerate(sorted(plan.sizes)):
            field.each(load_synthetic, NAMESPACE, 0, held, size - held)
            held = size
            tables["search"][size] = search_times(field, plan, size, step * plan.rounds * plan.searches)
            tables["add"][size] = add_times(field, plan, step * plan.rounds)
            tables["records"][size] = field.each(record_count, NAMESPACE).get("ours")
            print(f"at {size:,} turns: search and add measured", flush=True)
        tables["overhead"] = {key: cost for key, cost in field.each(overhead).items() if cost is not None}
        field.stop()
        if "ours" in keys and "ours" not in field.reasons and cold.can_measure_memory():
            tables["memory"] = memory_of_ours(str(field.folder("ours")), tables["records"], held)
    return tables


def memory_of_ours(folder: str, records: dict[int, int], size: int) -> Table:
    """Resident bytes of fresh processes that open what ours has written."""
    found = {mode: cold.resident_bytes(mode, folder, NAMESPACE, size) for mode in MEMORY_MODES}
    return {"turns": size, "records": records[size], "vectors": records[size] * VECTOR_BYTES, **found}


def among_others(keys: Sequence[str], plan: Plan) -> Table:
    """Search in one namespace: alone in its store, then while others hold as many turns each."""
    with bench(keys, plan.budget_seconds) as field:
        field.each(load_synthetic, NAMESPACE, 0, 0, plan.other_turns)
        alone = search_times(field, plan, plan.other_turns, 0)
        field.each(load_others, plan.others, plan.other_turns)
        among = search_times(field, plan, plan.other_turns, plan.rounds * plan.searches)
        return {"others": plan.others, "turns": plan.other_turns, "alone": alone, "among": among}


def cold_open(keys: Sequence[str], plan: Plan) -> Table:
    """Milliseconds to the first hit of a namespace that lies on disk."""
    kept = [key for key in keys if key in plan.cold_systems]
    with bench(kept, plan.budget_seconds) as field:
        stored = field.each(load_synthetic, NAMESPACE, 0, 0, plan.cold_turns)
        field.stop()
        found: Table = {}
        for key in stored:
            try:
                runs = [
                    cold.first_result(key, str(field.folder(key)), NAMESPACE, plan.cold_turns)
                    for _ in range(plan.cold_runs)
                ]
            except (subprocess.SubprocessError, ValueError) as error:
                found[key] = {"skipped": type(error).__name__}
            else:
                found[key] = {name: statistics.median(run[name] for run in runs) for name in runs[0]}
        return {"turns": plan.cold_turns, "cells": field.cells(found)}


def bulk_add(keys: Sequence[str], plan: Plan) -> Table:
    """Seconds to add many turns at once; and of Chroma's bulk upsert of as many records as ours makes."""
    with bench(keys, plan.budget_seconds) as field:
        answers = field.each(bulk_synthetic, NAMESPACE, plan.bulk_turns)
        cells = field.cells({key: {"seconds": seconds} for key, (seconds, _) in answers.items()})
    records = answers["ours"][1] if "ours" in answers else plan.bulk_turns
    with bench(["chroma"], plan.budget_seconds) as field:
        chroma = field.each(bulk_synthetic, NAMESPACE, records).get("chroma", (None, 0))[0]
    texts = [turn.text for turn in turns(0, plan.bulk_turns)]
    start = time.perf_counter()
    embedder_named("wordllama").embed(texts)
    return {
        "turns": plan.bulk_turns,
        "cells": cells,
        "records": records,
        "chroma": chroma,
        "embedding": time.perf_counter() - start,
    }


MEASURES: dict[str, Callable[[Sequence[str], Plan], Table]] = {
    measure.__name__: measure for measure in (by_size, among_others, cold_open, bulk_add)
}


def main() -> None:
    """Measure everything, and keep it for the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="+", type=int, help="turns in the namespace")
    parser.add_argument("--systems", nargs="+", choices=list(SYSTEMS), default=list(SYSTEMS))
    parser.add_argument("--budget", type=float, help="seconds that one step of one system may take")
    parser.add_argument("--quick", action="store_true", help="small sizes, few repeats: no figures to cite")
    parser.add_argument("--measures", nargs="+", choices=list(MEASURES), default=list(MEASURES))
    asked = parser.parse_args()
    plan = QUICK if asked.quick else Plan()
    if asked.sizes:
        plan = replace(plan, sizes=tuple(asked.sizes))
    if asked.budget:
        plan = replace(plan, budget_seconds=asked.budget)
    embedder_named("wordllama").embed_query("loaded")
    results = {**circumstances(asked.systems), "quick": asked.quick, "budget_seconds": plan.budget_seconds}
    for name in asked.measures:
        start = time.perf_counter()
        results[name] = MEASURES[name](asked.systems, plan)
        print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
    print(write("latency", results))


if __name__ == "__main__":
    main()
