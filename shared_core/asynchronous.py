"""Work in threads for event loops: how an async twin runs its method, and how a long call lets the loop on.

What stops a loop while its work is done in threads is the interpreter's lock, which an embedded Chroma keeps
for the whole of a call. Two things would make the loop wait for several such calls in a row:

- A thread that is started is waited for until it runs. So all threads are started before the first call.
- One round of a loop lets go of the lock several times (it waits, it reads what woke it), and each time the
  next call may begin. So ``giving_way`` has the loop go round once between two.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final, ParamSpec, TypeVar
from weakref import WeakKeyDictionary, WeakValueDictionary

__all__ = ["AT_ONCE", "for_same_loop", "giving_way", "run_in_thread", "run_in_turn", "works_for_loop"]

P = ParamSpec("P")
R = TypeVar("R")

#: Threads of a loop's own executor, as Python makes it.
THREADS: Final = min(32, (getattr(os, "process_cpu_count", os.cpu_count)() or 1) + 4)
#: How many calls of one kind are in threads at once: those that read and those that write together leave two
#: threads to whatever else needs one.
AT_ONCE: Final = max(1, (THREADS - 2) // 2)
#: Calls that take less do a loop no harm that it would notice, in seconds.
NOTICEABLE: Final = 0.002
#: How long a loop that is busy with something else is waited for at most, in seconds.
LONGEST: Final = 0.02

_Places = WeakValueDictionary[Hashable, asyncio.Semaphore]
#: Of each loop that was seen, what limits the calls of each kind.
_places: WeakKeyDictionary[asyncio.AbstractEventLoop, _Places] = WeakKeyDictionary()
#: ``loop``: the event loop for which a thread is at work now, or None.
_thread = threading.local()


async def run_in_thread(function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """What ``function`` returns; it runs in a thread of the loop's own executor, in a copy of the context.

    Whoever is cancelled waits no longer; what was begun is done to the end, what was not is never begun.

    Args:
        function: Any that may run in a thread; within it, ``giving_way`` knows the loop.
        *args: Its arguments.
        **kwargs: Those by name.
    """
    loop = asyncio.get_running_loop()
    _places_of(loop)
    return await asyncio.to_thread(_attended, loop, function, args, kwargs)


async def run_in_turn(kind: Hashable, function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """As ``run_in_thread``, with at most ``AT_ONCE`` calls of one kind in threads; the others wait in order.

    So calls that wait for one another, or for another process, leave threads to the rest of the program. A
    call that was cancelled keeps its place until it ends.

    Args:
        kind: What may be in each other's way, such as the calls on one namespace.
        function: Any that may run in a thread; it must not wait for another call of this kind.
        *args: Its arguments.
        **kwargs: Those by name.
    """
    loop = asyncio.get_running_loop()
    places = _places_of(loop)
    place = places.get(kind)
    if place is None:
        place = places[kind] = asyncio.Semaphore(AT_ONCE)
    await place.acquire()
    call = _Call()
    try:
        return await asyncio.to_thread(_in_place, loop, place, call, function, args, kwargs)
    finally:
        if call.leave() and not loop.is_closed():
            place.release()


class _Call:
    """Whether a call has begun, and whether anybody waits for it: says who gives its place back, once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._is_running = False
        self._is_left = False

    def begin(self) -> bool:
        """Whether to begin: not if nobody waits any more."""
        with self._lock:
            self._is_running = not self._is_left
            return self._is_running

    def end(self) -> bool:
        """It is done; whether the thread is to give the place back."""
        with self._lock:
            self._is_running = False
            return self._is_left

    def leave(self) -> bool:
        """Nobody waits any more; whether whoever did is to give the place back."""
        with self._lock:
            self._is_left = True
            return not self._is_running


def _in_place(
    loop: asyncio.AbstractEventLoop,
    place: asyncio.Semaphore,
    call: _Call,
    function: Callable[..., R],
    args: Any,
    kwargs: dict[str, Any],
) -> R:
    if not call.begin():
        raise asyncio.CancelledError
    try:
        return _attended(loop, function, args, kwargs)
    finally:
        if call.end():
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(place.release)


def _places_of(loop: asyncio.AbstractEventLoop) -> _Places:
    """What limits the calls of a loop; one that is new has its threads started."""
    places = _places.get(loop)
    if places is None:
        places = _places[loop] = _Places()
        started = threading.Event()
        with suppress(RuntimeError):  # the system gives fewer: those that there are will do
            for _ in range(THREADS):
                loop.run_in_executor(None, started.wait)
        started.set()
    return places


def _attended(
    loop: asyncio.AbstractEventLoop, function: Callable[..., R], args: Any, kwargs: dict[str, Any]
) -> R:
    before, _thread.loop = _waiting_loop(), loop
    try:
        return function(*args, **kwargs)
    finally:
        _thread.loop = before


def _waiting_loop() -> asyncio.AbstractEventLoop | None:
    """The loop for which this thread is at work."""
    loop: asyncio.AbstractEventLoop | None = getattr(_thread, "loop", None)
    return loop


def works_for_loop() -> bool:
    """Whether an event loop goes on while this thread is at work for it: long calls would stop it."""
    loop = _waiting_loop()
    return loop is not None and loop.is_running()


def for_same_loop(function: Callable[[], R]) -> Callable[[], R]:
    """``function``, to be called in another thread, for the loop that this thread is at work for, if any."""
    loop = _waiting_loop()
    return function if loop is None else lambda: _attended(loop, function, (), {})


@contextmanager
def giving_way() -> Iterator[None]:
    """For a call that may keep the interpreter's lock: afterwards the loop that waits for it goes round once.

    Does nothing after a quick call, and in a thread that works for no loop. Hold what keeps others from
    beginning such a call around it, or another thread's call takes the loop's turn.
    """
    began = time.perf_counter()
    try:
        yield
    finally:
        loop = _waiting_loop()
        if loop is not None and time.perf_counter() - began > NOTICEABLE:
            _let_round(loop)


def _let_round(loop: asyncio.AbstractEventLoop) -> None:
    went_round = threading.Event()
    try:
        loop.call_soon_threadsafe(went_round.set)
    except RuntimeError:  # closed: nobody waits
        return
    went_round.wait(LONGEST)
