"""Regular expressions that are compiled when first used, so that importing the rules costs little."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property


class Expression:
    """A regular expression; its methods are those of ``re.Pattern``, looked up once.

    Example:
        >>> Expression("[ab]+").search("cab").group()
        'ab'
    """

    def __init__(self, source: str, *, ignore_case: bool = False) -> None:
        self.source = source
        self._flags = re.IGNORECASE if ignore_case else 0

    @cached_property
    def compiled(self) -> re.Pattern[str]:
        """The same, compiled."""
        return re.compile(self.source, self._flags)

    @cached_property
    def search(self) -> Callable[[str], re.Match[str] | None]:
        """The first match anywhere in a text."""
        return self.compiled.search

    @cached_property
    def match(self) -> Callable[[str], re.Match[str] | None]:
        """The match at the start of a text."""
        return self.compiled.match

    @cached_property
    def fullmatch(self) -> Callable[[str], re.Match[str] | None]:
        """The match of all of a text."""
        return self.compiled.fullmatch

    @cached_property
    def finditer(self) -> Callable[[str], Iterator[re.Match[str]]]:
        """All matches in a text."""
        return self.compiled.finditer

    @cached_property
    def findall(self) -> Callable[[str], list[str]]:
        """The text of all matches; for expressions of at most one group."""
        return self.compiled.findall

    @cached_property
    def split(self) -> Callable[[str], list[str]]:
        """A text cut at the matches; groups are parts as well."""
        return self.compiled.split

    @cached_property
    def sub(self) -> Callable[[str | Callable[[re.Match[str]], str], str], str]:
        """A text, given second, with its matches replaced by the first."""
        return self.compiled.sub


def any_of(words: Iterable[str]) -> str:
    """The source of an expression that matches one of ``words``, the longest first."""
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))
