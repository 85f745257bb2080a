"""How results are shown: tables on a terminal, plain lines elsewhere, control characters nowhere."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import contextmanager
from threading import Timer
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console, RenderableType

#: Told how much is done, of how much.
Advance: TypeAlias = Callable[[int, int], None]

# What a terminal obeys or hides: controls, marks of direction, invisible tags, halves of surrogate pairs.
_HIDDEN = (
    "\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e0fff"
)
_UNPRINTABLE = re.compile(f"[\x00-\x1f{_HIDDEN}]")
_UNPRINTABLE_IN_JSON = re.compile(f"[{_HIDDEN}]")


def printable(text: str) -> str:
    """``text`` on one line, with what a terminal would obey or hide shown as an escape."""
    return _UNPRINTABLE.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def json_text(value: Any) -> str:
    """``value`` as indented JSON that is safe to print."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return _UNPRINTABLE_IN_JSON.sub(lambda match: json.dumps(match[0])[1:-1], text)


def counted(number: int, noun: str) -> str:
    """A number and what it counts: ``1 fact``, ``2 facts``."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def is_terminal() -> bool:
    """Whether a person is looking at standard output."""
    return sys.stdout.isatty()


def write_line(line: str) -> None:
    """A line on standard output, as it is."""
    sys.stdout.write(f"{line}\n")


def write_rows(rows: Iterable[Sequence[str]]) -> None:
    """Rows as plain lines, their cells made printable and parted by tabs."""
    for row in rows:
        write_line("\t".join(map(printable, row)))


def note(message: str) -> None:
    """A line on standard error, for the person and not for the pipe."""
    sys.stderr.write(f"{printable(message)}\n")


def console() -> Console:
    """Where tables and panels go."""
    from rich.console import Console

    return Console(highlight=False)


def show(*renderables: RenderableType) -> None:
    """Tables and panels on the terminal."""
    screen = console()
    for renderable in renderables:
        screen.print(renderable)


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], *, title: str = "") -> RenderableType:
    """A table whose cells are text and nothing else; the last column takes the space that is left."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    made = Table(title=Text(printable(title)) if title else None, title_justify="left", box=box.SIMPLE_HEAD)
    for column in columns[:-1]:
        numeric = column in ("Score", "Records", "Times")
        made.add_column(column, no_wrap=True, justify="right" if numeric else "left")
    made.add_column(columns[-1], ratio=1, overflow="fold")
    for row in rows:
        made.add_row(*(Text(printable(cell)) for cell in row))
    return made


def panel(text: str, *, title: str, subtitle: str = "") -> RenderableType:
    """A frame around lines of text."""
    from rich.panel import Panel
    from rich.text import Text

    body = "\n".join(map(printable, text.split("\n")))
    return Panel(
        Text(body), title=Text(printable(title)), subtitle=Text(printable(subtitle)), title_align="left"
    )


@contextmanager
def progress_bar(label: str) -> Iterator[Advance]:
    """A bar on standard error while something takes its time; nothing where that is not a terminal."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress
    from rich.text import Text

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(Text(printable(label)).plain, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def waiting(label: str, *, after_seconds: float = 1.0) -> Iterator[None]:
    """A spinner on standard error once something takes longer; nothing where that is not a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.text import Text

    spinner = Console(stderr=True).status(Text(printable(label)))
    timer = Timer(after_seconds, spinner.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        spinner.stop()
