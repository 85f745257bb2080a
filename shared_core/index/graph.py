"""Connections between memories, seen from both ends."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from shared_core.records import Connection


class ConnectionGraph:
    """An undirected weighted graph of memory ids.

    A connection is stored with the younger memory alone, so its two directions cannot disagree and writing
    it costs no rewriting of the older one. This graph is where the older one learns of it.
    """

    def __init__(self) -> None:
        self._neighbours: dict[str, dict[str, float]] = {}
        self._stored: dict[str, tuple[str, ...]] = {}

    def put(self, memory_id: str, connections: Sequence[Connection]) -> None:
        """Set the connections that are stored with a memory."""
        if memory_id in self._stored:
            self._unlink(memory_id)
        if not connections:
            return
        stored = []
        for connection in connections:
            other = connection.memory_id
            self._neighbours.setdefault(memory_id, {})[other] = connection.score
            self._neighbours.setdefault(other, {})[memory_id] = connection.score
            stored.append(other)
        self._stored[memory_id] = tuple(stored)

    def remove(self, memory_id: str) -> None:
        """Take a memory out, with every connection to it."""
        self._stored.pop(memory_id, None)
        for other in self._neighbours.pop(memory_id, {}):
            self._forget_edge(other, memory_id)

    def _unlink(self, memory_id: str) -> None:
        for other in self._stored.pop(memory_id):
            self._forget_edge(memory_id, other)
            self._forget_edge(other, memory_id)

    def _forget_edge(self, start: str, end: str) -> None:
        edges = self._neighbours.get(start)
        if edges is not None:
            edges.pop(end, None)
            if not edges:
                del self._neighbours[start]

    def links(self, memory_id: str) -> Mapping[str, float]:
        """The similarity of each memory connected to this one, in no order; not to be changed."""
        return self._neighbours.get(memory_id, {})

    def neighbours(self, memory_id: str) -> tuple[Connection, ...]:
        """The memories connected to this one, strongest first."""
        edges = self._neighbours.get(memory_id)
        if not edges:
            return ()
        ranked = sorted((-score, other) for other, score in edges.items())
        return tuple(Connection(other, -score) for score, other in ranked)

    def stored(self) -> Iterator[tuple[str, str]]:
        """Every connection as it is stored: the memory that it stands with, and the other one."""
        for memory_id, others in self._stored.items():
            for other in others:
                yield memory_id, other

    def referrers(self, memory_id: str) -> list[str]:
        """The memories whose stored record names this one."""
        return [
            other for other in self._neighbours.get(memory_id, {}) if memory_id in self._stored.get(other, ())
        ]
