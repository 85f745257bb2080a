"""What is linked with what, as places in the plane: for the plots and for the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shared_core.records import Memory

if TYPE_CHECKING:
    from shared_core.graph.view import MemoryGraph

__all__ = ["Edge", "Network", "Node", "linked_memories", "things", "united"]

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

    def places(self) -> dict[str, tuple[float, float]]:
        """Where to draw each node, both coordinates −1 to 1; the same network always looks the same."""
        import networkx

        graph = networkx.Graph()
        graph.add_nodes_from(node.id for node in self.nodes)
        graph.add_weighted_edges_from((edge.source, edge.target, edge.weight) for edge in self.edges)
        if not graph:
            return {}
        spacing = 2.2 / len(graph) ** 0.5
        found = networkx.spring_layout(graph, k=spacing, iterations=LAYOUT_ROUNDS, seed=LAYOUT_SEED)
        return {one: (float(place[0]), float(place[1])) for one, place in found.items()}


def linked_memories(records: Iterable[Memory]) -> Network:
    """The memories that are connected to others."""
    by_id = {record.id: record for record in records if record.is_current}
    edges = {
        (min(record.id, link.memory_id), max(record.id, link.memory_id)): link.score
        for record in by_id.values()
        for link in record.connections
        if link.memory_id in by_id
    }
    nodes = {
        one: Node(one, by_id[one].text, by_id[one].kind, (one,)) for pair in edges for one in pair
    }
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
    return Network(
        tuple(nodes[one] for one in kept),
        tuple(edge for edge in all_edges if edge.source in within and edge.target in within),
        len(nodes) - len(kept),
    )
