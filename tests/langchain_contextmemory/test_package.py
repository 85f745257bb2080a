from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import langchain_contextmemory

PACKAGE = Path(langchain_contextmemory.__file__).parent
ROOT = PACKAGE.parent

#: A start of a program in which some packages are not installed.
WITHOUT = """
import importlib.abc, json, sys
class Without(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {packages!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Without())
"""
ALL_OF_THEM = ("langchain_core", "langchain", "langgraph", "langchain_classic", "langsmith", "llama_index")
CORE_ONLY = ("langchain", "langgraph", "langchain_classic", "llama_index")


def run(program: str, folder: Path, *, without: tuple[str, ...] = ()) -> Any:
    start = WITHOUT.format(packages=set(without)) if without else "import json, sys\n"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", start + program],
        cwd=folder,
        env={"PYTHONPATH": str(ROOT), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_the_public_names_are_these() -> None:
    assert langchain_contextmemory.__all__ == [
        "ContextMemoryChatHistory",
        "ContextMemoryMiddleware",
        "ContextMemoryRetriever",
        "ContextMemoryStore",
        "LangChainEmbedder",
        "LangChainLLM",
        "memory_tools",
    ]
    assert dir(langchain_contextmemory) == langchain_contextmemory.__all__
    assert "ClassicContextMemory" not in langchain_contextmemory.__all__


def test_each_public_name_is_there_and_has_words() -> None:
    for name in [*langchain_contextmemory.__all__, "ClassicContextMemory"]:
        assert getattr(langchain_contextmemory, name).__doc__, name
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        langchain_contextmemory.Nothing  # noqa: B018


def test_the_package_is_typed() -> None:
    assert (PACKAGE / "py.typed").exists()


@pytest.mark.slow
def test_a_star_import_does_without_the_classic_package(tmp_path: Path) -> None:
    program = (
        "from langchain_contextmemory import *\nprint(json.dumps(sorted(k for k in dir() if 'emory' in k)))"
    )
    names = run(program, tmp_path, without=("langchain_classic",))
    assert set(names) >= {"ContextMemoryRetriever", "ContextMemoryStore", "memory_tools"}


def test_importing_the_package_needs_and_loads_nothing(tmp_path: Path) -> None:
    program = "import langchain_contextmemory\nprint(json.dumps([m for m in sys.modules if 'chroma' in m]))"
    assert run(program, tmp_path, without=ALL_OF_THEM) == []


def test_the_core_works_without_any_framework(tmp_path: Path) -> None:
    program = """
from shared_core import ContextMemory
with ContextMemory("memory") as memory:
    memory.add([{"role": "user", "content": "I moved to Berlin."}], "c1")
    print(json.dumps(memory.search("Where does she live?").results[0].memory))
"""
    assert "Berlin" in run(program, tmp_path, without=ALL_OF_THEM)


def test_the_core_never_loads_langchain(tmp_path: Path) -> None:
    program = """
from shared_core import ContextMemory
import langchain_contextmemory
with ContextMemory("memory") as memory:
    memory.add([{"role": "user", "content": "I moved to Berlin."}], "c1")
    memory.context("Where does she live?", token_budget=100)
print(json.dumps([name for name in sys.modules if name.startswith(("langchain_core", "langgraph"))]))
"""
    assert run(program, tmp_path) == []


CORE_SURFACES = """
from langchain_contextmemory import ContextMemoryChatHistory, ContextMemoryRetriever
from langchain_contextmemory import LangChainEmbedder, memory_tools
from langchain_core.embeddings import DeterministicFakeEmbedding
from shared_core import ContextMemory
with ContextMemory("memory", embedder=LangChainEmbedder(DeterministicFakeEmbedding(size=8))) as memory:
    ContextMemoryChatHistory(memory, "c1").add_user_message("I moved to Berlin.")
    found = ContextMemoryRetriever(memory=memory).invoke("Where does she live?")
    assert memory_tools(memory)
    print(json.dumps([document.page_content for document in found]))
"""


def test_langchain_core_alone_is_enough_for_most(tmp_path: Path) -> None:
    assert any("Berlin" in text for text in run(CORE_SURFACES, tmp_path, without=CORE_ONLY))


@pytest.mark.parametrize(
    ("name", "without", "extra"),
    [
        ("ContextMemoryRetriever", ALL_OF_THEM, "langchain-core"),
        ("ContextMemoryChatHistory", ALL_OF_THEM, "langchain-core"),
        ("LangChainEmbedder", ALL_OF_THEM, "langchain-core"),
        ("memory_tools", ALL_OF_THEM, "langchain-core"),
        ("ContextMemoryMiddleware", ("langchain",), "langchain"),
        ("ContextMemoryStore", ("langgraph",), "langchain"),
        ("ClassicContextMemory", ("langchain_classic",), "langchain-classic"),
    ],
)
def test_a_missing_package_names_the_extra(
    tmp_path: Path, name: str, without: tuple[str, ...], extra: str
) -> None:
    program = f"""
from shared_core.errors import MissingExtraError
try:
    from langchain_contextmemory import {name}
except MissingExtraError as error:
    print(json.dumps([str(error), isinstance(error, ImportError), type(error.__cause__).__name__]))
"""
    text, is_import_error, cause = run(program, tmp_path, without=without)
    assert f"contextmemory-chroma[{extra}]" in text
    assert is_import_error
    assert cause == "ModuleNotFoundError"


def test_a_package_that_is_too_old_is_called_so(tmp_path: Path) -> None:
    (tmp_path / "langchain_classic").mkdir()
    (tmp_path / "langchain_classic" / "__init__.py").write_text("")
    program = """
sys.path.insert(0, ".")
try:
    from langchain_contextmemory import ClassicContextMemory
except ImportError as error:
    print(json.dumps(str(error)))
"""
    text = run(program, tmp_path)
    assert "'langchain-classic' is too old to have 'langchain_classic.base_memory'" in text
    assert "--upgrade 'contextmemory-chroma[langchain-classic]'" in text


SIDE_EFFECTS = """
import logging, os, threading, warnings
environment = dict(os.environ)
root = logging.getLogger()
level, handlers, filters = root.level, list(root.handlers), list(warnings.filters)
calls = []
sys.addaudithook(lambda event, args: calls.append(event) if event in (
    "socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto") else None)
import langchain_contextmemory
from langchain_contextmemory import *
from langchain_contextmemory import ClassicContextMemory
changed = {key for key in {*environment, *os.environ} if environment.get(key) != os.environ.get(key)}
print(json.dumps({
    "environment": sorted(changed),
    "logging": root.level == level and root.handlers == handlers,
    "network": calls,
    "files": os.listdir("."),
    "threads": [t.name for t in threading.enumerate() if not t.daemon and t is not threading.main_thread()],
}))
"""


def test_importing_has_no_side_effects(tmp_path: Path) -> None:
    assert run(SIDE_EFFECTS, tmp_path) == {
        "environment": [],
        "logging": True,
        "network": [],
        "files": [],
        "threads": [],
    }
