"""``Inspection``: a memory at one moment, as tables and plots."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

import pandas as pd

from shared_core.context.assembly import Context
from shared_core.inspection.html import overview_html
from shared_core.inspection.network import linked_memories, things
from shared_core.inspection.plots.budget import budget_plot
from shared_core.inspection.plots.decay import decay_plot, stages_plot
from shared_core.inspection.plots.growth import growth_plot
from shared_core.inspection.plots.maintenance import maintenance_plot
from shared_core.inspection.plots.network import network_plot
from shared_core.inspection.plots.scores import scores_plot
from shared_core.inspection.snapshot import Snapshot
from shared_core.inspection.style import Plot
from shared_core.inspection.tables import (
    connections_table,
    kinds_over_time_table,
    memories_table,
    messages_table,
    sessions_table,
)
from shared_core.retrieval.search import SearchResult
from shared_core.scoring import PresetName, ScoringPolicy
from shared_core.upkeep.maintenance import MaintenanceReport

if TYPE_CHECKING:
    from shared_core.graph.view import MemoryGraph
    from shared_core.memory import ContextMemory

__all__ = ["Inspection"]


class Inspection:
    """Tables and plots of a memory as it was when it was inspected.

    Tables are pandas DataFrames, fresh at each call. Plots are matplotlib figures that a notebook shows by
    themselves, on a light or a dark page; ``savefig`` writes them to a file.

    Example:
        >>> look = memory.inspect()
        >>> look.memories().query("kind == 'fact'")  # doctest: +SKIP
        >>> look.plot_growth().savefig("growth.png")  # doctest: +SKIP

    Args:
        snapshot: The records.
        graph: The things that they speak of.
    """

    def __init__(self, snapshot: Snapshot, graph: MemoryGraph) -> None:
        self._snapshot = snapshot
        self._graph = graph

    @classmethod
    def of(cls, memory: ContextMemory, *, now: datetime | None = None) -> Inspection:
        """An inspection of ``memory``, whose ages count from ``now``."""
        snapshot = Snapshot.of(memory, now=now)
        return cls(snapshot, memory.graph(now=snapshot.now))

    def __repr__(self) -> str:
        return f"Inspection(namespace={self._snapshot.namespace!r}, records={len(self._snapshot.records)})"

    def _repr_html_(self) -> str:
        return overview_html(self._snapshot)

    # -- tables ------------------------------------------------------------------------------------------

    def memories(self) -> pd.DataFrame:
        """What was learnt, by id, oldest first; superseded and archived memories too."""
        return memories_table(self._snapshot.records, now=self._snapshot.now)

    def messages(self) -> pd.DataFrame:
        """What was said, by id of its record, conversation by conversation."""
        return messages_table(self._snapshot.records)

    def connections(self) -> pd.DataFrame:
        """Links between memories, the strongest first, with the cosine similarity that made them."""
        return connections_table(self._snapshot.records)

    def sessions(self) -> pd.DataFrame:
        """Each session: when it was, how many minutes it took, what was said and learnt in it."""
        return sessions_table(self._snapshot.records)

    def kinds_over_time(self) -> pd.DataFrame:
        """How many records of each kind there were, moment by moment."""
        return kinds_over_time_table(self._snapshot.records)

    # -- plots -------------------------------------------------------------------------------------------

    def plot_growth(self) -> Plot:
        """How the memory grew, and what it is made of."""
        return growth_plot(self._snapshot)

    def plot_decay(
        self,
        policies: Mapping[str, PresetName | ScoringPolicy] | None = None,
        *,
        days: float | None = None,
    ) -> Plot:
        """The share of the score that age leaves, with the memory's bubbles on the curve.

        Args:
            policies: Presets or policies to compare, by name; the memory's own if left out.
            days: How far the curves go; past the oldest bubble if left out.
        """
        return decay_plot(self._snapshot, policies, days=days)

    def plot_stages(self) -> Plot:
        """How many bubbles were active, warm, cold and archived, over time."""
        return stages_plot(self._snapshot)

    def plot_connections(self) -> Plot:
        """The memories that are connected, and how strongly."""
        return network_plot(
            linked_memories(self._snapshot.records),
            title="Connected memories",
            nothing="No memory is connected to another yet",
        )

    def plot_graph(self) -> Plot:
        """The things that memories speak of, and how they relate."""
        return network_plot(
            things(self._graph), title="Things and their relations", nothing="No relation is known yet"
        )

    def plot_budget(self, context: Context, *, token_budget: int | None = None) -> Plot:
        """Where the tokens of a context go.

        Args:
            context: What ``memory.context`` gave.
            token_budget: The budget that it was asked for, to draw it too.
        """
        return budget_plot(context, token_budget=token_budget)

    def plot_scores(self, result: SearchResult) -> Plot:
        """The score of each hit of a search, and its factors, side by side."""
        return scores_plot(result)

    def plot_maintenance(self, report: MaintenanceReport) -> Plot:
        """What ``maintain`` changed; inspect the memory after it."""
        return maintenance_plot(self._snapshot, report)
