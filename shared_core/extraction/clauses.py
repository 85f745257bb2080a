"""Clauses of a sentence: who it is about, what is said of it, and whether it is affirmed, denied or over."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from shared_core.extraction.sentences import Sentence
from shared_core.extraction.vocabulary import (
    FIRST_PERSON,
    HYPOTHETICAL,
    NOT_NAMES,
    PLURAL_RELATIONS,
    RELATIONS,
    REPORTING,
)

Polarity = Literal["yes", "no_longer", "not"]

_CONTRACTIONS = {
    "i'm": "I am",
    "im": "I am",
    "i've": "I have",
    "ive": "I have",
    "i'd": "I would",
    "i'll": "I will",
    "we're": "we are",
    "we've": "we have",
    "we'd": "we would",
    "we'll": "we will",
    "don't": "do not",
    "dont": "do not",
    "doesn't": "does not",
    "doesnt": "does not",
    "didn't": "did not",
    "can't": "cannot",
    "cant": "cannot",
    "won't": "will not",
    "wouldn't": "would not",
    "isn't": "is not",
    "aren't": "are not",
    "haven't": "have not",
    "hasn't": "has not",
    "wasn't": "was not",
    "weren't": "were not",
    "couldn't": "could not",
    "shouldn't": "should not",
}
_CONTRACTION = re.compile(rf"\b(?:{'|'.join(sorted(_CONTRACTIONS, key=len, reverse=True))})\b", re.IGNORECASE)
_CONTRACTED = frozenset(_CONTRACTIONS)

_LINK = r"(?:and|but|so|because|since|plus|also|while|although|though|then)"
_SUBJECT_AHEAD = r"(?=(?:i|my|we|our)\b)"
_NAME_AHEAD = (
    r"(?=[A-Z][\w.+#-]* (?:is|has|works|lives|uses|loves|likes|prefers|speaks|"
    r"plays|studies|no longer|does not)\b)"
)
_CUT = re.compile(
    rf"(?:[,;:—–!.] | -+ | (?={_LINK} ))(?:{_LINK} ){{0,2}}(?i:{_SUBJECT_AHEAD})"
    rf"|(?:[;:—–!.] |, (?={_LINK} )| (?={_LINK} ))(?:{_LINK} ){{1,2}}{_NAME_AHEAD}",
)
_SHARED_SUBJECT = re.compile(
    r"(?:,| )\s?(?:and|but)(?: also| now| currently| really)? "
    r"(?=(?:works?|lives?|have|has|loves?|likes?|enjoys?|hates?|prefers?|uses?|"
    r"speaks?|study|studies|plays?|owns?|do not|does not|am|is)\b)",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"(?:(?:well|yeah|yes|yep|no|nope|oh|ah|hey|hi|hello|ok|okay|so|and|but|also|"
    r"actually|honestly|personally|btw|by the way"
    r"|fyi|in fact|to be honest|tbh|as you know|for the record|you know|sure|thanks|"
    r"wow|haha|lol|currently|right now"
    r"|these days|nowadays|at the moment|(?:please )?remember(?: that|:)?|(?:please "
    r")?note(?: that|:)|just so you know|lately|because|plus"
    r"|for me|unfortunately|luckily|sadly|fortunately|of course|same here|me too|"
    r"besides|anyway|normally|in general"
    r"|i (?:think|guess|believe|suppose|must say|have to say|have to admit|must "
    r"admit|should mention|mean)(?: that)?"
    r"|(?:don't|do not) forget(?: that)?|one thing about me)\b[,!.:]*\s+)",
    re.IGNORECASE,
)
_ADVERBS = re.compile(
    r"(?:(?:really|absolutely|just|also|still|currently|now|always|usually|mostly|"
    r"actually|definitely|certainly|totally|truly|simply"
    r"|honestly|especially|particularly|generally|often|even|kinda|kind of|sort "
    r"of|quite|both|all|already|presently|normally"
    r"|mainly|primarily|sometimes|personally|recently|finally|originally|probably|"
    r"obviously|strongly|genuinely|much|deeply|so"
    r"|typically|regularly|occasionally|very|pretty|super|only|officially|proudly|"
    r"happily|very much|secretly|too|slowly)\s+)+",
    re.IGNORECASE,
)
_ENDED = re.compile(r"\b(?:any ?more|any longer)\b[\s.!]*$", re.IGNORECASE)
_MODIFIERS = (
    r"(?:older|younger|little|big|elder|eldest|oldest|youngest|twin|step|late|"
    r"best|good|new|old|close|dear|lovely|first|only|other)"
)
_RELATION = "|".join(sorted(map(re.escape, RELATIONS), key=len, reverse=True))
_RELATIVE = re.compile(
    rf"(?:my|our) (?:{_MODIFIERS} )?(?P<relation>(?:ex-|step-?)?(?:{_RELATION}))(?P<name>,? "
    rf"[A-Z][\w-]+,?)?(?: (?P<rest>.+))?$",
    re.IGNORECASE,
)
_SELF = re.compile(
    r"(?P<also>(?:(?:my|our) [\w-]+|[a-z][\w-]+) and )?(?P<who>i|we)\s+(?P<rest>.+)$", re.IGNORECASE
)
_NAMED = re.compile(r"(?P<name>[A-Z][\w.+#-]*(?: (?:[A-Z][\w.+#-]*)){0,2}) (?P<rest>[a-z].+)$")

#: Third-person verb forms to the form that the patterns are written in.
_BASE_FORMS = {
    "is": "am",
    "are": "am",
    "has": "have",
    "does": "do",
    "studies": "study",
    "teaches": "teach",
    "goes": "go",
    "'s": "am",
} | {
    f"{verb}s": verb
    for verb in (
        "work live love like hate dislike prefer enjoy adore use speak play own run "
        "know want need eat drink drive code "
        "program come hope plan wear collect suffer reside manage lead depend support build write detest"
    ).split()
}
_PROGRESSIVE = {
    "living": "live",
    "working": "work",
    "using": "use",
    "studying": "study",
    "playing": "play",
    "learning": "learn",
    "planning": "plan",
    "hoping": "hope",
    "suffering": "suffer",
    "based": "live",
    "running": "run",
    "coding": "code",
}
_PERFECT = {
    "lived": "live",
    "worked": "work",
    "loved": "love",
    "wanted": "want",
    "used": "use",
    "played": "play",
    "had": "have",
    "owned": "own",
    "known": "know",
    "liked": "like",
    "hated": "hate",
    "preferred": "prefer",
    "enjoyed": "enjoy",
}
_EVENTS_IN_PERFECT = ("moved", "joined", "started", "adopted", "got", "graduated", "stopped", "quit")
_MODALS = (
    "would",
    "could",
    "might",
    "should",
    "may",
    "will",
    "must",
    "shall",
    "did",
    "had",
    "almost",
    "nearly",
    "never",
)

#: One of these words stands in every sentence with a clause that is worth a look.
CLAUSE_CUES = FIRST_PERSON | frozenset(_BASE_FORMS)


@dataclass(frozen=True)
class Subject:
    """Whom a clause is about.

    Attributes:
        name: As the subject of a triplet: ``User``, ``Anna``, ``User's sister``.
        shown: As the subject of a sentence: ``User's sister Anna``.
        relation: What it is to the speaker, in the speaker's word: ``sister``.
        is_self: Whether it is the speaker.
        is_plural: Whether its verb is in the plural.
    """

    name: str
    shown: str
    relation: str | None = None
    is_self: bool = False
    is_plural: bool = False
    is_we: bool = False


@dataclass(frozen=True)
class Clause:
    """What is said of a subject, its verb in the form that follows "I".

    Attributes:
        subject: Whom it is about.
        rest: Verb and what follows; empty where only the subject is named.
        polarity: Affirmed, denied, or over.
        used_to: Whether "over" was said as "used to".
    """

    subject: Subject
    rest: str
    polarity: Polarity = "yes"
    used_to: bool = False


def expanded(sentence: Sentence) -> str:
    """The plain text with contractions written out, so that patterns need one form each."""
    if _CONTRACTED.isdisjoint(sentence.words):
        return sentence.plain
    return _CONTRACTION.sub(lambda match: _CONTRACTIONS[match.group().lower()], sentence.plain)


def clauses(text: str, vocabulary: frozenset[str], speaker: str) -> Iterator[Clause]:
    """The clauses of ``text`` whose subject is the speaker, a relative of theirs, or a name.

    Nothing is given from the first supposition or report on ("if I lived", "she said").
    """
    text = _stated(text, vocabulary)
    if not text:
        return
    has_self = not FIRST_PERSON.isdisjoint(vocabulary)
    for part in _CUT.split(text):
        piece = _without_lead(part)
        clause = _clause(piece, speaker, has_self)
        if clause is None:
            continue
        yield from _shared(clause)


def _stated(text: str, vocabulary: frozenset[str]) -> str:
    """The part of ``text`` that the speaker states."""
    bounds = (HYPOTHETICAL & vocabulary) | (REPORTING & vocabulary)
    if not bounds:
        return text
    match = re.search(rf"\b(?:{'|'.join(map(re.escape, sorted(bounds)))})\b", text, re.IGNORECASE)
    if match is None:
        return text
    before = text[: match.start()]
    cut = max(before.rfind(mark) for mark in (", ", "; ", " and ", " but ", ": ", " - "))
    return (
        before[:cut]
        if cut > 0 and match.group().lower() not in ("if", "unless", "whether")
        else before.rstrip(" ,;")
    )


def _without_lead(piece: str) -> str:
    for _ in range(4):
        match = _LEAD.match(piece)
        if match is None or match.end() == 0:
            break
        piece = piece[match.end() :]
    return piece


def _clause(piece: str, speaker: str, has_self: bool) -> Clause | None:
    if has_self:
        match = _SELF.match(piece)
        if match:
            is_we = match["who"].lower() == "we" or match["also"] is not None
            return _polar(Subject(speaker, speaker, is_self=True, is_we=is_we), match["rest"], is_third=False)
        match = _RELATIVE.match(piece)
        if match:
            return _relative_clause(match, speaker)
    match = _NAMED.match(piece)
    if match and is_name(match["name"].split()[0]):
        return _polar(Subject(match["name"], match["name"]), match["rest"], is_third=True)
    return None


def _relative_clause(match: re.Match[str], speaker: str) -> Clause | None:
    relation, name = match["relation"].lower(), (match["name"] or "").strip(" ,")
    rest = match["rest"] or ""
    if name and not (name[0].isupper() and is_name(name)):
        name, rest = "", f"{name} {rest}".strip()
    possessive = f"{speaker}'s {relation}"
    is_plural = relation in PLURAL_RELATIONS
    subject = Subject(name or possessive, f"{possessive} {name}".strip(), relation, is_plural=is_plural)
    return _polar(subject, rest, is_third=not is_plural) or (Clause(subject, "") if name else None)


def is_name(word: str) -> bool:
    """Whether a capitalised word can be a name: not a function word, a weekday or a gerund."""
    low = word.lower()
    return (
        low not in NOT_NAMES
        and "'" not in low
        and not (low.endswith("ing") and len(low) > 5)
        and len(low) > 1
    )


def _shared(clause: Clause) -> Iterator[Clause]:
    """``clause``, and what follows "and" with the same subject: "I live in Ulm and work as a nurse"."""
    if clause.polarity != "yes" or (" and " not in clause.rest and " but " not in clause.rest):
        yield clause
        return
    match = _SHARED_SUBJECT.search(clause.rest)
    if match is None or " to " in clause.rest[: match.start()]:
        yield clause
        return
    yield replace(clause, rest=clause.rest[: match.start()])
    following = _polar(clause.subject, clause.rest[match.end() :], is_third=not clause.subject.is_self)
    if following is not None:
        yield from _shared(following)


def _polar(subject: Subject, rest: str, *, is_third: bool) -> Clause | None:
    """The clause with its verb in base form and its polarity taken out; None for what is not stated as so."""
    rest = _without_adverbs(rest)
    if not rest:
        return None
    first, _, after = rest.partition(" ")
    low = first.lower()
    if is_third or low == "are":
        low = _BASE_FORMS.get(
            low, low if low in ("moved", "was", "used", "no", "grew", "works", "do") else ""
        )
        if not low:
            return None
        rest = f"{low} {after}"
    if low == "no" and after.startswith("longer "):
        base = _inflected(after[7:], is_third)
        return Clause(subject, _be_doing(base), "no_longer")
    if low == "used" and after.startswith("to ") and not after.startswith(("to it", "to that", "to the")):
        return Clause(
            subject, _be_doing(re.sub(r"^be\b", "am", _without_adverbs(after[3:]))), "no_longer", used_to=True
        )
    return _present(subject, low, _without_adverbs(after), rest)


def _present(subject: Subject, low: str, after: str, rest: str) -> Clause | None:
    ended: Polarity = "no_longer" if _ENDED.search(rest) else "not"
    if low == "do":
        return Clause(subject, _without_adverbs(after[4:]), ended) if after.startswith("not ") else None
    if low == "never":
        return (
            Clause(subject, after, "not")
            if after.split(" ")[0] in ("eat", "drink", "drive", "use", "wear")
            else None
        )
    if low == "cannot":
        if after.split(" ")[0] in ("eat", "drink", "drive", "swim"):
            return Clause(subject, after, ended)
        return Clause(subject, rest)
    if low == "can":
        return Clause(subject, after) if after.split(" ")[0] in ("speak", "play") else None
    if low == "would":
        return Clause(subject, rest) if after.startswith(("rather ", "prefer ")) else None
    if low in _MODALS:
        return None
    if low == "have":
        return _perfect(subject, after)
    if low == "am" and after.startswith("no longer "):
        return Clause(subject, _be_doing(f"am {after[10:]}"), "no_longer")
    if low == "am" and after.startswith("not "):
        return Clause(subject, _be_doing(f"am {_without_adverbs(after[4:])}"), ended)
    return Clause(subject, _be_doing(f"{low} {after}" if low == "am" else rest))


def _perfect(subject: Subject, after: str) -> Clause | None:
    """What "I have …" says: a possession, or a perfect that still holds ("have lived … since")."""
    first, _, following = after.partition(" ")
    low = first.lower()
    if low == "been":
        return Clause(subject, _be_doing(f"am {_without_adverbs(following)}"))
    if low in _EVENTS_IN_PERFECT:
        return Clause(subject, after)
    if low in _PERFECT:
        holds = re.search(r"\b(?:for|since|always|all my|my whole)\b", following)
        return Clause(subject, f"{_PERFECT[low]} {following}") if holds else None
    if low in ("not", "never", "to") or (low.endswith("ed") and low not in ("red",)):
        return None
    return Clause(subject, f"have {after}")


def _be_doing(rest: str) -> str:
    """The form "live in" for "am living in"."""
    if not rest.startswith("am "):
        return rest
    after = _without_adverbs(rest[3:])
    first, _, following = after.partition(" ")
    base = _PROGRESSIVE.get(first.lower())
    return f"{base} {following}" if base else f"am {after}"


def _inflected(rest: str, is_third: bool) -> str:
    first, _, after = rest.partition(" ")
    return f"{_BASE_FORMS.get(first.lower(), first)} {after}" if is_third else rest


def _without_adverbs(rest: str) -> str:
    match = _ADVERBS.match(rest)
    return rest[match.end() :] if match else rest
