"""What is skipped for want of a package, and what is not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from shared_core.errors import MissingExtraError
from tests.supply.applicable import PROMISED, lacking
from tests.supply.requirements import ROOT

#: ``mem0`` stands for a package that is not installed, in whatever environment this runs.
BLOCKED = "import sys\nsys.modules['mem0'] = None\n"
TESTS = """
def test_that_needs_it():
    from mem0 import Memory

def test_that_does_not():
    assert True

def test_that_fails():
    raise ImportError("something else")
"""


def run(folder: Path, promised: str = "") -> str:
    (folder / "conftest.py").write_text(BLOCKED, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    (folder / "test_inside.py").write_text(TESTS, encoding="utf-8")
    (folder / "test_at_the_top.py").write_text("import mem0\n" + TESTS, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "tests.supply.applicable", "-p", "no:cacheprovider", "."]
    environ = {**os.environ, "PYTHONPATH": str(ROOT), PROMISED: promised}
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True).stdout


def test_what_needs_a_package_that_is_not_there_is_skipped_and_told(tmp_path: Path) -> None:
    told = run(tmp_path)
    assert "1 failed, 1 passed, 2 skipped" in told
    assert "2 modules or tests skipped: they need mem0" in told


def test_what_misses_a_promised_package_fails(tmp_path: Path) -> None:
    told = run(tmp_path, "mem0")
    assert "error" in told
    assert "skipped" not in told


def test_an_extra_that_is_announced_excuses_a_test() -> None:
    announced = MissingExtraError.of("openai", "openai")
    announced.__cause__ = ModuleNotFoundError("No module named 'openai'", name="openai")
    assert lacking(announced, frozenset()) == "openai"
    assert lacking(announced, frozenset({"openai"})) is None
    part = ModuleNotFoundError("No module named 'llama_index.llms'", name="llama_index.llms.openai_like")
    assert lacking(part, frozenset({"llama_index"})) == "llama_index.llms"
    assert lacking(part, frozenset({"llama_index", "llama_index.llms"})) is None
    assert lacking(ModuleNotFoundError("No module named 'numpy'", name="numpy"), frozenset()) is None


def test_what_a_process_of_a_test_says_counts_as_well() -> None:
    told = str(MissingExtraError.of("langchain-classic", "langchain-classic"))
    assert lacking(AssertionError(f"Traceback …\n{told}\nassert 1 == 0"), frozenset()) == "langchain_classic"
    script = 'File "<string>", line 4, in <module>\nModuleNotFoundError: No module named {!r}'
    assert lacking(AssertionError(script.format("mcp.types")), frozenset()) == "mcp"
    assert lacking(AssertionError(script.format("mcp.types")), frozenset({"mcp"})) is None
    module = script.replace("<string>", "/x/tests/shared_core/serving.py")
    assert lacking(AssertionError(module.format("mcp")), frozenset()) == "mcp"
    core = script.format("mcp").replace("<string>", "/x/shared_core/memory.py")
    assert lacking(AssertionError(core), frozenset()) is None
    assert lacking(ValueError(told), frozenset()) is None


@pytest.mark.parametrize(
    ("module", "skipped"),
    [
        ("shared_core/memory.py", None),
        ("shared_core/mcp_server/server.py", "mem0"),
        ("langchain_contextmemory/store.py", "mem0"),
        ("tests/shared_core/test_memory.py", "mem0"),
    ],
)
def test_the_core_may_import_none_of_them(
    monkeypatch: pytest.MonkeyPatch, module: str, skipped: str | None
) -> None:
    monkeypatch.setitem(sys.modules, "mem0", None)
    with pytest.raises(ModuleNotFoundError) as raised:
        exec(compile("import mem0", str(ROOT / module), "exec"))
    assert lacking(raised.value, frozenset()) == skipped
