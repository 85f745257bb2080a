"""One HTML page that shows a live memory: search box, timeline, graph, budget. It loads nothing else."""

from __future__ import annotations

import json
import os
from base64 import b64encode
from datetime import datetime
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from string import Template
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, Any

from shared_core.arguments import at_least
from shared_core.inspection.page_data import page_data

if TYPE_CHECKING:
    from shared_core.memory import ContextMemory

__all__ = ["write_page"]

#: Signs that could end a script element or begin a comment in it. In JSON they stand in strings only.
_ESCAPES = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def write_page(
    memory: ContextMemory,
    path: str | Path,
    *,
    query: str | None = None,
    token_budget: int = 2_000,
    limit: int = 5_000,
    now: datetime | None = None,
) -> Path:
    """Write a page about the namespace of ``memory``, to be opened in any browser, offline.

    What memories say is data in it: it is never markup, and the page's policy runs no other script than its
    own. Looking does not count as reading. The address ``page.html#q=berlin`` opens it with a search.

    Args:
        memory: What to show.
        path: Where to; a file that is there is replaced, whole or not at all.
        query: The question of the context that is shown; what a user said last, if left out.
        token_budget: Tokens of that context.
        limit: Newest records that are listed, at most.
        now: What ages count from; the present if left out.

    Returns:
        The path.

    Raises:
        ValueError: If the budget or the limit is below 1.
        OSError: If the file cannot be written.
    """
    data = page_data(
        memory,
        query=query,
        token_budget=at_least(1, "token_budget", token_budget),
        limit=at_least(1, "limit", limit),
        now=now,
    )
    target = Path(path)
    _replace(target, _page(data))
    return target


def _page(data: dict[str, Any]) -> str:
    template, style, script = (_part(name) for name in ("page.html", "page.css", "page.js"))
    policy = (
        f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(style)}; "
        "base-uri 'none'; form-action 'none'"
    )
    encoded = json.dumps(data, allow_nan=False, separators=(",", ":")).translate(_ESCAPES)
    return Template(template).substitute(policy=policy, style=style, script=script, data=encoded)


def _part(name: str) -> str:
    return (files("shared_core.inspection") / "template" / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _replace(target: Path, text: str) -> None:
    """Write a file that only its owner may read: memories are private."""
    with NamedTemporaryFile(
        "w", encoding="utf-8", newline="\n", dir=target.parent, prefix=f".{target.name}", delete=False
    ) as file:
        file.write(text)
    try:
        os.replace(file.name, target)
    except OSError:
        os.unlink(file.name)
        raise
