"""What somebody says they are called."""

from __future__ import annotations

from collections.abc import Iterator

from shared_core.extraction.expressions import Expression
from shared_core.extraction.fact import Fact
from shared_core.extraction.patterns.pattern import LIKELY, SURE
from shared_core.extraction.subjects import is_name
from shared_core.extraction.vocabulary import DEMONYMS, IDENTITIES, IRREGULAR_PARTICIPLES, PROFESSIONS

_GREETINGS = frozenset({"hi", "hello", "hey", "greetings", "morning", "afternoon", "evening", "howdy"})
_MY_NAME = Expression(
    r"(?:^|[,.!;] |\b(?:and|but|so|well) )my (?:full |first |real )?name(?: is|'s) "
    r"(?P<name>[\w'-]+(?: (?-i:[A-Z])[\w'-]+){0,3})",
    ignore_case=True,
)
_I_AM = Expression(
    r"(?:^|[,.!;] )(?:I am|I'm|[Tt]his is) (?P<name>[A-Z][a-zà-ÿ'-]+(?: [A-Z][a-zà-ÿ'-]+){0,2})"
    r"(?= (?:and|from)\b|[,.!]|$)"
)
#: These need no opening: "I'm Alice." and nothing more, "It's Alice here".
_ONLY_I_AM = Expression(r"^(?:[A-Za-z]+, )?(?:I am|I'm) (?P<name>[A-Z][a-zà-ÿ-]+(?: [A-Z][a-zà-ÿ-]+)?)[.!]*$")
_HERE = Expression(
    r"(?:^|[,.!;] )(?:[Ii]t is|[Ii]t's|[Tt]his is) (?P<name>[A-Z][a-zà-ÿ-]+(?: [A-Z][a-zà-ÿ-]+)?) "
    r"(?:here|speaking)\b"
)
_HERE_CUES = frozenset({"here", "speaking"})
#: In introductions without a word in the first person.
INTRODUCTIONS = _HERE_CUES | {"this"}
_NAME_HERE = Expression(r"(?:^|[,.!;] )(?P<name>[A-Z][a-zà-ÿ-]+) here(?=[,.!]|$)")
#: "Newbie here": no name.
_NOT_HERE = frozenset(
    "newbie noob beginner lurker first-timer over right up down out still back winter summer".split()
)
_CALL_ME = Expression(
    r"(?:^|[,.!;] |\b(?:and|but|so|just|please|can|always|everyone|friends|people|they) )"
    r"call(?:s)? me (?P<name>[\w'-]+(?: [A-Z][\w'-]+){0,2})(?=[.,!]|$| please\b| and\b| from now)",
    ignore_case=True,
)
_NOT_PERSONAL = (DEMONYMS, IDENTITIES, PROFESSIONS, IRREGULAR_PARTICIPLES, _NOT_HERE)
#: "Call me back", "call me crazy".
_NOT_CALLED = frozenset({"back", "when", "later", "if", "crazy", "out", "old"})


def find_names(text: str, words: frozenset[str], speaker: str, *, is_opening: bool) -> Iterator[Fact]:
    """The name that the speaker gives, and the one that they want to be called.

    Args:
        text: A sentence with contractions written out.
        words: Its words.
        speaker: Who said it.
        is_opening: Whether they may be introducing themselves.
    """
    if "name" in words or "name's" in words:
        match = _MY_NAME.search(text)
        if match and is_name(match["name"].split()[0]):
            yield from _named(speaker, match["name"], 1.0)
    else:
        greets = is_opening or not _GREETINGS.isdisjoint(words)
        match = (_I_AM if greets else _ONLY_I_AM).search(text)
        if match is None and not words.isdisjoint(_HERE_CUES):
            match = _HERE.search(text) or (_NAME_HERE.search(text) if greets else None)
        if match and _is_personal(match["name"]):
            yield from _named(speaker, match["name"], LIKELY)
    if "call" in words or "calls" in words:
        match = _CALL_ME.search(text)
        if match and is_name(match["name"]) and match["name"].lower() not in _NOT_CALLED:
            name = _capital(match["name"])
            yield Fact(f"{speaker} wants to be called {name}", "rule", SURE, speaker, "goes_by", name)


def _is_personal(name: str) -> bool:
    first = name.split()[0].lower()
    return is_name(first) and not any(first in words for words in _NOT_PERSONAL)


def _named(speaker: str, name: str, confidence: float) -> Iterator[Fact]:
    """The name as a fact, unless it is what the speaker is called here anyway."""
    name = _capital(name)
    if name.casefold() != speaker.casefold():
        yield Fact(f"{speaker}'s name is {name}", "name", confidence, speaker, "name", name)


def _capital(name: str) -> str:
    return name if name != name.lower() else name.title()
