"""The right to change a namespace that several processes share, which one of them has at a time.

Chroma has no transaction and no compare-and-set, but of several that make a collection of one name, one
succeeds. So whoever is about to read something in order to change it makes a collection that stands for
the right to, and deletes it afterwards. It holds no records, only whose it is.
"""

from __future__ import annotations

import logging
import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from shared_core.errors import StoreError

if TYPE_CHECKING:
    from shared_core.stores.chroma import ChromaStore

__all__ = ["HELD_SECONDS", "Lease", "Leaseholder", "process_name"]

logger = logging.getLogger(__name__)

#: After how long the right of one that is silent goes to another, in seconds; a change takes a tenth of one.
HELD_SECONDS: Final = 30.0
#: How long to wait for one's turn at most, and the shortest and longest pause between two looks, in seconds.
WAIT_SECONDS: Final = 120.0
PAUSES: Final = (0.005, 0.05)


@dataclass(frozen=True)
class Leaseholder:
    """Who has the right.

    Attributes:
        lease_id: Chroma's own id of the collection that stands for it.
        writer: The store that made it.
        process: Its process, as ``process_name`` gives it.
    """

    lease_id: str
    writer: str
    process: str

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


class Lease:
    """The right to change one namespace.

    Args:
        store: Where the namespace is.
        name: Of its Chroma collection.
        held_seconds: After how long the right of one that is silent goes to another.
        wait_seconds: How long to wait for one's turn at most.
    """

    def __init__(
        self,
        store: ChromaStore,
        name: str,
        *,
        held_seconds: float = HELD_SECONDS,
        wait_seconds: float = WAIT_SECONDS,
    ) -> None:
        self._store = store
        self._name = f"{name}-lease"
        self._held_seconds = held_seconds
        self._wait_seconds = wait_seconds
        self._since: float | None = None

    def acquire(self) -> None:
        """Wait for the right. One that its holder has left behind is taken over.

        Raises:
            StoreError: If another one has it all the time, or the store cannot be asked.
        """
        latest = time.monotonic() + self._wait_seconds
        seen: Leaseholder | None = None
        seen_at, pause = 0.0, PAUSES[0]
        while not self._store.claim(self._name):
            now = time.monotonic()
            holder = self._store.claimant(self._name)
            if holder is not None and holder.writer == self._store.writer:
                break  # made by a call whose answer was lost, or not deleted because the server was gone
            if holder is not None and holder != seen:
                seen, seen_at = holder, now
            if holder is not None and (holder.is_dead or now - seen_at > self._held_seconds):
                logger.info("%s: the lease of %s is taken over", self._store.place, holder.process)
                self._store.disown(self._name, holder)
            elif now > latest:
                raise StoreError(
                    f"cannot write to {self._store.place}: others have changed this namespace for "
                    f"{self._wait_seconds:g} s without a pause; nothing was changed, try again"
                )
            else:
                time.sleep(pause)
                pause = min(2 * pause, PAUSES[1])
        self._since = time.monotonic()

    def confirm(self) -> None:
        """Make sure that a right which was held for long is still held.

        Raises:
            StoreError: If another one has taken it over.
        """
        if self._since is None or time.monotonic() - self._since < self._held_seconds / 2:
            return
        holder = self._store.claimant(self._name)
        if holder is None or holder.writer != self._store.writer:
            raise StoreError(
                f"cannot write to {self._store.place}: this change took more than {self._held_seconds:g} s, "
                "and another process has begun one of the same namespace: this write was not made, try again"
            )

    def release(self) -> None:
        """Let others have the right. If that fails they have it once they find that this one is silent."""
        try:
            self.confirm()
            self._store.unclaim(self._name)
        except StoreError as error:
            logger.info("a lease was not given back: %s", error)
        finally:
            self._since = None


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
