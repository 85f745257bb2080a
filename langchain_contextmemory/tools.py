"""Tools with which a model reads and changes the memory of whoever it talks to."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

from langchain_core.messages import BaseMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, Field, ValidationError

from langchain_contextmemory.identity import checked_default, checked_field, namespace_of
from shared_core import ContextMemory
from shared_core.asynchronous import run_in_thread
from shared_core.context.rendering import CLOSING, OPENING, safe_text
from shared_core.messages import quoted
from shared_core.records import Category
from shared_core.retrieval.search import SearchHit

try:
    from langgraph.prebuilt import ToolRuntime
except (
    ModuleNotFoundError
):  # langchain-core alone: nobody injects a runtime, the configuration names the user

    class ToolRuntime:  # type: ignore[no-redef]
        """Stands for LangGraph's, which is not installed."""


__all__ = ["is_tool_result", "memory_tools"]

logger = logging.getLogger(__name__)

#: The key of a tool message's artifact by which our own results are known again.
ARTIFACT_KEY = "contextmemory"
#: How an answer begins that says what was wrong.
REFUSAL = "That did not work: "
#: Most memories that one ``recall`` returns.
MAX_RECALLED = 20

#: Injected parameters may be missing, but their annotation must be the bare class to be recognised.
_ABSENT: Any = None

#: What a tool answers: text for the model, and the ids of the memories that it is about.
Answer = tuple[str, list[str]]


class RememberInput(BaseModel):
    """What ``remember`` takes."""

    text: str = Field(
        description="One statement that can be understood by itself: 'User is allergic to nuts'."
    )
    category: Category = Field(default="other", description="What the statement is about.")


class RecallInput(BaseModel):
    """What ``recall`` takes."""

    query: str = Field(description="What to look for, as a question or a few words.")
    limit: int = Field(default=5, ge=1, le=MAX_RECALLED, description="Most memories to return.")


class ForgetInput(BaseModel):
    """What ``forget`` takes."""

    memory_ids: list[str] = Field(min_length=1, description="Ids of the memories, as recall shows them.")


class RelateInput(BaseModel):
    """What ``relate`` takes."""

    subject: str = Field(description="The one thing: 'Alice'.")
    predicate: str = Field(description="How it relates: 'works at'.")
    object: str = Field(description="The other thing: 'Acme'.")


def memory_tools(
    memory: ContextMemory,
    *,
    namespace_field: str | None = "user_id",
    default_namespace: str | None = None,
) -> list[BaseTool]:
    """The tools ``remember``, ``recall``, ``forget`` and ``relate``.

    Whose memory they work on is no argument of theirs, so a model cannot choose it: an agent injects its
    run's context, and without one ``config["configurable"]`` names the user. What goes wrong comes back as
    text that the model can act on; only a run without a user raises, since no model can help there.

    Example:
        >>> for tool in memory_tools(memory, namespace_field=None):  # doctest: +SKIP
        ...     print(tool.name)

    Args:
        memory: Any memory of the store; each user gets the namespace of their id.
        namespace_field: The field with the user id; None to work on the namespace of ``memory`` only.
        default_namespace: The namespace of runs without a user id; without it such a run is a ValueError.

    Raises:
        ValueError: If an argument is none of what it should be.
    """
    if not isinstance(memory, ContextMemory):
        raise ValueError(f"memory {quoted(memory)} is not a ContextMemory: pass ContextMemory('./memory')")
    field = None if namespace_field is None else checked_field(namespace_field)
    default = checked_default(default_namespace)
    if field is None and default is not None:
        raise ValueError(f"default_namespace {quoted(default)} needs a namespace_field to be the default of")

    def work(action: Callable[..., Answer], runtime: Any, config: Any, arguments: dict[str, Any]) -> Answer:
        own = nullcontext(memory)
        if field is not None:
            context = getattr(runtime, "context", None)
            namespace = namespace_of(context, config, field=field, default=default)
        try:
            with own if field is None else memory.for_namespace(namespace) as opened:
                return action(opened, **arguments)
        except Exception as error:  # noqa: BLE001 - the boundary to the model, which is told in words
            logger.warning("the tool %s failed: %s", _name_of(action), error)
            return f"{REFUSAL}{error}", []

    return [_tool(action, schema, work) for action, schema in _ACTIONS.items()]


