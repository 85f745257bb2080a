from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from shared_core import ContextMemory
from shared_core.cli.app import COMMANDS, app
from shared_core.cli.output import waiting
from tests.openai_server import serving
from tests.shared_core.test_cli import Shell, in_a_process


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    """The command line on a store with a conversation, a fact, and three things that hang together."""
    made = Shell(tmp_path, capsys)
    monkeypatch.setenv("CONTEXTMEMORY_PATH", str(made.store))
    with ContextMemory(made.store) as memory:
        memory.add([{"role": "user", "content": "I planted a fig tree.", "id": "m1"}], "garden")
        memory.add([{"role": "user", "content": "My boat leaks.", "id": "m2"}], "boat")
        memory.remember("User is allergic to peanuts.", category="health")
        memory.relate("Alex", "works on", "WebMCP")
        memory.relate("WebMCP", "uses", "React")
    return made


MEM0 = {
    "results": [
        {"id": "a", "memory": "Lives in Berlin", "user_id": "alice"},
        {"id": "b", "memory": "Likes tea", "user_id": "bob"},
        {"id": "c", "memory": "I moved to Rome.", "role": "user", "user_id": "alice", "run_id": "trip"},
        {"id": "d", "memory": "", "user_id": "bob"},
    ]
}


# -- help and completion ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_an_example_that_it_understands(name: str, shell: Shell) -> None:
    shown = " ".join(shell.output(name, "--help").split())
    _, example = COMMANDS[name]
    assert f"Example: {example}" in shown
    words = shlex.split(example)
    assert words[:2] == ["contextmemory", name]
    command = get_command(app).commands[name]  # type: ignore[attr-defined]
    command.make_context(name, words[2:])


def test_a_shell_completes_commands_and_options() -> None:
    for typed, expected in (("contextmemory ma", "maintain"), ("contextmemory graph --h", "--hops")):
        words = typed.split()
        answer = in_a_process(
            _CONTEXTMEMORY_COMPLETE="complete_bash", COMP_WORDS=typed, COMP_CWORD=str(len(words) - 1)
        )
        assert expected in answer.stdout.split()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_a_spinner_shows_only_on_a_terminal_and_only_where_it_takes_long() -> None:
    import pty

    program = """
import sys, time
from shared_core.cli.output import waiting
with waiting("Quick"):
    pass
with waiting("Thinking", after_seconds=0.05):
    time.sleep(0.5)
"""
    outer, inner = pty.openpty()
    subprocess.run(
        [sys.executable, "-c", program], stderr=inner, check=True, env={**os.environ, "TERM": "xterm"}
    )
    os.close(inner)
    shown = os.read(outer, 65_536).decode()
    os.close(outer)
    assert "Thinking" in shown
    assert "Quick" not in shown
    with waiting("Nobody sees this", after_seconds=0.0):
        pass


# -- one memory ------------------------------------------------------------------------------------------


def test_a_fact_is_remembered_shown_corrected_traced_and_deleted(shell: Shell) -> None:
    made = shell.output("remember", "User works at Acme.", "--category", "work").strip()
    assert shell.output("remember", "User works at Acme.", "--category", "work").strip() == made
    assert json.loads(shell.output("get", made, "--json"))["mention_count"] == 2
    assert "mention count\t2" in shell.output("get", made)
    changed = shell.output("update", made, "User works at Bolt.").strip()
    rows = [row.split("\t") for row in shell.output("history", changed).splitlines()]
    assert [row[2:] for row in rows] == [
        ["replaced", "User works at Acme."],
        ["current", "User works at Bolt."],
    ]
    assert len(json.loads(shell.output("history", changed, "--json"))) == 2
    assert shell.output("delete", changed) == ""
    assert shell.run("get", changed)[0] == 2
    assert "Bolt" not in shell.output("list")
    assert shell.output("remember", "User rows.", "-n", "new").startswith("fact-")


def test_several_are_deleted_and_those_that_are_missing_are_named(shell: Shell) -> None:
    first, second = (shell.output("remember", f"User likes {what}.").strip() for what in ("figs", "tea"))
    code, _, err = shell.run("delete", first, "none", second)
    assert (code, err) == (2, "error: there is no memory 'none' in namespace 'default'\n")
    assert "likes" not in shell.output("list")


# -- upkeep ----------------------------------------------------------------------------------------------


def test_maintaining_tells_what_moved_and_then_that_all_is_in_order(shell: Shell) -> None:
    assert "blocks" in json.loads(shell.output("maintain", "--json"))
    assert shell.run("maintain") == (0, "", "everything was in order\n")


