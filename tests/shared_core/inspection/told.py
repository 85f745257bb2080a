"""A small memory to inspect, and texts that attack whoever shows them."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from pathlib import Path

from shared_core import ContextMemory

NOW = datetime(2026, 6, 1, 12, 0, tzinfo=timezone.utc)
HOSTILE = (
    "</script><script>document.title='owned'</script> I live in Rome.",
    '"><img src=x onerror="document.title=\'owned\'"> I work as a baker.',
    "<!--<script> My sister lives in Oslo. & &lt; ' ` ${1} \u2028",
    "$\\frac{1$ is what I paid, and 食べ物 🍣 I love.",
)


def tell(memory: ContextMemory) -> None:
    """Two conversations, three months apart."""
    first = NOW - timedelta(days=100)
    memory.add(
        [
            {"role": "user", "id": "m1", "content": "I live in Berlin and I am allergic to nuts."},
            {"role": "assistant", "id": "m2", "content": "Noted, no nuts."},
            {"role": "user", "id": "m3", "content": "Yesterday I fixed the JWT login bug with Paul."},
            {"role": "user", "id": "m4", "content": "Today I fixed the JWT login bug with Paul again."},
        ],
        "spring",
        now=first,
    )
    memory.add(
        [{"role": "user", "id": "m5", "content": "Last week I moved to Lisbon."}],
        "summer",
        now=NOW - timedelta(days=1),
    )


def told(folder: Path) -> ContextMemory:
    """A memory in ``folder`` that was told of both."""
    memory = ContextMemory(folder, "ann")
    tell(memory)
    return memory
