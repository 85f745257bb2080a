from __future__ import annotations

import subprocess
import sys

import pytest

WITHOUT = """
import sys
sys.modules[{package!r}] = None
from shared_core import ContextMemory
from shared_core.errors import MissingExtraError
with ContextMemory(sys.argv[1]) as memory:
    memory.add({{"role": "user", "content": "I live in Rome."}})
    from shared_core.inspection.page import write_page
    write_page(memory, sys.argv[1] + "/page.html")
    assert memory.list()._repr_html_()
    try:
        memory.inspect()
    except MissingExtraError as error:
        print(error)
"""


@pytest.mark.parametrize("package", ["pandas", "matplotlib"])
def test_without_the_extra_the_error_names_it_and_the_page_works(package: str, tmp_path: object) -> None:
    pytest.importorskip("pandas")
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT.format(package=package), str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "contextmemory-chroma[notebooks]" in done.stdout
    assert package in done.stdout


def test_using_a_memory_loads_neither_pandas_nor_matplotlib() -> None:
    code = "import shared_core.memory, sys; print({'pandas', 'matplotlib'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
