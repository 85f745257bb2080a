"""The right to change a namespace that several processes share, which one of them has at a time.

Chroma has no transaction and no compare-and-set, but of several that make a collection of one name, one
succeeds. So whoever is about to read something in order to change it makes a collection that stands for
the right to, and deletes it afterwards. It holds no records, only whose it is and how often it was renewed:
a right that is not renewed any more goes to another.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from shared_core.background import end_with
from shared_core.errors import StoreError
from shared_core.stores.leaseholder import Leaseholder, process_name

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection as RawCollection

    from shared_core.stores.chroma import ChromaStore

__all__ = ["HELD_SECONDS", "Lease"]

logger = logging.getLogger(__name__)

#: After how long the right of one that is silent goes to another, in seconds; it is renewed much sooner.
HELD_SECONDS: Final = 30.0
#: How long a change may write nothing and keep its right, in seconds: one that hangs lets others in again.
STUCK_SECONDS: Final = 600.0
#: How long to wait for one's turn at most, and the shortest and longest pause between two looks, in seconds.
WAIT_SECONDS: Final = 120.0
PAUSES: Final = (0.005, 0.05)
#: How long the end of a change waits for a renewal under way, in seconds; one that comes later does nothing.
END_SECONDS: Final = 2.0


class Lease:
    """The right to change one namespace, renewed behind the back of whoever has it.

    Args:
        store: Where the namespace is.
        name: Of its Chroma collection.
        held_seconds: After how long the right of one that is silent goes to another.
        wait_seconds: How long to wait for one's turn at most.
        stuck_seconds: How long a change may go without a write and keep its right.
    """

    def __init__(
        self,
        store: ChromaStore,
        name: str,
        *,
        held_seconds: float = HELD_SECONDS,
        wait_seconds: float = WAIT_SECONDS,
        stuck_seconds: float = STUCK_SECONDS,
    ) -> None:
        self._store = store
        self._name = f"{name}-lease"
        self._held_seconds = held_seconds
        self._wait_seconds = wait_seconds
        self._stuck_seconds = stuck_seconds
        self._tenure: _Tenure | None = None
        self._end_renewal: Callable[[], object] | None = None

    def acquire(self) -> None:
        """Wait for the right. One that its holder has left behind is taken over.

        Raises:
            StoreError: If another one has it all the time, or the store cannot be asked.
        """
        latest = time.monotonic() + self._wait_seconds
        seen: Leaseholder | None = None
        seen_at, pause = 0.0, PAUSES[0]
        while True:
            since, now = _seconds(), time.monotonic()
            made = self._store.create(self._name, self._ours)
            found = made or self._store.lookup(self._name)
            holder = None if found is None else Leaseholder.of(found)
            if found is not None and holder is not None and holder.writer == self._store.writer:
                if self._begun(found, since, is_new=made is not None):
                    return
                continue
            if holder is not None and holder != seen:
                seen, seen_at = holder, now
            if holder is not None and (holder.is_dead or now - seen_at > self._held_seconds):
                logger.info("%s: the lease of %s is taken over", self._store.place, holder.process)
                self._disown(holder)
            elif now > latest:
                raise StoreError(
                    f"cannot write to {self._store.place}: others have changed this namespace for "
                    f"{self._wait_seconds:g} s without a pause; nothing was changed, try again"
                )
            else:
                time.sleep(pause)
                pause = min(2 * pause, PAUSES[1])

    @property
    def _ours(self) -> Mapping[str, str | int]:
        return Leaseholder("", self._store.writer, process_name()).metadata

    def _begun(self, found: RawCollection, since: float, *, is_new: bool) -> bool:
        """Begin to hold the right that a collection stands for; False if it went to another just now."""
        tenure = _Tenure(self._store, found, since=since, held_seconds=self._held_seconds)
        if not is_new:
            # Made by a call whose answer was lost, or not deleted because the server was gone: others may
            # have watched it for long, and be about to take it over.
            try:
                tenure.renew()
            except StoreError:
                if not tenure.is_lost:
                    raise
                return False
        self._tenure = tenure
        self._keep_renewed(tenure)
        return True

    def _keep_renewed(self, tenure: _Tenure) -> None:
        stopping = threading.Event()
        thread = threading.Thread(
            target=tenure.last,
            args=(stopping, self._stuck_seconds),
            name="contextmemory-lease",
            daemon=True,
        )
        try:
            thread.start()
        except RuntimeError as error:  # it is renewed only where it is confirmed, then
            logger.warning("%s: a lease is held without a thread: %s", self._store.place, error)
            return
        self._end_renewal = end_with(self, stopping, thread, wait_seconds=END_SECONDS)

    def _disown(self, holder: Leaseholder) -> None:
        """Delete the lease of a holder who is silent, and of nobody who has it after them."""
        try:
            with self._store.guarded("write to"):
                found = self._store.lookup(self._name)
                if found is None or Leaseholder.of(found) != holder:
                    return
                # By its own id: whoever deleted by name might delete what was made in the meantime.
                aside = f"{self._name}-{self._store.writer}-{holder.lease_id}"
                found.modify(name=aside)
                moved = self._store.lookup(aside)
                if moved is not None and Leaseholder.of(moved) != holder:  # woke up in this very moment
                    moved.modify(name=self._name)
                else:
                    self._store.discard(aside)
        except StoreError as error:
            if not self._store.tells_of_nothing(error):
                raise

    def confirm(self) -> None:
        """Make sure that a right is still held; whoever asks is at work, and may keep it.

        Raises:
            StoreError: If another one has taken it over.
        """
        if self._tenure is not None:
            self._tenure.confirm()

    def release(self) -> None:
        """Let others have the right. If that fails they have it once they find that this one is silent."""
        tenure, self._tenure = self._tenure, None
        if tenure is None:
            return
        if self._end_renewal is not None:
            self._end_renewal()
            self._end_renewal = None
        try:
            tenure.confirm()
            self._store.discard(self._name)
        except StoreError as error:
            logger.info("a lease was not given back: %s", error)


class _Tenure:
    """The time for which the right is held: it goes on for as long as it is renewed.

    Args:
        store: Where the right is.
        found: The collection that stands for it.
        since: When it began, at the earliest, as ``_seconds`` tells it.
        held_seconds: After how long without a renewal another one may take it over.
    """

    def __init__(
        self, store: ChromaStore, found: RawCollection, *, since: float, held_seconds: float
    ) -> None:
        self.is_lost = False
        self._store = store
        self._found = found
        self._name = found.name
        self._holder = Leaseholder.of(found)
        self._held_seconds = held_seconds
        self._renewed = self._used = since
        self._lock = threading.Lock()

    def confirm(self) -> None:
        """As ``Lease.confirm``: asks the store only where half of the time is over."""
        self._used = _seconds()
        if self.is_lost or self._used - self._renewed > self._held_seconds / 2:
            self.renew()

    def renew(self) -> None:
        """Tell others that this one is at work.

        Raises:
            StoreError: If another one has taken the right over, or the store cannot be asked.
        """
        with self._lock:
            asked = _seconds()
            if not self.is_lost:
                self._holder = replace(self._holder, renewals=self._holder.renewals + 1)
                self.is_lost = not self._written()
            if self.is_lost:
                raise StoreError(
                    f"cannot write to {self._store.place}: this change was silent for more than "
                    f"{self._held_seconds:g} s, and another process has begun one of the same namespace: "
                    "this write was not made, try again"
                )
            self._renewed = asked

    def _written(self) -> bool:
        """Write how often it was renewed; whether the right is still this one's afterwards."""
        try:
            with self._store.guarded("write to"):
                told = dict(self._holder.metadata)
                self._store.retried(lambda: self._found.modify(metadata=told))
        except StoreError as error:
            if not self._store.tells_of_nothing(error):
                raise
            return False
        found = self._store.lookup(self._name)  # whoever takes it over gives it another name before
        return found is not None and str(found.id) == self._holder.lease_id

    def last(self, stopping: threading.Event, stuck_seconds: float) -> None:
        """Renew it again and again, until it is given back, is lost, or nothing was written for too long."""
        while not self.is_lost and not stopping.wait(self._held_seconds / 3):
            if _seconds() - self._used > stuck_seconds:
                logger.warning(
                    "%s: a change has written nothing for %g s, and is not waited for any longer",
                    self._store.place,
                    stuck_seconds,
                )
                return
            try:
                self.renew()
            except StoreError as error:
                logger.info("a lease was not renewed: %s", error)


def _seconds() -> float:
    """A clock that counts the sleep of the machine, too, where there is one: others may have been awake."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()
