"""Relatives, friends and pets of a speaker, and their names."""

from __future__ import annotations

from collections.abc import Iterator

from shared_core.extraction.expressions import Expression
from shared_core.extraction.fact import Fact
from shared_core.extraction.objects import listed
from shared_core.extraction.patterns.household import PET, SIBLING
from shared_core.extraction.patterns.pattern import LIKELY, SURE
from shared_core.extraction.subjects import is_name
from shared_core.extraction.vocabulary import RELATIONS
from shared_core.records import Category

_NAMED_THING = Expression(
    r"\b(?:[Mm]y|[Oo]ur) (?:[\w-]+ )?(?P<relation>(?!is\b|are\b)[\w-]+)(?:'s? names? (?:is|are)"
    r"| are(?= [A-Z]\w+ and [A-Z])| is (?:called|named)| are (?:called|named)|,? named|,? called) "
    r"(?P<name>[A-Z][\w-]+(?:(?:, | and )[A-Z][\w-]+)*)"
)
_APPOSED = Expression(
    r"\b(?:[Mm]y|[Oo]ur) (?:(?!new\b)[a-z-]+ )?(?P<relation>[a-zé-]+),? (?P<name>[A-Z][a-zà-ÿ-]+)\b(?!')"
)
_IS_MY = Expression(r"^(?P<name>[A-Z][\w-]+) is my (?:[a-z]+ )?(?P<relation>[a-z]+)(?=[.,!]|$| and\b)")
_HAVER = Expression(r"\b(?:I|We|we|i|and|also|just|recently|finally) $")


_AT_WORK = frozenset({"boss", "colleague"})


def names_relative(words: frozenset[str]) -> bool:
    """Whether a sentence with these words may speak of a relative: a quick look before ``find_relatives``."""
    return not words.isdisjoint(RELATIONS) or any(
        word.endswith("'s") and word[:-2] in RELATIONS for word in words
    )


def find_relatives(text: str, speaker: str) -> Iterator[Fact]:
    """Whom ``text``, with contractions written out, names as somebody of the speaker's."""
    seen: set[str] = set()
    for expression in (_NAMED_THING, _APPOSED, _IS_MY):
        for match in expression.finditer(text):
            relation = match["relation"].lower()
            if relation.removeprefix("ex-") not in RELATIONS or not is_name(match["name"].split()[0]):
                continue
            for name in listed(match["name"]):
                if name not in seen:
                    seen.add(name)
                    yield from _called(speaker, relation, name)
    for expression in (PET, SIBLING):
        having = expression.search(text)
        if having is None or not _HAVER.search(text[: having.start()]):
            continue
        kind, name = having["kind"], having["name"] or having["bare"]
        if not name or not is_name(name):
            predicate = "has_pet" if expression is PET else f"has_{kind}"
            category: Category = "possession" if expression is PET else "family"
            yield Fact(f"{speaker} has a {kind}", category, LIKELY, speaker, predicate, kind)
        elif name not in seen:
            yield from _called(speaker, kind, name)


def _called(speaker: str, relation: str, name: str) -> Iterator[Fact]:
    """``User's sister is called Anna``; of a pet also what it is."""
    one = _singular(relation)
    kind = RELATIONS.get(relation.removeprefix("ex-"), relation)
    is_pet = kind == "pet"
    predicate = f"has_ex_{kind}" if relation.startswith("ex-") else f"has_{kind}"
    category: Category = "possession" if is_pet else "work" if kind in _AT_WORK else "family"
    yield Fact(f"{speaker}'s {one} is called {name}", category, SURE, speaker, predicate, name)
    if is_pet and one != "pet":
        yield Fact("", category, SURE, name, "is_a", one)


def _singular(relation: str) -> str:
    if relation in ("kids", "children"):
        return "child"
    if relation.endswith("ies"):
        return f"{relation[:-3]}y"
    if relation in RELATIONS and relation.endswith("s") and relation != "boss":
        return relation[:-1]
    return relation
