"""``MemoryGraph``: the entities of a namespace and their relations, as they were when it was asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from shared_core.arguments import at_least
from shared_core.graph.entity import Entity
from shared_core.graph.names import key_of
from shared_core.graph.relation import Relation
from shared_core.graph.walking import Neighbourhood, distances, shortest
from shared_core.messages import quoted

if TYPE_CHECKING:
    from networkx import MultiDiGraph

__all__ = ["MemoryGraph"]

#: Names that an error suggests.
SUGGESTIONS = 3


class MemoryGraph:
    """What a memory knows as things and their relations. A snapshot: later writes do not change it.

    Wherever a name is asked for, any spelling of the entity will do, whatever its case.

    Example:
        >>> graph = memory.graph()
        >>> [str(step) for step in graph.path("Alex", "React")]
        ['Alex works_on WebMCP', 'WebMCP uses React']

    Args:
        entities: Each with a name of its own.
        relations: Their ends are names of ``entities``.
    """

    def __init__(self, entities: Iterable[Entity], relations: Iterable[Relation]) -> None:
        self._entities = {
            one.name: one for one in sorted(entities, key=lambda one: (-one.mention_count, one.name))
        }
        self._relations = tuple(
            sorted(
                relations,
                key=lambda one: (-one.mention_count, -one.confidence, one.subject, one.predicate, one.object),
            )
        )
        self._names: dict[str, str] = {}
        for entity in self._entities.values():
            for spelling in (entity.name, *entity.aliases):
                self._names.setdefault(key_of(spelling), entity.name)
        self._around: dict[str, list[Relation]] = {name: [] for name in self._entities}
        for relation in self._relations:
            for name in {relation.subject, relation.object}:
                self._around[name].append(relation)

    def __len__(self) -> int:
        return len(self._entities)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and key_of(name) in self._names

    def __repr__(self) -> str:
        return f"MemoryGraph({len(self._entities)} entities, {len(self._relations)} relations)"

    def _repr_html_(self) -> str:
        """How a notebook shows it."""
        from shared_core.inspection.html import graph_html

        return graph_html(self)

    def entities(self) -> list[Entity]:
        """All entities, the most mentioned first."""
        return list(self._entities.values())

    def relations(self) -> list[Relation]:
        """All relations, the most mentioned first."""
        return list(self._relations)

    def entity(self, name: str) -> Entity:
        """The entity that is called so, in any of its spellings.

        Raises:
            ValueError: If there is none; the message names those that are spelled alike.
        """
        if not isinstance(name, str) or not name.strip():
            raise ValueError(f"name {quoted(name)} is not a non-empty string")
        known = self._names.get(key_of(name))
        if known is None:
            raise ValueError(f"the graph knows no entity {quoted(name)}{self._suggestion(name)}")
        return self._entities[known]

    def _suggestion(self, name: str) -> str:
        if not self._names:
            return ": it is empty"
        near = get_close_matches(key_of(name), self._names, n=SUGGESTIONS)
        alike = list(dict.fromkeys(quoted(self._names[key]) for key in near))
        return f": did you mean {' or '.join(alike)}?" if alike else f" among its {len(self)}: see entities()"

    def neighbourhood(self, name: str, hops: int = 2, *, directed: bool = False) -> Neighbourhood:
        """What is within so many relations of an entity.

        Args:
            name: Any spelling of the entity to start from.
            hops: Most relations between it and what is found, at least 1.
            directed: Whether to walk from subject to object only.

        Raises:
            ValueError: If there is no such entity, or ``hops`` is below 1.
        """
        centre, most = self.entity(name), at_least(1, "hops", hops)
        found = distances(self._around, centre.name, hops=most, directed=directed)
        within = {id(one): one for near in found for one in self._around[near]}.values()
        return Neighbourhood(
            centre=centre,
            distances=found,
            entities=tuple(self._entities[near] for near in found),
            relations=tuple(one for one in within if one.subject in found and one.object in found),
        )

    def path(self, start: str, end: str, max_hops: int = 4) -> list[Relation] | None:
        """The shortest way from one entity to another, as the relations to walk, in either direction.

        Of ways of equal length, the one through what was mentioned more often.

        Args:
            start: Any spelling of the entity to start from.
            end: That of the entity to come to.
            max_hops: Most relations of the way, at least 1.

        Returns:
            The relations in the order of the walk, each with its own direction; empty from an entity to
            itself; None where no way is that short.

        Raises:
            ValueError: If there is no such entity, or ``max_hops`` is below 1.
        """
        first, last = self.entity(start).name, self.entity(end).name
        return shortest(self._around, first, last, hops=at_least(1, "max_hops", max_hops))

    def across_conversations(self) -> list[Entity]:
        """The entities that link conversations: spoken of in several, widest first."""
        return self._in_several(lambda one: one.conversations)

    def across_sessions(self) -> list[Entity]:
        """The entities that link sessions, of one conversation or of several."""
        return self._in_several(lambda one: one.sessions)

    def _in_several(self, places: Callable[[Entity], Sequence[str]]) -> list[Entity]:
        found = [one for one in self._entities.values() if len(places(one)) > 1]
        return sorted(found, key=lambda one: -len(places(one)))

    def networkx(self) -> MultiDiGraph:
        """A copy for NetworkX: a node by the name of each entity, an edge by the predicate of each relation.

        Nodes and edges carry the fields of ``Entity`` and ``Relation`` as attributes.
        """
        from networkx import MultiDiGraph

        graph = MultiDiGraph()
        for entity in self._entities.values():
            graph.add_node(entity.name, **_fields(entity))
        for relation in self._relations:
            graph.add_edge(relation.subject, relation.object, key=relation.predicate, **_fields(relation))
        return graph

    def to_dict(self) -> dict[str, Any]:
        """The graph in values of JSON: ``{"entities": […], "relations": […]}``."""
        return {
            "entities": [one.to_dict() for one in self._entities.values()],
            "relations": [one.to_dict() for one in self._relations],
        }


def _fields(one: Entity | Relation) -> dict[str, Any]:
    return {field.name: getattr(one, field.name) for field in fields(one)}
