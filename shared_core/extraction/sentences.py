"""Prose out of a message, cut into sentences: code, tracebacks and links are left out, the work is capped."""

from __future__ import annotations

import re
from dataclasses import dataclass

from shared_core.extraction.expressions import Expression
from shared_core.extraction.vocabulary import REPORTING

#: What is looked at of a message, so that a pasted megabyte costs no more than a long letter.
MAX_MESSAGE_CHARS = 20_000
MAX_SENTENCES = 80
#: Longer ones are lists, logs or data rather than speech.
MAX_SENTENCE_CHARS = 400
MIN_SENTENCE_CHARS = 4
#: A longer quotation is somebody's speech, a shorter one may be a title.
MAX_TITLE_WORDS = 6

#: Stands for a quotation in ``Sentence.plain``; no word of a fact may contain it.
MASK = "\x1a"

_PLAIN_QUOTES = str.maketrans(
    {"’": "'", "‘": "'", "ʼ": "'", "“": '"', "”": '"', "„": '"', "\u00a0": " ", "\x00": " "}
)
_FENCE = Expression(r"^\s{0,3}(?:```|~~~)")
_TRACE = Expression(r"^\s*(?:Traceback \(|File \"|at [\w.$]+\(|\w+(?:Error|Exception)\b:|[>$#] |\|)")
_CODE_LINE = Expression(
    r"^(?:\t| {4})|[{};]\s*$|^\s*(?:def|class|import|from \S+ import|return|SELECT|"
    r"INSERT|const|var|let|#include)\b.*[\w)(:=;]$"
)
_CODE_SIGN = Expression(r"[{}();=<>\[\]]|\\|^\s*import\b|import\s+\w+\s*$")
_LINK = Expression(r"(?:https?://|www\.)\S{1,2000}")
_INLINE_CODE = Expression(r"`[^`\n]{1,300}`")
_MARKUP = Expression(r"^\s*(?:[-*•]\s+|\d{1,3}[.)]\s+|#{1,6}\s+|>\s?)")
_END = Expression(r"[.!?…]{1,9}[\"')\]]{0,3}\s+|\n\s*")
_ABBREVIATION = Expression(r"\b(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|etc|e\.g|i\.e|approx|No|a\.m|p\.m|[A-Z])\.$")
_QUOTED = Expression(r'"([^"]{1,400})"')
_SAID_QUOTE = Expression(r"[:,]\s*'([^\"]{2,400})'")
_SPEECH = Expression(r"\b(?:i|i'm|my|me|we|you|your)\b", ignore_case=True)
_WORD = Expression(r"[^\W_][\w'’-]*")


@dataclass(frozen=True)
class Sentence:
    """One sentence, prepared once for all rules.

    Attributes:
        text: As said, on one line, with plain apostrophes.
        plain: The same with quoted speech masked, for what may be attributed to the speaker.
        words: Lower-case words of ``plain``, in order.
        vocabulary: The same as a set.
        is_question: Whether it asks.
        has_quote: Whether something was masked.
    """

    text: str
    plain: str
    words: tuple[str, ...]
    vocabulary: frozenset[str]
    is_question: bool
    has_quote: bool


def sentences(content: str) -> list[Sentence]:
    """The sentences of a message that are prose, at most ``MAX_SENTENCES`` of them."""
    found: list[Sentence] = []
    for piece in _pieces(_prose(content[:MAX_MESSAGE_CHARS])):
        if MIN_SENTENCE_CHARS <= len(piece) <= MAX_SENTENCE_CHARS:
            found.append(_sentence(piece))
            if len(found) == MAX_SENTENCES:
                break
    return found


def _prose(content: str) -> str:
    """``content`` without code, tracebacks, links and list marks."""
    text = content.translate(_PLAIN_QUOTES)
    if "://" in text or "www." in text:
        text = _LINK.sub(" ", text)
    if "\n" not in text and "`" not in text:
        return text
    lines: list[str] = []
    in_fence = False
    for line in text.splitlines():
        if _FENCE.match(line):
            in_fence = not in_fence
        elif not in_fence and not _is_code(line):
            lines.append(_MARKUP.sub("", line))
    return _INLINE_CODE.sub(_inline, "\n".join(lines))


def _inline(match: re.Match[str]) -> str:
    """Inline code that is one word (a name) is kept as that word."""
    inner = match.group()[1:-1]
    return inner if re.fullmatch(r"[\w.+#-]{1,40}", inner) else " "


def _is_code(line: str) -> bool:
    if _TRACE.match(line):
        return True
    return bool(_CODE_LINE.search(line)) and bool(_CODE_SIGN.search(line) or line.startswith(("    ", "\t")))


def _pieces(text: str) -> list[str]:
    """``text`` cut at the ends of sentences, but not after an abbreviation."""
    pieces: list[str] = []
    start = 0
    for match in _END.finditer(text):
        piece = text[start : match.end()].strip()
        if match.group()[0] == "." and "\n" not in match.group():
            following = text[match.end() : match.end() + 1]
            if following.islower() or _ABBREVIATION.search(piece[-6:]):
                continue
        if piece:
            pieces.append(piece)
        start = match.end()
    rest = text[start:].strip()
    return [*pieces, rest] if rest else pieces


def _sentence(piece: str) -> Sentence:
    text = " ".join(piece.split())
    plain = text
    if '"' in plain:
        plain = _QUOTED.sub(_masked, plain)
    words = tuple(_WORD.findall(plain.lower()))
    if "'" in plain and not REPORTING.isdisjoint(words):
        plain = _SAID_QUOTE.sub(f": {MASK}", plain)
        words = tuple(_WORD.findall(plain.lower()))
    return Sentence(text, plain, words, frozenset(words), "?" in plain[-4:], MASK in plain)


def _masked(match: re.Match[str]) -> str:
    """A quotation in which somebody speaks becomes ``MASK``; a title stays, without its marks."""
    inner = match.group(1)
    is_speech = _SPEECH.search(inner) or len(inner.split()) > MAX_TITLE_WORDS
    return MASK if is_speech else inner
