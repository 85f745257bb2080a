"""What mem0 has stored, as memories of ours: from its export, or from its Chroma collection."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, runtime_checkable

from shared_core.errors import ExtractionError, StoreError
from shared_core.ids import fact_id
from shared_core.messages import json_object, quoted, storable
from shared_core.records import ROLES, Memory, Record
from shared_core.redaction import redact_text, redact_values
from shared_core.stores.base import Change
from shared_core.times import parse_timestamp, utc_now
from shared_core.transfer.chat_logs import decoded_lines, parsed_json

if TYPE_CHECKING:
    from shared_core.memory import ContextMemory

__all__ = ["Mem0Export", "Mem0Report", "import_mem0", "read_mem0"]

#: The collection that mem0 makes where its configuration names none.
DEFAULT_COLLECTION = "mem0"
#: The conversation of messages that belong to no run.
DEFAULT_CONVERSATION = "mem0"
#: What stands beside a payload's own metadata and is told by a field of ours, or is derived from the text.
_TOLD = frozenset(
    "id memory data text hash metadata created_at updated_at text_lemmatized user_id run_id expiration_date "
    "score".split()
)
#: The file that Chroma keeps in each folder of its own.
STORE_FILE = "chroma.sqlite3"
#: Facts, or messages, of one write, at most.
BATCH_RECORDS = 500


@runtime_checkable
class Mem0Collection(Protocol):
    """A Chroma collection: the ``vector_store.collection`` of a mem0 memory."""

    def get(self, *, include: Any) -> Any:
        """Its records; ``{"ids": […], "metadatas": […]}``."""
        ...


Source: TypeAlias = str | Path | Mapping[str, Any] | Iterable[Mapping[str, Any]] | Mem0Collection
#: Told how many records are done, of how many.
Progress: TypeAlias = Callable[[int, int], None]


class Mem0Report(Record):
    """What an import did.

    Attributes:
        facts: Statements that are new here.
        messages: Messages that are new here, of memories that mem0 stored without inference.
        known: Records that were here already.
        skipped: Records without a text.
        namespaces: Where they went.
    """

    facts: int = 0
    messages: int = 0
    known: int = 0
    skipped: int = 0
    namespaces: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Stored:
    """One record of mem0's, checked."""

    id: str
    text: str
    user_id: str | None
    run_id: str | None
    role: str | None
    created_at: datetime
    updated_at: datetime
    expires_at: datetime | None
    metadata: dict[str, Any]


@dataclass(frozen=True)
class Mem0Export:
    """What mem0 has stored, checked: what ``import_mem0`` takes without a chance to refuse it.

    Attributes:
        records: In the order of the source.
    """

    records: tuple[_Stored, ...]

    def __len__(self) -> int:
        return len(self.records)


def read_mem0(
    source: Source, *, collection: str = DEFAULT_COLLECTION, now: datetime | None = None
) -> Mem0Export:
    """Read and check all that a source holds, before anything is written.

    Args:
        source: As for ``import_mem0``.
        collection: The name of the collection in a folder.
        now: The time of records that have none; the present if left out.

    Raises:
        ValueError: If the source or one of its records is not mem0's.
        OSError: If the file cannot be read.
        StoreError: If the folder is not a Chroma store, or has no such collection.
    """
    moment = now or utc_now()
    return Mem0Export(
        tuple(
            _checked(record, place, moment)
            for place, record in enumerate(_records_of(source, collection), start=1)
        )
    )


