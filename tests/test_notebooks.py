"""The notebooks: run from clean, offline, as they are committed, with public names only."""

from __future__ import annotations

import ast
import shutil
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
PATHS = sorted(NOTEBOOKS.glob("*.ipynb"))
#: Of one notebook, in seconds; each takes less than ten on a machine that is not busy.
PATIENCE_SECONDS = 180
LARGEST_BYTES = 600_000


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def code_of(path: Path) -> list[Any]:
    return [cell for cell in read(path).cells if cell.cell_type == "code"]


def tree_of(path: Path) -> ast.Module:
    """The program of a notebook; a cell may await at its top level."""
    program = "\n".join(cell.source for cell in code_of(path))
    tree = compile(program, path.name, "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    assert isinstance(tree, ast.Module)
    return tree


def imported(path: Path) -> list[str]:
    """The packages that a notebook imports."""
    found: set[str] = set()
    for node in ast.walk(tree_of(path)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
        found.update(name.partition(".")[0] for name in names)
    return sorted(found)


def test_they_are_numbered_without_a_gap() -> None:
    assert [int(path.name[:2]) for path in PATHS] == [1, 2, 3, 4, 5, 6]


@pytest.mark.filterwarnings("ignore::DeprecationWarning:jupyter_client")
@pytest.mark.filterwarnings("ignore::DeprecationWarning:zmq")
@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_it_runs_from_clean(path: Path, tmp_path: Path) -> None:
    for package in imported(path):
        pytest.importorskip(package)
    shutil.copytree(NOTEBOOKS / "data", tmp_path / "data")
    notebook = read(path)
    client = nbclient.NotebookClient(
        notebook,
        timeout=PATIENCE_SECONDS,
        kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}},
    )
    client.execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    complaints = [output.text for output in outputs if output.get("name") == "stderr"]
    assert complaints == []
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_it_is_committed_with_its_outputs(path: Path) -> None:
    cells = code_of(path)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    shown = [output for cell in cells for output in cell.outputs]
    assert len(shown) >= 5
    assert all(output.output_type != "error" for output in shown)
    assert path.stat().st_size < LARGEST_BYTES


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_the_outputs_name_no_folder_of_whoever_made_them(path: Path) -> None:
    told = str([cell.outputs for cell in code_of(path)])
    assert "/work/" not in told
    assert "/home/" not in told


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_it_defines_nothing_and_imports_public_names_only(path: Path) -> None:
    tree = tree_of(path)
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    attributes = [node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    names = [part for node in imports for part in (node.module or "").split(".")]
    names += [alias.name for node in imports for alias in node.names]
    assert not [name for name in (*attributes, *names) if name.startswith("_")]


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)
def test_it_begins_with_its_question(path: Path) -> None:
    first = read(path).cells[0]
    assert first.cell_type == "markdown"
    assert first.source.startswith(f"# {path.name[:2]} ")
    assert "?**" in first.source
