"""For the reference: an ``Example:`` in a docstring is code to show, as an ``Examples:`` would be."""

from __future__ import annotations

import re
from typing import Any

import griffe

_HEADING = re.compile(r"^([ \t]*)Example:[ \t]*$", re.MULTILINE)


class Examples(griffe.Extension):
    """Renames the heading, so that what follows is read as a session of Python and not as prose."""

    def on_object(self, *, obj: Any, **kwargs: Any) -> None:
        """Called once for each object that was read."""
        if obj.docstring is not None:
            obj.docstring.value = _HEADING.sub(r"\1Examples:", obj.docstring.value)
