from __future__ import annotations

import os
import subprocess
import sys

from shared_core import ContextMemory
from shared_core.inspection.network import NODE_LIMIT, Edge, Network, Node, linked_memories, things, united
from shared_core.inspection.snapshot import Snapshot
from tests.shared_core.inspection.told import NOW, tell

PLACES = """
from shared_core.inspection.network import Edge, Network, Node
nodes = tuple(Node(str(one), str(one), "thing", ()) for one in range(9))
edges = tuple(Edge(str(one), str(one + 1), "", 0.5) for one in range(8) if one != 4)
print(Network(nodes, edges).places())
"""


def of(count: int) -> Network:
    nodes = tuple(Node(str(one), str(one), "thing", ()) for one in range(count))
    return Network(nodes, tuple(Edge("0", str(one), "", 0.5) for one in range(1, count)))


def test_each_node_has_a_place_of_its_own_within_bounds() -> None:
    places = united(of(30)).places()
    assert len(places) == len(set(places.values())) == 30
    assert all(-1.0 <= axis <= 1.0 for place in places.values() for axis in place)


def test_no_node_and_one_node_can_be_placed() -> None:
    assert Network((), ()).places() == {}
    assert of(1).places() == {"0": (0.0, 0.0)}


def test_the_same_network_looks_the_same_in_every_process() -> None:
    told = {
        subprocess.run(
            [sys.executable, "-c", PLACES],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(told) == 1


def test_edges_end_at_nodes_that_are_there(memory: ContextMemory) -> None:
    tell(memory)
    for network in (linked_memories(Snapshot.of(memory, now=NOW).records), things(memory.graph(now=NOW))):
        ids = {node.id for node in network.nodes}
        assert network.edges
        assert {end for edge in network.edges for end in (edge.source, edge.target)} <= ids


def test_of_too_many_things_those_with_most_relations_stay(memory: ContextMemory) -> None:
    for number in range(NODE_LIMIT + 10):
        memory.relate("Hub", "knows", f"Thing{number}", now=NOW)
    network = things(memory.graph(now=NOW))
    assert len(network.nodes) == NODE_LIMIT
    assert network.nodes[0].label == "Hub"
    assert network.left_out == 11
