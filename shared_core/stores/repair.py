"""Index files of Chroma that a kill or a hand has broken: found before Chroma opens them, and set aside.

Chroma keeps the vectors of a collection in files beside its database, writes them anew every few hundred
records, and not atomically. A process killed meanwhile leaves files that make Chroma fail, crash or wait for
ever once anything of the collection is read. Nothing is lost by that: every record stands in the database,
its vector included. So broken files are moved into a folder of their own, never deleted, and the store
writes the vectors once more from the database.
"""

from __future__ import annotations

import os
import pickletools
import sqlite3
import struct
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import numpy as np

from shared_core.errors import StoreError

#: The file that holds every record, and the folder in ours for what was set aside.
DATABASE, QUARANTINE = "chroma.sqlite3", "contextmemory.repair"
#: Names that tell of vectors that have yet to be written once more; one of a collection each.
UNFINISHED = ".unfinished"
#: Longest list of ids, in bytes, that is read through; of a longer one, both ends must fit.
IDS_SIZE = 1 << 20

#: What Chroma's header of an index holds: version, offset, capacity, count, bytes per element, where its
#: label and vector begin, highest level, entry point, links per level, links of level 0.
_HEADER = struct.Struct("<iQQQQQQiIQQ")
_HEADER_SIZE = 100
_SEGMENTS = """
    SELECT collections.name, segments.id, max_seq_id.seq_id FROM segments
    JOIN collections ON collections.id = segments.collection
    LEFT JOIN max_seq_id ON max_seq_id.segment_id = segments.id
    WHERE segments.scope = 'VECTOR'
"""


@dataclass(frozen=True)
class _Segment:
    """Where the vectors of one collection are, and whether Chroma believes to have written any."""

    collection: str
    folder: Path
    is_written: bool

    def fault(self) -> str | None:
        """What is wrong with its files; None if Chroma can open them."""
        if not self.is_written and not (self.folder / "index_metadata.pickle").exists():
            return None  # as good as new: Chroma fills it from its log
        if not self.folder.is_dir():
            return "its index files are missing"
        try:
            return _ids_fault(self.folder) or _graph_fault(self.folder)
        except (OSError, ValueError, struct.error) as error:
            return str(error)


def require_database(folder: Path) -> None:
    """Refuse a folder whose database is gone: Chroma would begin an empty one in its place.

    Raises:
        StoreError: If index files are there without a database.
    """
    database = folder / DATABASE
    if database.exists() and database.stat().st_size > 0:
        return
    if any(_is_index(entry) for entry in folder.iterdir()):
        raise StoreError(
            f"the Chroma folder {str(folder)!r} has index files, but its {DATABASE} is empty or gone: "
            "restore it from a copy, or import an export of it into a new one (contextmemory import)"
        )


def set_broken_aside(folder: Path, *, prefix: str, every: bool = False) -> dict[str, str]:
    """Move index files that Chroma could not open out of its way. Nobody may have the folder open.

    Args:
        folder: Of Chroma.
        prefix: Of the collections to look at; others are not ours to mend.
        every: Whether to set aside those that look sound, too.

    Returns:
        The collections whose vectors have to be written once more, each with the reason. Call ``finished``
        when that is done; until then the next call names them again.
    """
    quarantine = folder / QUARANTINE
    found: dict[str, str] = {}
    for segment in _segments(folder, prefix):
        fault = "asked for" if every and segment.folder.exists() else segment.fault()
        if fault is not None:
            quarantine.mkdir(exist_ok=True)
            _mark(quarantine, segment.collection).write_text(f"{fault}\n", encoding="utf-8")
            if segment.folder.exists():
                segment.folder.rename(_free_name(quarantine, segment.folder.name))
            found[segment.collection] = fault
        elif _mark(quarantine, segment.collection).exists():
            found[segment.collection] = "its repair was interrupted"
    return found


def finished(folder: Path, collection: str) -> None:
    """The vectors of a collection are complete again."""
    _mark(folder / QUARANTINE, collection).unlink(missing_ok=True)


