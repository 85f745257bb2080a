"""A reranker has the last word on the order of the hits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shared_core import ContextMemory
from shared_core.retrieval.reranking import RERANKED

LINES = [f"Boat number {number} is called Mango." for number in range(60)]


def opened(folder: Path, reranker: Any) -> ContextMemory:
    memory = ContextMemory(folder, reranker=reranker)
    memory.add([{"role": "user", "content": line} for line in LINES])
    return memory


def test_the_highest_rated_of_the_best_hits_come_first(tmp_path: Path) -> None:
    seen: list[tuple[str, list[str]]] = []

    def by_length_of_number(query: str, texts: Sequence[str]) -> Any:
        seen.append((query, list(texts)))
        return np.array([float(text.split()[2]) for text in texts], dtype=np.float32)

    with opened(tmp_path / "m", by_length_of_number) as memory:
        hits = memory.search("Which boat is called Mango?", limit=3).results
        query, texts = seen[0]
        assert (query, len(texts)) == ("Which boat is called Mango?", RERANKED)
        best = sorted((float(text.split()[2]) for text in texts), reverse=True)[:3]
        assert [hit.score for hit in hits] == best
        assert all(hit.components["rating"] == hit.score for hit in hits)
        assert all(0 < hit.components["first_score"] < 1 for hit in hits)
        memory.context("Which boat is called Mango?")
        assert len(seen) == 2, "a context asks it as well"


@pytest.mark.parametrize(
    ("ratings", "words"),
    [
        ([1.0], "1 ratings for"),
        (["good"] * 100, "'good'"),
        ([float("nan")] * 100, "nan"),
        ([None] * 100, "None"),
    ],
)
def test_ratings_that_are_none_are_refused(tmp_path: Path, ratings: list[Any], words: str) -> None:
    reranker = lambda _, texts: ratings[: len(texts)]  # noqa: E731
    with opened(tmp_path / "m", reranker) as memory, pytest.raises(ValueError, match=words):
        memory.search("boat")


def test_what_cannot_be_called_is_no_reranker(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'bge'"):
        ContextMemory(tmp_path / "m", reranker="bge")  # type: ignore[arg-type]


def test_nothing_found_is_nothing_rated(tmp_path: Path) -> None:
    with ContextMemory(tmp_path / "m", reranker=lambda *_: [1 / 0]) as memory:
        assert memory.search("boat").results == []
