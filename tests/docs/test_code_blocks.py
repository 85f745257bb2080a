"""Every block of every page runs, and prints what the page says that it prints."""

from __future__ import annotations

import contextlib
import gc
import io
import os
import re
import socket
import subprocess
import sys
import time
import types
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs import console
from tests.docs.pages import PAGES, ROOT, Block, blocks_of
from tests.docs.server import model_server

#: ``text`` after a block is what it prints; the others are shown, and hold nothing to run.
RUN, SHOWN = ("python", "console"), ("text", "json", "jsonl", "toml")
#: The port of a Chroma server as the pages write it.
CHROMA_PORT = "8000"
#: Pages that show what a framework has deprecated, or run what of it uses such things itself.
ON_OLD_CLASSES = ("langchain.md", "from-langchain.md", "llamaindex.md", "from-llamaindex.md")
WITH_CODE = [page for page in PAGES if any(block.language in RUN for block in blocks_of(page))]


@pytest.fixture
def page_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty folder to work in, an empty home, and a model on loopback where the pages expect one."""
    (tmp_path / "home").mkdir()
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-test")
    with model_server() as server:
        for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE"):
            monkeypatch.setenv(name, server.url)
        yield tmp_path / "work"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_block_says_what_it_is(page: Path) -> None:
    assert {block.language for block in blocks_of(page)} <= {*RUN, *SHOWN}


@pytest.mark.parametrize("page", WITH_CODE, ids=lambda page: page.name)
def test_every_block_runs(page: Path, page_folder: Path) -> None:
    blocks = blocks_of(page)
    needs_chroma = any(_talks_to_chroma(block) for block in blocks)
    with _chroma(page_folder) if needs_chroma else contextlib.nullcontext(CHROMA_PORT) as port:
        _run(page, blocks, port)


def _run(page: Path, blocks: list[Block], port: str) -> None:
    module = types.ModuleType(f"page_{page.stem.replace('-', '_').lower()}")
    sys.modules[module.__name__] = module  # where pydantic looks for the names in annotations
    printed = ""
    try:
        for block in blocks:
            where = f"{page.name}, line {block.line}"
            if block.language == "python":
                printed = _run_python(block, page, module, port)
            elif block.language == "console":
                printed = _run_console(block)
            elif block.language == "text":
                assert printed.split() == block.text.split(), f"{where}: this is printed:\n{printed}"
    finally:
        _close_memories(module)
        del sys.modules[module.__name__]
        _collect(module)


def _run_python(block: Block, page: Path, module: types.ModuleType, port: str) -> str:
    text = (
        block.text.replace(f"port={CHROMA_PORT}", f"port={port}") if _talks_to_chroma(block) else block.text
    )
    code = compile(
        "\n" * (block.line - 1) + text, str(page), "exec"
    )  # so that a traceback has the page's lines
    with (
        contextlib.redirect_stdout(io.StringIO()) as output,
        warnings.catch_warnings(record=True) as warned,
    ):
        warnings.simplefilter("always")
        exec(code, module.__dict__)
    complaints = [one for one in warned if not (page.name in ON_OLD_CLASSES and _is_deprecation(one))]
    assert not complaints, f"{page.name}, line {block.line}: {[str(one.message) for one in complaints]}"
    return output.getvalue()


def _is_deprecation(warning: warnings.WarningMessage) -> bool:
    return issubclass(warning.category, (DeprecationWarning, PendingDeprecationWarning))


def _run_console(block: Block) -> str:
    commands = console.commands_of(block.text)
    assert commands, f"line {block.line}: no line begins with '$ '"
    with contextlib.redirect_stdout(io.StringIO()) as output:
        for words in commands:
            console.check(words)
    return output.getvalue()


def _close_memories(module: types.ModuleType) -> None:
    from shared_core import ContextMemory

    for value in list(vars(module).values()):
        if isinstance(value, ContextMemory):
            value.close()


def _collect(module: types.ModuleType) -> None:
    """Drop what the page made: LlamaIndex leaves its own loop and database to the garbage collector."""
    vars(module).clear()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def _talks_to_chroma(block: Block) -> bool:
    return block.language == "python" and "chromadb.HttpClient(" in block.text


@contextlib.contextmanager
def _chroma(folder: Path) -> Iterator[str]:
    """The port of a Chroma server on loopback."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    program = Path(sys.executable).parent / "chroma"
    arguments = ["run", "--path", str(folder / "server"), "--host", "127.0.0.1", "--port", port]
    with subprocess.Popen(
        [program, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder
    ) as server:
        try:
            _wait_for(int(port))
            yield port
        finally:
            server.kill()


def _wait_for(port: int) -> None:
    for _ in range(300):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.1)
    raise AssertionError("the Chroma server did not start within 30 s")


def test_the_readme_alone_gives_two_frameworks_one_memory() -> None:
    """What someone who reads nothing else has to find there."""
    text = "".join(block.text for block in blocks_of(ROOT / "README.md") if block.language == "python")
    assert re.search(r"create_agent\(.*ContextMemoryMiddleware\(memory", text, re.DOTALL)
    assert re.search(r"ContextChatMemory\.from_defaults\(\s*memory=memory", text)
    assert os.path.getsize(ROOT / "README.md") < 20_000
