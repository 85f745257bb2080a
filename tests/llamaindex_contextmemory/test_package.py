from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import llamaindex_contextmemory

ROOT = Path(__file__).parents[2]

WITHOUT = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names}:
            raise ModuleNotFoundError("No module named " + repr(name), name=name)

sys.meta_path.insert(0, Missing())
"""


def run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_public_names_are_these() -> None:
    assert llamaindex_contextmemory.__all__ == sorted(llamaindex_contextmemory.__all__)
    for name in llamaindex_contextmemory.__all__:
        assert getattr(llamaindex_contextmemory, name).__name__ == name
        assert name in dir(llamaindex_contextmemory)
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = llamaindex_contextmemory.Nothing


def test_without_llama_index_the_error_names_the_extra() -> None:
    program = WITHOUT.format(names={"llama_index"}) + (
        "import shared_core, llamaindex_contextmemory\n"
        "try:\n    llamaindex_contextmemory.ContextChatMemory\n"
        "except ImportError as error:\n    print(type(error).__name__, error)\n"
    )
    printed = run(program)
    assert "MissingExtraError" in printed
    assert "contextmemory-chroma[llamaindex]" in printed


def test_it_needs_nothing_of_langchain() -> None:
    program = WITHOUT.format(names={"langchain", "langchain_core", "langgraph", "openai"}) + (
        "from llamaindex_contextmemory import *\nprint(ContextChatMemory.__name__)"
    )
    assert run(program).strip() == "ContextChatMemory"


def test_importing_it_loads_no_framework() -> None:
    program = (
        "import sys, llamaindex_contextmemory\n"
        "print([name for name in sys.modules if name.partition('.')[0] in ('llama_index', 'chromadb')])"
    )
    assert run(program).strip() == "[]"
