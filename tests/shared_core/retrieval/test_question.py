from __future__ import annotations

from datetime import datetime, timezone

import pytest

from shared_core.retrieval.question import read_question


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("What did I eat on Monday's trip?", (2026, 11, 16)),
        ("What did I do on Sat?", (2026, 11, 21)),
        ("What was yesterday’s plan?", (2026, 11, 21)),
    ],
)
def test_a_day_is_read_whatever_form_it_has(text: str, day: tuple[int, int, int]) -> None:
    now = datetime(2026, 11, 22, 12, tzinfo=timezone.utc)
    assert read_question(text, names={}, now=now).days == (day,)
