"""The lowest versions that are stated, and the variants that are tried."""

from __future__ import annotations

from typing import Any

import pytest

from tests.supply.requirements import ROOT, floors, project, tools
from tests.supply.variants import TOOLS, VARIANTS, chosen

pytest.importorskip("tomllib", reason="Python 3.10 cannot read pyproject.toml")

TABLE: dict[str, Any] = {
    "name": "ours",
    "dependencies": ["NumPy>=2.0", "wordllama>=0.4.0"],
    "optional-dependencies": {
        "one": ["openai>=1.60,<3"],
        "both": ["Ours[one]", "mcp>=2.3,<3"],
        "dev": ["pytest>=8.3"],
    },
}


def test_floors_are_those_of_the_extras_that_are_asked_for() -> None:
    assert floors(TABLE, []) == ["NumPy<=2.0.post9999", "wordllama<=0.4.0.post9999"]
    assert floors(TABLE, ["both"]) == ["mcp<=2.3.post9999", "openai<=1.60.post9999"]
    assert floors(TABLE, ["both"], unpinned=["openai"]) == ["mcp<=2.3.post9999"]


def test_a_dependency_without_a_floor_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"'rich' in pyproject\.toml states no lowest version"):
        floors({**TABLE, "dependencies": ["rich"]}, [])


def test_tools_are_those_of_the_extra_dev() -> None:
    assert tools(TABLE, ["PyTest"]) == ["pytest>=8.3"]
    with pytest.raises(ValueError, match="'tox' is not in the extra 'dev'"):
        tools(TABLE, ["tox"])


def test_every_extra_that_users_install_is_a_variant() -> None:
    extras = set(project()["optional-dependencies"]) - {"bench", "dev", "docs"}
    assert extras == set(VARIANTS) - {"bare"}
    for variant in VARIANTS.values():
        assert all((ROOT / path).exists() for path in variant.tests)
        assert floors(project(), variant.extras, unpinned=variant.unpinned)
        assert tools(project(), (*TOOLS, *variant.tools))


def test_a_variant_that_does_not_exist_is_refused() -> None:
    assert list(chosen(["mcp"])) == ["mcp"]
    with pytest.raises(ValueError, match="'mpc' is no variant: choose from bare, openai"):
        chosen(["mpc"])
