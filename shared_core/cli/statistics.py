"""``contextmemory stats``: how much a memory holds, of what, from when, and where."""

from __future__ import annotations

import os
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shared_core.cli.options import (
    DEFAULT_NAMESPACE,
    DEFAULT_PATH,
    JsonOption,
    NamespaceOption,
    PathOption,
    reading,
)
from shared_core.cli.output import is_terminal, json_text, show, table, write_line, write_rows

if TYPE_CHECKING:
    from shared_core.memory import ContextMemory


def stats(
    as_json: JsonOption = False,
    path: PathOption = DEFAULT_PATH,
    namespace: NamespaceOption = DEFAULT_NAMESPACE,
) -> None:
    """Show how much a memory holds, of what, and from when."""
    with reading(path, namespace) as memory:
        figures = statistics(memory, path.expanduser())
    if as_json:
        write_line(json_text(figures))
        return
    rows = [(name.replace("_", " "), _cell(value)) for name, value in _flat(figures)]
    if is_terminal():
        show(table(("Figure", "Value"), rows, title=f"Namespace {namespace} in {path}"))
    else:
        write_rows(rows)


def statistics(memory: ContextMemory, folder: Path) -> dict[str, Any]:
    """The figures of a namespace, and of the folder that it shares with the others, ready for JSON."""
    from shared_core.records import KINDS

    with memory.opened().use() as index:
        columns, rows = index.columns, index.rows_of()
        said = columns["created"][index.rows_of("message")]
        return {
            "namespace": memory.namespace,
            "records": len(rows),
            "by_kind": {kind: len(index.rows_of(kind)) for kind in KINDS},
            "conversations": len(index.conversations),
            "first_message": _moment(float(said.min())) if len(said) else None,
            "last_message": _moment(float(said.max())) if len(said) else None,
            "archived": int((~columns["active"][rows]).sum()),
            "superseded": int((~columns["current"][rows]).sum()),
            "pending": len(index.pending),
            "embedder": memory.embedder.name,
            "dimension": index.dimension,
            "folder": str(folder),
            "folder_bytes": _size(folder),
            "folder_namespaces": len(memory.namespaces()),
        }


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat()


def _size(folder: Path) -> int:
    """Bytes of all files below ``folder``; a file that goes away meanwhile does not count."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.lstat(os.path.join(parent, name)).st_size
            except FileNotFoundError:
                continue
    return total


def _flat(figures: dict[str, Any]) -> list[tuple[str, Any]]:
    """The figures with those by kind in their place, kinds that are absent left out."""
    flat: list[tuple[str, Any]] = []
    for name, value in figures.items():
        flat += (
            [(f"records: {kind}", count) for kind, count in value.items() if count]
            if isinstance(value, dict)
            else [(name, value)]
        )
    return flat


def _cell(value: Any) -> str:
    return "" if value is None else f"{value:,}" if isinstance(value, int) and is_terminal() else str(value)
