"""The one person whom a sentence names beside its speaker, for the "she" of the next sentence."""

from __future__ import annotations

from collections.abc import Iterable

from shared_core.extraction.agreement import is_past
from shared_core.extraction.clause import Subject
from shared_core.extraction.expressions import Expression, any_of
from shared_core.extraction.fact import Fact
from shared_core.extraction.sentences import Sentence
from shared_core.extraction.subjects import is_name
from shared_core.extraction.verbs import BASE_FORMS
from shared_core.extraction.vocabulary import PLURAL_RELATIONS, RELATIONS

_BEGINS = frozenset({"she", "he", "she's", "he's"})
_RELATIVE = Expression(rf"\b(?:[Mm]y|[Oo]ur) (?:[a-z-]+ )?(?P<relation>{any_of(RELATIONS)})\b(?!')")
_CAPITAL = Expression(r"(?P<before>[\w'-]+,? )?\b(?P<name>[A-Z][a-zà-ÿ'-]+)")
#: What follows these is a place, a time or an organisation.
_BEFORE_PLACES = frozenset("in at from to near for on of the a an as called speaks speak uses use".split())


def person_named(
    sentence: Sentence, facts: Iterable[Fact], speaker: str, before: Subject | None
) -> Subject | None:
    """Whom "she" or "he" in the sentence after ``sentence`` can only mean; None where that is not plain.

    Args:
        sentence: What was said.
        facts: What was learnt from it.
        speaker: Who said it.
        before: The same for the sentence before it, which holds on while it is spoken of.
    """
    people = _called(facts, speaker)
    words = [word for word in sentence.words if word.removesuffix("'s") in RELATIONS]
    for match in _RELATIVE.finditer(sentence.plain):
        relation = match["relation"].lower()
        if not any(person.relation == relation for person in people.values()):
            possessive = f"{speaker}'s {relation}"
            people[possessive] = Subject(possessive, possessive, relation)
    for name in _names(sentence.plain):
        if name not in people and not any(name in person.split() for person in (*people, *_objects(facts))):
            people[name] = Subject(name, name)
    if not people and not _BEGINS.isdisjoint(sentence.words[:1]):
        return before
    if len(people) != 1 or len(words) > 1 or not PLURAL_RELATIONS.isdisjoint(words):
        return None
    return next(iter(people.values()))


def _called(facts: Iterable[Fact], speaker: str) -> dict[str, Subject]:
    """Relatives and pets that facts give a name."""
    people: dict[str, Subject] = {}
    for fact in facts:
        kind = fact.predicate.removeprefix("has_").removeprefix("ex_")
        if fact.predicate.startswith("has_") and kind in RELATIONS and fact.object[:1].isupper():
            said = fact.text.removeprefix(f"{speaker}'s ").split(" is called")[0]
            people[fact.object] = Subject(fact.object, f"{speaker}'s {said} {fact.object}", said)
    return people


def _objects(facts: Iterable[Fact]) -> list[str]:
    return [fact.object for fact in facts]


def _names(text: str) -> list[str]:
    """Capitalised words that can be persons."""
    found = []
    for match in _CAPITAL.finditer(text):
        before, name = (match["before"] or "").strip(" ,").lower(), match["name"]
        if match.start("name") == 0 and not _is_subject(text[match.end() :]):
            continue
        if before not in _BEFORE_PLACES and name != "I" and "'" not in name and is_name(name):
            found.append(name)
    return found


def _is_subject(following: str) -> bool:
    """Whether a verb follows, so that the first word of a sentence is a name."""
    verb = following.lower().split()[0] if following.strip() else ""
    return verb in BASE_FORMS or is_past(verb) or verb in ("and", "will", "can")
