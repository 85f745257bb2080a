"""Threads behind the caller's back: a worker with a bounded queue, and how one that goes on for ever ends."""

from __future__ import annotations

import logging
import threading
import weakref
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait

from shared_core.asynchronous import for_same_loop

logger = logging.getLogger(__name__)

#: Batches of messages that may wait to be learnt from; one more waits for its place.
QUEUE_LIMIT = 64

Task = Callable[[], object]


class Background:
    """Does tasks one after another, in a thread that is there while there are any.

    Interpreter exit waits for what was submitted.

    Args:
        name: Of the thread.
        limit: Tasks that may wait.
    """

    def __init__(self, name: str, *, limit: int = QUEUE_LIMIT) -> None:
        self._name = name
        self._places = threading.BoundedSemaphore(limit)
        self._lock = threading.Lock()
        self._queue: deque[tuple[Task, Future[None]]] = deque()
        self._waiting: set[Future[None]] = set()
        self._is_running = False
        self._is_closed = False
        self._errors: list[Exception] = []

    def submit(self, task: Task) -> None:
        """Do ``task`` after those before it, for the same event loop, if any; blocks while the queue is full.

        Where the system gives no thread, it is done before this returns.

        Raises:
            RuntimeError: If it was closed.
        """
        self._places.acquire()
        done: Future[None] = Future()
        with self._lock:
            if self._is_closed:
                self._places.release()
                raise RuntimeError(f"{self._name} takes no more tasks: it was closed")
            self._queue.append((for_same_loop(task), done))
            self._waiting.add(done)
            if self._is_running:
                return
            self._is_running = True
        try:
            self._start()
        except RuntimeError as error:  # no thread is to be had: late is better than never
            logger.warning("%s works in the thread of its caller: %s", self._name, error)
            self._work()
        except BaseException as error:
            with self._lock:
                self._is_running = False
                left, self._queue = self._queue, deque()
                if len(left) > 1:  # who submitted these is not told by what is raised here
                    self._errors.append(RuntimeError(f"{len(left) - 1} tasks were not done: {error!r}"))
            for _, never in left:
                self._end(never)
            raise

    def _start(self) -> None:
        """Begin with what waits, in a thread of its own, which ends when nothing waits any more."""
        executor = ThreadPoolExecutor(1, thread_name_prefix=self._name)
        try:
            executor.submit(self._work)
        finally:
            executor.shutdown(wait=False)

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._queue:
                    self._is_running = False
                    return
                task, done = self._queue.popleft()
            try:
                self._run(task)
            finally:
                self._end(done)

    def _run(self, task: Task) -> None:
        try:
            task()
        except BaseException as error:  # noqa: BLE001 - kept until somebody asks, and logged; the next waits
            logger.warning("learning in the background failed: %s", error)
            failure = error if isinstance(error, Exception) else RuntimeError(f"a task was ended: {error!r}")
            with self._lock:
                self._errors.append(failure)

    def _end(self, done: Future[None]) -> None:
        with self._lock:
            self._waiting.discard(done)
        self._places.release()
        done.set_result(None)

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
        with self._lock:
            self._is_closed = True
            waiting = set(self._waiting)
        wait(waiting)


def end_with(
    owner: object, stopping: threading.Event, thread: threading.Thread, *, wait_seconds: float
) -> Callable[[], object]:
    """Have ``thread`` stopped and waited for when ``owner`` is let go of, and at the interpreter's exit.

    A thread that outlives the interpreter is ended in the middle of native code, which aborts the process.

    Args:
        owner: Whose thread it is; the thread must not hold it.
        stopping: Set to ask the thread to end.
        thread: A thread that looks at ``stopping``.
        wait_seconds: Longest to wait for what is under way.

    Returns:
        Ends it now; harmless when repeated.
    """
    return weakref.finalize(owner, _end, stopping, thread, wait_seconds)


def _end(stopping: threading.Event, thread: threading.Thread, wait_seconds: float) -> None:
    stopping.set()
    if thread is not threading.current_thread():
        thread.join(wait_seconds)