def test_erasing_asks_and_takes_what_was_learnt_along(shell: Shell) -> None:
    code, _, err = shell.run("erase", "--everything")
    assert (code, err) == (2, "error: erasing is for good: add --yes where nobody can be asked\n")
    assert re.fullmatch(r"\d+ records erased\n", shell.output("erase", "--message-id", "m2", "--yes"))
    assert "boat" not in shell.output("list")
    assert int(shell.output("erase", "-c", "garden", "-y").split()[0]) >= 1
    assert "fig tree" not in shell.output("list")
    shell.output("erase", "--everything", "--yes")
    assert "it has none" in shell.run("list")[2]


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(("answer", "code"), [(b"n\n", 130), (b"y\n", 0)])
def test_on_a_terminal_erasing_waits_for_a_yes(shell: Shell, answer: bytes, code: int) -> None:
    import pty

    outer, inner = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "shared_core.cli", "erase", "--everything"],
        stdin=inner, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as running:  # fmt: skip
        os.write(outer, answer)
        _, err = running.communicate(timeout=60)
    os.close(outer)
    os.close(inner)
    assert running.returncode == code
    assert b"for good?" in err
    assert shell.run("list")[0] == (0 if code else 2)


# -- graph and page --------------------------------------------------------------------------------------


def test_the_graph_is_shown_whole_around_a_thing_and_between_two(shell: Shell) -> None:
    everything = [row.split("\t")[2:] for row in shell.output("graph").splitlines()]
    assert ["Alex", "works_on", "WebMCP"] in everything
    around = shell.output("graph", "react", "--hops", "1")
    assert "WebMCP\tuses\tReact" in around
    assert "Alex" not in around
    way = [row.split("\t")[2:] for row in shell.output("graph", "alex", "--to", "react").splitlines()]
    assert way == [["Alex", "works_on", "WebMCP"], ["WebMCP", "uses", "React"]]
    data = json.loads(shell.output("graph", "alex", "--to", "react", "--hops", "1", "--json"))
    assert data == {"found": False, "relations": []}
    assert {one["name"] for one in json.loads(shell.output("graph", "--json"))["entities"]} >= {
        "Alex",
        "React",
    }
    code, out, err = shell.run("graph", "--limit", "1")
    assert (code, out.count("\n")) == (0, 1)
    assert err.endswith("more: see --limit\n")


def test_a_page_is_written_and_replaced_only_if_told_so(shell: Shell) -> None:
    page = shell.folder / "page.html"
    code, out, err = shell.run("view", page)
    assert (code, out, err) == (0, "", f"open {str(page)!r} in a browser\n")
    assert "fig tree" in page.read_text(encoding="utf-8")
    assert shell.run("view", page)[0] == 2
    assert shell.run("view", page, "--overwrite", "--query", "boat", "--budget", "100")[0] == 0


# -- embedders -------------------------------------------------------------------------------------------


def identities(shell: Shell) -> set[tuple[str, str]]:
    """Id and text of every record."""
    lines = map(json.loads, shell.output("export", "--no-vectors").splitlines()[1:])
    return {(record["id"], record["text"]) for record in lines}


