"""Core memory: short named texts that stand in every context, set by hand or written by ``maintain``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime

from shared_core.arguments import moment_of, statement_of
from shared_core.asynchronous import run_in_thread
from shared_core.context.rendering import MAX_NAME_CHARACTERS
from shared_core.embedding.base import Embedder
from shared_core.ids import record_id
from shared_core.index.resident import ResidentIndex
from shared_core.messages import quoted
from shared_core.namespaces import Namespace
from shared_core.records import Memory
from shared_core.redaction import Redactor, redact_text
from shared_core.stores.base import Change
from shared_core.times import utc_now
from shared_core.upkeep.erasure import delete_memories

#: The blocks of seed 004, in the order in which a context shows them; any other name comes after them.
STANDARD_BLOCKS = ("persona", "user_profile", "current_focus", "top_skills")

_NAME = re.compile(r"\w(?:[\w .'’-]*\w)?")


class Blocks:
    """The core memory of one namespace: ``memory.blocks``.

    Any name will do; ``maintain`` writes ``user_profile``, ``current_focus`` and ``top_skills`` from what was
    learnt, unless they were set here. What is set stays as it is until it is set again or deleted. Each
    method has an async twin, whose name begins with ``a``.

    Example:
        >>> memory.blocks.set("persona", "A patient tutor who answers in German.")  # doctest: +SKIP
        >>> [block.title for block in memory.blocks.list()]  # doctest: +SKIP
        ['persona', 'user_profile']

    Args:
        opened: Opens the namespace.
        embedder: Embeds the texts.
        redact: Gives each text as it may be stored; names stay.
    """

    def __init__(
        self, opened: Callable[[], Namespace], embedder: Embedder, redact: Redactor | None = None
    ) -> None:
        self._opened = opened
        self._embedder = embedder
        self._redact = redact

    def set(self, name: str, text: str, *, now: datetime | None = None) -> Memory:
        """Write a block by hand, over what it said before.

        Args:
            name: At most 40 letters, digits, spaces and ``_.'-``, whatever their case.
            text: What it says; a context shows it on one line.
            now: When it is written; the present if left out.

        Raises:
            ValueError: If the name is none, or the text blank.
            StoreError: If it could not be written.
        """
        title, moment = block_name(name), moment_of(now)
        said = redact_text(self._redact, statement_of("text", text), "text")
        vector = self._embedder.embed([said])
        namespace = self._opened()
        with namespace.alone() as index:
            known = block_of(index, title)
            block = Memory(
                id=block_id(title),
                kind="block",
                text=said,
                title=title,
                created_at=moment if known is None else known.created_at,
                updated_at=moment,
            )
            namespace.apply(Change(puts=(block,), vectors=vector))
        return block

    def get(self, name: str) -> Memory | None:
        """The block of that name; None if there is none.

        Raises:
            ValueError: If no block can have that name.
        """
        title = block_name(name)
        with self._opened().use() as index:
            return block_of(index, title)

    def list(self) -> Sequence[Memory]:
        """The blocks in the order in which a context shows them."""
        with self._opened().use() as index:
            return core_blocks(index)

    def delete(self, name: str) -> bool:
        """Remove a block with its history; returns whether there was one. ``maintain`` may write it anew.

        Raises:
            ValueError: If no block can have that name.
        """
        title = block_name(name)
        namespace = self._opened()
        with namespace.alone() as index:
            known = block_of(index, title)
            if known is None:
                return False
            delete_memories(namespace, [known.id], now=utc_now(), embed=self._embedder.embed)
            return True

    async def aset(self, name: str, text: str, *, now: datetime | None = None) -> Memory:
        """``set`` in a thread."""
        return await run_in_thread(self.set, name, text, now=now)

    async def aget(self, name: str) -> Memory | None:
        """``get`` in a thread."""
        return await run_in_thread(self.get, name)

    async def alist(self) -> Sequence[Memory]:
        """``list`` in a thread."""
        return await run_in_thread(self.list)

    async def adelete(self, name: str) -> bool:
        """``delete`` in a thread."""
        return await run_in_thread(self.delete, name)


def block_name(name: str) -> str:
    """A name that a block can have.

    Raises:
        ValueError: If it is none.
    """
    cleaned = name.strip() if isinstance(name, str) else ""
    if not _NAME.fullmatch(cleaned) or len(cleaned) > MAX_NAME_CHARACTERS:
        raise ValueError(
            f"block name {quoted(name)} is not 1 to {MAX_NAME_CHARACTERS} letters, digits, spaces and _.'-: "
            "choose one such as 'user_profile'"
        )
    return cleaned


def block_id(title: str) -> str:
    """The id of the block of that name, whatever its case."""
    return record_id("block", title.casefold())


def block_of(index: ResidentIndex, title: str) -> Memory | None:
    """The block of that name; None if there is none."""
    known = index.get(block_id(title))
    if known is not None:
        return known
    named = (block for block in core_blocks(index) if (block.title or "").casefold() == title.casefold())
    return next(named, None)  # one that was imported with an id of its own


def core_blocks(index: ResidentIndex) -> list[Memory]:
    """The current blocks in their order, earlier versions and archived ones left out."""
    columns = index.columns
    rows = index.rows_of("block")
    rows = rows[columns["current"][rows] & columns["active"][rows]]
    return sorted((index.memory_at(int(row)) for row in rows), key=_place)


def _place(block: Memory) -> tuple[int, str, str]:
    title = (block.title or "").casefold()
    standard = STANDARD_BLOCKS.index(title) if title in STANDARD_BLOCKS else len(STANDARD_BLOCKS)
    return (standard, title, block.id)
