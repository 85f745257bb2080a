"""What the commands have in common: where the memory is, and how it is opened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from shared_core.cli.embedders import embedder_of
from shared_core.cli.output import waiting
from shared_core.errors import StoreError

if TYPE_CHECKING:
    from shared_core.memory import ContextMemory
    from shared_core.stores.chroma import ChromaStore

DEFAULT_PATH = Path("memory")
DEFAULT_NAMESPACE = "default"
#: The file that Chroma keeps in each folder of its own.
STORE_FILE = "chroma.sqlite3"

PathOption = Annotated[
    Path, typer.Option("--path", envvar="CONTEXTMEMORY_PATH", help="Folder of the memory.")
]
NamespaceOption = Annotated[str, typer.Option("--namespace", "-n", help="Whose memory: a user, an agent.")]
ConversationOption = Annotated[
    str | None, typer.Option("--conversation-id", "-c", help="Only what belongs to this conversation.")
]
KindOption = Annotated[
    str | None, typer.Option("--kind", help="message, fact, bubble, triplet, summary or block.")
]
RedactOption = Annotated[
    bool,
    typer.Option(
        "--redact",
        help="Take keys, card and phone numbers and e-mail addresses out of texts before they are stored.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@contextmanager
def writing(path: Path, namespace: str, *, redact: bool = False) -> Iterator[ContextMemory]:
    """The memory of a namespace, made if it is missing.

    Args:
        path: Its folder.
        namespace: Whose.
        redact: Whether secrets are taken out of each text before it is stored.
    """
    with _opened(path.expanduser(), namespace, redact=redact) as memory:
        yield memory


@contextmanager
def reading(path: Path, namespace: str, *, redact: bool = False) -> Iterator[ContextMemory]:
    """The memory of a namespace that exists: reading makes neither a folder nor a namespace.

    Args:
        path: Its folder.
        namespace: Whose.
        redact: Whether secrets are taken out of a text that is changed, before it is stored.

    Raises:
        StoreError: If there is none; the message names the folder, and what it does hold.
    """
    with _opened(existing_folder(path), namespace, must_exist=True, redact=redact) as memory:
        yield memory


def existing_folder(path: Path) -> Path:
    """The folder of a memory.

    Raises:
        StoreError: If there is no memory in it.
    """
    folder = path.expanduser()
    if not (folder / STORE_FILE).is_file():
        raise StoreError(
            f"there is no memory in {str(folder)!r}: name its folder with --path, or fill it with "
            "contextmemory ingest"
        )
    return folder


@contextmanager
def _opened(
    folder: Path, namespace: str, *, must_exist: bool = False, redact: bool = False
) -> Iterator[ContextMemory]:
    """A memory with the embedder that its namespace was written with, its records read already."""
    with ExitStack() as opened:
        with waiting("Opening"):
            from shared_core.memory import ContextMemory
            from shared_core.redaction import redact_secrets

            store = opened.enter_context(_store(folder))
            if must_exist:
                _require(store, namespace, folder)
            embedder = embedder_of(store, namespace)
            redactor = redact_secrets if redact else None
            memory = opened.enter_context(
                ContextMemory(folder, namespace, embedder=embedder, redact=redactor)
            )
            with memory.opened().use():  # reads all records now, so that the wait is shown
                pass
        yield memory


@contextmanager
def _store(folder: Path) -> Iterator[ChromaStore]:
    """The store of a folder, shared with the memories of this process on it."""
    from shared_core.namespaces import acquire_pool, release_pool
    from shared_core.settings import Settings

    settings = Settings()
    pool = acquire_pool(folder, resident_limit=settings.resident_limit, idle_seconds=settings.idle_seconds)
    try:
        yield cast("ChromaStore", pool.store)
    finally:
        release_pool(pool)


def _require(store: ChromaStore, namespace: str, folder: Path) -> None:
    known = store.namespaces()
    if namespace not in known:
        held = ", ".join(map(repr, known[:10])) + (", …" if len(known) > 10 else "")
        raise StoreError(f"{str(folder)!r} has no namespace {namespace!r}; it has {held or 'none'}")
