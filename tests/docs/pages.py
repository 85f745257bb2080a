"""The documents, and the fenced blocks in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
DOCS = ROOT / "docs"
#: Every page; the history of changes has no code, but has links.
PAGES = (README, ROOT / "CHANGELOG.md", *sorted(DOCS.glob("*.md")))

_FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,}|~{3,})(?P<info>[^`\n]*)$")


@dataclass(frozen=True)
class Block:
    """One fenced block.

    Attributes:
        language: The word after the fence; ``""`` for none.
        text: What stands inside.
        line: The number of its first line in the page, counted from 1.
    """

    language: str
    text: str
    line: int


def blocks_of(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    found: list[Block] = []
    opened: tuple[str, str, int] | None = None
    inside: list[str] = []
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        fence = _FENCE.match(line)
        if opened is None and fence:
            opened, inside = (fence["ticks"], fence["info"].strip(), number + 1), []
        elif opened and fence and fence["ticks"].startswith(opened[0]) and not fence["info"].strip():
            found.append(Block(opened[1].partition(" ")[0], "\n".join(inside) + "\n", opened[2]))
            opened = None
        elif opened:
            inside.append(line)
    assert opened is None, f"{page.name}: the fence before line {opened and opened[2]} is never closed"
    return found


def prose_of(page: Path) -> str:
    """A page without its fenced blocks and its code spans."""
    lines, fence = [], ""
    for line in page.read_text(encoding="utf-8").splitlines():
        match = _FENCE.match(line)
        if match and (not fence or match["ticks"].startswith(fence)):
            fence = "" if fence else match["ticks"]
        elif not fence:
            lines.append(re.sub(r"`[^`]*`", "", line))
    return "\n".join(lines)


def anchors_of(page: Path) -> set[str]:
    """The anchors that the headings of a page make, as hosts and the site both spell them."""
    text = re.sub(r"^(`{3,}).*?^\1", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    titles = re.findall(r"^#{1,6} +(.+?) *$", text, flags=re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", title.casefold()) for title in titles)
    return {title.replace(" ", "-") for title in plain}
