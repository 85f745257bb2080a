"""Learning behind the caller's back: one worker for each namespace, in order, with a bounded queue."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

logger = logging.getLogger(__name__)

#: Batches of messages that may wait to be learnt from; one more waits for its place.
QUEUE_LIMIT = 64


class Background:
    """Does tasks one after another in a thread of its own, which interpreter exit waits for.

    Args:
        name: Of the thread.
        limit: Tasks that may wait.
    """

    def __init__(self, name: str, *, limit: int = QUEUE_LIMIT) -> None:
        self._executor = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._places = threading.BoundedSemaphore(limit)
        self._lock = threading.Lock()
        self._waiting: set[Future[None]] = set()
        self._errors: list[Exception] = []

    def submit(self, task: Callable[[], object]) -> None:
        """Do ``task`` after those before it; blocks while the queue is full."""
        self._places.acquire()
        try:
            future = self._executor.submit(self._run, task)
        except BaseException:
            self._places.release()
            raise
        with self._lock:
            self._waiting.add(future)
        future.add_done_callback(self._done)

    def _run(self, task: Callable[[], object]) -> None:
        try:
            task()
        except Exception as error:  # noqa: BLE001 - kept until somebody asks, and logged
            logger.warning("learning in the background failed: %s", error)
            with self._lock:
                self._errors.append(error)

    def _done(self, future: Future[None]) -> None:
        with self._lock:
            self._waiting.discard(future)
        self._places.release()

    def drain(self) -> list[Exception]:
        """Wait until everything submitted so far is done; returns what failed since the last time."""
        with self._lock:
            waiting = set(self._waiting)
        wait(waiting)
        with self._lock:
            errors, self._errors = self._errors, []
        return errors

    def close(self) -> None:
        """Finish what waits, and take no more."""
        self._executor.shutdown(wait=True)
