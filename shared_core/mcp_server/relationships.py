"""The tools of the graph: connect, related, path."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from shared_core.mcp_server.answers import MemoryView, Related, RelationView, ThingView, Way
from shared_core.mcp_server.arguments import EntityName, Term
from shared_core.memory import ContextMemory

__all__ = ["RelationshipTools"]

#: Farthest walks, in relations, and most things of an answer.
MOST_HOPS, MOST_PATH_HOPS, MOST_THINGS = 4, 8, 200


class RelationshipTools:
    """Tools that read and write how things relate.

    Args:
        memory: Of the server's namespace.
    """

    def __init__(self, memory: ContextMemory) -> None:
        self._memory = memory

    def connect(
        self,
        subject: Term,
        predicate: Annotated[
            str, Field(min_length=1, max_length=100, description="How it relates, such as: works at.")
        ],
        object: Term,  # noqa: A002 - the word for it
        confidence: Annotated[float, Field(ge=0.0, le=1.0, description="0 to 1.")] = 1.0,
    ) -> MemoryView:
        """Remember how two things relate: subject Alice, predicate works at, object Acme."""
        return MemoryView.of(self._memory.relate(subject, predicate, object, confidence=confidence))

    def related(
        self,
        name: EntityName,
        hops: Annotated[int, Field(ge=1, le=MOST_HOPS, description="Most relations away.")] = 2,
        limit: Annotated[int, Field(ge=1, le=MOST_THINGS, description="Most things, nearest first.")] = 50,
    ) -> Related:
        """What is known around a person, place or thing: everything within so many relations of it."""
        near = self._memory.graph().neighbourhood(name, hops)
        things = near.entities[:limit]
        shown = {thing.name for thing in things}
        return Related(
            centre=near.centre.name,
            things=[ThingView.of(thing, near.distances[thing.name]) for thing in things],
            relations=[
                RelationView.of(one) for one in near.relations if one.subject in shown and one.object in shown
            ],
            left_out=len(near.entities) - len(things),
        )

    def path(
        self,
        start: EntityName,
        end: EntityName,
        max_hops: Annotated[int, Field(ge=1, le=MOST_PATH_HOPS, description="Most relations of it.")] = 4,
    ) -> Way:
        """How two things hang together: the shortest way from one to the other."""
        walked = self._memory.graph().path(start, end, max_hops)
        return Way(
            start=start,
            end=end,
            found=walked is not None,
            relations=[RelationView.of(relation) for relation in walked or ()],
        )
