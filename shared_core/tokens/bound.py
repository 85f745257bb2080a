"""A token count that needs no tokenizer file and is never too low: for ``o200k_base`` and ``cl100k_base``.

Both encodings cut the text by a regular expression, then join pairs of neighbours within each piece until no
two neighbours together are a token. From that follows the bound: a piece yields at most as many tokens as the
finest way to divide it in which no two neighbours together are one of the shipped strings, which are tokens
in both. A piece that is such a string is one token. A part of a division that begins or ends within a
character, or joins an apostrophe to something else, must be one of the irregular tokens, all of which are
shipped too.
"""

from __future__ import annotations

import gzip
import re
import unicodedata
from functools import cache, lru_cache
from importlib import import_module
from importlib.resources import files
from typing import Any

from shared_core.tokens.encodings import UNAVAILABLE, pattern_of

ENCODINGS = ("o200k_base", "cl100k_base")

#: Longer pieces are counted by their bytes: a search of all divisions would cost more than it saves.
SEARCHED_BYTES = 600

#: Tokens up to this many bytes are told apart in the search; longer ones are all alike.
TRACKED_BYTES = 12

# A space that follows something else begins a piece in both encodings.
_WORD_START = re.compile(r"(?<=\S)(?= )")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")

# Characters on which Python's regular expressions and those of tiktoken may differ: separators that are white
# space to one only, and the long s, which matches an s regardless of case.
_DOUBTFUL = re.compile(r"[\x1c-\x1f\x85ſ\u180e\u200b]")


def well_formed(text: str) -> str:
    """``text`` as tiktoken reads it: surrogate pairs joined, lone surrogates replaced by U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def count_bytes(text: str) -> int:
    """UTF-8 bytes of ``text``, the bound that holds for every byte-level encoding."""
    return len(well_formed(text).encode())


def count_bound(text: str) -> int:
    """An upper bound of the tokens of ``text`` in each of ``ENCODINGS``."""
    by_word = [_cached(word) if len(word) <= SEARCHED_BYTES else _bounds(word) for word in _words(text)]
    return max(map(sum, zip(*by_word, strict=True)), default=0)


def _words(text: str) -> list[str]:
    """``text`` cut before each space that follows something else, where no encoding joins."""
    return _WORD_START.split(well_formed(text)) if text else []


def _bounds(word: str) -> tuple[int, ...]:
    """The bound of ``word`` in each of ``ENCODINGS``."""
    patterns = _patterns()
    if patterns is None or not _all_familiar(word):
        return (len(word.encode()),) * len(ENCODINGS)
    return tuple(sum(map(_most_tokens, pattern.findall(word))) for pattern in patterns)


_cached = lru_cache(maxsize=32_768)(_bounds)


def _all_familiar(text: str) -> bool:
    """Whether every version of Unicode in use sorts the characters of ``text`` alike."""
    if _DOUBTFUL.search(text):
        return False
    return text.isascii() or all(map(_familiar, set(_NOT_ASCII.findall(text))))


@lru_cache(maxsize=8_192)
def _familiar(character: str) -> bool:
    """Whether ``character`` is no letter, mark or number, or has been of the same sort since Unicode 3.2."""
    now = unicodedata.category(character)
    return _SORTS[now] == "other" or _SORTS[now] == _SORTS[unicodedata.ucd_3_2_0.category(character)] != ""


# What the patterns tell apart: letters by case, marks, numbers, white space, all else; "" is unassigned.
_SORTS = {
    **{name: name for name in ("Lu", "Ll", "Lt", "Lm", "Lo")},
    **dict.fromkeys(("Mn", "Mc", "Me"), "mark"),
    **dict.fromkeys(("Nd", "Nl", "No"), "number"),
    **dict.fromkeys(("Zs", "Zl", "Zp"), "space"),
    **dict.fromkeys(
        ("Pc", "Pd", "Ps", "Pe", "Pi", "Pf", "Po", "Sm", "Sc", "Sk", "So", "Cc", "Cf", "Co"), "other"
    ),
    "Cs": "",
    "Cn": "",
}


def _most_tokens(piece: str) -> int:
    """The most tokens that either encoding makes of ``piece``, one match of its pattern."""
    return _searched(piece) if len(piece) <= SEARCHED_BYTES else len(piece.encode())


@lru_cache(maxsize=32_768)
def _searched(piece: str) -> int:
    content = piece.encode()
    shared, irregular = _facts()
    if len(content) == 1 or content in shared:
        return 1
    if len(content) > SEARCHED_BYTES:
        return len(content)
    return _finest_division(content, shared, irregular)


def _finest_division(content: bytes, shared: frozenset[bytes], irregular: frozenset[bytes]) -> int:
    """Parts of the finest division of ``content`` that could be the outcome of an encoding.

    Two neighbours together are never among ``shared``. ``counts[end][begin]`` is the most parts up to ``end``
    when the last is ``content[begin:end]``; ``begin`` is -1 for all parts over ``TRACKED_BYTES``.
    """
    size = len(content)
    whole = [position == size or content[position] & 0xC0 != 0x80 for position in range(size + 1)]
    counts: list[dict[int, int]] = [{-1: 0}]
    most_up_to = [0]
    for end in range(1, size + 1):
        ways: dict[int, int] = {}
        for begin in range(max(0, end - TRACKED_BYTES), end):
            part = content[begin:end]
            regular = whole[begin] and whole[end] and b"'" not in part
            if regular or end - begin == 1 or part in irregular:
                fits = [n for at, n in counts[begin].items() if at < 0 or content[at:end] not in shared]
                if fits:
                    ways[begin] = max(fits) + 1
        if end > TRACKED_BYTES:
            ways[-1] = most_up_to[end - TRACKED_BYTES - 1] + 1
        counts.append(ways)
        most_up_to.append(max(most_up_to[-1], *ways.values()) if ways else most_up_to[-1])
    return max(counts[size].values())


@cache
def _facts() -> tuple[frozenset[bytes], frozenset[bytes]]:
    """The strings that are one token in both encodings, and the irregular tokens of either."""
    content = gzip.decompress(files(__package__).joinpath("token_facts.gz").read_bytes())
    shared, irregular = content.split(b"\xff\xff")
    return frozenset(shared.split(b"\xff")), frozenset(irregular.split(b"\xff"))


@cache
def _patterns() -> tuple[Any, ...] | None:
    """The encodings' own patterns, compiled; None where tiktoken no longer tells them."""
    try:
        regex = import_module("regex")
        return tuple(regex.compile(pattern_of(name)) for name in ENCODINGS)
    except UNAVAILABLE:
        return None
