"""What ``pyproject.toml`` asks for, and the lowest versions that it allows."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

__all__ = ["floors", "project", "tools"]

ROOT = Path(__file__).parents[2]
#: A release may be published only as a post-release of itself.
ANY_POST = ".post9999"


def project(root: Path = ROOT) -> dict[str, Any]:
    """The table ``project`` of ``pyproject.toml``; needs Python 3.11 to read it."""
    text = (root / "pyproject.toml").read_text(encoding="utf-8")
    table: dict[str, Any] = import_module("tomllib").loads(text)["project"]
    return table


def tools(table: dict[str, Any], names: Sequence[str]) -> list[str]:
    """The requirements of the extra ``dev`` for these names.

    Raises:
        ValueError: If ``dev`` does not name one of them.
    """
    stated = {_name(line): line for line in table["optional-dependencies"]["dev"]}
    for name in names:
        if canonicalize_name(name) not in stated:
            raise ValueError(f"{name!r} is not in the extra 'dev' of pyproject.toml")
    return [stated[canonicalize_name(name)] for name in names]


def floors(table: dict[str, Any], extras: Sequence[str], *, unpinned: Sequence[str] = ()) -> list[str]:
    """Constraints that hold direct dependencies at their stated minimum.

    Those of the bare install are tried by themselves, and left free for an extra: a framework may ask for
    more of what both need than the core does.

    Args:
        table: What ``project`` gave.
        extras: Whose dependencies; one that names others of ours brings theirs. Without any, those of the
            bare install.
        unpinned: What is left free, since something else asks for more.

    Raises:
        ValueError: If a dependency states no minimum.
    """
    lowest: dict[str, str] = {}
    for line in _direct(table, extras):
        requirement = Requirement(line)
        stated = [one.version for one in requirement.specifier if one.operator in (">=", "==", "~=")]
        if not stated:
            raise ValueError(f"{line!r} in pyproject.toml states no lowest version")
        if canonicalize_name(requirement.name) not in unpinned:
            lowest[canonicalize_name(requirement.name)] = f"{requirement.name}<={stated[0]}{ANY_POST}"
    return sorted(lowest.values(), key=str.casefold)


def _direct(table: dict[str, Any], extras: Sequence[str]) -> list[str]:
    own, waiting = canonicalize_name(table["name"]), list(extras)
    lines = [] if extras else list(table["dependencies"])
    for extra in waiting:
        for line in table["optional-dependencies"][extra]:
            if _name(line) == own:
                waiting.extend(sorted(Requirement(line).extras))
            else:
                lines.append(line)
    return lines


def _name(line: str) -> str:
    return canonicalize_name(Requirement(line).name)
