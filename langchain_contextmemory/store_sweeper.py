"""A thread that deletes expired items now and then."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future
from weakref import WeakMethod

from shared_core.background import end_with
from shared_core.errors import StoreError

__all__ = ["Sweeper"]

logger = logging.getLogger(__name__)

#: How long the interpreter's exit waits for a deletion that is under way.
EXIT_WAIT_SECONDS = 10.0


class Sweeper:
    """Calls a function at intervals until stopped. A failing store is logged, counted, and tried again.

    Args:
        sweep: A method that deletes what has expired, and returns how many; the thread ends once its object
            is let go of.
        interval_seconds: From the end of one call to the next.
    """

    def __init__(self, sweep: Callable[[], int], interval_seconds: float) -> None:
        self._sweep = WeakMethod(sweep)
        self._interval_seconds = interval_seconds
        self._asked_to_stop = threading.Event()
        #: How often the store failed.
        self.failures = 0
        #: Done once the thread has ended; cancelling it ends the thread as well.
        self.ended: Future[None] = Future()
        self.ended.add_done_callback(lambda _: self._asked_to_stop.set())
        self._thread = threading.Thread(target=self._work, name="contextmemory-sweeper", daemon=True)
        self._thread.start()
        end_with(self, self._asked_to_stop, self._thread, wait_seconds=EXIT_WAIT_SECONDS)

    @property
    def is_running(self) -> bool:
        """Whether the thread still works."""
        return self._thread.is_alive() and not self._asked_to_stop.is_set()

    def stop(self, timeout_seconds: float | None = None) -> bool:
        """Ask the thread to end and wait for it; returns whether it has ended."""
        self._asked_to_stop.set()
        if self._thread is not threading.current_thread():
            self._thread.join(timeout_seconds)
        return not self._thread.is_alive()

    def _work(self) -> None:
        while not self._asked_to_stop.wait(self._interval_seconds):
            sweep = self._sweep()
            if sweep is None:
                break
            try:
                swept = sweep()
            except StoreError as error:
                self.failures += 1
                logger.warning("expired items were not deleted: %s", error)
            else:
                if swept:
                    logger.info("deleted %d expired items", swept)
            del sweep
        if self.ended.set_running_or_notify_cancel():
            self.ended.set_result(None)
