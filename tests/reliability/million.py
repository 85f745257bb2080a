"""One namespace, as large as time allows: ``python -m tests.reliability.million --records 1000000``.

Three of four records are messages, one is a fact; their texts are those of the benchmarks. They are imported,
which is the fastest public way in, and at each doubling the namespace is asked and written to. At the end a
process of its own opens it, as a service does when it starts. A folder that is kept is gone on with.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

from shared_core import ContextMemory
from shared_core.ids import message_record_id, record_id
from shared_core.records import Memory
from shared_core.stores.base import SCHEMA_VERSION
from shared_core.transfer.export import FORMAT, Export, Header, import_records
from tests.benchmarks.texts import question, turns
from tests.reliability.many import resident_mb

__all__ = ["load", "measured"]

#: Records of one import; the first measurement follows the first.
PART = 25_000
#: Of so many records one is a fact.
FACT_EVERY = 4
#: Questions of one measurement; the first are not counted.
QUESTIONS, WARM = 23, 3
NAME = "large"


def records(start: int, count: int) -> Iterator[Memory]:
    """So many records from the ``start``-th on, made from nothing but their numbers."""
    for number, turn in enumerate(turns(start, count), start=start):
        common: dict[str, Any] = {
            "text": turn.text,
            "conversation_id": turn.conversation,
            "created_at": turn.moment,
            "updated_at": turn.moment,
        }
        if number % FACT_EVERY == 0:
            yield Memory(id=record_id("fact", turn.id), kind="fact", source_ids=(turn.id,), **common)
        else:
            said = {"role": turn.role, "turn": number, "message_id": turn.id}
            yield Memory(id=message_record_id(turn.conversation, turn.id), kind="message", **said, **common)


def load(memory: ContextMemory, start: int, count: int) -> float:
    """Import so many records, which are embedded on the way; returns the seconds that it took."""
    made = tuple(records(start, count))
    header = Header(
        contextmemory=FORMAT,
        schema_version=SCHEMA_VERSION,
        namespace=NAME,
        embedder=memory.embedder.name,
        dimension=memory.embedder.dimension,
        records=len(made),
    )
    began = time.perf_counter()
    report = import_records(memory, Export(header, made, (None,) * len(made)), overwrite=True)
    assert report.added + report.overwritten + report.unchanged == count, report
    return time.perf_counter() - began


def measured(memory: ContextMemory, count: int) -> dict[str, float]:
    """What a search, a context and an ``add`` take in a namespace of so many records, and what is found."""
    searches, contexts, found = [], [], 0
    for number in range(QUESTIONS):
        asked, answer = question(number, count)
        began = time.perf_counter()
        result = memory.search(asked, limit=10)
        searched = time.perf_counter()
        memory.context(asked, token_budget=1_000)
        contexts.append(time.perf_counter() - searched)
        searches.append(searched - began)
        found += any(answer in (*hit.source_ids, hit.record.message_id) for hit in result.results)
    adds = []
    for where in ("Bergen", "Turin"):
        began = time.perf_counter()
        memory.add({"role": "user", "content": f"I moved to {where} in year {count}."}, f"{where} at {count}")
        adds.append((time.perf_counter() - began) * 1_000)
    return {
        "search_p50_ms": median(searches[WARM:]) * 1_000,
        "context_p50_ms": median(contexts[WARM:]) * 1_000,
        "add_after_searches_ms": adds[0],  # writes down as well what those searches have read
        "add_ms": adds[1],
        "found_of_questions": found / QUESTIONS,
        "memory_mb": resident_mb(),
    }


def reopened(folder: Path) -> dict[str, float]:
    """What a new process needs until its first answer."""
    before, began = resident_mb(), time.perf_counter()
    with ContextMemory(folder, NAME) as memory:
        memory.search("What did I do in Bergen?", limit=3)
        opened = time.perf_counter()
        memory.search("What did I do in Bergen?", limit=3)
        return {
            "open_and_first_search_s": opened - began,
            "second_search_ms": (time.perf_counter() - opened) * 1_000,
            "memory_mb": resident_mb() - before,
        }


def run(folder: Path, wanted: int, seconds: float) -> int:
    """Load until ``wanted`` records or ``seconds`` are reached, and print what each stage took; the size."""
    began = time.monotonic()
    with ContextMemory(folder, NAME) as memory:
        with memory.opened().use() as index:
            count = len(index) // PART * PART  # a part that was cut off is loaded again
        step = max(PART, count * 2)
        while count < wanted and time.monotonic() - began < seconds:
            size = min(PART, wanted - count)
            took = load(memory, count, size)
            count += size
            told = {"records": count, "loaded_a_second": size / took}
            if count >= step or count == wanted:
                step = count + max(PART, count)
                told |= measured(memory, count)
            _tell(told)
        _tell({"records": count, **measured(memory, count), "database_mb": _size_mb(folder)})
        closing = time.monotonic()
    _tell({"close_s": time.monotonic() - closing})
    return count


def _size_mb(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6


def _tell(figures: dict[str, float]) -> None:
    print(json.dumps({name: round(value, 2) for name, value in figures.items()}), flush=True)


def main() -> int:
    """Print a line of figures for each stage."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--minutes", type=float, default=240.0, help="load no longer than this")
    parser.add_argument("--folder", type=Path, help="keep the folder; a temporary one if left out")
    parser.add_argument("--open", action="store_true", help="only open what stands in the folder")
    options = parser.parse_args()
    if options.open:
        _tell(reopened(options.folder))
        return 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        run(folder, options.records, options.minutes * 60)
        command = [sys.executable, "-m", "tests.reliability.million", "--open", "--folder", str(folder)]
        return subprocess.run(command).returncode


if __name__ == "__main__":
    sys.exit(main())
