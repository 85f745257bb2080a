"""``contextmemory export`` and ``import``: a namespace as JSON lines."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Annotated, BinaryIO, cast

import typer

from shared_core.cli.options import (
    DEFAULT_NAMESPACE,
    DEFAULT_PATH,
    NamespaceOption,
    PathOption,
    RedactOption,
    reading,
    writing,
)
from shared_core.cli.output import note, progress_bar, write_line

#: Stands for standard input or output.
STREAM = Path("-")


def export(
    file: Annotated[Path, typer.Argument(help="Where to; - for standard output.")] = STREAM,
    vectors: Annotated[bool, typer.Option(help="Whether the vectors go along.")] = True,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a file that exists.")] = False,
    path: PathOption = DEFAULT_PATH,
    namespace: NamespaceOption = DEFAULT_NAMESPACE,
) -> None:
    """Write a namespace as JSON lines: a header, then one record a line."""
    from shared_core.transfer.export import export_records

    if file != STREAM and file.exists() and not overwrite:
        raise ValueError(f"{str(file)!r} exists: name another file, or --overwrite it")
    with reading(path, namespace) as memory, _sink(file) as sink, progress_bar("Exporting") as advance:
        count = 0
        for line in export_records(memory, vectors=vectors, progress=advance):
            sink.write(f"{line}\n".encode())
            count += 1
    if file != STREAM:
        note(f"{count - 1} records in {str(file)!r}")


@contextmanager
def _sink(file: Path) -> Iterator[BinaryIO]:
    """Where to write: standard output, or a file that takes its name only once it is complete."""
    if file == STREAM:
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    if not file.parent.is_dir():
        raise ValueError(f"there is no folder {str(file.parent)!r} for {file.name!r}")
    unfinished = file.with_name(f"{file.name}.{os.getpid()}.part")
    try:
        with unfinished.open("xb") as stream:
            yield stream
        unfinished.replace(file)
    finally:
        with suppress(FileNotFoundError):
            unfinished.unlink()


def import_file(
    file: Annotated[Path, typer.Argument(help="The output of export; - for standard input.")],
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace records that stand there with other content.")
    ] = False,
    redact: RedactOption = False,
    path: PathOption = DEFAULT_PATH,
    namespace: NamespaceOption = DEFAULT_NAMESPACE,
) -> None:
    """Bring exported records into a namespace; doing it again changes nothing."""
    from shared_core.transfer.chat_logs import decoded_lines
    from shared_core.transfer.export import import_records, parse_export

    name = "standard input" if file == STREAM else file.name
    with nullcontext(sys.stdin.buffer) if file == STREAM else file.open("rb") as source:
        parsed = parse_export(decoded_lines(cast(BinaryIO, source), name), name=name)
    with writing(path, namespace, redact=redact) as memory, progress_bar("Importing") as advance:
        report = import_records(memory, parsed, overwrite=overwrite, progress=advance)
    embedded = f" ({report.embedded} embedded anew)" if report.embedded else ""
    write_line(
        f"{report.added} records added{embedded}, {report.overwritten} overwritten, "
        f"{report.unchanged} unchanged"
    )
