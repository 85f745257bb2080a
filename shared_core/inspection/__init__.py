"""Seeing what a memory holds: tables, plots, notebook views, and a page for the browser.

The notebook views and the page need nothing beyond the core; tables and plots take the extra ``notebooks``.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from shared_core.errors import MissingExtraError

if TYPE_CHECKING:
    from shared_core.inspection.inspection import Inspection
    from shared_core.memory import ContextMemory

__all__ = ["inspect"]

#: What the extra ``notebooks`` brings, and tables and plots are made with.
PACKAGES = ("pandas", "matplotlib")


def inspect(memory: ContextMemory, *, now: datetime | None = None) -> Inspection:
    """A snapshot of ``memory`` with its tables and plots.

    Raises:
        MissingExtraError: If pandas or matplotlib is missing; the message names the extra.
    """
    try:
        from shared_core.inspection.inspection import Inspection
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in PACKAGES:
            raise
        raise MissingExtraError.of(package, "notebooks") from error
    return Inspection.of(memory, now=now)
