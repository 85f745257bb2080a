"""Scoring policies: pure functions from named components to a score.

A policy turns the signals of a search into components, and the components into the score. The
components are what a hit shows, and ``score`` of them is the hit's score again, to the last digit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, get_args, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from shared_core.decay import (
    CONTEXTMEMORY_RATE_PER_DAY,
    MEMORIA_RATE_PER_MINUTE,
    MINUTES_PER_DAY,
    WEBMCP_RATE_PER_DAY,
    exponential_recency,
    half_life_recency,
    logarithmic_frequency,
)

Column = NDArray[np.float64]
Components = Mapping[str, Column]

PresetName = Literal["balanced", "contextmemory", "memoria", "webmcp"]


@dataclass(frozen=True)
class Signals:
    """What is known of ``n`` candidates before they are scored; every array is ``float64 [n]``.

    Attributes:
        relevance: How well each fits the question, 0 to 1, from all evidence together.
        similarity: Cosine similarity of the embeddings, clipped to 0 to 1.
        age_days: Days since the moment, or since it was said; 0 or more.
        decays: 1 for what is bound to a moment, 0 for facts, triplets and blocks.
        importance: 0 to 1.
        mention_count: How often it was said.
        in_working_memory: 1 where it is held in working memory.
    """

    relevance: Column
    similarity: Column
    age_days: Column
    decays: Column
    importance: Column
    mention_count: Column
    in_working_memory: Column


@runtime_checkable
class ScoringPolicy(Protocol):
    """How a search weighs relevance, age, importance and repetition.

    Attributes:
        follows_relevance: Whether relevance decides the order but for small changes, so that the memories
            that fit the question best are all that need scoring. Otherwise every memory is scored.
    """

    @property
    def follows_relevance(self) -> bool:
        """See above."""
        ...

    def components(self, signals: Signals) -> dict[str, Column]:
        """The factors of the score by name, each ``float64 [n]``."""
        ...

    def score(self, components: Components) -> Column:
        """The scores ``float64 [n]`` that these components make; higher is better."""
        ...


@dataclass(frozen=True)
class ContextMemoryPolicy:
    """Similarity × importance × e^(−0.05·days); what does not decay has recency 1 (seed 000)."""

    rate_per_day: float = CONTEXTMEMORY_RATE_PER_DAY

    @property
    def follows_relevance(self) -> bool:
        """No: similarity and the rest decide."""
        return False

    def components(self, signals: Signals) -> dict[str, Column]:
        """``similarity``, ``importance``, ``recency``."""
        recency = exponential_recency(signals.age_days * signals.decays, rate_per_day=self.rate_per_day)
        return {"similarity": signals.similarity, "importance": signals.importance, "recency": recency}

    def score(self, components: Components) -> Column:
        """The product of the three."""
        return components["similarity"] * components["importance"] * components["recency"]


@dataclass(frozen=True)
class MemoriaPolicy:
    """Similarity × e^(−0.02·minutes), for memories of every kind (seed 002)."""

    rate_per_minute: float = MEMORIA_RATE_PER_MINUTE

    @property
    def follows_relevance(self) -> bool:
        """No: similarity and the rest decide."""
        return False

    def components(self, signals: Signals) -> dict[str, Column]:
        """``similarity``, ``recency``."""
        recency = exponential_recency(signals.age_days, rate_per_day=self.rate_per_minute * MINUTES_PER_DAY)
        return {"similarity": signals.similarity, "recency": recency}

    def score(self, components: Components) -> Column:
        """The product of the two."""
        return components["similarity"] * components["recency"]


@dataclass(frozen=True)
class WebMcpPolicy:
    """0.3·recency + 0.2·frequency + 0.4·similarity + 0.1·working memory (seed 004)."""

    recency_weight: float = 0.3
    frequency_weight: float = 0.2
    similarity_weight: float = 0.4
    working_memory_weight: float = 0.1
    rate_per_day: float = WEBMCP_RATE_PER_DAY

    @property
    def follows_relevance(self) -> bool:
        """No: similarity and the rest decide."""
        return False

    def components(self, signals: Signals) -> dict[str, Column]:
        """``recency``, ``frequency``, ``similarity``, ``working_memory``."""
        return {
            "recency": exponential_recency(signals.age_days, rate_per_day=self.rate_per_day),
            "frequency": logarithmic_frequency(signals.mention_count),
            "similarity": signals.similarity,
            "working_memory": signals.in_working_memory,
        }

    def score(self, components: Components) -> Column:
        """The weighted sum of the four."""
        return (
            self.recency_weight * components["recency"]
            + self.frequency_weight * components["frequency"]
            + self.similarity_weight * components["similarity"]
            + self.working_memory_weight * components["working_memory"]
        )


@dataclass(frozen=True)
class BalancedPolicy:
    """Relevance, moved by recency, importance and repetition within stated bounds: the default.

    Each of the three takes at most its bound from the score, as a share of it, so age alone never hides a
    memory that fits the question. Age counts on a half-life scale; facts have recency 1.

    Attributes:
        half_life_days: Age at which half of ``recency_bound`` is taken.
        recency_bound, importance_bound, frequency_bound: Shares, 0 to 1.
    """

    half_life_days: float = 30.0
    recency_bound: float = 0.04
    importance_bound: float = 0.04
    frequency_bound: float = 0.02

    @property
    def follows_relevance(self) -> bool:
        """Yes: age, importance and repetition move it within bounds."""
        return True

    def components(self, signals: Signals) -> dict[str, Column]:
        """``relevance``, ``recency``, ``importance``, ``frequency``, each 0 to 1."""
        return {
            "relevance": signals.relevance,
            "recency": half_life_recency(
                signals.age_days * signals.decays, half_life_days=self.half_life_days
            ),
            "importance": signals.importance,
            "frequency": logarithmic_frequency(signals.mention_count),
        }

    def score(self, components: Components) -> Column:
        """Relevance × Π (1 − bound × (1 − factor))."""
        return (
            components["relevance"]
            * (1.0 - self.recency_bound * (1.0 - components["recency"]))
            * (1.0 - self.importance_bound * (1.0 - components["importance"]))
            * (1.0 - self.frequency_bound * (1.0 - components["frequency"]))
        )


PRESETS: dict[PresetName, Callable[[], ScoringPolicy]] = {
    "balanced": BalancedPolicy,
    "contextmemory": ContextMemoryPolicy,
    "memoria": MemoriaPolicy,
    "webmcp": WebMcpPolicy,
}


def policy_of(scoring: PresetName | ScoringPolicy) -> ScoringPolicy:
    """The policy of that name, or the policy itself.

    Raises:
        ValueError: If there is no preset of that name.
    """
    if not isinstance(scoring, str):
        return scoring
    if scoring not in PRESETS:
        raise ValueError(f"scoring {scoring!r} is none of the presets {', '.join(get_args(PresetName))}")
    return PRESETS[scoring]()
