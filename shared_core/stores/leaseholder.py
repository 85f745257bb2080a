"""Who has the right to change a namespace, as the collection that stands for it tells."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection as RawCollection

__all__ = ["Leaseholder", "process_name"]


@dataclass(frozen=True)
class Leaseholder:
    """Who has the right.

    Attributes:
        lease_id: Chroma's own id of the collection that stands for it.
        writer: The store that made it.
        process: Its process, as ``process_name`` gives it.
        renewals: How often it was renewed.
    """

    lease_id: str
    writer: str
    process: str
    renewals: int = 0

    @classmethod
    def of(cls, found: RawCollection) -> Leaseholder:
        """Whose a lease is; one of an earlier release was never renewed."""
        told = found.metadata or {}
        renewals = told.get("renewals")
        return cls(
            lease_id=str(found.id),
            writer=str(told.get("writer", "")),
            process=str(told.get("process", "")),
            renewals=renewals if isinstance(renewals, int) else 0,
        )

    @property
    def metadata(self) -> Mapping[str, str | int]:
        """What the collection tells of them."""
        return {"writer": self.writer, "process": self.process, "renewals": self.renewals}

    @property
    def is_dead(self) -> bool:
        """Whether it is known that its process has ended: only of one on this machine."""
        machine, _, process_id = self.process.rpartition("/")
        if not machine or machine != _machine() or not process_id.isdecimal():
            return False
        try:
            os.kill(int(process_id), 0)  # asks only, and sends nothing
        except ProcessLookupError:
            return True
        except OSError:  # it lives, and is somebody else's
            return False
        return False


def process_name() -> str:
    """This process: the machine, and its id there; only the id where the system does not name the machine."""
    return f"{_machine()}/{os.getpid()}"


def _machine() -> str:
    """This run of this machine, and the process ids that are known here; "" where that is not told."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}:{Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return ""
