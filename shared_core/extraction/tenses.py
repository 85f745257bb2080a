"""Whether a sentence tells of what happened, has happened or is happening."""

from __future__ import annotations

import re

from shared_core.extraction.agreement import is_past
from shared_core.extraction.expressions import Expression
from shared_core.extraction.sentences import Sentence
from shared_core.extraction.vocabulary import IRREGULAR_PARTICIPLES, NOT_DOING

_DOING = Expression(
    r"\b(?:i'm|im|i am|we're|we are|i've been|we've been|i have been|we have been) "
    r"(?:(?:also|now|currently|still|just|really|actually|always) ){0,2}(?P<verb>[a-z]+ing)\b",
    ignore_case=True,
)
_PERFECT = Expression(
    r"(?<!who )(?<!that )(?<!which )"
    r"\b(?:i've|we've|i have|we have|has|have|he's|she's|they've) (?:(?:just|finally|"
    r"already|recently|also|always|really|even) ){0,2}(?P<verb>[a-z]+)\b",
    ignore_case=True,
)
_HAVE = frozenset("i've we've have has he's she's they've".split())
_STATIVE = frozenset(
    "is are am be i'm we're you're he's she's they're it's that's so very really a an named called "
    "last".split()
)
#: "I've got a dog" is a possession.
_HAVING = frozenset({("have", "got"), ("i've", "got"), ("we've", "got"), ("has", "got")})
#: After these a verb that looks past ("put", "let", "read") is in its base form.
_BEFORE_BASE = frozenset(
    "to can can't cannot will won't would wouldn't could couldn't should shouldn't "
    "might must may don't doesn't didn't do does "
    "did i'll we'll you'll they'll let let's please gonna".split()
)
_SAID_NOTHING = frozenset("named called wondering bet guessed".split())


#: "As a kid I loved dinosaurs", "When I was little we had a dog": how it was, not what happened.
_CHILDHOOD = Expression(
    r"\b(?:as an? (?:kid|child|boy|girl|toddler|teen|teenager)|as (?:kids|children|teens|teenagers)"
    r"|growing up|in my (?:childhood|youth|teens)"
    r"|when (?:i|we) (?:was|were) (?:(?:a|very|so|really) )?(?:\w+ )?"
    r"(?:kids?|child|children|boy|girl|teenagers?|little|young|small|younger))\b",
    ignore_case=True,
)
_CHILDHOOD_CUES = frozenset(
    "kid kids child children boy girl toddler teen teens teenager teenagers growing childhood youth little "
    "young small younger".split()
)
_STATES = frozenset(
    "was were had loved liked hated enjoyed adored lived believed thought knew used feared shared".split()
)
#: "I have never liked …", "I haven't lived there for years".
_NEGATED_PERFECT = Expression(
    r"\b(?:i've|we've|(?:i|we) have) (?:never|not)\b|\b(?:i|we) (?:never have|haven't)\b", ignore_case=True
)
_HABITUAL = frozenset({"would", "i'd", "we'd"})
_NEGATIONS = frozenset({"never", "not", "haven't"})
_CLAUSE = Expression(r"^.*?(?=[,;:.!–—]| (?:but|and|so) |$)")


def is_lasting(sentence: Sentence) -> bool:
    """Whether it only tells how something used to be, or what has never been: no moment."""
    if not _CHILDHOOD_CUES.isdisjoint(sentence.vocabulary):
        match = _CHILDHOOD.search(sentence.text)
        if match is not None:
            pasts = [word for word in _without(match, sentence.text) if is_past(word)]
            return bool(pasts) and _HABITUAL.isdisjoint(sentence.vocabulary) and _STATES.issuperset(pasts)
    if _NEGATIONS.isdisjoint(sentence.vocabulary):
        return False
    match = _NEGATED_PERFECT.search(sentence.text)
    if match is None:
        return False
    rest = f"{sentence.text[: match.start()]} {_CLAUSE.sub('', sentence.text[match.end() :])}"
    return not (has_past(tuple(rest.lower().split())) or is_doing(rest) or _PERFECT.search(rest))


def _without(match: re.Match[str], text: str) -> list[str]:
    words = f"{text[: match.start()]} {text[match.end() :]}".lower().split()
    return [word.strip(",.!?;") for word in words]


def has_past(words: tuple[str, ...]) -> bool:
    """Whether something happened: a verb in the past that is neither "is called" nor "used to"."""
    for before, word, after in zip(("", *words[:-1]), words, (*words[1:], ""), strict=True):
        if (
            is_past(word)
            and before not in _STATIVE
            and before not in _BEFORE_BASE
            and word not in _SAID_NOTHING
            and (before, word) not in _HAVING
            and (word, after) != ("used", "to")
        ):
            return True
    return False


def is_doing(text: str) -> bool:
    """Whether the speaker is in the middle of something."""
    match = _DOING.search(text) if "ing" in text else None
    return match is not None and match["verb"].lower() not in NOT_DOING


def has_perfect(sentence: Sentence) -> bool:
    """Whether something has happened, in the perfect; "I've got" is a possession."""
    if _HAVE.isdisjoint(sentence.vocabulary):
        return False
    match = _PERFECT.search(sentence.text)
    if match is None:
        return False
    verb = match["verb"].lower()
    return verb != "got" and (verb in IRREGULAR_PARTICIPLES or is_past(verb))
