"""From statements to a graph: spellings joined, repeated relations counted, types voted for."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain

from shared_core.graph.entity import Entity
from shared_core.graph.names import NAMING, Names, key_of
from shared_core.graph.relation import Relation
from shared_core.graph.statements import Statement, read_statements
from shared_core.graph.types import ALIKE, EntityType, TypeVote, types_of_ends, winner
from shared_core.graph.view import MemoryGraph
from shared_core.index.resident import ResidentIndex

__all__ = ["build_graph", "graph_of"]

#: Keys of the subject and the object around the predicate.
_Triple = tuple[str, str, str]


def build_graph(
    index: ResidentIndex, *, conversation_id: str | None, include_superseded: bool, now: datetime
) -> MemoryGraph:
    """The graph of what the facts and triplets of a namespace state.

    Args:
        index: The namespace; only read.
        conversation_id: Only what was said there; None for everything.
        include_superseded: Also what is no longer so.
        now: What expiry counts from.
    """
    statements = read_statements(index, now)
    return graph_of(statements, conversation_id=conversation_id, include_superseded=include_superseded)


def graph_of(
    statements: Sequence[Statement], *, conversation_id: str | None = None, include_superseded: bool = False
) -> MemoryGraph:
    """The graph of ``statements``, which come oldest first; the options are those of ``build_graph``."""
    keys = {key_of(name) for one in statements if one.relation for name in one.relation[::2]}
    names = Names(keys, (one.named for one in statements if one.named and one.is_current))
    placed = [
        (one, (names.of(one.relation[0]), one.relation[1], names.of(one.relation[2])))
        for one in statements
        if one.relation
    ]
    groups: dict[_Triple, list[Statement]] = {}
    for statement, triple in placed:
        groups.setdefault(triple, []).append(statement)
    chosen: dict[_Triple, _Said] = {}
    for triple, group in groups.items():
        is_current = _is_current(group)
        shown = group if include_superseded else [one for one in group if one.is_current]
        is_here = conversation_id is None or any(conversation_id in one.conversations for one in group)
        if shown and is_here and (is_current or include_superseded):
            chosen[triple] = _Said(shown, is_current, _mentions(shown))
    entities = _entities(chosen)
    return MemoryGraph(
        entities.values(),
        (
            _relation(entities[first].name, predicate, entities[second].name, said)
            for (first, predicate, second), said in chosen.items()
            if first != second or predicate not in NAMING
        ),
    )


@dataclass(slots=True)
class _Said:
    """The statements of one relation, oldest first."""

    shown: Sequence[Statement]
    is_current: bool
    mention_count: int


def _is_current(group: Sequence[Statement]) -> bool:
    """Whether a relation still holds.

    Facts decide, because they are what is reconciled: where each of them was superseded, a triplet that says
    the same holds only if it was stated again since.
    """
    if len(group) == 1:
        return group[0].is_current
    facts = [one for one in group if one.is_fact]
    triplets = [one for one in group if not one.is_fact and one.is_current]
    if not facts or any(fact.is_current for fact in facts):
        return bool(facts or triplets)
    ended = max(fact.updated_at for fact in facts)
    return any(triplet.updated_at > ended for triplet in triplets)


def _relation(first: str, predicate: str, second: str, said: _Said) -> Relation:
    shown = said.shown
    if len(shown) > 1:
        shown = sorted(shown, key=lambda one: (not one.is_current, one.is_fact))
    return Relation(
        subject=first,
        predicate=predicate,
        object=second,
        confidence=max(one.confidence for one in shown),
        mention_count=said.mention_count,
        current=said.is_current,
        memory_id=shown[0].memory_id,
        memory_ids=tuple(one.memory_id for one in shown),
        first_mentioned=said.shown[0].created_at,
        last_mentioned=max(one.last_said for one in shown),
        conversations=_joined([one.conversations for one in said.shown]),
        sessions=_joined([one.sessions for one in said.shown]),
        source_ids=_joined([one.source_ids for one in said.shown]),
    )


def _mentions(shown: Sequence[Statement]) -> int:
    """How often it was said: a fact and the triplet of the same message count once."""
    if len(shown) == 1:
        return shown[0].mention_count
    facts = sum(one.mention_count for one in shown if one.is_fact)
    return max(facts, sum(one.mention_count for one in shown) - facts)


def _joined(lists: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """All of several lists, each name once."""
    return lists[0] if len(lists) == 1 else tuple(dict.fromkeys(chain.from_iterable(lists)))


@dataclass(slots=True)
class _Gathered:
    """What is known of one entity while its statements are read."""

    spellings: dict[str, int] = field(default_factory=dict)
    votes: dict[EntityType, int] = field(default_factory=dict)
    said: dict[str, Statement] = field(default_factory=dict)
    mention_count: int = 0

    def hear(self, name: str, votes: Iterable[TypeVote], statement: Statement) -> None:
        self.spellings[name] = self.spellings.get(name, 0) + statement.mention_count
        for told, weight in votes:
            self.votes[told] = self.votes.get(told, 0) + weight
        self.said[statement.memory_id] = statement

    def entity(self, key: str) -> Entity:
        by_count = [one for one, _ in Counter(self.spellings).most_common()]
        # A given name goes before what was said until it was known: Alex, not User.
        name = next((one for one in by_count if key_of(one) == key), by_count[0])
        said = sorted(self.said.values(), key=lambda one: one.place)
        return Entity(
            name=name,
            type=winner(self.votes),
            aliases=tuple(one for one in by_count if one != name),
            mention_count=self.mention_count,
            first_mentioned=said[0].created_at,
            last_mentioned=max(one.last_said for one in said),
            memory_ids=tuple(one.memory_id for one in said),
            conversations=_joined([one.conversations for one in said]),
            sessions=_joined([one.sessions for one in said]),
        )


def _entities(chosen: Mapping[_Triple, _Said]) -> dict[str, Entity]:
    """The entities at the ends of the chosen relations, by key."""
    gathered: dict[str, _Gathered] = defaultdict(_Gathered)
    for (first, _, second), said in chosen.items():
        for key in {first, second}:
            gathered[key].mention_count += said.mention_count
        for one in said.shown:
            assert one.relation is not None
            subject, predicate, obj = one.relation
            of_first, of_second = types_of_ends(
                subject, predicate, obj, category=one.category, speaker=one.speaker
            )
            gathered[first].hear(subject, of_first, one)
            gathered[second].hear(obj, of_second, one)
    _share_types(gathered, chosen)
    return {key: of_key.entity(key) for key, of_key in gathered.items()}


def _share_types(gathered: Mapping[str, _Gathered], triples: Iterable[_Triple]) -> None:
    """What is like a thing of a known type, and of none itself, is of that type."""
    told: list[tuple[str, EntityType]] = []
    for first, predicate, second in triples:
        if predicate in ALIKE:
            for untold, other in ((first, second), (second, first)):
                if not gathered[untold].votes and gathered[other].votes:
                    told.append((untold, winner(gathered[other].votes)))
    for key, one in told:
        gathered[key].votes[one] = gathered[key].votes.get(one, 0) + 1
