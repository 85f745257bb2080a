"""Walks from entity to entity, bounded in hops; an entity is entered once, so cycles end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shared_core.graph.entity import Entity
from shared_core.graph.relation import Relation

__all__ = ["Neighbourhood", "distances", "shortest"]

#: The relations at each entity, in the order in which they are tried.
Around = Mapping[str, Sequence[Relation]]


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """What is near an entity.

    Attributes:
        centre: Where the walk began.
        distances: How many relations each entity is away, by its name, nearest first; 0 for the centre.
        entities: The same entities, in the same order.
        relations: Every relation between two of them.
    """

    centre: Entity
    distances: Mapping[str, int]
    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]

    def to_dict(self) -> dict[str, Any]:
        """The same in values of JSON."""
        return {
            "centre": self.centre.name,
            "distances": dict(self.distances),
            "entities": [one.to_dict() for one in self.entities],
            "relations": [one.to_dict() for one in self.relations],
        }


def distances(around: Around, start: str, *, hops: int, directed: bool) -> dict[str, int]:
    """How many relations each entity within ``hops`` is away from ``start``, nearest first."""
    found = {start: 0}
    for near, _, distance in _steps(around, start, hops=hops, directed=directed):
        found[near] = distance
    return found


def shortest(around: Around, start: str, end: str, *, hops: int) -> list[Relation] | None:
    """The relations of the shortest way; None where no way has ``hops`` or fewer."""
    if start == end:
        return []
    came_by: dict[str, Relation] = {}
    for near, relation, _ in _steps(around, start, hops=hops, directed=False):
        came_by[near] = relation
        if near == end:
            way = []
            while near != start:
                step = came_by[near]
                way.append(step)
                near = step.subject if step.object == near else step.object
            return way[::-1]
    return None


def _steps(around: Around, start: str, *, hops: int, directed: bool) -> Iterator[tuple[str, Relation, int]]:
    """Each entity as it is first reached, with the relation that led there and its distance."""
    seen, frontier = {start}, [start]
    for distance in range(1, hops + 1):
        reached = []
        for name in frontier:
            for relation in around[name]:
                near = relation.object if relation.subject == name else relation.subject
                if near not in seen and not (directed and relation.subject != name):
                    seen.add(near)
                    reached.append(near)
                    yield near, relation, distance
        if not reached:
            return
        frontier = reached
