"""Which memories go into a context: a share of the budget for each block, and nothing twice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from shared_core.context.rendering import BlockName, Layout, safe_text, shortened
from shared_core.context.repetition import Shown
from shared_core.records import Memory
from shared_core.tokens import TokenCounter

#: A memory is cut only where a line of at least this many tokens stays.
MIN_CUT_TOKENS = 16

#: No line is sought for less room than this.
MIN_LINE_TOKENS = 4

#: More characters than this per token of budget are not even counted: the memory is too long by far.
MAX_CHARACTERS_PER_TOKEN = 16

# Who chooses first, since what is shown once is not shown again; and who is offered what is left at the end.
_CHOICE: tuple[BlockName, ...] = ("recent", "core", "working", "summaries", "facts", "episodes")
_LEFTOVERS: tuple[BlockName, ...] = ("episodes", "facts", "summaries", "working", "core", "recent")


@dataclass(frozen=True)
class Item:
    """A memory as a line of its block; ``rank`` counts from 0, the best. ``text`` is safe, and may be cut."""

    block: BlockName
    rank: int
    memory: Memory
    group: str
    text: str
    tokens: int

    def line(self, layout: Layout, number: int = 1) -> str:
        """The item as the ``number``-th line of its group."""
        return layout.prefix(self.block, self.memory, number) + self.text

    @property
    def is_cut(self) -> bool:
        """Whether half of the memory's text or more is missing."""
        return 2 * len(self.text) <= len(" ".join(self.memory.text.split()))

    @property
    def source_ids(self) -> tuple[str, ...]:
        """The messages whose content stands in ``text``; none if half of it or more was cut off."""
        if self.is_cut:
            return ()
        if self.memory.kind == "message":
            return (self.memory.message_id,) if self.memory.message_id else ()
        return () if self.memory.kind in ("summary", "block") else self.memory.source_ids[:1]


class _Lazy:
    """Items that are made when first asked for, and kept."""

    def __init__(self, items: Iterator[Item]) -> None:
        self._items = items
        self._made: list[Item] = []

    def __iter__(self) -> Iterator[Item]:
        position = 0
        while position < len(self._made) or self._make():
            yield self._made[position]
            position += 1

    def _make(self) -> bool:
        item = next(self._items, None)
        if item is not None:
            self._made.append(item)
        return item is not None


class Selection:
    """The items that go into one context; each line is counted once.

    Args:
        layout: How they will be written.
        counter: What counts the tokens of a line.
        spendable: Tokens for all blocks, titles included.
    """

    def __init__(self, layout: Layout, counter: TokenCounter, spendable: int) -> None:
        self.layout = layout
        self.counter = counter
        self.spendable = spendable
        # A block's title may also cost a token for the blank line above it.
        self.title_costs = {block: self._cost(title) + 1 for block, title in layout.titles.items()}
        self.shown = Shown()
        self.chosen: list[Item] = []

    def choose(
        self, ranked: Mapping[BlockName, Sequence[Memory]], shares: Mapping[BlockName, int]
    ) -> list[Item]:
        """Fill the blocks, each within its allowance, then offer what is left to those that have more.

        Args:
            ranked: The memories of each block, best first.
            shares: Positive numbers, by whose ratio the blocks share what is not enough for all.
        """
        items = {block: _Lazy(self._items(block, memories)) for block, memories in ranked.items()}
        wanted = {block: self._wanted(part) for block, part in items.items()}
        allowances = _allowances(wanted, shares, self.spendable)
        for block in _CHOICE:
            self._fill(block, items[block], allowances[block])
        for block in _LEFTOVERS:
            self._fill(block, items[block], self.spendable - self._spent(self.chosen))
        return self.chosen

    def _items(self, block: BlockName, memories: Sequence[Memory]) -> Iterator[Item]:
        """The memories as lines, best first; one that is too long by far is not even counted."""
        limit = self.spendable * MAX_CHARACTERS_PER_TOKEN
        for rank, memory in enumerate(memories):
            text = safe_text(memory.text[:limit])
            if text:
                item = Item(block, rank, memory, self.layout.group(block, memory), text, self.spendable + 1)
                yield item if len(memory.text) > limit else self._counted(item)

    def _wanted(self, items: Iterable[Item]) -> int:
        """Tokens that a block could use, counted no further than to all that there are."""
        taken: list[Item] = []
        total = 0
        for item in items:
            taken.append(item)
            total += item.tokens
            if total > self.spendable:
                break
        return self._spent(taken)

    def _fill(self, block: BlockName, items: Iterable[Item], allowance: int) -> None:
        """Choose what fits of ``items`` into ``allowance`` more tokens; the best is cut if it is too long."""
        present = [item for item in self.chosen if item.block == block]
        groups = {"", *(item.group for item in present)}
        taken = {item.rank for item in present}
        untried = not present
        for item in items:
            if allowance < MIN_LINE_TOKENS:
                return
            above = 0 if present else self.title_costs[block]
            above += 0 if item.group in groups else self._cost(item.group)
            fits = above + item.tokens <= allowance
            if item.rank in taken or not (fits or untried or block == "recent"):
                continue
            if self.shown.repeats(item.memory, by_text=block != "recent"):
                continue
            if untried and not fits:
                item = self._cut(item, allowance - above, items)
                fits = above + item.tokens <= allowance
            untried = False
            if fits:
                allowance -= above + item.tokens
                groups.add(item.group)
                present.append(item)
                self.chosen.append(item)
                self.shown.add(item.memory, cut=item.is_cut)
            elif block == "recent":
                return

    def _cut(self, item: Item, room: int, items: Iterable[Item]) -> Item:
        """``item``, the best of ``items``, cut to half of ``room`` tokens, or more if the others need less.

        As it is, if too little of it would stay.
        """
        others = self._wanted(other for other in items if other.rank > item.rank)
        tokens = max(room // 2, room - others)
        if tokens < MIN_CUT_TOKENS:
            return item
        text = shortened(
            item.text[: tokens * MAX_CHARACTERS_PER_TOKEN],
            lambda part: self._cost(replace(item, text=part).line(self.layout)) <= tokens,
        )
        return self._counted(replace(item, text=text)) if text else item

    def _spent(self, items: Iterable[Item]) -> int:
        """Tokens of ``items`` with the titles and groups above them."""
        items = tuple(items)
        return (
            sum(item.tokens for item in items)
            + sum(self.title_costs[block] for block in {item.block for item in items})
            + sum(self._cost(group) for _, group in {(item.block, item.group) for item in items} if group)
        )

    def _cost(self, line: str) -> int:
        return self.counter.count(f"{line}\n")

    def _counted(self, item: Item) -> Item:
        return replace(item, tokens=self._cost(item.line(self.layout)))


def _allowances(
    wanted: Mapping[BlockName, int], shares: Mapping[BlockName, int], spendable: int
) -> dict[BlockName, int]:
    """Tokens for each block: what it wants, or its part of what those that want less leave."""
    allowed: dict[BlockName, int] = {}
    left = spendable
    while len(allowed) < len(wanted):
        open_blocks = [block for block in wanted if block not in allowed]
        parts = sum(shares[block] for block in open_blocks)
        offers = {block: left * shares[block] // parts for block in open_blocks}
        content = {block: wanted[block] for block in open_blocks if wanted[block] <= offers[block]}
        allowed.update(content or offers)
        left -= sum(content.values())
    return allowed
