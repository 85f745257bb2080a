"""``contextmemory demo``: a story on one screen, all of it from the real memory."""

from __future__ import annotations

import tempfile
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shared_core.cli.output import is_terminal, panel, printable, show, table, write_line

if TYPE_CHECKING:
    from shared_core.demo import Answers, Told
    from shared_core.retrieval.search import SearchHit

#: Columns of the plain form.
WIDTH = 100


def demo(
    path: Annotated[
        Path | None, typer.Option("--path", help="Keep the memory in this folder; else it is removed.")
    ] = None,
) -> None:
    """Watch a memory at work: three talks go in, the program ends, and two questions find what counts."""
    from shared_core.demo import ask, tell

    if path is not None:
        told, answers = tell(path.expanduser()), ask(path.expanduser())
    else:
        with tempfile.TemporaryDirectory(prefix="contextmemory-demo-") as folder:
            told, answers = tell(folder), ask(folder)
    _tell_story(told)
    _show_context(answers)
    _show_scores(answers)
    if path is not None:
        from shared_core.demo import NAMESPACE

        write_line(f"Kept in {path}: contextmemory search 'Jonas' --path {path} --namespace {NAMESPACE}")


def _tell_story(told: Told) -> None:
    from shared_core.demo import STORY

    write_line("Maya talks with an assistant, three times in five months. Among other things she says:")
    for session in STORY:
        write_line(f"  {session.begin.date()}  {printable(session.highlight)}")
    write_line(
        f"{told.messages} messages go in; {told.facts} facts and {told.moments} moments are learnt, offline."
    )
    write_line("The memory is closed: the program has forgotten all of it. Then it is opened again.")


def _show_context(answers: Answers) -> None:
    from shared_core.demo import ASKED_AT, DINNER, TOKEN_BUDGET

    write_line("")
    write_line(f'{ASKED_AT.date()}, "{DINNER}" For the prompt:')
    spent = f"{answers.dinner.tokens} of {TOKEN_BUDGET} tokens"
    if is_terminal():
        show(panel(answers.dinner.text, title="context", subtitle=spent))
        return
    for line in answers.dinner.text.split("\n"):
        folded = textwrap.wrap(printable(line), WIDTH, initial_indent="  ", subsequent_indent="    ")
        for part in folded or [""]:
            write_line(part)
    write_line(f"({spent})")


def _show_scores(answers: Answers) -> None:
    from shared_core.demo import BUG

    factors = tuple(answers.bug.results[0].components) if answers.bug else ()
    columns = ("Score", *(name.capitalize() for name in factors), "Memory")
    rows = [_score_row(hit, factors) for hit in answers.bug]
    write_line("")
    write_line(f'"{BUG}" finds these, each with every factor of its score:')
    if is_terminal():
        show(table(columns, rows))
    else:
        _write_aligned([columns, *rows])
    write_line(
        "Relevance decides; each other factor moves a score by a few percent, so age alone hides nothing."
    )


def _score_row(hit: SearchHit, factors: tuple[str, ...]) -> tuple[str, ...]:
    shares = (f"{hit.components[name]:.2f}" if name in hit.components else "" for name in factors)
    return (f"{hit.score:.2f}", *shares, hit.memory)


def _write_aligned(rows: list[tuple[str, ...]]) -> None:
    """Rows in columns, the last one cut at the width of the page."""
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    for row in rows:
        front = "  ".join(f"{cell:<{width}}" for cell, width in zip(row[:-1], widths, strict=False))
        room = WIDTH - len(front) - 4
        text = printable(row[-1])
        write_line(f"  {front}  {text if len(text) <= room else text[: room - 1] + '…'}")
