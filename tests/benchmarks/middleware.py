"""What LangChain's middleware adds to a model call: ``python -m tests.benchmarks.middleware [--rounds N]``.

A thread of some length is asked one new question per round. ``context()`` is timed by itself, then the
middleware around a model that takes ``MODEL_SECONDS``; what it adds beyond the model and ``context()`` is its
own. The first call of a question builds the context and stores the question while the model answers; the
further calls of its tool loop do neither. Both must stay below a millisecond.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

from langchain.agents.middleware import ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.runtime import ExecutionInfo, Runtime
from rich.console import Console
from rich.table import Table

from langchain_contextmemory.messages import to_core
from langchain_contextmemory.middleware import ContextMemoryMiddleware
from shared_core import ContextMemory
from tests.langchain_contextmemory.chat_models import ScriptedChatModel

SIZES = (10, 100, 1_000)
MODEL_SECONDS = 0.25
LIMIT_MS = 1.0
USER = {"user_id": "alice"}

Row = dict[str, float]


def thread_of(size: int) -> list[Any]:
    """A thread of ``size`` messages, in turns of two."""
    return [
        HumanMessage(f"On day {number} heron {number % 17} landed in park {number % 5}.", id=f"h{number}")
        if number % 2 == 0
        else AIMessage(f"Noted the heron of day {number}.", id=f"a{number}")
        for number in range(size)
    ]


def request_of(messages: list[Any]) -> ModelRequest[Any]:
    """What ``create_agent`` hands to a middleware."""
    info = ExecutionInfo(checkpoint_id="", checkpoint_ns="", task_id="", thread_id="t")
    state: Any = {"messages": messages}
    runtime: Any = Runtime(context=USER, execution_info=info)
    return ModelRequest(model=ScriptedChatModel(), messages=messages, state=state, runtime=runtime)


class Clock:
    """How long the model and ``context()`` took, of which the rest is told apart."""

    def __init__(self) -> None:
        self.model_seconds = 0.0
        self.context_seconds = 0.0
        self.takes = 0.0

    def model(self, request: ModelRequest[Any]) -> ModelResponse[Any]:
        """A model that answers after ``takes`` seconds."""
        start = time.perf_counter()
        time.sleep(self.takes)
        self.model_seconds += time.perf_counter() - start
        return ModelResponse(result=[AIMessage("Fine.")])

    async def amodel(self, request: ModelRequest[Any]) -> ModelResponse[Any]:
        """The same without blocking."""
        start = time.perf_counter()
        await asyncio.sleep(self.takes)
        self.model_seconds += time.perf_counter() - start
        return ModelResponse(result=[AIMessage("Fine.")])

    @contextmanager
    def beyond(self, into: list[float]) -> Iterator[None]:
        """Append the milliseconds of the block without those of the model and of ``context()``."""
        self.model_seconds = self.context_seconds = 0.0
        start = time.perf_counter()
        yield
        seconds = time.perf_counter() - start - self.model_seconds - self.context_seconds
        into.append(1_000 * seconds)

    @contextmanager
    def watching_contexts(self) -> Iterator[None]:
        """Time each ``context()`` where it happens: two runs of it differ by more than we ask."""
        original = ContextMemory.context

        @wraps(original)
        def timed(*args: Any, **kwargs: Any) -> Any:
            start = time.perf_counter()
            try:
                return original(*args, **kwargs)
            finally:
                self.context_seconds += time.perf_counter() - start

        ContextMemory.context = timed  # type: ignore[method-assign]
        try:
            yield
        finally:
            ContextMemory.context = original  # type: ignore[method-assign]


async def measured(memory: ContextMemory, size: int, rounds: int) -> Row:
    """Milliseconds over ``rounds`` questions in a thread of ``size`` messages.

    Lower quartiles: what else the machine does only ever adds.
    """
    middleware, clock = ContextMemoryMiddleware(memory, raise_errors=True), Clock()
    messages = thread_of(size)
    times: dict[str, list[float]] = {kind: [] for kind in ("context", "first", "later", "afirst", "alater")}
    with memory.for_namespace(USER["user_id"]) as own:
        own.add([to_core(message) for message in messages], conversation_id="t")
    with clock.watching_contexts():
        for number in range(rounds):
            for prefix in ("", "a"):
                text = f"Where did heron {number % 17} land on day {number}?"
                request = request_of([*messages, HumanMessage(text, id=f"{prefix}{number}")])
                for kind, clock.takes in (("first", MODEL_SECONDS), ("later", 0.0), ("later", 0.0)):
                    with clock.beyond(times[f"{prefix}{kind}"]):
                        if prefix:
                            await middleware.awrap_model_call(request, clock.amodel)
                        else:
                            middleware.wrap_model_call(request, clock.model)
                    if kind == "first":
                        times["context"].append(1_000 * clock.context_seconds)
    return {kind: statistics.quantiles(taken, n=4)[0] for kind, taken in times.items()}


def main() -> None:
    """Measure, print one table, and fail if a limit is not kept."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    table = Table(title=f"ContextMemoryMiddleware: ms per model call, lower quartiles of {rounds}")
    for title in ("messages", "context()", "first call beyond it", "async", "further calls", "async"):
        table.add_column(title, justify="right")
    kept = True
    for size in SIZES:
        with tempfile.TemporaryDirectory() as folder, ContextMemory(folder) as memory:
            row = asyncio.run(measured(memory, size, rounds))
        beyond = [row[kind] for kind in ("first", "afirst", "later", "alater")]
        table.add_row(f"{size:,}", f"{row['context']:.2f}", *(f"{cost:.2f}" for cost in beyond))
        kept &= max(beyond) < LIMIT_MS
    Console().print(table)
    raise SystemExit(0 if kept else f"not every cost is below {LIMIT_MS} ms")


if __name__ == "__main__":
    main()
