"""Cuts the object out of a clause, and refuses what would not stand alone."""

from __future__ import annotations

import re

from shared_core.extraction.expressions import Expression
from shared_core.extraction.patterns.pattern import ObjectKind
from shared_core.extraction.sentences import MASK
from shared_core.extraction.vocabulary import DANGLING, NOT_NAMES, STOPS

MAX_WORDS: dict[ObjectKind, int] = {
    "place": 6,
    "organisation": 6,
    "thing": 7,
    "things": 8,
    "role": 5,
    "action": 12,
    "name": 4,
    "word": 3,
}
#: Parts of a list longer than this are phrases that "and" belongs to.
MAX_LISTED_WORDS = 3
PAIRS = frozenset(
    {
        "mac and cheese",
        "rock and roll",
        "fish and chips",
        "salt and pepper",
        "bread and butter",
        "peace and quiet",
    }
)

_CLAUSE_END = Expression(
    r"[;:!?()—–…\"]|, (?-i:(?=[A-Z]\w+ [a-z]+s\b))|, (?!and\b|or\b)(?=(?:which|who|where|when|because|but|so|"
    r"as|though|although|especially|even|since|it|that|this|you|they|he|she|we|"
    r"i|too|the|with|not|just|if)\b)"
    r"| -+ |-+ |\.(?= |$)"
    r"| (?:because|cause|cuz|but|so|since|although|though|when|whenever|while|"
    r"which|who|where|if|unless|until|till|after|before|even|that|than|as|like|"
    r"and (?:it|that|this|they|he|she|we|i|you|my|then|so|also|am|is|was|have|"
    r"really|always|would|do|will|can))\b"
    r"| ?[\U0001F000-\U0001FAFF\u2600-\u27BF]",
    ignore_case=True,
)
#: "ORMs that hide the SQL" are not ORMs.
_RESTRICTION = Expression(r" (?:that|who|which|where) \w")
_RESTRICTED_END = Expression(
    r"[.,;:!?()\"]| (?:because|but|so|since|although|when|and (?:it|that|they|he|she|we|i|you|my|then))\b",
    ignore_case=True,
)
_TAIL = Expression(
    r"(?:,? (?:now|too|also|either|as well|from now on|these days|nowadays|at the moment|currently|"
    r"right now|a lot|so much|very much|any ?more"
    r"|any longer|though|lately|the most|best|most of all|actually|honestly|again|"
    r"really|btw|lol|haha|you know|for sure|instead|much|more|together"
    r"|here|there|for (?:now|fun|everything|a living|work)|as you know|too much|"
    r"at all|myself|today|tonight|tomorrow|yesterday"
    r"|this (?:week|month|year|weekend|summer)|next (?:week|month|year|weekend|"
    r"summer)|last (?:week|month|year)|one day|some ?day|please|right|daily"
    r"|at (?:work|home|school|night)|every (?:single )?\w+|on (?:weekends|\w+days)|most days"
    r"|once an? \w+|on the side|(?:pretty|very|really|quite|fairly) well|well|a (?:little )?bit|a little"
    r"|in (?:january|february|march|april|may|june|july|august|september|october|november|december)"
    r"(?: \d{4})?|in (?:19|20)\d\d|(?:\w+|a few) years ago))+$",
    ignore_case=True,
)
_PROPER = Expression(
    r"(?:the )?(?:[A-Z0-9][\w'.&+-]*)(?: (?:(?:of|de|la|del|upon|and|&|the|for)(?: "
    r"(?:the|la))? (?=[A-Z])|)[A-Z0-9&][\w'.&+-]*)*"
    r"(?:, (?:[A-Z][\w.]+)(?: [A-Z]\w+)?(?=$|[.!,]))?"
)
_PLACE_END = Expression(
    r"[,.;:!?]| (?:with|for|since|now|to|near|until|by|at|last|next|this|in|on|"
    r"as|from|and|or|about|of|is|was)\b",
    ignore_case=True,
)
_ROLE_END = Expression(
    r"[,.]| (?:at|in|for|with|from|by|on|to|and|who|of|based|working|living|here|now|specializing)\b",
    ignore_case=True,
)
_POINTING = frozenset("it that this these those them him her you your".split())
_POINTING_STARTS = frozenset("how what when being i seeing their his its more less all both".split())
_OPEN_ENDS = frozenset("the a an of to and or with for in my your our is are at such".split())
#: What "the" points to without anything said before.
_UNIQUE = frozenset(
    "ocean sea beach mountains outdoors snow rain sun heat cold city countryside "
    "theatre theater cinema gym piano guitar violin "
    "drums opera ballet internet dark wilderness forest woods desert winter summer "
    "autumn spring fall moon stars weather news".split()
)
_NOT_PLACES = frozenset(
    "fear peace harmony hope love constant trouble debt pain luck a an the my "
    "our your his her their this that it here there "
    "home work school bed town downtown upstairs abroad person general fact theory "
    "where what such one".split()
)


