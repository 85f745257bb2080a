"""What the commands have in common: where the memory is, and how it is opened."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shared_core.errors import StoreError

if TYPE_CHECKING:
    from shared_core.memory import ContextMemory

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
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


@contextmanager
def writing(path: Path, namespace: str) -> Iterator[ContextMemory]:
    """The memory of a namespace, made if it is missing."""
    from shared_core.memory import ContextMemory

    with ContextMemory(path.expanduser(), namespace) as memory:
        yield memory


@contextmanager
def reading(path: Path, namespace: str) -> Iterator[ContextMemory]:
    """The memory of a namespace that exists: reading makes neither a folder nor a namespace.

    Raises:
        StoreError: If there is none; the message names the folder, and what it does hold.
    """
    folder = path.expanduser()
    if not (folder / STORE_FILE).is_file():
        raise StoreError(
            f"there is no memory in {str(folder)!r}: name its folder with --path, or fill it with "
            "contextmemory ingest"
        )
    from shared_core.namespaces import acquire_pool, release_pool
    from shared_core.settings import Settings

    settings = Settings()
    pool = acquire_pool(folder, resident_limit=settings.resident_limit, idle_seconds=settings.idle_seconds)
    try:
        known = pool.store.namespaces()
        if namespace not in known:
            held = ", ".join(map(repr, known[:10])) + (", …" if len(known) > 10 else "")
            raise StoreError(f"{str(folder)!r} has no namespace {namespace!r}; it has {held or 'none'}")
        with writing(folder, namespace) as memory:
            yield memory
    finally:
        release_pool(pool)
