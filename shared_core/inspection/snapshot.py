"""What is inspected: every record of a namespace as it was at one moment."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from shared_core.arguments import moment_of
from shared_core.records import Kind, Memory
from shared_core.scoring import ScoringPolicy, policy_of
from shared_core.settings import Settings

if TYPE_CHECKING:
    from shared_core.memory import ContextMemory

__all__ = ["Snapshot"]


@dataclass(frozen=True)
class Snapshot:
    """The records of a namespace; taking it does not count as reading them.

    Attributes:
        namespace: Whose memory it is.
        now: What ages count from. UTC.
        records: All of them, superseded and archived ones too, by the time that they were created.
        settings: Of the memory.
    """

    namespace: str
    now: datetime
    records: tuple[Memory, ...]
    settings: Settings

    @classmethod
    def of(cls, memory: ContextMemory, *, now: datetime | None = None) -> Snapshot:
        """A snapshot of ``memory``."""
        with memory.opened().use() as index:
            records = [
                index.memory_at(row) for memory_id in index if (row := index.row(memory_id)) is not None
            ]
        records.sort(key=lambda record: (record.created_at, record.turn or 0, record.id))
        return cls(memory.namespace, moment_of(now), tuple(records), memory.settings)

    @property
    def policy(self) -> ScoringPolicy:
        """How the memory scores."""
        return policy_of(self.settings.scoring)

    def of_kind(self, *kinds: Kind) -> list[Memory]:
        """The records of these kinds, oldest first."""
        return [record for record in self.records if record.kind in kinds]
