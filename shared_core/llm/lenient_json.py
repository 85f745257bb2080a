"""JSON as language models write it: found in prose, forgiven small faults, saved where it is cut off."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["MAX_CHARACTERS", "MAX_DEPTH", "Found", "find_json"]

#: Of a longer answer the rest is not read.
MAX_CHARACTERS = 200_000
#: What is nested deeper is nobody's answer.
MAX_DEPTH = 50
#: Brackets that are tried as a beginning; prose has a few, an answer does not have hundreds.
_MAX_STARTS = 200

_THOUGHTS = re.compile(r"<(think|thinking|thought|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_START = re.compile(r"[\[{]")
_SPACE = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")
_BARE = re.compile(r"[A-Za-z_][\w-]*")
_AFTER_STRING = re.compile(r"\s*(?:[,:\]}\[{\"'“]|//|/\*|\Z)")
_PLAIN = re.compile(r"[^\"'“”\\]+")
_LITERALS = {
    "true": True,
    "false": False,
    "null": None,
    "none": None,
    "undefined": None,
    "nan": None,
    "infinity": None,
}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_QUOTES = {'"': '"', "'": "'", "“": "”"}


@dataclass(frozen=True)
class Found:
    """JSON that stood in a text.

    Attributes:
        value: Plain JSON: no NaN, no infinity, no lone surrogate.
        is_exact: Whether it is JSON as it stands.
        lost: Items of lists that were cut off, and left out.
    """

    value: Any
    is_exact: bool
    lost: int = 0


class _Malformed(Exception):
    """Not JSON, by any rule."""


def find_json(text: str) -> Iterator[Found]:
    """Each object or list in ``text``, in order; all of ``text`` where it is JSON as it stands.

    Forgiven are prose and fences around it, thoughts in tags before it, comments, trailing and missing
    commas, single and curly quotes, quotes in strings, bare keys, ``None`` and ``True``, line breaks in
    strings. Where the text ends too soon, or makes no sense any more, what is complete is kept: an object in
    a list only as a whole, a list as far as it goes.
    """
    try:
        value = json.loads(text, parse_constant=lambda _: None)
        if isinstance(value, (dict, list)):
            yield Found(_plain(value), is_exact=True)
            return
    except (ValueError, RecursionError, _Malformed):
        pass
    text = _THOUGHTS.sub("", text)[:MAX_CHARACTERS].replace("\ufeff", "")
    place = 0
    for _ in range(_MAX_STARTS):
        start = _START.search(text, place)
        if start is None:
            return
        reader = _Reader(text, start.start())
        try:
            value = _plain(reader.value(0))
        except _Malformed:
            place = start.start() + 1
            continue
        place = reader.place
        yield Found(value, is_exact=False, lost=reader.lost)


def _plain(value: Any, depth: int = 0) -> Any:
    if depth > MAX_DEPTH:
        raise _Malformed
    if isinstance(value, dict):
        return {_whole(key): _plain(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner, depth + 1) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return _whole(value) if isinstance(value, str) else value


def _whole(text: str) -> str:
    """``text`` with the halves of surrogate pairs joined, or replaced where one is missing."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


class _Reader:
    """Reads one value from a place on; ``is_cut`` once the text ended, or made no sense, before it did."""

    def __init__(self, text: str, place: int) -> None:
        self.text = text
        self.place = place
        self.is_cut = False
        self.lost = 0

    def value(self, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise _Malformed
        mark = self._next()
        if mark == "{":
            return self._object(depth)
        if mark == "[":
            return self._list(depth)
        if mark in _QUOTES:
            return self._string(_QUOTES[mark])
        return self._scalar()

    def _next(self) -> str:
        match = _SPACE.match(self.text, self.place)
        self.place = match.end() if match else self.place
        return self.text[self.place : self.place + 1]

    def _object(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        self.place += 1
        while not self._is_over("}"):
            try:
                key = self._key()
                value = self.value(depth + 1)
            except _Malformed:
                if not found:
                    raise
                self.is_cut = True
                return found
            if not self.is_cut or isinstance(value, (dict, list)):
                found[key] = value
            if self.is_cut:
                return found
        return found

    def _list(self, depth: int) -> list[Any]:
        found: list[Any] = []
        self.place += 1
        while not self._is_over("]"):
            try:
                value = self.value(depth + 1)
            except _Malformed:
                if not found:
                    raise
                self.is_cut = True
            if self.is_cut:
                self.lost += 1
                return found
            found.append(value)
        return found

    def _is_over(self, closing: str) -> bool:
        """Whether ``closing``, or the end of the text, comes next, after any commas."""
        while (mark := self._next()) == ",":
            self.place += 1
        if mark and mark != closing:
            return False
        self.place += 1
        self.is_cut = self.is_cut or not mark
        return True

    def _key(self) -> str:
        mark = self._next()
        if mark in _QUOTES:
            key = self._string(_QUOTES[mark])
        else:
            match = _BARE.match(self.text, self.place)
            if match is None:
                raise _Malformed
            self.place = match.end()
            key = match.group()
        if self._next() not in (":", ""):
            raise _Malformed
        self.place += 1
        return key

    def _string(self, closing: str) -> str:
        parts: list[str] = []
        self.place += 1
        while True:
            match = _PLAIN.match(self.text, self.place)
            if match:
                parts.append(match.group())
                self.place = match.end()
            mark = self.text[self.place : self.place + 1]
            if not mark:
                self.is_cut = True
                return "".join(parts)
            self.place += 1
            if mark == closing and self._ends_here():
                return "".join(parts)
            parts.append(self._escaped() if mark == "\\" else mark)

    def _ends_here(self) -> bool:
        """Whether a quotation mark just read ends its string: a part of the text has words after it."""
        match = _AFTER_STRING.match(self.text, self.place)
        return match is not None

    def _escaped(self) -> str:
        mark = self.text[self.place : self.place + 1]
        self.place += 1
        if mark != "u":
            return _ESCAPES.get(mark, mark)
        digits = self.text[self.place : self.place + 4]
        if re.fullmatch(r"[0-9a-fA-F]{4}", digits):
            self.place += 4
            return chr(int(digits, 16))
        return mark

    def _scalar(self) -> Any:
        if self.place >= len(self.text):
            self.is_cut = True
            return None
        match = _NUMBER.match(self.text, self.place) or _BARE.match(self.text, self.place)
        if match is None:
            raise _Malformed
        self.place = match.end()
        self.is_cut = self.place >= len(self.text)
        word = match.group()
        if word[0].isalpha() or word[0] == "_":
            if word.lower() not in _LITERALS and not self.is_cut:
                raise _Malformed
            return _LITERALS.get(word.lower())
        return _number(word)


def _number(word: str) -> int | float | None:
    try:
        return int(word)
    except ValueError:
        return float(word) if len(word) < 400 else None
