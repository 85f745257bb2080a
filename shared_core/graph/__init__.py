"""The graph of what is known: entities, their relations, and walks between them."""

from shared_core.graph.entity import Entity
from shared_core.graph.relation import Relation
from shared_core.graph.view import MemoryGraph
from shared_core.graph.walking import Neighbourhood

__all__ = ["Entity", "MemoryGraph", "Neighbourhood", "Relation"]