def test_a_namespace_moves_to_another_embedder_and_back(
    shell: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("openai")
    before = identities(shell)
    with serving() as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        told = json.loads(shell.output("reindex", "openai", "--dimension", "64", "--json"))
        assert (told["records"], told["embedded"]) == (len(before), len(before))
        assert told["embedder"] == "openai/text-embedding-3-small-64"
        assert json.loads(shell.output("stats", "--json"))["embedder"] == told["embedder"]
        assert "fig tree" in shell.output("search", "Who planted a fig tree?")
        assert shell.output("remember", "User likes figs.")
        assert "nothing to do" in shell.output("reindex", "openai", "--dimension", "64")
    shell.output("reindex", "bundled")
    after = identities(shell)
    assert after > before
    assert len(after) == len(before) + 1
    assert "allergic" in shell.output("search", "Which allergies?")


# -- secrets ---------------------------------------------------------------------------------------------

KEY = "sk-0123456789abcdef0123"


def stored(shell: Shell, namespace: str) -> str:
    """Everything that a namespace holds, as its export tells it."""
    return shell.output("export", "-", "--no-vectors", "-n", namespace)


def test_what_stores_texts_takes_secrets_out_of_them_if_told_so(shell: Shell) -> None:
    talk = shell.file("talk.json", [{"role": "user", "content": f"My key is {KEY}."}])
    mem0 = shell.file("leaks.json", {"results": [{"id": "a", "memory": f"Uses {KEY}", "user_id": "x"}]})
    fact = shell.output("remember", f"User has the key {KEY}", "-n", "plain").strip()
    shell.output("ingest", talk, "-n", "plain")
    assert stored(shell, "plain").count(KEY) >= 2
    leaking = shell.file("leaking.jsonl", stored(shell, "plain").encode())

    shell.output("ingest", talk, "--redact", "-n", "careful")
    shell.output("remember", f"User wrote down {KEY}", "--redact", "-n", "careful")
    shell.output("import", leaking, "--redact", "-n", "imported")
    shell.output("import-mem0", mem0, "--redact", "--user-id", "x", "-n", "from mem0")
    for namespace in ("careful", "imported", "from mem0"):
        assert "[key]" in stored(shell, namespace)
        assert KEY not in stored(shell, namespace)
    assert shell.output("update", fact, f"User has {KEY}", "--redact", "-n", "plain").strip()
    assert "User has [key]" in stored(shell, "plain")


def test_only_commands_that_store_texts_redact() -> None:
    commands = get_command(app).commands  # type: ignore[attr-defined]
    redacting = {
        name for name, one in commands.items() if any("--redact" in option.opts for option in one.params)
    }
    assert redacting == {"ingest", "remember", "update", "import", "import-mem0", "mcp"}


# -- from mem0 -------------------------------------------------------------------------------------------


def test_mem0s_memories_go_to_the_namespaces_of_their_users_and_only_once(shell: Shell) -> None:
    export = shell.file("mem0.json", MEM0)
    told = shell.output("import-mem0", export)
    assert told == ("2 facts and 1 message imported into 'alice', 'bob', 0 known already, 1 without a text\n")
    assert "Lives in Berlin" in shell.output("list", "-n", "alice")
    assert "Likes tea" in shell.output("list", "-n", "bob")
    again = json.loads(shell.output("import-mem0", export, "--json"))
    assert (again["facts"], again["messages"], again["known"]) == (0, 0, 3)


def test_one_user_of_mem0_comes_through_a_pipe_into_a_namespace_of_choice(shell: Shell) -> None:
    command = [
        sys.executable,
        "-m",
        "shared_core.cli",
        "import-mem0",
        "-",
        "--user-id",
        "bob",
        "-n",
        "robert",
    ]
    piped = subprocess.run(command, input=json.dumps(MEM0), capture_output=True, text=True, check=False)
    assert piped.stdout.startswith("1 fact and 0 messages imported into 'robert'"), piped.stderr
    assert "Likes tea" in shell.output("list", "-n", "robert")
    assert shell.run("list", "-n", "bob")[0] == 2


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b'{"memory": "x"}', "no list of memories"),
        (b'[{"id": 1, "memory": "x", "created_at": "\\u001b[31m"}]', "memory 1: timestamp '\\x1b[31m'"),
        (b'[{"id": 1, ', "it seems to be cut short"),
        (b"\xff", "not UTF-8"),
    ],
)
def test_what_is_not_mem0s_is_told_and_makes_no_store(content: bytes, told: str, shell: Shell) -> None:
    code, out, err = shell.run("import-mem0", shell.file("x.json", content), "--path", shell.folder / "new")
    assert (code, out) == (2, "")
    assert told in err
    code, _, err = shell.run("import-mem0", shell.folder, "--path", shell.folder / "new")
    assert (code, "there is no Chroma store in" in err) == (2, True)
    assert not (shell.folder / "new").exists()
    assert not (shell.folder / "chroma.sqlite3").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["get"], "Missing argument"),
        (["get", "none"], "no memory 'none'"),
        (["history", "none"], "no memory 'none'"),
        (["update", "none", "x is y."], "none"),
        (["update", "none", " "], "is empty"),
        (["delete"], "Missing argument"),
        (["delete", "none"], "no memory 'none'"),
        (["delete", "x", "-n", "bob"], "has no namespace 'bob'"),
        (["remember", " "], "is empty"),
        (["remember", "x", "--category", "colour"], "colour"),
        (["remember", "x", "--importance", "7"], "importance"),
        (["erase"], "name what to erase"),
        (["erase", "--everything", "-c", "x"], "name one of them"),
        (["maintain", "--path", "{folder}/none"], "there is no memory in"),
        (["graph", "nobody"], "no entity 'nobody'"),
        (["graph", "--to", "React"], "--to needs the name"),
        (["graph", "Alex", "--hops", "0"], "hops 0"),
        (["graph", "--limit", "0"], "limit 0"),
        (["view", "{folder}/none/x.html"], "there is no folder"),
        (["view", "-"], "goes into a file"),
        (["view", "{folder}/x.html", "--query", " "], "is empty"),
        (["view", "{folder}/x.html", "--budget", "0"], "token_budget 0"),
        (["reindex"], "Missing argument"),
        (["reindex", "magic"], "embedder 'magic' is none of bundled, openai"),
        (["reindex", "bundled", "--model", "x"], "are for the embedder openai"),
        (["reindex", "openai", "--base-url", "http://127.0.0.1:9/v1", "--model", "x"], "dimension"),
        (["reindex", "bundled", "-n", "bob"], "has no namespace 'bob'"),
        (["reindex", "bundled", "--path", "{folder}/none"], "there is no memory in"),
        (["import-mem0"], "Missing argument"),
        (["import-mem0", "{folder}/none.json"], "No such file"),
        (["mcp", "{folder}/none", "--transport", "carrier-pigeon"], "carrier-pigeon"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_2(shell: Shell, arguments: list[str], told: str) -> None:
    code, out, err = shell.run(*(argument.format(folder=shell.folder) for argument in arguments))
    assert (code, out) == (2, "")
    assert re.fullmatch(r"error: [^\n]+\n", err)
    assert told in err
    assert sorted(path.name for path in shell.folder.iterdir()) == ["store"]
