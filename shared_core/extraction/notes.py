"""What a user asks to be remembered in so many words: "Remember that the demo is on Friday"."""

from __future__ import annotations

from shared_core.extraction.clauses import expanded
from shared_core.extraction.expressions import Expression
from shared_core.extraction.fact import Fact
from shared_core.extraction.patterns.pattern import SURE
from shared_core.extraction.sentences import MASK, Sentence
from shared_core.extraction.third_person import in_third_person

_NOTE = Expression(
    r"^(?:(?:please|also|and|so|ok(?:ay)?|just|oh|hey|well|but|btw|by the way"
    r"|(?P<asked>can you|could you|will you)"
    r"|i want you to|i need you to|i would like you to|make sure (?:you|to)),? )*"
    r"(?:remember|note|take note|make a note|keep in mind|bear in mind|do not forget|never forget|memori[sz]e"
    r"|for future reference|for the record|for your information|fyi|be aware)"
    r"(?:(?: that|:) |,? (?=(?:i|my|we|our)\b))(?P<what>.+)$",
    ignore_case=True,
)
_CUES = frozenset(
    "remember note mind forget memorize memorise reference record information fyi aware".split()
)
#: A statement begins with one of these, with a name, or has a finite verb soon after its first noun;
#: "that book I was talking about" has neither.
_STATEMENT_STARTS = frozenset(
    "i my we our he she it they his her its their it's he's she's the a an this these all every each no some "
    "there there's any both most when if you your".split()
)
_FINITE = frozenset(
    "is are was were has have had does do did will would can could must may might needs should isn't aren't "
    "cannot does doesn't runs works uses lives starts ends costs likes".split()
)
_VERB_BY = 4
_MIN_WORDS = 3


def noted(sentence: Sentence) -> str | None:
    """What ``sentence`` asks to be remembered, in the speaker's words, or None."""
    if _CUES.isdisjoint(sentence.vocabulary):
        return None
    match = _NOTE.match(expanded(sentence))
    if match is None or MASK in match["what"] or (sentence.is_question and not match["asked"]):
        return None
    what = match["what"].strip(" .!?,")
    words = what.split()
    first = words[0].lower() if words else ""
    is_statement = (
        first in _STATEMENT_STARTS or what[:1].isupper() or not _FINITE.isdisjoint(words[1:_VERB_BY])
    )
    is_address = (
        first in ("you", "your") and not match["asked"] and what.lower().startswith(("you are", "you got"))
    )
    return what if is_statement and not is_address and len(words) >= _MIN_WORDS else None


def as_noted(what: str, speaker: str) -> Fact:
    """The note as a fact of its own, word for word in the third person."""
    text = in_third_person(what, speaker)
    return Fact(text[:1].upper() + text[1:], "other", SURE, speaker, "noted", what)