def import_mem0(
    memory: ContextMemory,
    source: Source | Mem0Export,
    *,
    user_id: str | None = None,
    collection: str = DEFAULT_COLLECTION,
    now: datetime | None = None,
    progress: Progress | None = None,
) -> Mem0Report:
    """Take over what mem0 has stored. It may be repeated: what is here already is left as it is.

    A statement that mem0 extracted becomes a fact. What it stored without inference, which has a role,
    becomes a message of the conversation that is its ``run_id``, and is learnt from. Times, expiry, actors
    and metadata are kept, mem0's id as ``mem0_id``. Its vectors are not taken over: texts are embedded anew.

    Args:
        memory: Any memory of the store; each user's records go to the namespace of their ``user_id``, those
            without one to the memory's own.
        source: What ``Memory.get_all`` returned, or its ``results``; a JSON or JSONL file of that; the
            folder of mem0's Chroma store, which nobody may have open; a Chroma collection; or what
            ``read_mem0`` has checked.
        user_id: Only the records of this user, which then go to the memory's own namespace.
        collection: The name of the collection in a folder.
        now: The time of records that have none; the present if left out.
        progress: Told after each batch.

    Raises:
        ValueError: If the source or one of its records is not mem0's; nothing is written then.
        OSError: If the file cannot be read.
        StoreError: If the folder is not a Chroma store, or has no such collection, or a batch could not be
            written.
        ExtractionError: If the extractor failed; the messages are stored, and learnt from later.
    """
    export = source if isinstance(source, Mem0Export) else read_mem0(source, collection=collection, now=now)
    kept = [record for record in export.records if user_id is None or record.user_id == user_id]
    texts = sorted((record for record in kept if record.text), key=lambda record: record.created_at)
    by_namespace: dict[str, list[_Stored]] = defaultdict(list)
    for record in texts:
        by_namespace[memory.namespace if user_id is not None else record.user_id or memory.namespace].append(
            record
        )
    report = Mem0Report(skipped=len(kept) - len(texts), namespaces=tuple(sorted(by_namespace)))
    advance = _counter(len(texts), progress)
    for namespace, stored in by_namespace.items():
        with memory.for_namespace(namespace) as own:
            facts, said = (
                [one for one in stored if (one.role is None) is stated] for stated in (True, False)
            )
            report = _plus(report, _write_facts(own, facts, advance))
            report = _plus(report, _add_messages(own, said, advance))
    return report


def _counter(total: int, progress: Progress | None) -> Callable[[int], None]:
    """Adds to what is done, and tells it."""
    done = 0

    def advance(count: int) -> None:
        nonlocal done
        done += count
        if progress and count:
            progress(done, total)

    return advance


def _records_of(source: Source, collection: str) -> Iterator[Any]:
    if isinstance(source, (str, Path)):
        path = Path(source).expanduser()
        yield from _in_folder(path, collection) if path.is_dir() else _in_file(path)
    elif isinstance(source, Mapping):
        yield from _listed(source, "the export")
    elif isinstance(source, Mem0Collection):
        yield from _in_collection(source)
    elif isinstance(source, Iterable):
        yield from source
    else:
        raise ValueError(
            f"source {quoted(source)} is neither a path, nor what mem0's get_all returned, nor a collection"
        )


def _in_file(path: Path) -> Iterator[Any]:
    where = str(path)
    with path.open("rb") as file:
        lines = decoded_lines(file, where)
        if path.suffix.casefold() != ".jsonl":
            yield from _listed(parsed_json("".join(lines), where), where)
            return
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield parsed_json(line, where, line=number)


def _listed(export: Any, where: str) -> Iterable[Any]:
    if isinstance(export, Mapping):
        export = export.get("results", export.get("memories"))
    if not isinstance(export, list):
        raise ValueError(f"{where} has no list of memories, neither as such nor under 'results'")
    return export


def _in_folder(folder: Path, name: str) -> Iterator[Any]:
    from shared_core.stores.chroma import ChromaStore

    if not (folder / STORE_FILE).is_file():  # opening would make a store of any folder
        raise StoreError(f"there is no Chroma store in {str(folder)!r}: name the folder of mem0's")
    store = ChromaStore(folder)
    try:
        found = store.find(name)
        if found is None:
            raise StoreError(f"{str(folder)!r} has no collection {name!r}: name mem0's as collection")
        with store.guarded("read"):
            records = list(_in_collection(found))
    finally:
        store.close()
    yield from records


def _in_collection(collection: Mem0Collection) -> Iterator[Any]:
    read = collection.get(include=["metadatas"])
    for record_id, payload in zip(read["ids"], read["metadatas"], strict=True):
        yield {**(payload or {}), "id": record_id}


def _checked(record: Any, place: int, now: datetime) -> _Stored:
    """A record of mem0's: an item of ``get_all``, or the payload of its vector store."""
    where = f"memory {place}"
    if not isinstance(record, Mapping):
        raise ValueError(f"{where}: {quoted(record)} is not a mapping")
    text = next((record[key] for key in ("memory", "data", "text") if record.get(key) is not None), None)
    if not isinstance(text, str):
        raise ValueError(f"{where}: {quoted(record)} has no text under 'memory' or 'data'")
    if not (isinstance(record.get("id"), (str, int)) and str(record["id"]).strip()):
        raise ValueError(f"{where}: {quoted(record)} has no id")
    role = record.get("role")
    try:
        created = parse_timestamp(record.get("created_at") or now)
        updated = parse_timestamp(record.get("updated_at") or created)
        expires = _end_of_day(record.get("expiration_date"))
    except ValueError as error:
        raise ValueError(f"{where}: {error}") from error
    beside = {key: value for key, value in record.items() if key not in _TOLD and value is not None}
    return _Stored(
        id=str(record["id"]),
        text=storable(text.strip(), where),
        user_id=_name(record, "user_id", where),
        run_id=_name(record, "run_id", where),
        role=role if role in ROLES and not record.get("attributed_to") else None,
        created_at=created,
        updated_at=max(updated, created),
        expires_at=expires,
        metadata=json_object(
            {**(record.get("metadata") or {}), **beside, "mem0_id": str(record["id"])}, where
        ),
    )


