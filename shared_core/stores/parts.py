"""Changes that are written in parts, so that an event loop goes on in between.

An embedded Chroma holds the interpreter's lock for the whole of a write, some 10 ms and 1 ms more for each
record, and no event loop of the process goes on meanwhile. So a big change for which a loop waits is written
in parts. To be whole or absent all the same, it is first put down in a log on the disk: from then on it
counts as written. What a kill or a failure leaves of it is written before anything else is, and whoever reads
meanwhile sees it whole.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from shared_core.asynchronous import works_for_loop
from shared_core.errors import StoreError
from shared_core.stores.copies import delete_from_copies
from shared_core.stores.head import Head
from shared_core.stores.redo import Base, RedoLog
from shared_core.stores.writing import Writing

if TYPE_CHECKING:
    from chromadb.api.models.Collection import Collection as RawCollection

    from shared_core.stores.chroma import ChromaStore

__all__ = ["PART", "PartWriter", "overlaid"]

logger = logging.getLogger(__name__)

#: Records that one call writes where an event loop waits.
PART: Final = 8


class PartWriter:
    """Writes in parts to the collections of an embedded folder, and finishes what was cut off.

    Args:
        store: Of the folder.
        log: What is still to be written there.
    """

    def __init__(self, store: ChromaStore, log: RedoLog) -> None:
        self._store = store
        self._log = log

    def takes(self, writing: Writing) -> bool:
        """Whether a change is big, and an event loop waits for it."""
        return len(writing) > PART and works_for_loop()

    def write(self, name: str, writing: Writing, made: Callable[[], RawCollection]) -> None:
        """Write a change in parts; what fails once it counts as written is written later.

        Args:
            name: Of the collection.
            writing: The change.
            made: Gives the collection, anew where it was closed meanwhile.

        Raises:
            StoreError: If nothing of it is written.
        """
        first, *rest = writing.parts(PART)
        with self._store.guarded("write to"):  # the folder is ours for the whole of each turn
            raw = made()
            self.finish(name, raw)
            self._keep(name, writing, _base_of(raw))
            try:
                self._store.write(raw, first)
            except StoreError as error:
                if not self._store.tells_of_failure(error):  # refused, or the collection is gone
                    self._give_up(name, error)
                    raise
                logger.warning("a change is written later: %s", error)
                return
        try:
            for part in rest:
                with self._store.guarded("write to"):
                    self._store.write(made(), part)
                    if part is rest[-1]:
                        self._end(name, writing)
        except StoreError as error:
            logger.warning("the rest of a change is written later: %s", error)

    def finish(self, name: str, raw: RawCollection) -> bool:
        """Write what was cut off of a change of a collection; whether there was anything.

        Raises:
            StoreError: If it could not be written, or read.
        """
        with self._store.guarded("write to"):
            left = self._left_or_given_up(name, raw)
            if left is not None:
                self._write_left(name, raw, left)
            return left is not None

    def finish_all(self) -> Sequence[str]:
        """Write what was cut off in all collections; the namespaces in which something was.

        Raises:
            StoreError: If something could not be written, or read; the others are finished all the same.
        """
        finished, failures = [], []
        with self._store.guarded("write to"):
            for name in self._log.names():
                try:
                    raw = self._store.find(name)
                    if raw is None:
                        self.discard(name)
                    elif self.finish(name, raw):
                        finished.append(str((raw.metadata or {}).get("namespace", name)))
                except StoreError as error:
                    failures.append(error)
        if failures:
            raise StoreError("; ".join(map(str, failures))) from failures[0]
        return finished

    def left_unwritten(self, name: str, raw: RawCollection) -> Writing | None:
        """Finish what was cut off; what of it cannot be written now, for whoever only reads.

        Raises:
            StoreError: If it cannot be read.
        """
        with self._store.guarded("read"):
            left = self._left_or_given_up(name, raw)
            if left is None:
                return None
            try:
                self._write_left(name, raw, left)
            except StoreError as error:
                logger.warning("%s", error)
                return left
            return None

    def discard(self, name: str) -> None:
        """Give up what was cut off, for the collection is gone."""
        try:
            self._log.discard(name)
        except OSError as error:
            logger.warning("what was cut off of a change cannot be removed: %s", error)

    def _keep(self, name: str, writing: Writing, base: Base) -> None:
        try:
            self._log.keep(name, writing, base)
        except OSError as error:
            raise self._store.failed("write to", error) from error

    def _give_up(self, name: str, refusal: StoreError) -> None:
        try:
            self._log.discard(name)
        except OSError as error:
            raise StoreError(
                f"{refusal}. It may be written later all the same, for its log cannot be removed: {error}."
                f"{self._log.way_out(name)}"
            ) from refusal

    def _end(self, name: str, writing: Writing) -> None:
        """All parts are written: what else a change does, and its log goes."""
        if writing.deletes:
            delete_from_copies(self._store, name, writing.deletes)
        self._log.discard(name)

    def _write_left(self, name: str, raw: RawCollection, left: Writing) -> None:
        try:
            for part in left.parts(PART if works_for_loop() else self._store.batch_limit()):
                self._store.write(raw, part)
            self._end(name, left)
        except (StoreError, OSError) as error:
            raise StoreError(
                f"{error}. This is the rest of a change that was cut off.{self._log.way_out(name)}"
            ) from error
        logger.info("a change of %d records that was cut off in %s is whole", len(left), self._store.place)

    def _left_or_given_up(self, name: str, raw: RawCollection) -> Writing | None:
        """What was cut off; given up where the collection is no longer the one that it stands on."""
        kept = self._log.kept(name, dimension=int((raw.metadata or {}).get("dimension", 0)))
        if kept is None:
            return None
        if kept.base == _base_of(raw):
            return kept.writing
        logger.error(
            "a change of %d records that was cut off in %s is given up: others have written since",
            len(kept.writing),
            self._store.place,
        )
        self.discard(name)
        return None


def overlaid(pages: Iterable[Mapping[str, Any]], left: Writing) -> Iterator[Mapping[str, Any]]:
    """Pages of records as Chroma has them, as they are once ``left`` is written."""
    changed, deleted = dict(zip(left.ids, left.metadatas, strict=True)), set(left.deletes)
    gone = deleted.union(left.ids if left.texts is not None else ())
    for page in pages:
        records = zip(page["ids"], page["documents"], page["metadatas"], strict=True)
        yield _page(
            (one, text, {**(metadata or {}), **changed.get(one, {})})
            for one, text, metadata in records
            if one not in gone
        )
    if left.texts is not None:
        records = zip(left.ids, left.texts, left.metadatas, strict=True)
        yield _page(record for record in records if record[0] not in deleted)


def _page(records: Iterable[tuple[str, Any, Mapping[str, Any]]]) -> Mapping[str, Any]:
    rows = list(records)
    ids, documents, metadatas = ([row[place] for row in rows] for place in range(3))
    return {"ids": ids, "documents": documents, "metadatas": metadatas}


def _base_of(raw: RawCollection) -> Base:
    found = raw.get(ids=[Head.ID], include=["metadatas"])["metadatas"]
    return Base(str(raw.id), dict(found[0]) if found and found[0] else {})
