"""Lines for a terminal: the command runs, of all others it is checked that they name what exists."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

from tests.docs.pages import ROOT

#: Commands of our own that serve until they are stopped: that there is such a command is what is checked.
SERVING = frozenset({"mcp"})


def commands_of(text: str) -> list[list[str]]:
    """The commands of a block, each as its words: lines that begin with ``$``, parted at ``&&``."""
    lines = re.sub(r"\\\n", " ", text).splitlines()
    typed = [line.removeprefix("$ ") for line in lines if line.startswith("$ ")]
    parts = (part for line in typed for part in line.split(" && "))
    return [words for part in parts if (words := shlex.split(part, comments=True))]


def check(words: list[str]) -> None:
    """Run a command of ours; of another, see that what it names is there.

    Raises:
        AssertionError: If it fails, or nobody here knows the command.
    """
    while words and re.fullmatch(r"[A-Z_]+=\S+", words[0]):
        words = words[1:]
    known: dict[str, Callable[[list[str]], None]] = {
        "contextmemory": _contextmemory,
        "make": _make,
        "pip": _pip,
        "chroma": _chroma,
    }
    assert words[0] in known, f"no check for the command {words[0]!r}"
    known[words[0]](words[1:])


def _contextmemory(arguments: list[str]) -> None:
    from shared_core.cli import main

    served = bool(arguments) and arguments[0] in SERVING
    with pytest.raises(SystemExit) as ended:
        main([arguments[0], "--help"] if served else arguments)
    assert not ended.value.code, f"contextmemory {shlex.join(arguments)} ended with {ended.value.code}"


def _make(arguments: list[str]) -> None:
    targets = re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(arguments) <= set(targets), f"make {arguments}: the Makefile has {targets}"


def _pip(arguments: list[str]) -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    section = project.partition("[project.optional-dependencies]")[2].partition("\n[")[0]
    extras = set(re.findall(r"^([\w-]+) = ", section, re.MULTILINE))
    assert arguments[0] == "install"
    for wanted in arguments[1:]:
        wanted = wanted.replace(".[", "contextmemory-chroma[") if wanted.startswith(".[") else wanted
        named = re.fullmatch(r"([\w.-]+)(?:\[([\w,-]+)\])?", wanted)
        assert named, f"pip install {wanted}"
        metadata.distribution(named[1])  # raises for a package that nobody here has ever installed
        if f'name = "{named[1]}"' in project:
            assert set((named[2] or "").split(",")) - {""} <= extras, f"{wanted}: the extras are {extras}"


def _chroma(arguments: list[str]) -> None:
    assert arguments[0] == "run"
    assert (Path(sys.executable).parent / "chroma").exists()