def _name(record: Mapping[str, Any], key: str, where: str) -> str | None:
    value = record.get(key)
    if value is not None and (not isinstance(value, (str, int)) or not str(value).strip()):
        raise ValueError(f"{where}: {key} {quoted(value)} is not a name")
    return None if value is None else str(value)


def _end_of_day(date: Any) -> datetime | None:
    """mem0 keeps a memory through the day that it names."""
    if not date:
        return None
    try:
        day = datetime.fromisoformat(str(date)[:10]).replace(tzinfo=timezone.utc)
    except ValueError as error:
        raise ValueError(f"expiration_date {quoted(date)} is not a date, such as '2026-01-31'") from error
    return day + timedelta(days=1)


def _write_facts(
    memory: ContextMemory, stored: Sequence[_Stored], advance: Callable[[int], None]
) -> Mem0Report:
    facts: dict[str, Memory] = {}
    for one in stored:
        fact = _fact(memory, one)
        known = facts.get(fact.id)
        facts[fact.id] = fact if known is None else known.revised(mention_count=known.mention_count + 1)
    namespace = memory.opened()
    with namespace.use() as index:
        fresh = [fact for fact in facts.values() if fact.id not in index]
    advance(len(stored) - len(fresh))
    size = min(BATCH_RECORDS, namespace.batch_limit)
    written = 0
    for start in range(0, len(fresh), size):
        batch = fresh[start : start + size]
        vectors = memory.embedder.embed([fact.text for fact in batch])
        with namespace.alone() as index:  # some may have been stated while these were embedded
            left = [place for place, fact in enumerate(batch) if fact.id not in index]
            if left:
                namespace.apply(Change(puts=tuple(batch[place] for place in left), vectors=vectors[left]))
        written += len(left)
        advance(len(batch))
    return Mem0Report(facts=written, known=len(stored) - written)


def _fact(memory: ContextMemory, stored: _Stored) -> Memory:
    text = redact_text(memory.redactor, stored.text, "text")
    return Memory(
        id=fact_id(text),
        kind="fact",
        text=text,
        category="other",
        conversation_id=stored.run_id,
        created_at=stored.created_at,
        updated_at=stored.updated_at,
        expires_at=stored.expires_at,
        metadata=redact_values(memory.redactor, stored.metadata, "metadata"),
    )


def _add_messages(
    memory: ContextMemory, stored: Sequence[_Stored], advance: Callable[[int], None]
) -> Mem0Report:
    by_conversation: dict[str, list[_Stored]] = defaultdict(list)
    for one in stored:
        by_conversation[one.run_id or DEFAULT_CONVERSATION].append(one)
    known, failure = 0, None
    for conversation, said in by_conversation.items():
        for start in range(0, len(said), BATCH_RECORDS):
            batch = [_message(one) for one in said[start : start + BATCH_RECORDS]]
            try:
                known += memory.add(batch, conversation, wait=True).usage.skipped_messages
            except ExtractionError as error:  # they are stored; the next flush tries again
                failure = error
            advance(len(batch))
    if failure:
        raise failure
    return Mem0Report(messages=len(stored) - known, known=known)


def _message(stored: _Stored) -> dict[str, Any]:
    name = stored.metadata.get("actor_id")
    return {
        "id": stored.id,
        "role": stored.role,
        "content": stored.text,
        "timestamp": stored.created_at,
        "metadata": stored.metadata,
        **({"name": name} if isinstance(name, str) and name.strip() else {}),
    }


def _plus(one: Mem0Report, other: Mem0Report) -> Mem0Report:
    counts = ("facts", "messages", "known", "skipped")
    return one.model_copy(update={name: getattr(one, name) + getattr(other, name) for name in counts})
