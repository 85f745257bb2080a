"""``ContextMemoryToolSpec``: an agent's tools to remember, recall, forget and relate."""

# LlamaIndex makes a tool's schema of the annotations as they are, so they are not postponed here.

from llama_index.core.tools.tool_spec.base import SPEC_FUNCTION_TYPE, BaseToolSpec

from shared_core import ContextMemory
from shared_core.asynchronous import run_in_thread
from shared_core.context.rendering import safe_text
from shared_core.messages import quoted
from shared_core.records import Category

__all__ = ["ContextMemoryToolSpec"]

#: Most memories that one call of ``recall`` returns.
MAX_RECALLED = 50


class ContextMemoryToolSpec(BaseToolSpec):
    """Four tools over one memory, sync and async; what they say is read by a model.

    Example:
        >>> agent = FunctionAgent(llm=llm, tools=ContextMemoryToolSpec(memory).to_tool_list())

    Args:
        memory: The core memory, which stays the caller's to close.

    Raises:
        ValueError: If it is not a core memory.
    """

    spec_functions: list[SPEC_FUNCTION_TYPE] = [  # noqa: RUF012 - as the base class declares it
        ("remember", "aremember"),
        ("recall", "arecall"),
        ("forget", "aforget"),
        ("relate", "arelate"),
    ]

    def __init__(self, memory: ContextMemory) -> None:
        if not isinstance(memory, ContextMemory):
            raise ValueError(
                f"memory {quoted(memory)} is not a ContextMemory: pass ContextMemory('./memory')"
            )
        self._memory = memory

    def remember(self, text: str, category: Category = "other") -> str:
        """Remember a fact for later conversations.

        Args:
            text: One sentence that stands by itself, such as "The user is allergic to peanuts".
            category: What the fact is about.
        """
        return f"Remembered as {self._memory.remember(text, category=category).id}."

    def recall(self, query: str, limit: int = 5) -> str:
        """Look up what is known from earlier conversations.

        Args:
            query: The question, in plain words.
            limit: Most memories to return, 1 to 50.
        """
        hits = self._memory.search(query, limit=min(limit, MAX_RECALLED))
        lines = [
            f"- [{hit.memory_id}] {f'({hit.occurred_at.date()}) ' if hit.occurred_at else ''}"
            f"{safe_text(hit.memory)}"
            for hit in hits
        ]
        return "\n".join(lines) or "Nothing is known about that."

    def forget(self, memory_id: str) -> str:
        """Forget one memory for good.

        Args:
            memory_id: Its id, as recall shows it in square brackets.
        """
        return "Forgotten." if self._memory.delete(memory_id) else f"There is no memory {memory_id}."

    def relate(self, subject: str, predicate: str, object: str) -> str:  # noqa: A002 - the word for it
        """Remember how two things are related, such as "Alice", "works at", "Acme".

        Args:
            subject: What the relation is about.
            predicate: The relation.
            object: What it relates to.
        """
        return f"Remembered as {self._memory.relate(subject, predicate, object).id}."

    async def aremember(self, text: str, category: Category = "other") -> str:
        """``remember`` in a thread."""
        return await run_in_thread(self.remember, text, category)

    async def arecall(self, query: str, limit: int = 5) -> str:
        """``recall`` in a thread."""
        return await run_in_thread(self.recall, query, limit)

    async def aforget(self, memory_id: str) -> str:
        """``forget`` in a thread."""
        return await run_in_thread(self.forget, memory_id)

    async def arelate(self, subject: str, predicate: str, object: str) -> str:  # noqa: A002 - as above
        """``relate`` in a thread."""
        return await run_in_thread(self.relate, subject, predicate, object)
