from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shared_core import ContextMemory, __version__
from shared_core.cli import main
from shared_core.cli.output import json_text, printable
from shared_core.cli.recall import sources_cell
from tests.shared_core.building import said

LOCOMO = [
    {
        "sample_id": "garden",
        "conversation": {
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {
                    "speaker": "Ada",
                    "dia_id": "D1:1",
                    "text": "I planted a fig tree behind the shed yesterday.",
                },
                {"speaker": "Bo", "dia_id": "D1:2", "text": "Lovely! I joined a choir on Tuesday."},
                {"speaker": "Ada", "dia_id": "D1:3", "text": "What do you sing there?"},
            ],
        },
    },
    {
        "sample_id": "boat",
        "conversation": {
            "session_1_date_time": "9:00 am on 1 June, 2023",
            "session_1": [{"speaker": "Cy", "dia_id": "D1:1", "text": "My boat leaks since the storm."}],
        },
    },
]
#: Text that would colour a terminal, ring its bell, move its cursor and turn the direction of writing.
HOSTILE = "my \x1b[31mred\x1b]0;title\x07 kite\r\n\x9b2J \u202eflies\tnow"


class Shell:
    """The command line in this process, on one store."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.store = folder / "store"
        self.folder = folder
        self._capsys = capsys

    def run(self, *arguments: str | Path) -> tuple[int, str, str]:
        """The exit code, standard output and standard error of a command."""
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        out, err = self._capsys.readouterr()
        return int(ended.value.code or 0), out, err

    def output(self, *arguments: str | Path) -> str:
        """What a command that succeeds prints."""
        code, out, err = self.run(*arguments)
        assert (code, err) == (0, "")
        return out

    def file(self, name: str, content: Any) -> Path:
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return path


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    made = Shell(tmp_path, capsys)
    monkeypatch.setenv("CONTEXTMEMORY_PATH", str(made.store))
    return made


@pytest.fixture
def filled(shell: Shell) -> Shell:
    shell.output("ingest", shell.file("locomo.json", LOCOMO))
    return shell


def in_a_process(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "shared_core.cli", *map(str, arguments)],
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=60,
        check=False,
    )


# -- the command as a whole ------------------------------------------------------------------------------


def test_the_version_is_that_of_the_package(shell: Shell) -> None:
    assert shell.output("--version") == f"contextmemory {__version__}\n"


def test_help_names_every_command_and_needs_no_heavy_import(shell: Shell) -> None:
    for arguments in ([], ["--help"], ["-h"]):
        shown = shell.output(*arguments)
        for command in ("ingest", "search", "context", "list", "stats", "export", "import", "demo"):
            assert command in shown
    loaded = "import sys, shared_core.cli; print({'chromadb', 'numpy', 'tokenizers'} & set(sys.modules))"
    answer = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert answer.stdout == "set()\n"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["frob"], "No such command 'frob'"),
        (["search"], "Missing argument"),
        (["search", "x", "--frob"], "No such option: --frob"),
        (["search", "x", "--limit", "many"], "--limit"),
        (["search", " "], "query ' ' is empty"),
        (["search", "x", "--limit", "0"], "limit 0 is not a whole number of at least 1"),
        (["search", "x", "--kind", "rumour"], "kind 'rumour' is none of message, fact"),
        (["search", "x", "--conversation-id", " "], "conversation_id ' '"),
        (["search", "x", "-n", "bob"], "has no namespace 'bob'; it has 'default'"),
        (["search", "x", "--path", "{folder}/none"], "there is no memory in '{folder}/none'"),
        (["search", "x", "--path", "{folder}"], "there is no memory in '{folder}'"),
        (["context", "x", "--budget", "0"], "token_budget 0"),
        (["context", ""], "query '' is empty"),
        (["list", "--offset", "-1"], "offset -1"),
        (["list", "--category", "colour"], "category 'colour' is none of"),
        (["list", "--path", "{folder}/none"], "there is no memory in"),
        (["stats", "--path", "{folder}/none"], "there is no memory in"),
        (["export", "--path", "{folder}/none"], "there is no memory in"),
        (["export", "{folder}/locomo.json"], "exists: name another file"),
        (["export", "{folder}/none/x.jsonl"], "there is no folder '{folder}/none'"),
        (["import", "{folder}/none"], "No such file or directory: '{folder}/none'"),
        (["import", "{folder}"], "Is a directory: '{folder}'"),
        (["import", "{folder}/locomo.json"], "locomo.json, line 1: expected the header of an export"),
        (["import", "{folder}/latin.json"], "latin.json, line 1, byte 9: not UTF-8"),
        (["ingest"], "Missing argument"),
        (["ingest", "{folder}/none"], "'{folder}/none' does not exist"),
        (["ingest", "{folder}"], "is not a regular file"),
        (["ingest", "{folder}/empty.json"], "empty.json is empty"),
        (["ingest", "{folder}/latin.json"], "latin.json, line 1, byte 9: not UTF-8"),
        (["ingest", "{folder}/cut.json"], "cut.json, line 1, column 11: not JSON"),
        (
            ["ingest", "{folder}/locomo.json", "--format", "csv"],
            "format 'csv' is none of auto, openai, locomo",
        ),
        (["ingest", "{folder}/locomo.json", "--conversation", "2"], "no conversation '2': it has 2"),
        (["ingest", "{folder}/locomo.json", "-n", ""], "namespace '' is not a non-empty string"),
        (["ingest", "{folder}/clash.json"], "id '1' stands for"),
        (["ingest", "{folder}/locomo.json", "--path", "{folder}/empty.json"], "empty.json"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(filled: Shell, arguments: list[str], told: str) -> None:
    filled.file("empty.json", b"")
    filled.file("latin.json", '[{"a": "é"}]'.encode("latin-1"))
    filled.file("cut.json", b'[{"role": "us')
    filled.file("clash.json", [said("one", "1"), said("two", "1")])
    before = sorted(path for path in filled.folder.iterdir())
    code, out, err = filled.run(*(argument.format(folder=filled.folder) for argument in arguments))
    assert (code, out) == (2, "")
    assert re.fullmatch(r"error: [^\n]+\n", err)
    assert told.format(folder=filled.folder) in err
    assert sorted(path for path in filled.folder.iterdir()) == before


def test_a_file_that_cannot_be_used_makes_no_store(shell: Shell) -> None:
    bad = shell.file("bad.json", [said("fine", "1"), {"role": "boss", "content": "x"}])
    assert shell.run("ingest", bad)[0] == 2
    assert shell.run("import", bad)[0] == 2
    assert not shell.store.exists()


def test_a_folder_in_use_by_another_process_is_told(shell: Shell) -> None:
    with ContextMemory(shell.store):
        answer = in_a_process("stats")
    assert answer.returncode == 2
    assert answer.stderr.startswith("error: the folder")
    assert f"in use by process {os.getpid()}" in answer.stderr
    assert answer.stderr.count("\n") == 1


# -- ingest ----------------------------------------------------------------------------------------------


def test_ingesting_counts_and_doing_it_again_adds_nothing(shell: Shell) -> None:
    file = shell.file("locomo.json", LOCOMO)
    assert shell.output("ingest", file).startswith("4 messages of 2 conversations: ")
    before = shell.output("export")
    assert "4 messages of 2 conversations, 4 known already: 0 new facts, 0 new moments" in shell.output(
        "ingest", file
    )
    assert shell.output("export") == before


@pytest.mark.parametrize("chosen", ["1", "boat"])
def test_one_conversation_can_be_chosen(shell: Shell, chosen: str) -> None:
    file = shell.file("locomo.json", LOCOMO)
    assert shell.output("ingest", file, "--conversation", chosen).startswith("1 message of 1 conversation:")
    assert "boat" in shell.output("list", "--kind", "message")


def test_a_long_file_is_added_in_batches_without_a_gap(shell: Shell) -> None:
    file = shell.file("notes.json", [said(f"note {number} on the weather") for number in range(250)])
    shell.output("ingest", file)
    listed = json.loads(shell.output("list", "--kind", "message", "--limit", "999", "--json"))
    assert [found.get("turn") for found in listed] == list(range(249, -1, -1))
    assert {found["conversation_id"] for found in listed} == {"notes"}


def test_namespaces_are_kept_apart(filled: Shell) -> None:
    filled.output("ingest", filled.file("talk.json", [said("I keep bees.")]), "-n", "bob")
    assert "bees" in filled.output("list", "-n", "bob")
    assert "bees" not in filled.output("list")


# -- reading ---------------------------------------------------------------------------------------------


def test_a_search_shows_the_turn_that_answers(filled: Shell) -> None:
    first = filled.output("search", "When did Ada plant the fig tree?").splitlines()[0].split("\t")
    assert len(first) == 5
    assert 0 < float(first[0]) <= 1
    assert first[3] == "D1:1"
    assert "fig tree" in first[4]
    found = json.loads(filled.output("search", "Who joined a choir?", "--json", "--limit", "2"))
    assert found["results"][0]["source_ids"][0] == "D1:2"
    assert found["results"][0]["components"]
    assert len(found["results"]) <= 2


def test_a_search_keeps_to_the_conversation_and_kind_asked_for(filled: Shell) -> None:
    rows = filled.output("search", "tree boat choir", "-c", "boat", "--kind", "message").splitlines()
    assert [row.split("\t")[1:4] for row in rows] == [["message", "2023-06-01", "D1:1"]]


def test_nothing_found_is_no_failure(filled: Shell) -> None:
    code, out, err = filled.run("search", "x", "-c", "no such conversation")
    assert (code, out, err) == (0, "", "nothing fits\n")
    assert filled.run("list", "--contains", "zebra") == (0, "", "nothing here\n")
    assert filled.run("context", "fig tree", "--budget", "1") == (0, "", "no memory fits into 1 tokens\n")


def test_a_context_is_printed_as_it_goes_into_a_prompt(filled: Shell) -> None:
    shown = filled.output("context", "fig tree", "--budget", "200")
    told = json.loads(filled.output("context", "fig tree", "--budget", "200", "--json"))
    assert shown == f"{told['text']}\n"
    assert "fig tree" in shown
    assert 0 < told["tokens"] <= 200
    compact = json.loads(filled.output("context", "fig tree", "--budget", "200", "--compact", "--json"))
    assert "##" not in compact["text"]
    assert "choir" in filled.output("context", "fig tree", "-c", "garden", "--model", "gpt-4o")


def test_a_listing_is_paged_and_filtered(filled: Shell) -> None:
    rows = filled.output("list", "--kind", "message").splitlines()
    assert len(rows) == 4
    assert (
        filled.output("list", "--kind", "message", "--limit", "2", "--offset", "1").splitlines() == rows[1:3]
    )
    leaking = filled.output("list", "--contains", "LEAKS", "--kind", "message")
    assert leaking.rstrip("\n").split("\t")[-1] == "Cy: My boat leaks since the storm."


def test_statistics_count_the_namespace_and_the_folder(filled: Shell) -> None:
    figures = json.loads(filled.output("stats", "--json"))
    assert figures["by_kind"]["message"] == 4
    assert figures["records"] == sum(figures["by_kind"].values())
    assert figures["conversations"] == 2
    assert figures["first_message"] == "2023-05-08T13:56:00+00:00"
    assert figures["last_message"] == "2023-06-01T09:00:00+00:00"
    assert figures["embedder"].startswith("wordllama/")
    assert figures["folder_bytes"] > 10_000
    assert "records: message\t4\n" in filled.output("stats")


def test_memory_text_never_reaches_the_terminal_raw(shell: Shell) -> None:
    shell.output("ingest", shell.file("kite.json", [said(HOSTILE, "k1", name="A\x1b[1m")]))
    for arguments in (
        ["search", "kite flies"],
        ["search", "kite flies", "--json"],
        ["list"],
        ["list", "--json"],
        ["context", "kite flies"],
        ["context", "kite flies", "--json"],
        ["export"],
    ):
        shown = shell.output(*arguments)
        assert "kite" in shown
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", shown)
    rows = shell.output("list", "--kind", "message").splitlines()
    assert len(rows) == 1
    assert "\\x1b[31mred" in rows[0]
    found = json.loads(shell.output("list", "--kind", "message", "--json"))
    assert found[0]["text"] == HOSTILE


def test_printable_escapes_what_hides_and_keeps_what_shows() -> None:
    assert printable("a\x00\n\u202e\ud800\U000e0041") == "a\\x00\\n\\u202e\\ud800\\U000e0041"
    assert printable("été 日本 👩‍🚀 [bold]") == "été 日本 👩‍🚀 [bold]"
    assert json.loads(json_text({"a": HOSTILE})) == {"a": HOSTILE}


def test_a_long_list_of_sources_is_shortened() -> None:
    assert [sources_cell([str(n) for n in range(count)]) for count in (0, 2, 4)] == ["", "0, 1", "0, 1 +2"]


# -- export and import -----------------------------------------------------------------------------------


def test_an_export_imported_elsewhere_exports_the_same_records(filled: Shell) -> None:
    code, out, err = filled.run("export", filled.folder / "all.jsonl")
    assert (code, out) == (0, "")
    assert re.search(r"^\d+ records in '.*all\.jsonl'\n$", err)
    other = ["--path", str(filled.folder / "other"), "-n", "copy"]
    count = err.split()[0]
    file = filled.folder / "all.jsonl"
    assert filled.output("import", file, *other) == f"{count} records added, 0 overwritten, 0 unchanged\n"
    assert filled.output("import", file, *other) == f"0 records added, 0 overwritten, {count} unchanged\n"
    here, there = (filled.output("export", "--no-vectors", *where).splitlines()[1:] for where in ([], other))
    assert here == there
    assert file.read_text(encoding="utf-8") == filled.output("export", "-")


def test_an_export_replaces_a_file_only_if_told_so_and_only_when_complete(filled: Shell) -> None:
    file = filled.folder / "all.jsonl"
    file.write_text("precious")
    assert filled.run("export", file)[0] == 2
    assert file.read_text() == "precious"
    assert filled.run("export", file, "--overwrite")[0] == 0
    assert file.read_text().startswith('{"contextmemory":1')
    assert list(filled.folder.glob("*.part")) == []


def test_a_cut_export_is_refused(filled: Shell) -> None:
    lines = filled.output("export").splitlines()
    cut = filled.file("cut.jsonl", "\n".join(lines[:-1]).encode())
    code, _, err = filled.run("import", cut, "-n", "copy")
    assert code == 2
    assert "it was cut short" in err
    assert filled.run("list", "-n", "copy")[0] == 2


def test_exports_go_through_pipes(filled: Shell) -> None:
    exported = in_a_process("export", PYTHONIOENCODING="ascii")
    assert exported.returncode == 0
    answer = subprocess.run(
        [sys.executable, "-m", "shared_core.cli", "import", "-", "-n", "piped"],
        input=exported.stdout, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "0 overwritten" in answer.stdout
    assert "fig tree" in filled.output("list", "-n", "piped")


# -- terminals and pipes ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_error(shell: Shell) -> None:
    shell.output("ingest", shell.file("notes.json", [said(f"note {number} " * 40) for number in range(300)]))
    for arguments in (["export"], ["list", "--limit", "1000"]):
        with subprocess.Popen(
            [sys.executable, "-m", "shared_core.cli", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as running:
            assert running.stdout is not None
            assert running.stderr is not None
            running.stdout.read(100)
            running.stdout.close()
            assert running.stderr.read() == b""


def test_text_that_the_encoding_lacks_is_escaped(shell: Shell) -> None:
    shell.output("ingest", shell.file("kite.json", [said("a kite named Zoë 🪁", "k1")]))
    answer = in_a_process("list", "--kind", "message", PYTHONIOENCODING="ascii")
    assert answer.returncode == 0
    assert "Zo\\xeb \\U0001fa81" in answer.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["search", "kite flies"], ["Score", "Source", "k1", "\\x1b[31mred"]),
        (["context", "kite flies", "--budget", "100"], ["╭", "of 100 tokens"]),
    ],
)
def test_a_terminal_gets_tables_and_still_no_raw_text(
    shell: Shell, arguments: list[str], expected: list[str], on_a_terminal: Callable[..., str]
) -> None:
    shell.output("ingest", shell.file("kite.json", [said(HOSTILE, "k1")]))
    shown = on_a_terminal(*arguments)
    for part in expected:
        assert part in shown
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown).replace("\r\n", "\n")
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", plain)
    assert "\x1b[31m" not in shown


@pytest.fixture
def on_a_terminal() -> Callable[..., str]:
    """Runs a command in a process whose standard output is a terminal of 100 columns; what it shows."""

    def run(*arguments: str) -> str:
        import pty

        outer, inner = pty.openpty()
        environment = {**os.environ, "COLUMNS": "100", "TERM": "xterm"}
        with subprocess.Popen(
            [sys.executable, "-m", "shared_core.cli", *arguments], stdout=inner, env=environment
        ) as running:
            os.close(inner)
            shown = b""
            while chunk := _read(outer):
                shown += chunk
        os.close(outer)
        assert running.returncode == 0
        return shown.decode()

    return run


def _read(terminal: int) -> bytes:
    """The next output; nothing once the other side is closed."""
    try:
        return os.read(terminal, 65_536)
    except OSError:
        return b""
