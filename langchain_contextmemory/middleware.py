"""Memory for ``langchain.agents.create_agent``: recalled before the model is called, learnt after."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from langchain.agents.middleware import AgentMiddleware, AgentState, ModelRequest, ModelResponse
from langchain_core.messages import BaseMessage, SystemMessage
from langgraph.config import get_config
from langgraph.runtime import Runtime

from langchain_contextmemory.identity import checked_default, checked_field, namespace_of
from langchain_contextmemory.messages import spoken_text, to_core
from langchain_contextmemory.thread import ids_in_prompt, question_in, unlearnt
from langchain_contextmemory.tools import is_tool_result, memory_tools
from shared_core import ContextMemory
from shared_core.asynchronous import run_in_thread
from shared_core.context.rendering import LAYOUTS, Rendering
from shared_core.memory import DEFAULT_CONVERSATION
from shared_core.messages import quoted

__all__ = ["ContextMemoryMiddleware", "Failures"]

logger = logging.getLogger(__name__)

#: How long the context of a question serves the further model calls that answer it.
TURN_SECONDS = 60.0
#: Questions whose context is kept at once.
TURNS_KEPT = 1_024
#: What the request to the model gets before the question is stored: the two would share one interpreter.
HEAD_START_SECONDS = 0.02
#: Writers at work while models answer; a store takes one write at a time anyway.
WRITERS = 4
#: Longest question that is searched for, in characters: of a pasted document the end, where the question is.
QUESTION_LENGTH = 2_000


@dataclass
class Failures:
    """What went wrong without breaking an answer.

    Attributes:
        recalling: Contexts that could not be built; the model was called without.
        learning: Times that messages could not be stored, or not be learnt from.
        last_error: The latest of them.
    """

    recalling: int = 0
    learning: int = 0
    last_error: Exception | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    @property
    def total(self) -> int:
        """All of them."""
        return self.recalling + self.learning

    def count(self, kind: str, error: Exception) -> None:
        """One more of ``kind``: ``recalling`` or ``learning``."""
        with self._lock:
            setattr(self, kind, getattr(self, kind) + 1)
            self.last_error = error


@dataclass(frozen=True)
class _Turn:
    """Whose memory, which conversation, the question that is being answered, changes by tools since it."""

    namespace: str
    conversation: str
    question: BaseMessage | None
    changes: int

    @property
    def key(self) -> tuple[str, str, str]:
        """What names it among others."""
        return self.namespace, self.conversation, (self.question.id if self.question else None) or ""


class ContextMemoryMiddleware(AgentMiddleware[AgentState[Any], Any, Any]):
    """Gives an agent long-term memory of each of its users.

    Before the model is called, what fits the last human message goes into the system message; the state is
    never touched, and messages that the prompt holds anyway are not repeated. The context is built once for
    each human message, so that the prompt of a tool loop keeps its beginning, and again once a memory tool
    has changed something. A human message is stored while the model answers it, so that neither a failing
    model nor an interrupt that nobody resumes loses it, and only after the ``before_model`` hooks, so that
    one which redacts has done so. The rest follows after the agent. Messages are known by their ids; what
    another middleware has summarised, system messages and our own context are not learnt.

    Example:
        >>> agent = create_agent(model, middleware=[ContextMemoryMiddleware(memory)])  # doctest: +SKIP
        >>> agent.invoke({"messages": [("user", "Where do I live?")]}, context={"user_id": "alice"})

    Args:
        memory: Any memory of the store; each user gets the namespace of their id.
        namespace_field: The field of the run's context (or of ``config["configurable"]``) with the user id.
        token_budget: Most tokens of the context.
        default_namespace: The namespace of runs without a user id; without it such a run is an error.
        tools: Whether the agent also gets the tools remember, recall, forget and relate.
        rendering: ``markdown``, or ``compact`` for fewer tokens.
        model: The model to count tokens for; that of the memory's settings if left out.
        name: Of this middleware, where an agent has two.
        raise_errors: Whether a failure to recall or to learn is raised; otherwise it is logged and counted
            in ``failures``, and the answer goes on.

    Raises:
        ValueError: If an argument is none of what it should be.
    """

    def __init__(
        self,
        memory: ContextMemory,
        namespace_field: str = "user_id",
        token_budget: int = 2_000,
        default_namespace: str | None = None,
        tools: bool = False,
        *,
        rendering: Rendering = "markdown",
        model: str | None = None,
        name: str | None = None,
        raise_errors: bool = False,
    ) -> None:
        if not isinstance(memory, ContextMemory):
            raise ValueError(
                f"memory {quoted(memory)} is not a ContextMemory: pass ContextMemory('./memory')"
            )
        if isinstance(token_budget, bool) or not isinstance(token_budget, int) or token_budget < 1:
            raise ValueError(f"token_budget {quoted(token_budget)} is not a whole number from 1")
        if rendering not in LAYOUTS:
            raise ValueError(f"rendering {quoted(rendering)} is none of {', '.join(LAYOUTS)}")
        super().__init__()
        self.failures = Failures()
        self._memory = memory
        self._field = checked_field(namespace_field)
        self._default = checked_default(default_namespace)
        self._options: dict[str, Any] = {"token_budget": token_budget, "rendering": rendering, "model": model}
        self._name = name
        self._raise_errors = raise_errors
        self._contexts = _RecentContexts()
        self._writers = ThreadPoolExecutor(WRITERS, thread_name_prefix="contextmemory-learning")
        self.tools = (
            memory_tools(memory, namespace_field=namespace_field, default_namespace=default_namespace)
            if tools
            else []
        )

    @property
    def name(self) -> str:
        """The name of this middleware; unique in an agent."""
        return self._name or super().name

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> ModelResponse[Any]:
        """Call the model with what the memory holds for the question; store the question meanwhile."""
        messages = _messages_of(request)
        turn = self._turn(messages, request.runtime)
        text = self._contexts.get(turn)
        if text is not None:
            try:
                return handler(_with_context(request, text))
            except BaseException:  # what tools have answered so far is not lost with the model
                self._learn(turn, messages)
                raise
        text = self._recall(turn, request.messages)
        answered = threading.Event()
        writing = self._writers.submit(self._learn_meanwhile, turn, messages, answered)
        try:
            return handler(_with_context(request, text))
        finally:
            answered.set()
            writing.result()

    async def awrap_model_call(
        self,
        request: ModelRequest[Any],
        handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """The same without blocking the event loop."""
        messages = _messages_of(request)
        turn = self._turn(messages, request.runtime)
        text = self._contexts.get(turn)
        if text is not None:
            try:
                return await handler(_with_context(request, text))
            except BaseException:
                await asyncio.shield(run_in_thread(self._learn, turn, messages))
                raise
        text = await run_in_thread(self._recall, turn, request.messages)
        answered = threading.Event()
        learning = run_in_thread(self._learn_meanwhile, turn, messages, answered)
        writing = asyncio.ensure_future(learning)
        try:
            return await handler(_with_context(request, text))
        finally:
            answered.set()
            await asyncio.shield(writing)

    def after_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """Learn the messages of this run."""
        messages = list(state["messages"])
        turn = self._turn(messages, runtime)
        self._contexts.drop(turn)
        self._learn(turn, messages)

    async def aafter_agent(self, state: AgentState[Any], runtime: Runtime[Any]) -> None:
        """The same without blocking the event loop."""
        messages = list(state["messages"])
        turn = self._turn(messages, runtime)
        self._contexts.drop(turn)
        await run_in_thread(self._learn, turn, messages)

    def _turn(self, messages: Sequence[BaseMessage], runtime: Runtime[Any] | None) -> _Turn:
        """Where a run stands; raises if nobody knows whose it is, whatever ``raise_errors`` says."""
        config = _current_config()
        context = getattr(runtime, "context", None)
        namespace = namespace_of(context, config, field=self._field, default=self._default)
        thread = getattr(getattr(runtime, "execution_info", None), "thread_id", None)
        if thread is None:
            thread = config.get("configurable", {}).get("thread_id")
        place = question_in(messages)
        return _Turn(
            namespace=namespace,
            conversation=DEFAULT_CONVERSATION if thread is None else str(thread),
            question=None if place is None else messages[place],
            changes=sum(map(is_tool_result, messages[place or 0 :])),
        )

    def _recall(self, turn: _Turn, prompt: Sequence[BaseMessage]) -> str:
        """The context for a question, without the messages that ``prompt`` holds; ``""`` if there is none."""
        asked = spoken_text(turn.question)[-QUESTION_LENGTH:] if turn.question else ""
        try:
            with self._memory.for_namespace(turn.namespace) as own:
                shown = ids_in_prompt(own, turn.conversation, prompt)
                text = own.context(
                    asked.strip() or None, conversation_id=turn.conversation, shown=shown, **self._options
                ).text
        except Exception as error:  # noqa: BLE001 - the boundary: an answer without memory beats none
            self._failed("recalling", turn, error)
            return ""
        self._contexts.put(turn, text)
        return text

    def _learn(self, turn: _Turn, messages: Sequence[BaseMessage]) -> None:
        """Store what is new in a thread, and learn from it."""
        try:
            with self._memory.for_namespace(turn.namespace) as own:
                fresh = unlearnt(own, turn.conversation, messages)
                if fresh:
                    own.add([to_core(message) for message in fresh], conversation_id=turn.conversation)
        except Exception as error:  # noqa: BLE001 - the boundary: what was answered stays answered
            self._failed("learning", turn, error)

    def _learn_meanwhile(
        self, turn: _Turn, messages: Sequence[BaseMessage], answered: threading.Event
    ) -> None:
        """Learn while the model works on its answer, or as soon as it has answered."""
        answered.wait(HEAD_START_SECONDS)
        self._learn(turn, messages)

    def _failed(self, kind: str, turn: _Turn, error: Exception) -> None:
        self.failures.count(kind, error)
        logger.warning("%s failed in conversation %r: %s", kind, turn.conversation, error, exc_info=error)
        if self._raise_errors:
            raise error


class _RecentContexts:
    """The context of each question that is being answered, for as long as its tool loop may take."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[str, str, str], tuple[int, float, str]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, turn: _Turn) -> str | None:
        """The context of a turn, unless a memory tool has changed something since."""
        with self._lock:
            changes, since, text = self._kept.get(turn.key, (-1, 0.0, ""))
        return text if changes == turn.changes and time.monotonic() - since < TURN_SECONDS else None

    def put(self, turn: _Turn, text: str) -> None:
        """Keep the context of a turn, in place of the oldest one if there are many."""
        if turn.question is None or not turn.question.id:
            return
        with self._lock:
            self._kept[turn.key] = turn.changes, time.monotonic(), text
            self._kept.move_to_end(turn.key)
            while len(self._kept) > TURNS_KEPT:
                self._kept.popitem(last=False)

    def drop(self, turn: _Turn) -> None:
        """Forget the context of a turn, which has been answered."""
        with self._lock:
            self._kept.pop(turn.key, None)


def _messages_of(request: ModelRequest[Any]) -> list[BaseMessage]:
    """The messages of the thread, as they were before another middleware cut them for this one call."""
    return list(request.state.get("messages") or request.messages)


def _with_context(request: ModelRequest[Any], text: str) -> ModelRequest[Any]:
    """The request with a context at the end of its system message, so that its beginning stays the same."""
    if not text:
        return request
    base = request.system_message or SystemMessage([])
    parts = [{"type": "text", "text": base.content}] if isinstance(base.content, str) else base.content
    parts = [part for part in parts if part != {"type": "text", "text": ""}]
    block = {"type": "text", "text": f"\n\n{text}" if parts else text}
    return request.override(system_message=base.model_copy(update={"content": [*parts, block]}))


def _current_config() -> Mapping[str, Any]:
    try:
        return get_config()
    except RuntimeError:  # called outside of a graph
        return {}
