"""``ContextMemoryRetriever``: what the memory holds on a question, as LangChain documents."""

# No postponed annotations: pydantic reads those of the fields when the class is made.
from typing import Any, cast

from langchain_core.callbacks import AsyncCallbackManagerForRetrieverRun, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, Field, field_validator

from langchain_contextmemory.messages import METADATA_KEY
from shared_core.arguments import at_least, conversation_of
from shared_core.memory import ContextMemory
from shared_core.retrieval.filters import SEARCHED_KINDS, FilterOptions, Filters
from shared_core.retrieval.search import SearchHit

__all__ = ["ContextMemoryRetriever", "document_of"]


class ContextMemoryRetriever(BaseRetriever):
    """Finds the memories that answer a question best.

    ``invoke`` and ``ainvoke`` take ``k``, ``conversation_id`` and every filter as keywords too, which win
    over the retriever's own: ``retriever.invoke("Where does she live?", k=3, kind="fact")``.

    Example:
        >>> from shared_core import ContextMemory
        >>> retriever = ContextMemoryRetriever(memory=ContextMemory("./memory"), k=3)  # doctest: +SKIP
        >>> [document.page_content for document in retriever.invoke("Where does she live?")]  # doctest: +SKIP
        ['User lives in Berlin']

    Attributes:
        memory: Where to search.
        k: Most documents, at least 1.
        conversation_id: Only what was said or learnt there; None for everywhere.
        filters: ``kind``, ``category``, ``session_id``, ``since``, ``until``, ``metadata``,
            ``include_archived``, ``include_superseded``, as for ``ContextMemory.search``. (``metadata`` of
            the retriever itself is LangChain's, and goes to its traces.)

    Raises:
        ValueError: For a ``k`` below 1, an unknown filter, or a bad value of one; also from ``invoke``, and
            there for a blank question.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    memory: ContextMemory
    k: int = 5
    conversation_id: str | None = None
    filters: dict[str, Any] = Field(default_factory=dict)

    @field_validator("k", mode="before")
    @classmethod
    def _at_least_one(cls, value: Any) -> int:
        return at_least(1, "k", value)

    @field_validator("conversation_id", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> str | None:
        return conversation_of(value)

    @field_validator("filters")
    @classmethod
    def _known(cls, value: dict[str, Any]) -> dict[str, Any]:
        return _checked(value)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **options: Any
    ) -> list[Document]:
        found = self.memory.search(query, **self._asked(options))
        return [document_of(hit) for hit in found]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **options: Any
    ) -> list[Document]:
        found = await self.memory.asearch(query, **self._asked(options))
        return [document_of(hit) for hit in found]

    def _asked(self, options: dict[str, Any]) -> dict[str, Any]:
        """The keywords of a search: the retriever's own, and before them those of a call."""
        given = {"k": self.k, "conversation_id": self.conversation_id, **self.filters, **options}
        k = given.pop("k")
        limit = at_least(1, "k", self.k if k is None else k)
        return {"limit": limit, "conversation_id": given.pop("conversation_id"), **_checked(given)}


def _checked(filters: dict[str, Any]) -> dict[str, Any]:
    """``filters`` as they are, once the core knows them all: a keyword of ``search`` beside them is none."""
    Filters.of(cast(FilterOptions, filters), conversation_id=None, default_kinds=SEARCHED_KINDS)
    return filters


def document_of(hit: SearchHit) -> Document:
    """A hit as a document; its ``metadata`` is plain JSON.

    It has ``score``, ``type``, ``occurred_at`` and ``created_at`` (ISO 8601, UTC), ``connections`` and
    ``source_ids`` (ids), ``components`` (every factor of the score by name), ``conversation_id``,
    ``session_id``, ``speaker``, ``category``, ``importance``, and as ``metadata`` what the caller attached.
    """
    record = hit.record
    return Document(
        id=hit.memory_id,
        page_content=hit.memory,
        metadata={
            "score": hit.score,
            "type": hit.type,
            "occurred_at": hit.occurred_at.isoformat() if hit.occurred_at else None,
            "created_at": record.created_at.isoformat(),
            "connections": list(hit.connections),
            "source_ids": list(hit.source_ids),
            "components": dict(hit.components),
            "conversation_id": record.conversation_id,
            "session_id": record.session_id,
            "speaker": record.speaker,
            "category": record.category,
            "importance": record.importance,
            "metadata": {key: value for key, value in record.metadata.items() if key != METADATA_KEY},
        },
    )
