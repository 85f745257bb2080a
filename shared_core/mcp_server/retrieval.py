"""The tools that read: search, list, context, history."""

from __future__ import annotations

import builtins
from typing import Annotated

from mcp_types import CallToolResult, TextContent
from pydantic import Field

from shared_core.mcp_server.answers import ContextText, Found, HitView, MemoryPage, MemoryView, Versions
from shared_core.mcp_server.arguments import (
    QUERY_LENGTH,
    CategoryFilter,
    ConversationId,
    KindFilter,
    Layout,
    MemoryId,
    Moment,
    Query,
)
from shared_core.memory import ContextMemory
from shared_core.messages import quoted

__all__ = ["RetrievalTools"]

#: Most hits of a search, memories of a page, and tokens of a context.
MOST_HITS, MOST_LISTED, MOST_TOKENS = 50, 200, 100_000
#: How far a listing may be turned over.
MOST_OFFSET = 10_000_000

Superseded = Annotated[bool, Field(description="Also what has been replaced by something newer.")]
Archived = Annotated[bool, Field(description="Also what was archived.")]


class RetrievalTools:
    """Tools that read one memory.

    Args:
        memory: Of the server's namespace.
    """

    def __init__(self, memory: ContextMemory) -> None:
        self._memory = memory

    def search(
        self,
        query: Query,
        limit: Annotated[int, Field(ge=1, le=MOST_HITS, description="Most hits.")] = 5,
        type: KindFilter = None,  # noqa: A002 - the word of seed 001
        category: CategoryFilter = None,
        conversation_id: ConversationId = None,
        since: Moment = None,
        until: Moment = None,
        include_archived: Archived = False,
        include_superseded: Superseded = False,
    ) -> Found:
        """Find the memories that answer a question best: by meaning, words, importance and age."""
        found = self._memory.search(
            query,
            conversation_id,
            limit,
            kind=type,
            category=category,
            since=since,
            until=until,
            include_archived=include_archived,
            include_superseded=include_superseded,
        )
        return Found(query=query, results=[HitView.of(hit) for hit in found])

    def list(
        self,
        type: KindFilter = None,  # noqa: A002 - the word of seed 001
        category: CategoryFilter = None,
        contains: Annotated[
            str | None, Field(max_length=QUERY_LENGTH, description="Words that stand in the text just so.")
        ] = None,
        conversation_id: ConversationId = None,
        since: Moment = None,
        until: Moment = None,
        limit: Annotated[int, Field(ge=1, le=MOST_LISTED, description="Most memories of the page.")] = 50,
        offset: Annotated[int, Field(ge=0, le=MOST_OFFSET, description="How many to pass over.")] = 0,
        include_archived: Archived = False,
        include_superseded: Superseded = False,
    ) -> MemoryPage:
        """List memories of a type, newest first, page by page: next_offset is the offset of the next page."""
        listed = self._memory.list(
            contains=contains,
            conversation_id=conversation_id,
            limit=limit + 1,  # one more than asked for tells whether there is a next page
            offset=offset,
            kind=type,
            category=category,
            since=since,
            until=until,
            include_archived=include_archived,
            include_superseded=include_superseded,
        )
        return MemoryPage(
            memories=[MemoryView.of(memory) for memory in listed[:limit]],
            offset=offset,
            next_offset=offset + limit if len(listed) > limit else None,
        )

    def context(
        self,
        query: Annotated[
            str | None,
            Field(
                min_length=1,
                max_length=QUERY_LENGTH,
                description="What the prompt is about; left out: what is always known.",
            ),
        ] = None,
        token_budget: Annotated[
            int, Field(ge=1, le=MOST_TOKENS, description="Most tokens of the text; never exceeded.")
        ] = 2_000,
        conversation_id: Annotated[
            str | None, Field(description="The conversation whose latest messages and summary go along.")
        ] = None,
        layout: Annotated[Layout, Field(description="compact takes fewer tokens.")] = "markdown",
    ) -> Annotated[CallToolResult, ContextText]:
        """A block of text for a prompt: core memory, what fits the question, what was just said."""
        made = self._memory.context(query, token_budget, conversation_id, rendering=layout)
        ids = dict.fromkeys(memory_id for block in made.blocks for memory_id in block.memory_ids)
        answer = ContextText(
            text=made.text, tokens=made.tokens, token_budget=token_budget, memory_ids=builtins.list(ids)
        )
        return CallToolResult(
            content=[TextContent(type="text", text=made.text)],
            structured_content=answer.model_dump(mode="json"),
        )

    def history(self, memory_id: MemoryId) -> Versions:
        """Every version of a memory, oldest first: what was believed, and what replaced it."""
        versions = self._memory.history(memory_id)
        if not versions:
            raise ValueError(f"there is no memory {quoted(memory_id)}: search or list gives the ids")
        return Versions(id=memory_id, versions=[MemoryView.of(version) for version in versions])
