"""``contextmemory repair``: mend a folder whose index files are broken."""

from __future__ import annotations

from typing import Annotated

import typer

from shared_core.cli.options import DEFAULT_PATH, PathOption
from shared_core.cli.output import write_line
from shared_core.errors import StoreError


def repair(
    path: PathOption = DEFAULT_PATH,
    everything: Annotated[
        bool, typer.Option("--all", help="Write every index anew, also where nothing wrong can be seen.")
    ] = False,
) -> None:
    """Mend a folder after a crash: index files that Chroma cannot open are set aside and written anew.

    A change that was cut off while it was written is finished. No Chroma server may run on the folder
    meanwhile. Nothing is deleted.
    """
    from shared_core.stores.chroma import ChromaStore
    from shared_core.stores.repair import QUARANTINE

    folder = path.expanduser()
    if not folder.is_dir():
        raise StoreError(f"there is no memory in {str(folder)!r}: name its folder with --path")
    store = ChromaStore(folder, rebuild_all=everything)
    try:
        mended = store.mend()
        finished = store.finish_all()
        namespaces = store.namespaces()
    finally:
        store.close()
    for name in finished:
        write_line(f"namespace {name!r}: a change that was cut off is finished")
    if not mended:
        write_line(
            f"nothing is wrong with the index files of {len(namespaces)} namespaces in {str(folder)!r}"
        )
    for name, fault in mended.items():
        write_line(f"{name}: written anew ({fault}); the old files are in {str(folder / QUARANTINE)!r}")
