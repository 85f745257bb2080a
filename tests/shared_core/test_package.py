from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import shared_core

PACKAGE = Path(shared_core.__file__).parent
ROOT = PACKAGE.parent
FILES = sorted(PACKAGE.rglob("*.py"))
FRAMEWORKS = {"langchain", "langchain_core", "langchain_classic", "langgraph", "llama_index"}
ADAPTERS = {"langchain_contextmemory", "llamaindex_contextmemory"}


def imported(file: Path) -> Iterator[str]:
    """The full names of the modules that a file imports, anywhere in it."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} imports relatively"
            yield node.module or ""


def run(script: str, folder: Path) -> dict[str, object]:
    """What a script printed as JSON, run by a fresh interpreter in an empty folder."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    answer: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return answer


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(PACKAGE)))
def test_the_core_imports_neither_a_framework_nor_an_adapter(file: Path) -> None:
    roots = {name.split(".")[0] for name in imported(file)}
    assert roots.isdisjoint(FRAMEWORKS | ADAPTERS)


def test_chromadb_is_imported_in_one_file() -> None:
    """Imports for type checking aside."""
    importers = set()
    for file in FILES:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                node.body = [ast.Pass()]
        names = [
            alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
        ]
        names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
        if any(name.split(".")[0] == "chromadb" for name in names):
            importers.add(str(file.relative_to(PACKAGE)))
    assert importers == {"stores/chroma.py"}


#: What lies below imports nothing that lies above.
LAYERS = [
    {"errors", "times"},
    {"records", "decay"},
    {"ids", "messages", "buffer", "scoring", "settings"},
    {"index"},
    {"stores"},
    {"namespaces", "filters", "relevance", "summaries", "llm"},
    {"erasure", "versions", "retrieval", "graph"},
    {"learning", "reranking", "session_summary", "supersession"},
    {"ingestion", "maintenance", "statements", "items"},
    {"memory"},
    {"scheduler", "mcp_server"},
    {"cli"},
]


def test_imports_point_one_way() -> None:
    height = {name: level for level, names in enumerate(LAYERS) for name in names}
    wrong = []
    for file in FILES:
        own = file.relative_to(PACKAGE).parts[0].removesuffix(".py")
        for name in imported(file):
            parts = name.split(".")
            other = parts[1] if parts[0] == "shared_core" and len(parts) > 1 else ""
            codec = name == "shared_core.stores.codec"  # the layout of a record, which an index reads too
            if own in height and other in height and height[other] > height[own] and not codec:
                wrong.append(f"{file.relative_to(PACKAGE)} imports {name}")
    assert wrong == []


LOADED = """
import json, sys
{statement}
print(json.dumps({{"loaded": sorted({names} & sys.modules.keys())}}))
"""


@pytest.mark.parametrize(
    ("statement", "names"),
    [
        ("import shared_core", {"chromadb", "numpy", "pydantic", "tiktoken", "httpx", "dateparser"}),
        ("import shared_core", {"wordllama", "tokenizers", "safetensors", "openai", "Stemmer"}),
        ("from shared_core import ContextMemory", {"chromadb", "wordllama", "tokenizers", "openai"}),
        ("from shared_core import ContextMemory", FRAMEWORKS),
    ],
)
def test_importing_loads_nothing_heavy(tmp_path: Path, statement: str, names: set[str]) -> None:
    assert run(LOADED.format(statement=statement, names=names), tmp_path) == {"loaded": []}


SIDE_EFFECTS = """
import json, logging, os, sys, threading
environment = dict(os.environ)
root = logging.getLogger()
level, handlers = root.level, list(root.handlers)
calls = []
sys.addaudithook(lambda event, args: calls.append([event, str(args[1:])]) if event in (
    "socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto") else None)
from shared_core import ContextMemory
with ContextMemory("memory") as memory:
    memory.add([{"role": "user", "content": "I moved to Berlin last week and work at Acme."}], "c1")
    memory.search("Where does she live?")
    memory.context("Where does she live?", token_budget=300, conversation_id="c1")
    memory.maintain()
changed = {key for key in {*environment, *os.environ} if environment.get(key) != os.environ.get(key)}
print(json.dumps({
    "environment": sorted(changed),
    "level": root.level == level,
    "handlers": root.handlers == handlers,
    "network": calls,
    "files": sorted(os.listdir(".")),
    "threads": [t.name for t in threading.enumerate() if not t.daemon and t is not threading.main_thread()],
}))
"""


def test_remembering_leaves_logging_environment_and_network_alone(tmp_path: Path) -> None:
    assert run(SIDE_EFFECTS, tmp_path) == {
        "environment": [],
        "level": True,
        "handlers": True,
        "network": [],
        "files": ["memory"],
        "threads": [],
    }


def test_the_public_names_are_few_and_all_there() -> None:
    assert len(shared_core.__all__) <= 10
    assert sorted(shared_core.__all__) == shared_core.__all__ == dir(shared_core)
    assert all(getattr(shared_core, name) is not None for name in shared_core.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        shared_core.Nothing  # noqa: B018


def test_the_package_is_typed_and_has_a_version() -> None:
    assert (PACKAGE / "py.typed").exists()
    assert shared_core.__version__.count(".") == 2


def test_each_public_class_has_words() -> None:
    assert all(getattr(shared_core, name).__doc__ for name in shared_core.__all__)