def _segments(folder: Path, prefix: str) -> Iterator[_Segment]:
    """The vector segments of the collections whose name begins with ``prefix``.

    A database that cannot be read has none: Chroma says what is wrong with it.
    """
    database = folder / DATABASE
    if not database.exists() or database.stat().st_size == 0:
        return
    try:
        with closing(sqlite3.connect(f"{database.as_uri()}?mode=rw", uri=True, timeout=5.0)) as connection:
            rows = connection.execute(_SEGMENTS).fetchall()
    except sqlite3.Error:
        return
    for name, segment_id, sequence in rows:
        if str(name).startswith(prefix) and _is_uuid(str(segment_id)):
            yield _Segment(str(name), folder / str(segment_id), sequence is not None)


def _ids_fault(folder: Path) -> str | None:
    """What is wrong with the list of ids, a pickle that is read here without running it."""
    file = folder / "index_metadata.pickle"
    size = file.stat().st_size
    if size > IDS_SIZE:
        with file.open("rb") as stream:
            first = stream.read(1)
            stream.seek(-1, os.SEEK_END)
            is_whole = first + stream.read(1) == b"\x80."
    else:
        is_whole = size > 0 and sum(1 for _ in pickletools.genops(file.read_bytes())) > 0
    return None if is_whole else f"{file.name} is cut off"


def _graph_fault(folder: Path) -> str | None:
    """What is wrong with the graph: sizes that do not fit, or links that lead out of it."""
    header = (folder / "header.bin").read_bytes()
    if len(header) != _HEADER_SIZE:
        return f"header.bin has {len(header)} bytes"
    version, _, capacity, count, size, label, vector, top, entry, links, links_0 = _HEADER.unpack_from(header)
    list_size = 4 + 4 * links_0
    if (
        version != 1
        or count > capacity
        or label != size - 8
        or vector != list_size
        or not 0 < links_0 < 1_024
    ):
        return "header.bin does not make sense"
    if count and (entry >= count or top < 0):
        return "its entry point does not exist"
    data = folder / "data_level0.bin"
    if data.stat().st_size < count * size:
        return f"{data.name} is cut off"
    if not (folder / "length.bin").exists():
        return "length.bin is missing"
    if count and not _links_stay_inside(data, count, size, links_0):
        return f"{data.name} links to elements that do not exist"
    if not _levels_fit((folder / "link_lists.bin").read_bytes(), count, 4 + 4 * links, top):
        return "link_lists.bin does not fit the rest"
    return None


def _links_stay_inside(data: Path, count: int, size: int, links: int) -> bool:
    """Whether each element of level 0 has a possible number of links, all to elements that exist."""
    elements = np.memmap(data, dtype=np.uint8, mode="r", shape=(count, size))
    lists = np.ascontiguousarray(elements[:, : 4 + 4 * links]).view("<u4")
    lengths = lists[:, 0] & 0xFFFF  # the bytes above say whether it was deleted
    used = np.arange(links) < lengths[:, None]
    return bool((lengths <= links).all() and (lists[:, 1:][used] < count).all())


def _levels_fit(lists: bytes, count: int, list_size: int, top: int) -> bool:
    """Whether there is, for each element, a length and that many bytes of links above level 0."""
    place = 0
    for _ in range(count):
        if place + 4 > len(lists):
            return False
        length = int.from_bytes(lists[place : place + 4], "little")
        if length % list_size or length > list_size * top:
            return False
        place += 4 + length
    return place <= len(lists)


def _is_index(entry: Path) -> bool:
    return entry.is_dir() and _is_uuid(entry.name)


def _is_uuid(name: str) -> bool:
    try:
        return str(UUID(name)) == name
    except ValueError:
        return False


def _mark(quarantine: Path, collection: str) -> Path:
    return quarantine / f"{collection}{UNFINISHED}"


def _free_name(quarantine: Path, name: str) -> Path:
    taken = {entry.name for entry in quarantine.iterdir()}
    return quarantine / next(free for n in range(len(taken) + 1) if (free := f"{name}.{n}") not in taken)
