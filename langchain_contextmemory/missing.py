"""What is said when a LangChain package is not installed: the extra that brings it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from shared_core.errors import MissingExtraError

__all__ = ["EXTRAS", "naming_the_extra"]

#: The extra that brings a package, by the name that it is imported by.
EXTRAS = {
    "langchain_core": "langchain-core",
    "langchain": "langchain",
    "langgraph": "langchain",
    "langchain_classic": "langchain-classic",
}


@contextmanager
def naming_the_extra() -> Iterator[None]:
    """Around an import: what is missing becomes an error that names the extra which brings it.

    Raises:
        MissingExtraError: If a package of ``EXTRAS`` is not installed, or too old to hold what is needed.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        package = (error.name or "").split(".")[0]
        if package not in EXTRAS:
            raise
        extra = EXTRAS[package]
        if package == error.name or not _is_installed(package):
            raise MissingExtraError.of(package.replace("_", "-"), extra) from error
        raise MissingExtraError(
            f"{package.replace('_', '-')!r} is too old to have {error.name!r}: "
            f"pip install --upgrade 'contextmemory-chroma[{extra}]'"
        ) from error


def _is_installed(package: str) -> bool:
    """Whether ``package`` itself can be found, without importing it."""
    try:
        return find_spec(package) is not None
    except (ModuleNotFoundError, ValueError):  # blocked, or half imported
        return False
