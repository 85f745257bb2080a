"""Markdown tables whose rows are measurements and whose columns are systems, the best of each row in bold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.benchmarks.peers import SYSTEMS

#: The column that no system competes with, where time is measured.
LIMIT = "product"


@dataclass(frozen=True)
class Row:
    """A measurement of several systems.

    Attributes:
        title: What was measured.
        values: By system; a number, or a text where there is none.
        lower: Whether less is better.
        digits: After the point; None for three significant figures.
        rivals: The systems that may be the best; all of them if left out.
    """

    title: str
    values: Mapping[str, float | str]
    lower: bool = True
    digits: int | None = None
    rivals: Sequence[str] | None = None

    def best(self) -> set[str]:
        """The systems whose figures, as printed, are the best."""
        numbers = {
            key: value
            for key, value in self.values.items()
            if not isinstance(value, str) and (self.rivals is None or key in self.rivals)
        }
        if len(numbers) < 2:
            return set()
        top = self.printed((min if self.lower else max)(numbers.values()))
        return {key for key, value in numbers.items() if self.printed(value) == top}

    def printed(self, value: float | str) -> str:
        """A number as it stands in the table; a text as it is."""
        if isinstance(value, str):
            return value
        if self.digits is not None:
            return f"{value:,.{self.digits}f}"
        places = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2 if abs(value) >= 1 else 3
        return f"{value:,.{places}f}"


def table(rows: Sequence[Row], columns: Sequence[str], corner: str = "") -> str:
    """The rows as Markdown; a column for each system."""
    head = [corner, *(title(column) for column in columns)]
    lines = ["| " + " | ".join(head) + " |", "|---|" + "---:|" * len(columns)]
    for row in rows:
        best = row.best()
        cells = []
        for column in columns:
            text = row.printed(row.values.get(column, "–"))
            cells.append(f"**{text}**" if column in best else text)
        lines.append("| " + " | ".join([row.title, *cells]) + " |")
    return "\n".join(lines)


def title(key: str) -> str:
    """The head of a system's column; another embedder than the common one stands behind it."""
    name, _, embedder = key.partition("+")
    return SYSTEMS[name].title + (" + MiniLM" if embedder == "minilm" else "")


def figures(cells: Mapping[str, Mapping[str, Any]], name: str) -> dict[str, float | str]:
    """One figure of each system; of those that were skipped, a mark that the notes explain."""
    return {key: cell[name] if name in cell else _mark(str(cell["skipped"])) for key, cell in cells.items()}


def ratio(values: Mapping[str, float | str], to: Sequence[str]) -> tuple[float, str] | None:
    """Ours by the least of the others, and which that is."""
    others = {key: values[key] for key in to if key in values and key != "ours"}
    numbers = {key: value for key, value in others.items() if not isinstance(value, str)}
    ours = values.get("ours")
    if ours is None or isinstance(ours, str) or not numbers:
        return None
    fastest = min(numbers, key=lambda key: numbers[key])
    return ours / numbers[fastest], fastest


def _mark(reason: str) -> str:
    if reason.startswith(">"):
        return reason.split(",")[0]
    return "not installed" if reason.startswith("not installed") else "failed"
