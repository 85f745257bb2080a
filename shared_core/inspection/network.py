"""What is linked with what, as places in the plane: for the plots and for the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shared_core.records import Memory

if TYPE_CHECKING:
    from shared_core.graph.view import MemoryGraph

__all__ = ["Edge", "Network", "Node", "linked_memories", "things", "united"]

#: Across and up, each −1 to 1.
Place = tuple[float, float]

#: Nodes drawn at most: more cannot be told apart. (Beyond 500, the layout would need scipy, too.)
NODE_LIMIT = 150
LAYOUT_SEED, LAYOUT_ROUNDS = 7, 120


@dataclass(frozen=True)
class Node:
    """A memory, or a thing that memories speak of.

    Attributes:
        id: Unique within the network.
        label: What it is called.
        kind: A kind of memory, or ``thing``.
        memory_ids: The memories that it stands for.
    """

    id: str
    label: str
    kind: str
    memory_ids: tuple[str, ...]


@dataclass(frozen=True)
class Edge:
    """A link between two nodes.

    Attributes:
        source, target: Ids of nodes.
        label: What a relation says; empty for a connection.
        weight: 0 to 1: similarity of a connection, confidence of a relation.
    """

    source: str
    target: str
    label: str
    weight: float


@dataclass(frozen=True)
class Network:
    """Nodes and the links between them.

    Attributes:
        nodes: By falling number of links, at most ``NODE_LIMIT``.
        edges: Both ends are ids of ``nodes``.
        left_out: Nodes that were too many.
    """

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    left_out: int = 0

    def degrees(self) -> dict[str, int]:
        """How many links each node has, by id."""
        counts = dict.fromkeys((node.id for node in self.nodes), 0)
        for edge in self.edges:
            counts[edge.source] += 1
            counts[edge.target] += 1
        return counts

    def places(self) -> dict[str, Place]:
        """Where to draw each node, both coordinates −1 to 1; the same network always looks the same."""
        import networkx

        graph = networkx.Graph()
        graph.add_nodes_from(node.id for node in self.nodes)
        graph.add_weighted_edges_from((edge.source, edge.target, edge.weight) for edge in self.edges)
        parts = sorted(networkx.connected_components(graph), key=len, reverse=True)
        return _tiled(
            [_laid_out(graph, [node.id for node in self.nodes if node.id in part]) for part in parts]
        )


def _laid_out(graph: Any, ids: Sequence[str]) -> dict[str, Place]:
    """Places of the nodes ``ids``, laid out in that order: a subgraph view has none of its own."""
    import networkx

    part = networkx.Graph()
    part.add_nodes_from(ids)
    within = set(ids)
    part.add_edges_from(edge for edge in graph.edges(data=True) if edge[0] in within)
    spacing = 2.0 / len(ids) ** 0.5
    found = networkx.spring_layout(part, k=spacing, iterations=LAYOUT_ROUNDS, seed=LAYOUT_SEED)
    return {one: (float(place[0]), float(place[1])) for one, place in found.items()}


def _tiled(parts: Sequence[Mapping[str, Place]]) -> dict[str, Place]:
    """Parts that are not linked, beside each other in rows: each in a square as large as it has nodes.

    Args:
        parts: The largest first; places within each −1 to 1.
    """
    sides = [max(1.0, len(part) ** 0.5) for part in parts]
    row_width = max([1.3 * sum(side * side for side in sides) ** 0.5, *sides[:1]])
    left, top, height = 0.0, 0.0, 0.0
    tiled: dict[str, Place] = {}
    for part, side in zip(parts, sides, strict=True):
        if left + side > row_width + 1e-9:
            left, top, height = 0.0, top + height, 0.0
        for one, (x, y) in part.items():
            tiled[one] = (left + side * (0.5 + 0.4 * x), top + side * (0.5 + 0.4 * y))
        left, height = left + side, max(height, side)
    return _stretched(tiled)


def _stretched(places: Mapping[str, Place]) -> dict[str, Place]:
    """The same picture, as wide and as high as can be."""
    if not places:
        return {}
    xs, ys = ([place[axis] for place in places.values()] for axis in (0, 1))
    return {
        one: (_between(x, min(xs), max(xs)), _between(y, min(ys), max(ys))) for one, (x, y) in places.items()
    }


def _between(value: float, low: float, high: float) -> float:
    return 2.0 * (value - low) / (high - low) - 1.0 if high > low else 0.0


def linked_memories(records: Iterable[Memory]) -> Network:
    """The memories that are connected to others."""
    by_id = {record.id: record for record in records if record.is_current}
    edges = {
        (min(record.id, link.memory_id), max(record.id, link.memory_id)): link.score
        for record in by_id.values()
        for link in record.connections
        if link.memory_id in by_id
    }
    nodes = {one: Node(one, by_id[one].text, by_id[one].kind, (one,)) for pair in edges for one in pair}
    return _bounded(nodes, [Edge(source, target, "", score) for (source, target), score in edges.items()])


def things(graph: MemoryGraph) -> Network:
    """The things that memories speak of, and how they relate."""
    nodes = {
        f"thing {entity.name}": Node(f"thing {entity.name}", entity.name, "thing", entity.memory_ids)
        for entity in graph.entities()
    }
    edges = [
        Edge(
            f"thing {relation.subject}",
            f"thing {relation.object}",
            relation.predicate.replace("_", " "),
            relation.confidence,
        )
        for relation in graph.relations()
    ]
    return _bounded(nodes, edges)


def united(*networks: Network) -> Network:
    """Several networks side by side."""
    return Network(
        tuple(node for network in networks for node in network.nodes),
        tuple(edge for network in networks for edge in network.edges),
        sum(network.left_out for network in networks),
    )


def _bounded(nodes: Mapping[str, Node], edges: Iterable[Edge]) -> Network:
    all_edges = tuple(edges)
    degrees = Network(tuple(nodes.values()), all_edges).degrees()
    kept = sorted(nodes, key=lambda one: -degrees[one])[:NODE_LIMIT]
    within = set(kept)
    inner = tuple(edge for edge in all_edges if edge.source in within and edge.target in within)
    linked = {end for edge in inner for end in (edge.source, edge.target)}
    shown = tuple(nodes[one] for one in kept if one in linked)
    return Network(shown, inner, len(nodes) - len(shown))
