"""Many namespaces in one process under a limit of open files: ``python -m tests.reliability.many``."""

from __future__ import annotations

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
from chromadb.config import Settings as ChromaSettings

from shared_core import ContextMemory, Settings
from shared_core.stores.chroma import INDEX
from tests.shared_core.building import said

__all__ = ["Figures", "chroma_alone", "open_files", "run"]

OPEN_FILES = 1_024
#: Said in each namespace.
TALK = ("I moved to {place} and ride a tandem.", "Nice!", "My dog {place} swims in the lake every day.")


@dataclass(frozen=True)
class Figures:
    """What a run measured: memory in MB, time in ms for each namespace."""

    namespaces: int
    base_mb: float
    written_mb: float
    searched_mb: float
    write_ms: float
    search_ms: float
    close_seconds: float

    @property
    def kb_each(self) -> float:
        """Growth for each namespace."""
        return (self.searched_mb - self.base_mb) * 1_000 / self.namespaces


@contextmanager
def open_files(limit: int) -> Iterator[None]:
    """Lower the limit of open files of this process for a while."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(limit, soft), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def resident_mb() -> float:
    """Memory of this process."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * resource.getpagesize() / 1e6


def run(folder: Path, count: int, *, resident_limit: int = 128, say: bool = False) -> Figures:
    """Open, write and then search so many namespaces in turn; raises where one does not answer."""
    settings = Settings(resident_limit=resident_limit)
    with ContextMemory(folder, "warm", settings=settings) as memory:
        memory.add(said("warm"))
        memory.search("warm")
        base, began = resident_mb(), time.perf_counter()
        for number in range(count):
            with memory.for_namespace(f"user {number}") as own:
                own.add(
                    [said(text.format(place=f"town{number}"), f"m{n}") for n, text in enumerate(TALK)], "c"
                )
            if say and number % 250 == 249:
                print(f"  {number + 1} written, {resident_mb():.0f} MB", flush=True)
        written, wrote = resident_mb(), time.perf_counter()
        for number in range(count):
            with memory.for_namespace(f"user {number}") as own:
                hit = own.search("Where does the tandem live?", limit=3).results[0]
                assert f"town{number}" in hit.memory, hit.memory
            if say and number % 250 == 249:
                print(f"  {number + 1} searched, {resident_mb():.0f} MB", flush=True)
        searched, ended = resident_mb(), time.perf_counter()
    return Figures(
        namespaces=count,
        base_mb=base,
        written_mb=written,
        searched_mb=searched,
        write_ms=(wrote - began) * 1_000 / count,
        search_ms=(ended - wrote) * 1_000 / count,
        close_seconds=time.perf_counter() - ended,
    )


def chroma_alone(folder: Path, count: int) -> float:
    """Chroma's own share: growth in MB of a process that does the same with Chroma and nothing of ours."""
    settings = ChromaSettings(anonymized_telemetry=False)
    client: Any = chromadb.PersistentClient(str(folder), settings=settings)
    vectors = np.random.default_rng(0).random((6, 256), dtype=np.float32)
    ids, base = [str(n) for n in range(6)], 0.0
    for number in range(count + 1):
        found = client.get_or_create_collection(f"c{number:06}", configuration=INDEX, embedding_function=None)
        found.upsert(ids=ids, embeddings=vectors, documents=["a text of some words"] * 6)
        if number == 0:
            base = resident_mb()
    for number in range(count):
        client.get_collection(f"c{number:06}", embedding_function=None).get(include=["documents"])
    grown = resident_mb() - base
    client.close()
    return grown


def main() -> None:
    """Print the figures of a run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--namespaces", type=int, default=10_000)
    parser.add_argument("--resident-limit", type=int, default=128)
    parser.add_argument("--chroma-alone", action="store_true", help="measure Chroma without us")
    options = parser.parse_args()
    with open_files(OPEN_FILES), tempfile.TemporaryDirectory() as folder:
        if options.chroma_alone:
            print(f"chroma alone: {chroma_alone(Path(folder), options.namespaces):.0f} MB")
            return
        figures = run(Path(folder), options.namespaces, resident_limit=options.resident_limit, say=True)
    print(json.dumps({**asdict(figures), "kb_each": figures.kb_each}, indent=1))


if __name__ == "__main__":
    main()
