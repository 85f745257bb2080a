"""Whose turn it is at an embedded Chroma, which serves one call at a time."""

from __future__ import annotations

import threading
import time

__all__ = ["Turn"]


class Turn:
    """A turn that one thread has at a time, and may take again while it has it.

    Whoever waits gives up only where nothing has come back for long: not where many are served before, and
    not where one does much, step by step.

    Args:
        seconds: How long nothing may come back, at most.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._lock = threading.RLock()
        self._moved = time.monotonic()

    def take(self) -> bool:
        """Wait for the turn; whether it came, which it does not where nothing has come back for so long."""
        since = time.monotonic()
        while not self._lock.acquire(timeout=max(0.0, since + self.seconds - time.monotonic())):
            since = max(since, self._moved)
            if time.monotonic() - since >= self.seconds:
                return False
        self.went_on()
        return True

    def went_on(self) -> None:
        """Tell those who wait that a step of what is done in this turn has come back."""
        self._moved = time.monotonic()

    def pass_on(self) -> None:
        """Let the next one have it."""
        self.went_on()
        self._lock.release()
