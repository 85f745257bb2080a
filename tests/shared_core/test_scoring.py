from __future__ import annotations

from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from shared_core.scoring import (
    PRESETS,
    BalancedPolicy,
    Components,
    ContextMemoryPolicy,
    MemoriaPolicy,
    PresetName,
    ScoringPolicy,
    Signals,
    WebMcpPolicy,
    policy_of,
)
from shared_core.settings import Settings

UNIT = st.floats(0.0, 1.0, allow_nan=False)
AGES = st.floats(0.0, 1e6, allow_nan=False)
MINUTE = 1.0 / 1_440.0


def signals(**values: float) -> Signals:
    """Signals of one candidate; what is left out is 1, but 0 for its age."""
    defaults = {
        "relevance": 1.0,
        "similarity": 1.0,
        "age_days": 0.0,
        "decays": 1.0,
        "importance": 1.0,
        "mention_count": 1.0,
        "in_working_memory": 0.0,
    }
    return Signals(**{name: np.array([value]) for name, value in (defaults | values).items()})


def score(policy: ScoringPolicy, **values: float) -> float:
    return float(policy.score(policy.components(signals(**values)))[0])


def test_contextmemory_scores_the_worked_example_of_its_seed() -> None:
    result = score(ContextMemoryPolicy(), similarity=0.85, importance=0.8, age_days=7.0)
    assert result == pytest.approx(0.479, abs=5e-4)


def test_contextmemory_leaves_facts_as_fresh_as_they_were() -> None:
    result = score(ContextMemoryPolicy(), similarity=0.92, importance=0.95, age_days=900.0, decays=0.0)
    assert result == pytest.approx(0.92 * 0.95)


def test_memoria_scores_the_worked_example_of_its_seed() -> None:
    assert score(MemoriaPolicy(), similarity=0.92, age_days=45 * MINUTE) == pytest.approx(0.374, abs=5e-4)


def test_memoria_ages_memories_of_every_kind() -> None:
    assert score(MemoriaPolicy(), age_days=1.0, decays=0.0) < 1e-12


def test_webmcp_scores_the_worked_example_of_its_seed() -> None:
    result = score(WebMcpPolicy(), similarity=0.95, age_days=2.0, mention_count=8.0)
    assert result == pytest.approx(0.775, abs=5e-4)


def test_webmcp_adds_its_bonus_for_working_memory() -> None:
    outside, inside = (score(WebMcpPolicy(), in_working_memory=held) for held in (0.0, 1.0))
    assert inside - outside == pytest.approx(0.1)


@given(UNIT, UNIT, st.floats(1, 1e4), AGES, AGES)
def test_balanced_moves_a_score_by_age_within_its_bound(
    relevance: float, importance: float, mentions: float, age: float, other_age: float
) -> None:
    policy = BalancedPolicy()
    rest = {"relevance": relevance, "importance": importance, "mention_count": mentions}
    one, other = (score(policy, age_days=days, **rest) for days in (age, other_age))
    highest = score(policy, age_days=0.0, **rest)
    assert abs(one - other) <= policy.recency_bound * highest + 1e-12


@given(UNIT, AGES, UNIT, st.floats(0, 1e4))
def test_balanced_never_hides_what_is_relevant(
    relevance: float, age: float, importance: float, mentions: float
) -> None:
    policy = BalancedPolicy()
    result = score(policy, relevance=relevance, age_days=age, importance=importance, mention_count=mentions)
    floor = (1 - policy.recency_bound) * (1 - policy.importance_bound) * (1 - policy.frequency_bound)
    assert relevance * floor - 1e-12 <= result <= relevance


@pytest.mark.parametrize("preset", get_args(PresetName))
@given(ages=st.lists(AGES, min_size=2, max_size=2), similarity=UNIT, decays=st.sampled_from([0.0, 1.0]))
def test_no_policy_scores_a_memory_higher_for_being_older(
    preset: PresetName, ages: list[float], similarity: float, decays: float
) -> None:
    younger, older = sorted(ages)
    policy = policy_of(preset)
    rest = {"similarity": similarity, "relevance": similarity, "decays": decays}
    assert score(policy, age_days=older, **rest) <= score(policy, age_days=younger, **rest)


@pytest.mark.parametrize("preset", get_args(PresetName))
@settings(max_examples=25)
@given(data=st.data())
def test_the_components_of_one_memory_make_its_score_again(preset: PresetName, data: st.DataObject) -> None:
    """Also when the memory was scored among others."""
    count = data.draw(st.integers(1, 20))

    def column(values: st.SearchStrategy[float]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return np.array(data.draw(st.lists(values, min_size=count, max_size=count)), dtype=np.float64)

    policy = policy_of(preset)
    together = policy.components(
        Signals(
            relevance=column(UNIT),
            similarity=column(UNIT),
            age_days=column(AGES),
            decays=column(st.sampled_from([0.0, 1.0])),
            importance=column(UNIT),
            mention_count=column(st.floats(0, 100)),
            in_working_memory=column(st.sampled_from([0.0, 1.0])),
        )
    )
    scores = policy.score(together)
    for row in range(count):
        alone: Components = {name: np.array([float(values[row])]) for name, values in together.items()}
        assert float(policy.score(alone)[0]) == float(scores[row])


def test_every_preset_can_be_named() -> None:
    assert set(PRESETS) == set(get_args(PresetName))
    assert all(isinstance(policy_of(name), ScoringPolicy) for name in get_args(PresetName))


def test_a_policy_of_ones_own_is_taken_as_it_is() -> None:
    policy = BalancedPolicy(recency_bound=0.5)
    assert policy_of(policy) is policy
    assert Settings(scoring=policy).scoring is policy


def test_an_unknown_preset_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="'linear' is none of the presets balanced, contextmemory"):
        policy_of("linear")  # type: ignore[arg-type]
    with pytest.raises(ValidationError, match="linear"):
        Settings(scoring="linear")
