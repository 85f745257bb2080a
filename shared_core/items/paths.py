"""Paths of items, and what they match: always whole labels, never parts of their text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Path = tuple[str, ...]

#: In a pattern, a label of any text.
ANY_LABEL = "*"


@dataclass(frozen=True)
class PathPattern:
    """Labels that a path begins or ends with.

    Attributes:
        end: ``prefix`` or ``suffix``.
        labels: The labels; ``*`` stands for exactly one of any text.
    """

    end: Literal["prefix", "suffix"]
    labels: Path

    def matches(self, path: Path) -> bool:
        """Whether ``path`` begins, or ends, with these labels."""
        count = len(self.labels)
        if count > len(path):
            return False
        part = path[:count] if self.end == "prefix" else path[len(path) - count :]
        return all(wanted in (ANY_LABEL, label) for wanted, label in zip(self.labels, part, strict=True))