def is_tool_result(message: BaseMessage) -> bool:
    """Whether a message is the answer of one of these tools: nothing to learn from."""
    if not isinstance(message, ToolMessage):
        return False
    if isinstance(message.artifact, Mapping) and ARTIFACT_KEY in message.artifact:
        return True
    # Arguments that are wrong are refused before a tool can attach anything.
    return message.status == "error" and message.name in _NAMES and message.text.startswith(REFUSAL)


def _tool(action: Callable[..., Answer], schema: type[BaseModel], work: Callable[..., Answer]) -> BaseTool:
    name = _name_of(action)

    def run(
        *, runtime: ToolRuntime = _ABSENT, config: RunnableConfig = _ABSENT, **arguments: Any
    ) -> tuple[str, dict[str, Any]]:
        text, memory_ids = work(action, runtime, config, arguments)
        return text, {ARTIFACT_KEY: name, "memory_ids": memory_ids}

    async def arun(
        *, runtime: ToolRuntime = _ABSENT, config: RunnableConfig = _ABSENT, **arguments: Any
    ) -> tuple[str, dict[str, Any]]:
        return await run_in_thread(run, runtime=runtime, config=config, **arguments)

    return StructuredTool.from_function(
        func=run,
        coroutine=arun,
        name=name,
        description=action.__doc__,
        args_schema=schema,
        response_format="content_and_artifact",
        handle_validation_error=_explained,
    )


def _name_of(action: Callable[..., Answer]) -> str:
    return action.__name__.removeprefix("_")


def _explained(error: ValidationError | Any) -> str:
    """What was wrong with the arguments of a call, for the model that made it."""
    if not isinstance(error, ValidationError):
        return f"{REFUSAL}{error}"
    problems = (f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors())
    return f"{REFUSAL}{'; '.join(problems)}"


def _remember(memory: ContextMemory, text: str, category: Category = "other") -> Answer:
    """Store one fact about the user that should be known in every later conversation."""
    fact = memory.remember(text, category=category)
    return f"Remembered as {fact.id}.", [fact.id]


def _recall(memory: ContextMemory, query: str, limit: int = 5) -> Answer:
    """Look up what is known from earlier conversations. Each line begins with the memory's id."""
    hits = memory.search(query, limit=limit).results
    if not hits:
        return "Nothing is known about that.", []
    lines = "\n".join(map(_line, hits))
    return f"{OPENING}\n{lines}\n{CLOSING}", [hit.memory_id for hit in hits]


def _line(hit: SearchHit) -> str:
    day = f"[{hit.occurred_at.date().isoformat()}] " if hit.occurred_at else ""
    return f"- {hit.memory_id}: {day}{safe_text(hit.memory)}"


def _forget(memory: ContextMemory, memory_ids: Sequence[str]) -> Answer:
    """Delete memories by their ids, which recall shows, when the user asks for it or they are wrong."""
    gone = [memory_id for memory_id in memory_ids if memory.delete(memory_id)]
    missing = [memory_id for memory_id in memory_ids if memory_id not in gone]
    words = [f"Forgot {', '.join(gone)}."] if gone else []
    words += [
        f"There is no memory with the id {', '.join(map(quoted, missing))}: recall shows the ids."
    ] * bool(missing)
    return " ".join(words), gone


def _relate(memory: ContextMemory, subject: str, predicate: str, object: str) -> Answer:  # noqa: A002
    """Store how two things relate, such as 'Alice' 'works at' 'Acme'."""
    triplet = memory.relate(subject, predicate, object)
    return f"Stored as {triplet.id}.", [triplet.id]


_ACTIONS: dict[Callable[..., Answer], type[BaseModel]] = {
    _remember: RememberInput,
    _recall: RecallInput,
    _forget: ForgetInput,
    _relate: RelateInput,
}
_NAMES = frozenset(map(_name_of, _ACTIONS))
