"""What the core asks of a store: namespaces of records, written in changes that are whole or absent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np

from shared_core.embedding.base import FloatArray
from shared_core.records import Memory

#: Version of the records' layout, kept with each namespace. A newer one is refused, not guessed.
SCHEMA_VERSION = 1
#: What a collection of a namespace holds: its memories, or the items that an application keeps there.
Purpose = Literal["memories", "items"]


@dataclass(frozen=True)
class StoredBatch:
    """Records as they are stored.

    Attributes:
        memories: ``n`` records.
        payloads: Their stored JSON, in the same order.
        vectors: ``float32 [n, dimension]``.
    """

    memories: tuple[Memory, ...]
    payloads: tuple[str, ...]
    vectors: FloatArray


@dataclass(frozen=True)
class Change:
    """One logical change of a namespace.

    Attributes:
        puts: Records to write; one that exists is replaced.
        vectors: ``float32 [len(puts), dimension]``.
        deletes: Ids to remove, referrers before what they refer to.
        keeps_texts: Whether every record that is put is there already with its text, and so with its vector,
            its kind and its conversation: the rest of it can then be written without them. Set by the
            namespace; the vectors given are not looked at then, nor is a record that the store has lost made
            again.
    """

    puts: tuple[Memory, ...] = ()
    vectors: FloatArray = field(default_factory=lambda: np.empty((0, 0), dtype=np.float32))
    deletes: tuple[str, ...] = ()
    keeps_texts: bool = False


@dataclass(frozen=True)
class Update:
    """What other processes have changed since the last look.

    Attributes:
        batch: Records that are new or changed.
        ids: Every id that there is now, where something was deleted; None where nothing was.
    """

    batch: StoredBatch
    ids: frozenset[str] | None = None


class Collection(Protocol):
    """The records of one namespace."""

    @property
    def dimension(self) -> int:
        """Length of its vectors."""
        ...

    @property
    def batch_limit(self) -> int:
        """How many records one change may put."""
        ...

    def alone(self) -> AbstractContextManager[None]:
        """Keep other processes from changing the namespace meanwhile; not to be entered twice at a time.

        Raises:
            StoreError: If others do not let go of it.
        """
        ...

    def load(self) -> Iterator[StoredBatch]:
        """Every record, in batches."""
        ...

    def apply(self, change: Change) -> tuple[str, ...]:
        """Write ``change``: its puts whole or not at all. Returns the payloads written.

        Raises:
            StoreError: If it was not written.
        """
        ...

    def drop(self) -> None:
        """Delete every record; a later write begins anew."""
        ...

    def updates(self) -> Update | None:
        """What others have changed since the last look; None for nothing, always None if nobody else can."""
        ...


class Store(Protocol):
    """Namespaces by name."""

    def open(
        self, namespace: str, *, embedder_name: str, dimension: int, purpose: Purpose = "memories"
    ) -> Collection:
        """The records of ``namespace`` for one purpose; a collection that is new is made by its first write.

        Raises:
            EmbedderMismatchError: If it was written with another embedder.
            StoreError: If it cannot be opened.
        """
        ...

    def namespaces(self) -> Sequence[str]:
        """The namespaces that hold memories, in order."""
        ...

    def close(self) -> None:
        """Let go of it; harmless when repeated."""
        ...
