"""Spreading activation: what is linked to the hits of a search is reached through them (seed 000)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

#: How far activation goes.
MAX_HOPS = 2
#: What a link passes on, per unit of its strength.
SHARE = 0.5


@dataclass(frozen=True)
class Activation:
    """How a memory was reached.

    Attributes:
        memory_id: Of the memory.
        origin: Score of the hit that it was reached from.
        connection: Product of the strengths of the links on the way, 0 to 1.
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
    links: Callable[[str], Mapping[str, float]],
    *,
    above: float = 0.0,
    hops: int = MAX_HOPS,
    share: float = SHARE,
) -> list[Activation]:
    """The strongest way from any origin to each memory within ``hops`` links of it, strongest first.

    Cycles are safe: a way that comes back is weaker than the memory it comes back to.

    Args:
        origins: Score of each memory that activation starts from, 0 or more; they are not among the result.
        links: What is linked to a memory, each with the strength of its link, 0 to 1.
        above: A way that comes to this score or less is not followed: it only gets weaker.
        hops: How many links a way may have.
        share: What each step passes on, 0 to 1.
    """
    best: dict[str, Activation] = {}
    frontier = [Activation(memory_id, score, 1.0, 1.0) for memory_id, score in origins.items()]
    for _ in range(hops):
        reached: dict[str, Activation] = {}
        for start in frontier:
            if start.score * share <= above:
                continue
            for memory_id, strength in links(start.memory_id).items():
                score = start.score * strength * share
                if score <= above or memory_id in origins:
                    continue
                known = reached.get(memory_id) or best.get(memory_id)
                if known is None or score > known.score:
                    reached[memory_id] = Activation(
                        memory_id, start.origin, start.connection * strength, start.share * share
                    )
        best.update(reached)
        frontier = list(reached.values())
    return sorted(best.values(), key=lambda way: (-way.score, way.memory_id))
