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
        summary_every_messages: Messages of a session after which its summary is written anew (seed 002).
        summary_words: Longest summary, in words (seed 002).
        connection_limit: Connections that a new bubble makes at most (seed 000).
        connection_threshold: Cosine similarity from which it makes one; None for the embedder's own.
        archive_after_days: Age at which ``maintain`` archives a bubble (seed 000).
        capacity: Facts, bubbles and triplets that ``maintain`` leaves, at most (seed 001).
        mtm_after_days, ltm_after_days: Age from which a memory may enter the medium and the long term.
            Seed 003 names importance, access and age as the criteria, not the figures, which are ours; the
            long term begins where a bubble's warm stage ends (seed 000).
        mtm_importance, ltm_importance: Importance from which it does, 0 to 1.
        mtm_uses, ltm_uses: How often it was said or read, from which it does whatever its importance.
        working_capacity: Memories in working memory, at most; what the application holds stays beyond it.
        working_mentions: What was said more often than this enters working memory (seed 004: 3).
        working_frequent_days: How long it stays there after its last use: seed 000's warm stage.
        working_importance: Importance from which what was used recently enters, 0 to 1.
        working_recent_days: What is recent, and how long that stays: seed 000's active stage.
        block_words: Longest core block that ``maintain`` writes, in words: seed 004's 500 tokens hold four.
        access_batch: Once so many memories have been read, each write takes the readings of some along; all
            of them are written by ``flush``, ``maintain`` and ``close``.
        access_limit: Memories whose readings wait to be written, at most; further ones are not counted.
        prune_after_days: Age from which ``maintain`` deletes weak relations (seed 002).
        prune_confidence: A relation said once, never read, and less certain than this is weak; 0 keeps all.
        background: Whether ``add`` leaves the learning to a worker where it is not told (seed 002).
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
    summary_every_messages: int = Field(default=20, ge=1)
    summary_words: int = Field(default=200, ge=10)
    connection_limit: int = Field(default=5, ge=0)
    connection_threshold: float | None = Field(default=None, ge=0.0, le=1.0)
    archive_after_days: float = Field(default=90.0, gt=0)
    capacity: int = Field(default=1_000, ge=1)
    mtm_after_days: float = Field(default=1.0, ge=0)
    mtm_importance: float = Field(default=0.6, ge=0.0, le=1.0)
    mtm_uses: int = Field(default=3, ge=1)
    ltm_after_days: float = Field(default=30.0, ge=0)
    ltm_importance: float = Field(default=0.8, ge=0.0, le=1.0)
    ltm_uses: int = Field(default=6, ge=1)
    working_capacity: int = Field(default=10, ge=0)
    working_mentions: int = Field(default=3, ge=0)
    working_frequent_days: float = Field(default=30.0, gt=0)
    working_importance: float = Field(default=0.8, ge=0.0, le=1.0)
    working_recent_days: float = Field(default=7.0, gt=0)
    block_words: int = Field(default=60, ge=5)
    access_batch: int = Field(default=100, ge=1)
    access_limit: int = Field(default=10_000, ge=1)
    prune_after_days: float = Field(default=90.0, gt=0)
    prune_confidence: float = Field(default=0.3, ge=0.0, le=1.0)
    background: bool = False
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
