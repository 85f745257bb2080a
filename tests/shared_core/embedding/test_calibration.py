"""Where ``connection_threshold`` comes from: ``pytest -s`` on this file prints the table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from rich.console import Console
from rich.table import Table

from shared_core.embedding import WordLlamaEmbedder
from tests.shared_core.embedding.pairs import RELATED, UNRELATED, Separation, cosines, separation

PRECISION_FLOOR = 0.9
THRESHOLDS = tuple(step / 100 for step in range(10, 71, 2))


def best(rows: Sequence[Separation]) -> Separation:
    """The best F1 among those of enough precision: a wrong connection misleads more than a missing one."""
    return max((row for row in rows if row.precision >= PRECISION_FLOOR), key=lambda row: row.f1)


def show(title: str, rows: Sequence[Separation], chosen: float) -> None:
    table = Table("cosine ≥", "precision", "recall", "F1", "", title=title)
    for row in rows:
        mark = "chosen" if row.threshold == chosen else ""
        table.add_row(*(f"{x:.2f}" for x in (row.threshold, row.precision, row.recall, row.f1)), mark)
    Console().print(table)


def test_there_are_enough_pairs_and_none_twice() -> None:
    assert min(len(RELATED), len(UNRELATED)) >= 40
    assert len({frozenset(pair) for pair in RELATED + UNRELATED}) == len(RELATED) + len(UNRELATED)


def test_the_threshold_of_the_default_embedder_is_the_one_that_separates_best() -> None:
    embedder = WordLlamaEmbedder()
    related, unrelated = cosines(embedder, RELATED), cosines(embedder, UNRELATED)
    rows = [separation(related, unrelated, threshold) for threshold in THRESHOLDS]
    show(embedder.name, rows, embedder.connection_threshold)
    shipped = separation(related, unrelated, embedder.connection_threshold)
    assert shipped.precision >= PRECISION_FLOOR
    assert shipped.f1 >= best(rows).f1 - 0.01


def test_related_pairs_are_nearer_than_unrelated_ones_as_a_rule() -> None:
    embedder = WordLlamaEmbedder()
    related, unrelated = cosines(embedder, RELATED), cosines(embedder, UNRELATED)
    area_under_roc = (related[:, np.newaxis] > unrelated).mean()
    assert area_under_roc == pytest.approx(0.887, abs=0.02)
