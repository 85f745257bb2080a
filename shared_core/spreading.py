"""Spreading activation: what is connected to the hits of a search is reached through them (seed 000)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from shared_core.records import Connection

#: How far activation goes.
MAX_HOPS = 2
#: What a connection passes on, per unit of its similarity.
SHARE = 0.5


@dataclass(frozen=True)
class Activation:
    """How a memory was reached.

    Attributes:
        memory_id: Of the memory.
        origin: Score of the hit that it was reached from.
        connection: Product of the similarities on the way, 0 to 1.
        share: ``SHARE`` for each step of the way.
    """

    memory_id: str
    origin: float
    connection: float
    share: float

    @property
    def score(self) -> float:
        """Origin × connection × share."""
        return self.origin * self.connection * self.share


def spread(
    origins: Mapping[str, float],
    neighbours: Callable[[str], Iterable[Connection]],
    *,
    hops: int = MAX_HOPS,
    share: float = SHARE,
) -> list[Activation]:
    """The strongest way from any origin to each memory within ``hops`` connections of it, strongest first.

    Cycles are safe: a way that comes back is weaker than the memory it comes back to.

    Args:
        origins: Score of each memory that activation starts from; they are not among the result.
        neighbours: The connections of a memory.
        hops: How many connections a way may have.
        share: What each step passes on, 0 to 1.
    """
    best: dict[str, Activation] = {}
    frontier = [Activation(memory_id, score, 1.0, 1.0) for memory_id, score in origins.items()]
    for _ in range(hops):
        reached: dict[str, Activation] = {}
        for start in frontier:
            for edge in neighbours(start.memory_id):
                way = Activation(
                    edge.memory_id, start.origin, start.connection * edge.score, start.share * share
                )
                known = reached.get(way.memory_id) or best.get(way.memory_id)
                if way.memory_id not in origins and (known is None or way.score > known.score):
                    reached[way.memory_id] = way
        best.update(reached)
        frontier = list(reached.values())
    return sorted(best.values(), key=lambda way: (-way.score, way.memory_id))
