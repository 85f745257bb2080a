"""What the core costs and finds: ``python -m tests.benchmarks.core [--locomo PATH]``.

Every figure of speed is a ratio, or a time beside a limit, taken in this one run.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import chromadb
import numpy as np
from chromadb.config import Settings as ChromaSettings

from shared_core import ContextMemory
from tests.benchmarks.locomo import Sample, load_samples, recall

REPETITIONS = 15
NAMESPACE_RECORDS = 2_000


def import_milliseconds() -> float:
    """Median time of ``import shared_core`` in a fresh interpreter."""
    code = "import time; t = time.perf_counter(); import shared_core; print(time.perf_counter() - t)"
    runs = [
        float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)
        for _ in range(REPETITIONS)
    ]
    return 1_000 * statistics.median(runs)


def add_against_upsert() -> tuple[float, float, float]:
    """Median milliseconds of an ``add`` of a pair, and of a bare upsert of as many; records a pair."""
    with tempfile.TemporaryDirectory() as folder, ContextMemory(f"{folder}/ours") as memory:
        memory.add([_filler(i) for i in range(NAMESPACE_RECORDS)], "before")
        settings = ChromaSettings(anonymized_telemetry=False)
        bare = chromadb.PersistentClient(f"{folder}/bare", settings=settings).create_collection("bare")
        vectors = np.random.default_rng(0).normal(size=(NAMESPACE_RECORDS, 256)).astype(np.float32)
        ids = [f"before-{i}" for i in range(NAMESPACE_RECORDS)]
        texts = [str(_filler(i)["content"]) for i in range(NAMESPACE_RECORDS)]
        bare.upsert(ids=ids, embeddings=vectors, documents=texts, metadatas=[{"kind": "message"}] * len(ids))
        ours, theirs, counts = [], [], []
        for i in range(REPETITIONS):
            before = _count(memory)
            start = time.perf_counter()
            memory.add(_pair(i), "now")
            ours.append(time.perf_counter() - start)
            counts.append(_count(memory) - before)
            start = time.perf_counter()
            bare.upsert(
                ids=[f"{i}-{n}" for n in range(counts[-1])],
                embeddings=vectors[: counts[-1]],
                documents=[str(message["content"]) for message in _pair(i)][:1] * counts[-1],
                metadatas=[{"kind": "message", "conversation_id": "now"}] * counts[-1],
            )
            theirs.append(time.perf_counter() - start)
    return 1_000 * statistics.median(ours), 1_000 * statistics.median(theirs), statistics.mean(counts)


def _count(memory: ContextMemory) -> int:
    return len(memory.list(limit=1_000_000))


def _filler(number: int) -> dict[str, object]:
    return {
        "role": "user",
        "content": f"Item {number} of the archive is about topic {number % 97}, shelf {number % 13}",
    }


def _pair(number: int) -> list[dict[str, object]]:
    return [
        {"role": "user", "content": f"I went to the dentist {number} times and I work at Company{number}."},
        {"role": "assistant", "content": f"Noted: {number} visits. Shall I remind you of the next one?"},
    ]


def conversation_recall(sample: Sample) -> tuple[float, int, int]:
    """recall@10 of a conversation's questions, contexts over budget, and its records."""
    with tempfile.TemporaryDirectory() as folder, ContextMemory(folder) as memory:
        memory.add(sample.messages, sample.name)
        found, over = [], 0
        for question in sample.questions:
            hits = memory.search(question.text, limit=10)
            found.append(recall([hit.source_ids[0] for hit in hits if hit.source_ids], question.evidence))
            over += memory.context(question.text, token_budget=1_000).tokens > 1_000
        return 100 * statistics.mean(found), over, _count(memory)


def main() -> None:
    """Print each figure beside its limit."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--locomo", type=Path, default=Path("../shared/data/locomo10.json"))
    path = parser.parse_args().locomo
    print(f"import shared_core           {import_milliseconds():7.1f} ms   limit 300")
    ours, theirs, records = add_against_upsert()
    print(f"add of a pair                {ours:7.1f} ms   ({records:.1f} records)")
    print(f"bare upsert of as many       {theirs:7.1f} ms   ratio {ours / theirs:.2f}, limit 3")
    if path.exists():
        score, over, count = conversation_recall(load_samples(path)[0])
        print(f"LoCoMo 0: recall@10          {score:7.1f}      floor 55 ({count} records)")
        print(f"contexts over 1,000 tokens   {over:7d}      limit 0")


if __name__ == "__main__":
    main()
