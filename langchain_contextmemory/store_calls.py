"""Concurrent async calls of a store, gathered: those that wait together become one batch in one thread."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

from langchain_contextmemory.store_embedder import calling_loop
from shared_core.asynchronous import run_in_thread

__all__ = ["GatheredCalls"]

logger = logging.getLogger(__name__)

OpT = TypeVar("OpT")
AnswerT = TypeVar("AnswerT")


@dataclass
class _Call(Generic[OpT, AnswerT]):
    ops: Sequence[OpT]
    answers: asyncio.Future[list[AnswerT]]


@dataclass
class _Queue(Generic[OpT, AnswerT]):
    """What waits on one event loop, and the task that works it off while there is any."""

    waiting: list[_Call[OpT, AnswerT]] = field(default_factory=list)
    task: asyncio.Task[None] | None = None


class GatheredCalls(Generic[OpT, AnswerT]):
    """Runs a blocking function for many callers of an event loop, in one thread at a time and loop.

    Calls that come while the thread is busy run together, as if they had been one batch. Where such a batch
    fails, each call runs alone, so that only the one at fault fails.

    Args:
        run: The blocking function, from operations to as many answers.
    """

    def __init__(self, run: Callable[[Sequence[OpT]], list[AnswerT]]) -> None:
        self._run = run
        self._queues: WeakKeyDictionary[asyncio.AbstractEventLoop, _Queue[OpT, AnswerT]] = WeakKeyDictionary()
        self._lock = threading.Lock()

    async def __call__(self, ops: Sequence[OpT]) -> list[AnswerT]:
        """The answers to ``ops``, in their order."""
        loop = asyncio.get_running_loop()
        with self._lock:
            queue = self._queues.setdefault(loop, _Queue())
        call: _Call[OpT, AnswerT] = _Call(ops, loop.create_future())
        queue.waiting.append(call)
        if queue.task is None:
            queue.task = loop.create_task(self._work_off(queue, loop))
        return await call.answers

    async def _work_off(self, queue: _Queue[OpT, AnswerT], loop: asyncio.AbstractEventLoop) -> None:
        calling_loop.set(loop)  # of this task's own context, which its threads copy
        try:
            while queue.waiting:
                calls = [call for call in queue.waiting if not call.answers.done()]
                queue.waiting.clear()
                if calls:
                    await self._answer(calls)
        finally:
            queue.task = None  # a task knows its loop, which would otherwise never be let go of

    async def _answer(self, calls: Sequence[_Call[OpT, AnswerT]]) -> None:
        try:
            answers = await run_in_thread(self._run, [op for call in calls for op in call.ops])
        except Exception as error:  # noqa: BLE001 - a boundary: it is the callers' to handle
            if len(calls) == 1:
                if not calls[0].answers.done():
                    calls[0].answers.set_exception(error)
                return
            logger.info("%d calls failed together, now each alone: %s", len(calls), error)
            for call in calls:
                await self._answer([call])
            return
        except BaseException:
            for call in calls:
                call.answers.cancel()
            raise
        done = 0
        for call in calls:
            if not call.answers.done():
                call.answers.set_result(answers[done : done + len(call.ops)])
            done += len(call.ops)
