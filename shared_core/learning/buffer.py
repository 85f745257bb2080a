"""The message buffer of a conversation: when it overflows, and how much leaves. Pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from shared_core.times import SECONDS_PER_DAY

#: Share of the token limit that is left after an eviction by tokens: as 20 messages of 50 are by count.
TOKENS_KEPT_SHARE = 0.4
SECONDS_PER_MINUTE = SECONDS_PER_DAY / 1_440


def evictions(
    tokens: Sequence[int], *, max_messages: int, evict_messages: int, max_tokens: int | None
) -> list[int]:
    """How many of the oldest messages leave together, eviction by eviction.

    Args:
        tokens: Size of each message in the buffer, oldest first; only their number matters without
            ``max_tokens``.
        max_messages: What the buffer holds.
        evict_messages: How many leave when it holds more.
        max_tokens: What it holds in tokens, or None. When it holds more, the oldest leave until 40 % of
            this is left.

    Returns:
        Sizes of the evictions; their sum is less than the number of messages, so the newest stays.
    """
    sizes: list[int] = []
    start = 0
    while len(tokens) - start > max_messages:
        sizes.append(min(evict_messages, len(tokens) - start - 1))
        start += sizes[-1]
    if max_tokens is not None and sum(tokens[start:]) > max_tokens:
        kept = sum(tokens[start:])
        stop = start
        while stop < len(tokens) - 1 and kept > TOKENS_KEPT_SHARE * max_tokens:
            kept -= tokens[stop]
            stop += 1
        if stop > start:
            sizes.append(stop - start)
    return [size for size in sizes if size > 0]


def starts_session(previous: datetime | None, moment: datetime, *, gap_minutes: float) -> bool:
    """Whether a message at ``moment`` begins a new session after one at ``previous``.

    A message that is older than the one before it belongs to the same session: clocks go back.
    """
    if previous is None:
        return True
    return (moment - previous).total_seconds() > gap_minutes * SECONDS_PER_MINUTE
