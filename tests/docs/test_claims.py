"""What the pages repeat from elsewhere stands there so."""

from __future__ import annotations

import importlib.util
import re
from importlib import import_module

import pytest

from shared_core.cli.app import COMMANDS
from tests.docs.pages import DOCS, PAGES, README, ROOT

HELD_OUT = "### Held out"


def test_the_readmes_figures_are_the_benchmarks() -> None:
    """After ``make bench``, the sentence on LoCoMo in the README has to be written anew."""
    table = (DOCS / "benchmarks.md").read_text(encoding="utf-8").partition(HELD_OUT)[2]
    rows = [
        [cell.strip(" *") for cell in line.split("|")[1:-1]] for line in table.splitlines() if "|" in line
    ]
    recall = dict(zip(rows[0], next(row for row in rows if row[0] == "recall@10"), strict=True))
    told = " ".join(README.read_text(encoding="utf-8").split())
    assert f"{recall['ContextMemory']} on the five conversations that nothing was fitted on" in told
    assert f"{recall['BM25']} for BM25" in told
    assert f"{recall['LlamaIndex']} for LlamaIndex's `VectorMemoryBlock`" in told
    assert f"{float(recall['Chroma alone']):.0f} for plain vector search" in told


@pytest.mark.parametrize("package", ["shared_core", "langchain_contextmemory", "llamaindex_contextmemory"])
def test_every_public_name_has_a_place_in_the_reference(package: str) -> None:
    text = (DOCS / "reference.md").read_text(encoding="utf-8")
    places = set(re.findall(r"\w+", text))
    assert {name for name in import_module(package).__all__ if name not in places} <= {"ContextMemoryError"}
    for place in re.findall(r"^::: ([\w.]+)$", text, re.MULTILINE):
        module, _, name = place.rpartition(".")
        try:
            import_module(place)
        except ModuleNotFoundError:
            assert hasattr(import_module(module), name), place


def test_commands_that_the_pages_name_exist() -> None:
    for page in PAGES:
        for command in re.findall(r"`contextmemory ([a-z][a-z0-9-]+)", page.read_text(encoding="utf-8")):
            assert command in COMMANDS, f"{page.name}: contextmemory {command}"


def test_the_glossary_has_the_words_of_the_domain() -> None:
    glossary = README.read_text(encoding="utf-8").partition("## Glossary")[2].partition("\n## ")[0].casefold()
    words = (
        "namespace conversation session fact bubble connection triplet entity buffer summary block working"
    )
    for word in [
        *words.split(),
        "tier",
        "stage",
        "importance",
        "confidence",
        "recency",
        "frequency",
        "pending",
    ]:
        assert re.search(rf"^\| [^|]*\b{word}\b", glossary, re.MULTILINE), word


def test_the_map_of_the_code_names_files_that_are_there_and_every_package() -> None:
    text = (DOCS / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:shared_core|tests|\w+_contextmemory)/[\w./]*)`", text))
    assert len(named) > 40
    assert [name for name in named if not (ROOT / name).exists()] == []
    packages = {path.parent.name for path in (ROOT / "shared_core").glob("*/__init__.py")}
    assert {name for name in packages if f"`shared_core/{name}/`" not in text} == set()


def test_modules_that_the_pages_name_exist() -> None:
    for page in (path for path in PAGES if path.name != "CHANGELOG.md"):
        for name in re.findall(r"\bshared_core(?:\.\w+)+", page.read_text(encoding="utf-8")):
            module, _, attribute = name.rpartition(".")
            if importlib.util.find_spec(module) is None or not (
                hasattr(import_module(module), attribute) or importlib.util.find_spec(name)
            ):
                raise AssertionError(f"{page.name}: {name}")
