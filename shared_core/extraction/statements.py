"""Facts that one clause states by one of the patterns."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from shared_core.extraction.clause import Clause
from shared_core.extraction.expressions import Expression
from shared_core.extraction.fact import Fact
from shared_core.extraction.objects import cut_object, listed, without_article
from shared_core.extraction.patterns import patterns_for
from shared_core.extraction.patterns.pattern import Pattern
from shared_core.extraction.patterns.places import FROM, LIVES_IN, MOVED_TO
from shared_core.extraction.patterns.work import IS_A, WORKS_AS, WORKS_AT
from shared_core.extraction.predicates import NO_LONGER, NOT
from shared_core.extraction.third_person import in_third_person
from shared_core.extraction.vocabulary import FIRST_PERSON, IDENTITIES, LANGUAGES, NOT_GOALS, PROFESSIONS

#: What being about a third person takes from the confidence.
THIRD_PERSON_COST = 0.1

_ROLE_AT = Expression(r"\b(?:at|with|for) (?P<object>(?:the )?[A-Z].*)$")
_ROLE_FROM = Expression(r"\bfrom (?P<object>[A-Z].*)$")
_ROLE_IN = Expression(r"\b(?:based|living|located) in (?P<object>.+)$")
_ROLE_AS = Expression(r"\bas an? (?P<object>.+)$")
_MOVED_TO = Expression(r"\bto (?P<object>.+)$")
_SOON = Expression(
    r"\b(?:next|this|last|tomorrow|today|tonight|yesterday|soon|now|again)\b", ignore_case=True
)
_INSTRUMENT = Expression(
    r"violin|guitar|piano|drums?|cello|flute|trumpet|saxophone|bass|harp|viola|clarinet|ukulele|banjo|organ",
    ignore_case=True,
)
#: "I work as a team": no roles.
_NOT_ROLES = frozenset({"team", "result", "group", "couple"})
_DIETS = frozenset({"vegetarian", "vegan", "pescatarian"})


def find_statements(clause: Clause) -> Iterator[Fact]:
    """What the first pattern that fits finds in ``clause``."""
    for pattern in patterns_for(clause.rest.split(" ", 1)[0].lower()):
        if not clause.subject.is_self and not pattern.is_anyones:
            continue
        if clause.polarity != "yes" and not pattern.is_negatable:
            continue
        match = pattern.match(clause.rest)
        facts = list(_matched(pattern, match, clause)) if match else []
        if facts:
            yield from facts
            return


def _matched(pattern: Pattern, match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    text = match.groupdict().get("object") or clause.rest[match.end() :]
    if pattern is IS_A:
        yield from _is_a(match.group(), text, clause)
        return
    found = cut_object(text, pattern.kind)
    if found is None:
        return
    if not FIRST_PERSON.isdisjoint(found.lower().split()):
        found = in_third_person(found, clause.subject.name, is_named=True)
    if not _is_worth_keeping(pattern, found, clause):
        return
    if pattern.predicate in ("has_sibling", "has_children"):
        found = found.split(",")[0]
    for part in listed(found) if pattern.kind in ("things", "name") else (found,):
        if pattern.predicate != "speaks" or part.split()[-1].lower() in LANGUAGES:
            yield _fact(pattern, part, clause)
    yield from _more(pattern, text, clause)


def _is_worth_keeping(pattern: Pattern, found: str, clause: Clause) -> bool:
    words = found.lower().split()
    if pattern.predicate == "eats":
        return clause.polarity != "yes"
    if pattern.predicate == "wants_to":  # a plan with a date is a moment
        return not _SOON.search(found) and words[0] not in NOT_GOALS
    return pattern is not WORKS_AS or words[-1] not in _NOT_ROLES


def _more(pattern: Pattern, text: str, clause: Clause) -> Iterator[Fact]:
    """What else a clause says: where somebody moved, for whom and as what they work."""
    if pattern.predicate == "moved_from":
        yield from _stated(MOVED_TO, _MOVED_TO, text, clause)
    if pattern is WORKS_AS:
        yield from _stated(WORKS_AT, _ROLE_AT, text, clause)
    if pattern.predicate == "works_at" and clause.polarity == "yes":
        yield from _stated(WORKS_AS, _ROLE_AS, text, clause)


def _stated(pattern: Pattern, expression: Expression, text: str, clause: Clause) -> Iterator[Fact]:
    match = expression.search(text)
    found = cut_object(match["object"], pattern.kind) if match else None
    if found:
        yield _fact(pattern, found, clause)


def _is_a(opening: str, text: str, clause: Clause) -> Iterator[Fact]:
    """What "I'm a nurse" says: work, where the word is a profession; else what somebody is."""
    found = cut_object(text, "role")
    if found is None:
        return
    head = found.split()[-1].lower()
    article = opening.strip().split(" ")[-1].lower()
    if head in PROFESSIONS:
        yield _fact(IS_A, found, clause, article=article)
        if clause.polarity != "not":
            yield from _stated(WORKS_AT, _ROLE_AT, text, clause)
        if clause.polarity == "yes":
            yield from _stated(FROM, _ROLE_FROM, text, clause)
            yield from _stated(LIVES_IN, _ROLE_IN, text, clause)
    elif head in IDENTITIES and article != "the":
        is_diet = head in _DIETS
        predicate = "diet" if is_diet else "is_a"
        identity = replace(IS_A, predicate=predicate, category="health" if is_diet else "other")
        yield _fact(identity, found, clause, article=article)


def _fact(pattern: Pattern, found: str, clause: Clause, *, article: str = "") -> Fact:
    """The fact in words and as a triplet, with its polarity in both."""
    subject = clause.subject
    shown = f"{article or _article(pattern, found)} {found}".lstrip()
    if pattern.kind == "role" or (pattern.kind in ("thing", "things") and pattern.category != "work"):
        found = without_article(found)
    confidence = pattern.confidence if subject.is_self else round(pattern.confidence - THIRD_PERSON_COST, 2)
    text = f"{subject.shown} {_verb(pattern, clause)} {shown}"
    return Fact(text, pattern.category, confidence, subject.name, _predicate(pattern, clause), found)


def _article(pattern: Pattern, found: str) -> str:
    if pattern.predicate == "works_as":
        return "an" if found[0].lower() in "aeiou" else "a"
    return "the" if pattern.predicate == "plays" and _INSTRUMENT.fullmatch(found) else ""


def _predicate(pattern: Pattern, clause: Clause) -> str:
    predicate = pattern.predicate
    if clause.polarity == "yes":
        return predicate
    if clause.polarity == "not" and predicate in ("likes", "loves"):
        return "dislikes"
    return (NOT if clause.polarity == "not" else NO_LONGER) + predicate


def _verb(pattern: Pattern, clause: Clause) -> str:
    """The verb of a sentence that something is so, is not so, or no longer is."""
    base, is_plural = pattern.base, clause.subject.is_plural
    is_be = base == "be" or base.startswith("be ")
    be = "are" if is_plural else "is"
    if clause.polarity == "yes":
        if not is_plural:
            return pattern.verb
        return f"are{base[2:]}" if is_be else base
    if clause.polarity == "not":
        return f"{be} not{base[2:]}" if is_be else f"{'do' if is_plural else 'does'} not {base}"
    if clause.used_to:
        return f"used to {base}"
    if is_be:
        return f"{be} no longer{base[2:]}"
    return f"no longer {base if is_plural else pattern.verb}"
