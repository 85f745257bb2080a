"""The commands, and how they fail: one line on standard error, and no traceback for wrong input."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, cast

import typer

from shared_core import __version__
from shared_core.cli.demo import demo
from shared_core.cli.graph import graph
from shared_core.cli.ingest import ingest
from shared_core.cli.mem0_import import import_mem0
from shared_core.cli.memories import delete, get, history, remember, update
from shared_core.cli.output import printable
from shared_core.cli.recall import context, list_memories, search
from shared_core.cli.reindexing import reindex
from shared_core.cli.repair import repair
from shared_core.cli.serving import mcp
from shared_core.cli.statistics import stats
from shared_core.cli.transfer import export, import_file
from shared_core.cli.upkeep import erase, maintain
from shared_core.cli.viewing import view
from shared_core.errors import ContextMemoryError

#: Exit codes: for wrong input, for Ctrl-C, for a reader that went away (as shells report them).
WRONG_INPUT, INTERRUPTED, BROKEN_PIPE = 2, 130, 141

#: Every mistake in a command line; typer's own class, or click's, by version.
USAGE_ERROR = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[1])

app = typer.Typer(
    name="contextmemory",
    help="Long-term memory for LLM applications: offline, in a folder, within a token budget.",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
#: Each command with an example for its help text.
COMMANDS: dict[str, tuple[Callable[..., None], str]] = {
    "ingest": (ingest, "contextmemory ingest chats.jsonl -n alice"),
    "search": (search, "contextmemory search 'Where does she work?' -n alice --limit 3"),
    "context": (context, "contextmemory context 'What shall we cook?' -n alice --budget 500"),
    "list": (list_memories, "contextmemory list -n alice --kind fact --category health"),
    "get": (get, "contextmemory get fact-9ff96bcaabe5fb1098c1 -n alice"),
    "history": (history, "contextmemory history fact-9ff96bcaabe5fb1098c1 -n alice"),
    "graph": (graph, "contextmemory graph Alice --to React --hops 4 -n alice"),
    "view": (view, "contextmemory view alice.html -n alice"),
    "stats": (stats, "contextmemory stats -n alice --json"),
    "remember": (
        remember,
        "contextmemory remember 'User is allergic to peanuts.' --category health -n alice",
    ),
    "update": (update, "contextmemory update fact-9ff96bcaabe5fb1098c1 'User likes figs.' -n alice"),
    "delete": (delete, "contextmemory delete fact-9ff96bcaabe5fb1098c1 -n alice"),
    "erase": (erase, "contextmemory erase --conversation-id holiday --yes -n alice"),
    "maintain": (maintain, "contextmemory maintain -n alice"),
    "reindex": (reindex, "contextmemory reindex openai --model text-embedding-3-small -n alice"),
    "export": (export, "contextmemory export alice.jsonl -n alice"),
    "import": (import_file, "contextmemory import alice.jsonl -n alice"),
    "import-mem0": (import_mem0, "contextmemory import-mem0 mem0.json --user-id alice -n alice"),
    "repair": (repair, "contextmemory repair --path ./memory"),
    "mcp": (mcp, "contextmemory mcp ./memory -n alice --transport streamable-http --port 8765"),
    "demo": (demo, "contextmemory demo"),
}
for name, (command, example) in COMMANDS.items():
    app.command(name, epilog=f"Example: {example}")(command)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"contextmemory {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Options of the command as a whole."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line, and exit with its code.

    Args:
        arguments: What stands after the command's name; those of the process if left out.
    """
    sys.exit(_run(list(sys.argv[1:] if arguments is None else arguments)))


def _run(arguments: list[str]) -> int:
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # text that the terminal's encoding lacks is shown escaped
            stream.reconfigure(errors="backslashreplace")
    try:
        code = app(args=arguments or ["--help"], prog_name="contextmemory", standalone_mode=False)
        sys.stdout.flush()
        if code == INTERRUPTED:  # as newer versions of typer tell of Ctrl-C
            raise KeyboardInterrupt
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # what is left in the buffer
        return BROKEN_PIPE
    except (KeyboardInterrupt, typer.Abort):
        return _fail(
            "interrupted; what was written stays, and the same command goes on from there", INTERRUPTED
        )
    except USAGE_ERROR as error:
        return _fail(error.format_message())
    except (ValueError, ContextMemoryError) as error:
        return _fail(str(error))
    except OSError as error:
        return _fail(f"{error.strerror}: {error.filename!r}" if error.filename else str(error))
    return code if isinstance(code, int) else 0


def _fail(message: str, code: int = WRONG_INPUT) -> int:
    print(f"error: {printable(' '.join(message.split()))}", file=sys.stderr)
    return code