def cut_object(text: str, kind: ObjectKind) -> str | None:
    """The object at the start of ``text``, without what trails off; None where there is no sound one."""
    if kind == "place":
        return _proper(text, may_have_article=False)
    if kind == "organisation":
        return _proper(text, may_have_article=True)
    found = _phrase(text)
    if kind == "action" and re.match(r" (?:that|this|than|as)\b", text[len(found) :]):
        return None
    if kind in ("thing", "things") and _RESTRICTION.match(text[len(found) :]):
        return _restricted(text)
    if kind == "role":
        match = _ROLE_END.search(found)
        found = found[: match.start()] if match else found
    elif kind == "name":
        match = _PROPER.match(found)
        found = match.group() if match else ""
        if found.lower() in NOT_NAMES:
            return None
    return found if is_sound(found, kind) else None


def listed(text: str) -> tuple[str, ...]:
    """The parts of a short list, "React, Vue and Svelte"; the text itself where it is none."""
    if text.lower() in PAIRS or (" and " not in text and ", " not in text):
        return (text,)
    parts = tuple(part.strip() for part in re.split(r",? and |, (?:or )?| & ", text) if part.strip())
    if len(parts) < 2 or any(len(part.split()) > MAX_LISTED_WORDS for part in parts):
        return (text,)
    if any(re.search(r"\b(?:with|of|to|my|in|for|at|on|about)\b", part) for part in parts):
        return (text,)
    return parts if all(is_sound(part, "things") for part in parts) else (text,)


def without_article(text: str) -> str:
    """``text`` without the article that begins it."""
    match = re.match(r"(?:an?|the|some) ", text, re.IGNORECASE)
    return text[match.end() :] if match else text


def is_sound(text: str, kind: ObjectKind) -> bool:
    """Whether ``text`` says something by itself: not "it", not "that one", not half a sentence."""
    words = text.lower().split()
    if not words or len(words) > MAX_WORDS[kind] or MASK in text or not any(char.isalnum() for char in text):
        return False
    if words[0] in _POINTING_STARTS or words[-1] in _OPEN_ENDS or not _POINTING.isdisjoint(words):
        return False
    is_pointed_at = words[0] == "the" and text == text.lower() and kind != "role" and words[1:2] != ["same"]
    if is_pointed_at and words[-1] not in _UNIQUE:
        return False
    content = [word for word in words if word.strip(".,'") not in STOPS]
    return bool(content) and not (len(words) <= 2 and words[-1] in DANGLING)


def _restricted(text: str) -> str | None:
    """A thing with the clause that says which one; None where that is long, and the thing alone not meant."""
    match = _RESTRICTED_END.search(text)
    found = (text[: match.start()] if match else text).strip(" '")
    return found if is_sound(found.replace(" that ", " which ", 1), "action") else None


def _phrase(text: str) -> str:
    """``text`` up to where another clause begins, without adverbs at its end."""
    match = _CLAUSE_END.search(text)
    phrase = text[: match.start()] if match else text
    phrase = phrase.strip(" ,.'")
    return _TAIL.sub("", phrase).strip(" ,.")


def _proper(text: str, *, may_have_article: bool) -> str | None:
    """A place or an organisation: a proper name, or one in small letters where it cannot be anything else."""
    match = _PROPER.match(text)
    if match:
        found = match.group().rstrip(".,'")
        found = re.sub(r"'s$", "", found)
        return found if found.lower() not in NOT_NAMES and is_sound(found, "place") else None
    found = _phrase(text)
    end = _PLACE_END.search(found)
    found = found[: end.start()].strip() if end else found
    first = found.split(" ")[0].lower()
    if may_have_article and re.match(r"an? \w", found):
        return found if is_sound(found, "organisation") else None
    if first in _NOT_PLACES or len(found.split()) > 2 or (found.endswith("ing") and " " not in found):
        return None
    return found if is_sound(found, "place") else None
