"""Where a memory lies, so that an object which holds one can be written down and read again."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any
from uuid import uuid4
from weakref import WeakValueDictionary, finalize

from pydantic import BaseModel, ConfigDict

from shared_core import ContextMemory
from shared_core.embedding.wordllama import WordLlamaEmbedder
from shared_core.errors import StoreError
from shared_core.extraction.rules import RuleExtractor
from shared_core.messages import quoted
from shared_core.namespaces import _FOLDER_POOLS
from shared_core.settings import Settings

#: The memories of this process that were given to an adapter, for as long as somebody holds them.
_LIVE: WeakValueDictionary[str, ContextMemory] = WeakValueDictionary()


class MemoryAddress(BaseModel):
    """What is needed to open a memory again.

    Attributes:
        path: Its folder; None if it was opened with a Chroma client, which cannot be written down.
        namespace: Whose memory it is.
        settings: Its settings; None if they hold a scoring policy of the caller's own.
        parts: Names of an embedder or extractor that are not the default ones, and that texts are redacted.
        token: Names the memory in the process that wrote this.
    """

    model_config = ConfigDict(frozen=True)

    path: str | None
    namespace: str
    settings: dict[str, Any] | None = None
    parts: tuple[str, ...] = ()
    token: str

    @classmethod
    def of(cls, memory: ContextMemory, *, namespace: str | None = None) -> MemoryAddress:
        """The address of ``memory``, or of its sibling for ``namespace``.

        The memory itself is kept in mind for as long as somebody holds it.
        """
        settings = memory.settings
        token = uuid4().hex
        _LIVE[token] = memory
        folder = folder_of(memory)
        return cls(
            path=str(folder) if folder else None,
            namespace=memory.namespace if namespace is None else namespace,
            settings=settings.model_dump() if isinstance(settings.scoring, str) else None,
            parts=_special_parts(memory),
            token=token,
        )

    def live(self) -> ContextMemory | None:
        """The memory that it was made of, if it is of this process, and still held and open."""
        memory = _LIVE.get(self.token)
        if memory is not None:
            try:
                memory.opened()
            except StoreError:  # closed; a folder can be opened again
                return None
        return memory

    def open(self) -> ContextMemory:
        """The memory, opened again; the caller closes it.

        Raises:
            StoreError: If it was opened with a client or with parts that cannot be written down, or if it
                cannot be opened.
        """
        live = self.live()
        if live is not None:
            return live.for_namespace(self.namespace)
        if self.path is None or self.parts or self.settings is None:
            missing = list(self.parts)
            missing += [] if self.path else ["Chroma client"]
            missing += [] if self.settings is not None else ["scoring policy"]
            raise StoreError(
                f"the memory of namespace {quoted(self.namespace)} cannot be opened again by itself, for its "
                f"{', '.join(missing)} cannot be written down: open it, and call attach(memory)"
            )
        return ContextMemory(self.path, self.namespace, settings=Settings(**self.settings))


class Lease:
    """Closes a memory when nobody holds the lease any more."""

    def __init__(self, memory: ContextMemory) -> None:
        closing = finalize(self, _close, memory)
        closing.atexit = False  # then the operating system lets go of the folder


def _close(memory: ContextMemory) -> None:
    """Close in a thread: a collection of garbage may come amid the opening of a store, which holds locks.

    Interpreter exit waits for the thread. Where the interpreter is past that, nothing is started: a thread
    that outlives it is ended in the middle of native code, which aborts the process.
    """
    if threading.main_thread().is_alive():
        threading.Thread(target=memory.close, name="contextmemory-close").start()


def folder_of(memory: ContextMemory) -> Path | None:
    """The folder of an embedded memory; None if it was opened with a client."""
    pool = memory._open_pool()
    return next((folder for folder, shared in _FOLDER_POOLS.items() if shared is pool), None)


def _special_parts(memory: ContextMemory) -> tuple[str, ...]:
    default = WordLlamaEmbedder().name
    embedder = memory.embedder.name
    extractor = memory._extractor.name
    parts = [] if embedder == default else [f"embedder {embedder}"]
    if extractor != RuleExtractor().name:
        parts.append(f"extractor {extractor}")
    if memory.redactor is not None:  # opened again without it, the memory would store what it must not
        parts.append("redactor")
    return tuple(parts)
