"""The messages of each conversation in order: turns, sessions, and what the buffer still holds."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field

from shared_core.index.columns import NO_ROW


@dataclass
class Conversation:
    """One conversation.

    Attributes:
        turns: ``(turn, row)`` of each message, in order.
    """

    turns: list[tuple[int, int]] = field(default_factory=list)

    @property
    def next_turn(self) -> int:
        """The turn of the next message."""
        return self.turns[-1][0] + 1 if self.turns else 0

    @property
    def last_row(self) -> int:
        """The row of the newest message."""
        return self.turns[-1][1] if self.turns else NO_ROW

    def add(self, turn: int, row: int) -> tuple[int, int]:
        """Put a message in its place; returns the rows before and after it."""
        message = (turn, row)
        if not self.turns or self.turns[-1] < message:
            self.turns.append(message)
            return self.turns[-2][1] if len(self.turns) > 1 else NO_ROW, NO_ROW
        place = bisect_left(self.turns, message)
        self.turns.insert(place, message)
        return self._around(place)

    def remove(self, turn: int, row: int) -> tuple[int, int]:
        """Take a message out; returns the rows that are now side by side."""
        place = bisect_left(self.turns, (turn, row))
        around = self._around(place)
        del self.turns[place]
        return around

    def _around(self, place: int) -> tuple[int, int]:
        before = self.turns[place - 1][1] if place > 0 else NO_ROW
        after = self.turns[place + 1][1] if place + 1 < len(self.turns) else NO_ROW
        return before, after

    def newest_first(self) -> Iterator[int]:
        """Rows from the newest message back."""
        return (row for _, row in reversed(self.turns))
