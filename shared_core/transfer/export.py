"""Export and import of a namespace as JSON lines: a header, then one record a line, nothing left out."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import Field, ValidationError

from shared_core.embedding.base import Embedder, FloatArray
from shared_core.ids import message_record_id
from shared_core.index.resident import ResidentIndex
from shared_core.messages import quoted, storable
from shared_core.namespaces import Namespace
from shared_core.records import Memory, Record
from shared_core.redaction import Redactor, redact_memory
from shared_core.stores.base import SCHEMA_VERSION, Change
from shared_core.stores.head import Head
from shared_core.transfer.chat_logs import parsed_json

if TYPE_CHECKING:
    from shared_core.memory import ContextMemory

#: Version of the layout of the lines. A newer one is refused, not guessed.
FORMAT = 1
#: Records of one write of an import, at most; each write is whole or absent.
BATCH_RECORDS = 1_000

#: Told how many records are done, of how many.
Progress = Callable[[int, int], None]

# JSON allows these raw inside a string, but some readers take them for the end of a line, and terminals obey
# or hide them.
_UNSEEN = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


class ImportReport(Record):
    """What an import did.

    Attributes:
        added: Records that were new.
        overwritten: Records that stood there with other content.
        unchanged: Records that stood there already, just so.
        embedded: Records whose vector was computed anew.
    """

    added: int = 0
    overwritten: int = 0
    unchanged: int = 0
    embedded: int = 0


class Header(Record):
    """The first line of an export."""

    contextmemory: int = Field(ge=1)
    schema_version: int = Field(ge=1)
    namespace: str
    embedder: str
    dimension: int = Field(ge=1)
    records: int = Field(ge=0)


@dataclass(frozen=True)
class Export:
    """A whole export, checked.

    Attributes:
        header: Its first line.
        memories: Its records, in order.
        vectors: For each, ``float32 [dimension]``, or None where the line has none.
    """

    header: Header
    memories: tuple[Memory, ...]
    vectors: tuple[FloatArray | None, ...]


# -- export ----------------------------------------------------------------------------------------------


def export_records(
    memory: ContextMemory, *, vectors: bool = True, progress: Progress | None = None
) -> Iterator[str]:
    """A namespace as JSON lines without line breaks: a header, then its records, oldest first.

    What is exported is the state at the moment of the first line; the same state always gives the same lines.

    Args:
        memory: Whose namespace.
        vectors: Whether each record brings its vector, as base64 of little-endian float32.
        progress: Told after each record.
    """
    with memory.opened().use() as index:
        rows = _oldest_first(index)
        lines = [index.stored(index.id_at(row)).model_dump_json(exclude_defaults=True) for row in rows]
    header = Header(
        contextmemory=FORMAT,
        schema_version=SCHEMA_VERSION,
        namespace=memory.namespace,
        embedder=memory.embedder.name,
        dimension=index.dimension,
        records=len(lines),
    )
    yield _visible(header.model_dump_json())
    for done, (row, line) in enumerate(zip(rows, lines, strict=True), start=1):
        # A row keeps its vector for good, even where its record has been changed or deleted meanwhile.
        body = f'{line[:-1]},"vector":"{_packed(index.vectors.take([row])[0])}"}}' if vectors else line
        yield _visible(body)
        if progress:
            progress(done, len(lines))


def _oldest_first(index: ResidentIndex) -> list[int]:
    columns = index.columns
    rows = map(int, index.rows_of())
    return sorted(
        rows, key=lambda row: (float(columns["created"][row]), int(columns["turn"][row]), index.id_at(row))
    )


def _packed(vector: FloatArray) -> str:
    return base64.b64encode(vector.astype("<f4").tobytes()).decode("ascii")


def _visible(line: str) -> str:
    return _UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", line)


# -- import ----------------------------------------------------------------------------------------------


def import_records(
    memory: ContextMemory,
    lines: Iterable[str] | Export,
    *,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> ImportReport:
    """Bring exported records into a namespace, under their own ids, beside what is there.

    All lines are checked before anything is written. The records are then written in batches of up to
    ``BATCH_RECORDS``, each whole or absent: after an interruption the same import goes on where it was.
    Records that stand there already are left alone, so importing again changes nothing. Vectors are computed
    anew where the export has none, or was made with another embedder, or where a memory that redacts has
    changed the text.

    Args:
        memory: Where to; if it redacts, records are compared and written as it may store them.
        lines: What ``export_records`` gave, or ``parse_export`` of it.
        overwrite: Whether a record that stands there with other content is replaced.
        progress: Told after each batch.

    Raises:
        ValueError: If a line is not valid, lines are missing, a redactor gives no text, or, without
            ``overwrite``, a record stands there with other content; nothing is written then.
        StoreError: If a batch could not be written.
    """
    export = _redacted(memory.redactor, lines if isinstance(lines, Export) else parse_export(lines))
    namespace, total = memory.opened(), len(export.memories)
    with namespace.use() as index:
        wanted = _to_write(index, export.memories, overwrite=overwrite)
        new = sum(export.memories[place].id not in index for place in wanted)
    size = min(BATCH_RECORDS, namespace.batch_limit)
    embedded, unchanged = 0, total - len(wanted)
    for start in range(0, len(wanted), size):
        places = wanted[start : start + size]
        embedded += _write(namespace, memory.embedder, export, places, overwrite=overwrite)
        if progress:
            progress(unchanged + start + len(places), total)
    return ImportReport(added=new, overwritten=len(wanted) - new, unchanged=unchanged, embedded=embedded)


def _redacted(redact: Redactor | None, export: Export) -> Export:
    """An export as it may be stored: without the vectors of texts that said more."""
    if redact is None:
        return export
    memories = tuple(redact_memory(redact, memory) for memory in export.memories)
    vectors = tuple(
        vector if after.text == before.text else None
        for before, after, vector in zip(export.memories, memories, export.vectors, strict=True)
    )
    return Export(export.header, memories, vectors)


def _to_write(index: ResidentIndex, memories: Sequence[Memory], *, overwrite: bool) -> list[int]:
    """The places of the records that are not there yet, or, to ``overwrite``, with other content."""
    places, conflicts = [], []
    for place, memory in enumerate(memories):
        known = memory.id in index
        if known and index.stored(memory.id) == memory:
            continue
        places.append(place)
        if known:
            conflicts.append(memory.id)
    if conflicts and not overwrite:
        raise ValueError(
            f"{len(conflicts)} of the records stand here with other content, the first is "
            f"{quoted(conflicts[0])}: import into another namespace, or overwrite them"
        )
    return places


def _write(
    namespace: Namespace, embedder: Embedder, export: Export, places: Sequence[int], *, overwrite: bool
) -> int:
    """Write some records of an export; returns how many had to be embedded."""
    memories = [export.memories[place] for place in places]
    same = (export.header.embedder, export.header.dimension) == (embedder.name, embedder.dimension)
    given = [export.vectors[place] if same else None for place in places]
    missing = [place for place, vector in enumerate(given) if vector is None]
    if missing:
        computed = embedder.embed([memories[place].text for place in missing])
        for place, vector in zip(missing, computed, strict=True):
            given[place] = vector
    table = np.stack([vector for vector in given if vector is not None])
    with namespace.alone() as index:
        _to_write(index, memories, overwrite=overwrite)  # others may have written meanwhile
        namespace.apply(Change(puts=tuple(memories), vectors=table))
    return len(missing)


def parse_export(lines: Iterable[str], *, name: str = "the export") -> Export:
    """Check all lines of an export.

    Args:
        lines: A header, then one record a line; blank lines do not count.
        name: What to call it in a message.

    Raises:
        ValueError: For the first line that is not valid, which is quoted, or if lines are missing.
    """
    numbered = ((number, line) for number, line in enumerate(lines, start=1) if line.strip("\ufeff \t\r\n"))
    first = next(numbered, None)
    if first is None:
        raise ValueError(f"{name} is empty: expected the output of an export")
    header = _header(first[1].lstrip("\ufeff"), f"{name}, line {first[0]}")
    memories: dict[str, Memory] = {}
    vectors: list[FloatArray | None] = []
    for number, line in numbered:
        where = f"{name}, line {number}"
        memory, vector = _record(line, header, where, name=name, number=number)
        if memory.id in memories:
            raise ValueError(f"{where}: id {quoted(memory.id)} stands there a second time")
        memories[memory.id] = memory
        vectors.append(vector)
    if len(memories) != header.records:
        cut = "it was cut short" if len(memories) < header.records else "something was added to it"
        raise ValueError(
            f"{name} announces {header.records} records and holds {len(memories)}: {cut}, export it again"
        )
    return Export(header, tuple(memories.values()), tuple(vectors))


def _header(line: str, where: str) -> Header:
    expected = "expected the header of an export, {'contextmemory': 1, 'namespace': …}"
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, Mapping) or "contextmemory" not in fields:
        raise ValueError(f"{where}: {expected}, not {quoted(line)}")
    for key, known in (("contextmemory", FORMAT), ("schema_version", SCHEMA_VERSION)):
        if isinstance(fields.get(key), int) and fields[key] > known:
            raise ValueError(
                f"{where}: {key} {fields[key]} is newer than {known}, which this release knows: "
                "upgrade contextmemory-chroma"
            )
    try:
        return Header.model_validate(fields, strict=True)
    except ValidationError as error:
        raise ValueError(f"{where}: {_first_problem(error)}; {expected}, not {quoted(line)}") from error


def _record(
    line: str, header: Header, where: str, *, name: str, number: int
) -> tuple[Memory, FloatArray | None]:
    """The record of a line, and its vector if it has one."""
    fields = parsed_json(line, name, line=number)
    if not isinstance(fields, dict):
        raise ValueError(f"{where}: {quoted(line)} is not a record")
    if "contextmemory" in fields:
        raise ValueError(f"{where}: a second header; import one export at a time")
    packed = fields.pop("vector", None)
    try:
        storable(json.dumps(fields, ensure_ascii=False, allow_nan=False), "the record")
        memory = Memory.model_validate(fields)
        _check(memory)
    except ValidationError as error:
        raise ValueError(f"{where}: {_first_problem(error)}, in {quoted(line)}") from error
    except ValueError as error:
        raise ValueError(f"{where}: {error}, in {quoted(line)}") from error
    return memory, None if packed is None else _unpacked(packed, header.dimension, where)


def _check(memory: Memory) -> None:
    """Refuse what no memory of ours looks like."""
    if not memory.text.strip() or not memory.id.strip() or memory.id == Head.ID:
        raise ValueError("it needs a text and an id of its own")
    if memory.sources and len(memory.sources) != len(memory.source_ids):
        raise ValueError("sources and source_ids name the same messages, so there must be as many")
    if memory.kind == "message":
        if None in (memory.conversation_id, memory.message_id, memory.role, memory.turn):
            raise ValueError("a message needs conversation_id, message_id, role and turn")
        if memory.id != message_record_id(memory.conversation_id or "", memory.message_id or ""):
            raise ValueError(f"id {quoted(memory.id)} is not that of message_id {quoted(memory.message_id)}")


def _unpacked(packed: Any, dimension: int, where: str) -> FloatArray:
    try:
        raw = base64.b64decode(packed, validate=True)
    except (binascii.Error, TypeError, ValueError) as error:
        raise ValueError(f"{where}: vector {quoted(packed)} is not base64 ({error})") from error
    if len(raw) != 4 * dimension:
        raise ValueError(f"{where}: vector of {len(raw)} bytes, not of {dimension} float32")
    vector: FloatArray = np.frombuffer(raw, dtype="<f4").astype(np.float32)
    if not np.isfinite(vector).all():
        raise ValueError(f"{where}: vector with a number that is not finite")
    return vector


def _first_problem(error: ValidationError) -> str:
    problem = error.errors(include_url=False)[0]
    return f"{'.'.join(map(str, problem['loc'])) or 'record'}: {problem['msg']}"
