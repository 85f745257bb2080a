"""Every setting of a memory, with its default, unit and source."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

from shared_core.scoring import PresetName, ScoringPolicy


class Settings(BaseModel):
    """How a memory behaves. All have defaults; all bad values are reported at once.

    Attributes:
        scoring: A preset's name, or a policy of your own.
        session_gap_minutes: A pause after which a new session begins.
        buffer_messages: Messages of a conversation that stay in its buffer (seed 004).
        buffer_evict: How many of the oldest are summarised together when it overflows (seed 004).
        buffer_tokens: Tokens that stay in the buffer; None for no such limit.
        summary_words: Longest summary, in words (seed 002).
        connection_limit: Connections that a new bubble makes at most (seed 000).
        connection_threshold: Cosine similarity from which it makes one; None for the embedder's own.
        archive_after_days: Age at which ``maintain`` archives a bubble (seed 000).
        capacity: Facts, bubbles and triplets that ``maintain`` leaves, at most (seed 001).
        model: The model that token budgets are counted for; None for the encoding ``o200k_base``.
        resident_limit: Namespaces whose index stays in memory at once.
        idle_seconds: After how long without use an index may leave memory.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    scoring: PresetName | ScoringPolicy = "balanced"
    session_gap_minutes: float = Field(default=30.0, gt=0)
    buffer_messages: int = Field(default=50, ge=1)
    buffer_evict: int = Field(default=30, ge=1)
    buffer_tokens: int | None = Field(default=None, ge=1)
    summary_words: int = Field(default=200, ge=10)
    connection_limit: int = Field(default=5, ge=0)
    connection_threshold: float | None = Field(default=None, ge=0.0, le=1.0)
    archive_after_days: float = Field(default=90.0, gt=0)
    capacity: int = Field(default=1_000, ge=1)
    model: str | None = None
    resident_limit: int = Field(default=128, ge=1)
    idle_seconds: float = Field(default=900.0, gt=0)

    @model_validator(mode="after")
    def _evicts_less_than_it_holds(self) -> Any:
        if self.buffer_evict > self.buffer_messages:
            raise ValueError(
                f"buffer_evict {self.buffer_evict} is more than buffer_messages {self.buffer_messages}"
            )
        return self
