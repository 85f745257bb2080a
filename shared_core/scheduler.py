"""Maintenance by itself: after an hour without messages, or every so often, until it is stopped."""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from datetime import datetime, timedelta
from types import TracebackType
from typing import TYPE_CHECKING

import numpy as np
from typing_extensions import Self

from shared_core.background import end_with
from shared_core.messages import quoted
from shared_core.records import MESSAGE
from shared_core.times import utc_now
from shared_core.upkeep.maintenance import MaintenanceReport

if TYPE_CHECKING:
    from shared_core.memory import ContextMemory

logger = logging.getLogger(__name__)

#: The thread looks at the clock at least this often, in seconds, in case it was set or the machine slept.
LONGEST_WAIT_SECONDS = 60.0
#: Errors that are kept, the last ones.
KEPT_ERRORS = 20
#: How long the end of the interpreter waits for a run that is under way, in seconds.
EXIT_WAIT_SECONDS = 30.0


class MaintenanceScheduler:
    """Runs ``memory.maintain`` in a thread of its own while nobody talks (sleep-time, seed 004).

    With ``interval_minutes`` it runs that often, whatever happens; otherwise once ``idle_minutes`` have
    passed since the last message, and again after as long, for as long as it stays quiet. A run that fails is
    logged, kept in ``errors``, and tried again when the next one is due. It ends with ``stop``, with the
    memory's ``close``, and with the interpreter, which waits for a run that is under way.

    Example:
        >>> with MaintenanceScheduler(memory, idle_minutes=60):  # doctest: +SKIP
        ...     serve(memory)

    Args:
        memory: What to tend: one namespace.
        idle_minutes: Minutes without a message after which it runs.
        interval_minutes: Minutes from one run to the next, in the place of idleness; None for none.
        clock: Tells the time, timezone-aware; the present if left out.
        longest_wait_seconds: How often the clock is looked at, at least.

    Raises:
        ValueError: If a number is not above 0.
    """

    def __init__(
        self,
        memory: ContextMemory,
        *,
        idle_minutes: float = 60.0,
        interval_minutes: float | None = None,
        clock: Callable[[], datetime] = utc_now,
        longest_wait_seconds: float = LONGEST_WAIT_SECONDS,
    ) -> None:
        self._memory = memory
        self._idle = _minutes("idle_minutes", idle_minutes)
        self._interval = None if interval_minutes is None else _minutes("interval_minutes", interval_minutes)
        _minutes("longest_wait_seconds", longest_wait_seconds)
        self._longest_wait_seconds = longest_wait_seconds
        self._clock = clock
        self._began = clock()
        self._next = self._began
        self._last_run: datetime | None = None
        self._stopping = threading.Event()
        self._running = threading.Lock()
        self._thread: threading.Thread | None = None
        self.runs = 0
        self.failures = 0
        self.last_report: MaintenanceReport | None = None
        self.errors: deque[Exception] = deque(maxlen=KEPT_ERRORS)

    def __repr__(self) -> str:
        state = "running" if self.is_running else "stopped"
        return f"MaintenanceScheduler({self._memory.namespace!r}, {state}, runs={self.runs})"

    @property
    def is_running(self) -> bool:
        """Whether its thread is alive."""
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> Self:
        """Begin; harmless when it runs already.

        Raises:
            StoreError: If the memory is closed.
        """
        if not self.is_running:
            self._memory.opened()
            self._stopping.clear()
            name = f"maintenance of {self._memory.namespace}"
            self._thread = threading.Thread(target=self._live, name=name, daemon=True)
            self._thread.start()
            end_with(self, self._stopping, self._thread, wait_seconds=EXIT_WAIT_SECONDS)
        return self

    def stop(self, timeout_seconds: float | None = None) -> bool:
        """End it, and wait for a run that is under way; harmless when it has ended.

        Args:
            timeout_seconds: How long to wait; None for as long as it takes.

        Returns:
            Whether it has ended.
        """
        self._stopping.set()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join(timeout_seconds)
        return not self.is_running

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def due_at(self) -> datetime:
        """When the next run is due, as things stand.

        Raises:
            StoreError: If the memory cannot be read.
        """
        last = self._last_run or self._began
        if self._interval is not None:
            return last + self._interval
        spoken = self._last_message()
        quiet_since = spoken if self._last_run is None else max(self._last_run, spoken or self._last_run)
        return (quiet_since or self._began) + self._idle

    def run_if_due(self) -> MaintenanceReport | None:
        """Run now if it is time; what the thread does when it wakes. None if it was not, or if it failed."""
        with self._running:
            now = self._clock()
            try:
                self._next = self.due_at()
                if now < self._next:
                    return None
                self._last_run = now
                self._next = now + (self._interval or self._idle)
                self.last_report = self._memory.maintain(now=now)
            except Exception as error:  # noqa: BLE001 - nobody waits for it: kept, counted, tried again
                self._last_run = now
                self._next = now + (self._interval or self._idle)
                self._failed(error)
                return None
            self.runs += 1
            return self.last_report

    def _failed(self, error: Exception) -> None:
        if self._memory.is_closed:  # it was closed meanwhile, which is no failure
            return
        self.failures += 1
        self.errors.append(error)
        logger.warning("namespace %r: maintenance failed: %s", self._memory.namespace, error, exc_info=error)

    def _last_message(self) -> datetime | None:
        """When the last message was stored; None if there is none."""
        with self._memory.opened().use() as index:
            columns = index.columns
            stored = columns["updated"][np.flatnonzero(columns["alive"] & (columns["kind"] == MESSAGE))]
            newest = float(stored.max()) if len(stored) else None
        return None if newest is None else datetime.fromtimestamp(newest, tz=self._began.tzinfo)

    def _live(self) -> None:
        """Look at the clock now and then; at the memory, maybe far away, only when a run may be due."""
        while not self._stopping.is_set() and not self._memory.is_closed:
            if self._clock() >= self._next:
                self.run_if_due()
            left = (self._next - self._clock()).total_seconds()
            self._stopping.wait(min(self._longest_wait_seconds, max(left, 0.0)))


def _minutes(name: str, value: float) -> timedelta:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not value > 0:
        raise ValueError(f"{name} {quoted(value)} is not a number above 0")
    try:
        return timedelta(minutes=value)
    except OverflowError as error:
        raise ValueError(f"{name} {quoted(value)} is too long: leave the scheduler out") from error
