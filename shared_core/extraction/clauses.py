"""Clauses of a sentence: who they are about, and what is said of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from shared_core.extraction.agreement import is_past
from shared_core.extraction.clause import Clause, Subject
from shared_core.extraction.expressions import Expression, any_of
from shared_core.extraction.sentences import Sentence
from shared_core.extraction.subjects import find_subject
from shared_core.extraction.verbs import BASE_FORMS, predication
from shared_core.extraction.vocabulary import FIRST_PERSON, HYPOTHETICAL, REPORTING

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
    "dont": "do not",
    "doesnt": "does not",
    "can't": "cannot",
    "cant": "cannot",
    "won't": "will not",
} | {
    f"{verb}n't": f"{verb} not" for verb in "do does did would is are have has was were could should".split()
}
_CONTRACTION = Expression(rf"\b(?:{any_of(_CONTRACTIONS)})\b", ignore_case=True)
_CONTRACTED = frozenset(_CONTRACTIONS)

_LINK = r"(?:and|but|so|because|since|plus|also|while|although|though|then)"
#: "I used to live in Oslo, now I live in Bergen": what follows is a clause of its own.
_NOW = r"(?:now|nowadays|currently|these days|today|instead|later|recently)"
_SUBJECT_AHEAD = r"(?=(?:i|my|we|our|she|he)\b)"
_NAME_AHEAD = (
    r"(?=[A-Z][\w.+#-]* (?:is|has|works|lives|uses|loves|likes|prefers|speaks|plays|studies|no longer"
    r"|does not)\b)"
)
_CUT = Expression(
    rf"(?:[,;:—–!.] | -+ | (?={_LINK} ))(?:{_LINK} ){{0,2}}(?:{_NOW},? )?(?i:{_SUBJECT_AHEAD})"
    rf"|(?:[;:—–!.] |, (?={_LINK} )| (?={_LINK} ))(?:{_LINK} ){{1,2}}{_NAME_AHEAD}",
)
_SHARED_SUBJECT = Expression(
    r"(?:,| )\s?(?:and|but)(?: also| now| currently| really)? "
    r"(?=(?:works?|lives?|have|has|loves?|likes?|enjoys?|hates?|prefers?|uses?|speaks?|study|studies|plays?"
    r"|owns?|do not|does not|am|is)\b)",
    ignore_case=True,
)
_LEAD = Expression(
    r"(?:(?:well|yeah|yes|yep|no|nope|oh|ah|hey|hi|hello|ok|okay|so|and|but|also|actually|honestly|personally"
    r"|btw|by the way|fyi|in fact|to be honest|tbh|as you know|for the record|you know|sure|thanks|wow|haha"
    r"|lol|currently|right now|these days|nowadays|at the moment|(?:please )?remember(?: that|:)?"
    r"|(?:please )?note(?: that|:)|just so you know|lately|because|plus|for me|unfortunately|luckily|sadly"
    r"|fortunately|of course|same here|me too|besides|anyway|normally|in general"
    r"|i (?:think|guess|believe|suppose|must say|have to say|have to admit|must admit|should mention|mean)"
    r"(?: that)?|(?:don't|do not) forget(?: that)?|one thing about me)\b[,!.:]*\s+)",
    ignore_case=True,
)
_MAX_LEADS = 4
#: "Being vegan, I …", "As a nurse, I …", "Living in Ulm, I …": what it says of the subject that follows.
_PARTICIPLE = Expression(
    r"(?:(?:and|so|but|well|also),? )?(?:being|as(?= an? )|(?=(?:living|working|studying) ))"
    r"(?P<rest>[^,]{3,60}), i (?P<verb>[\w']+)",
    ignore_case=True,
)
#: "I like tea, remember that": the end asks to keep what stands before it.
_REQUEST_AT_END = Expression(
    r"(?:[,;]| -+| and| so) (?:(?:please|just|so|and|do) ){0,2}"
    r"(?:remember|note|take note of|keep|bear|do not forget|don't forget|save|store)(?: (?:that|this|it))?"
    r"(?: in mind| down)?(?:,? please)?[.!]*$",
    ignore_case=True,
)
#: From here on nothing is stated; what stands before the cut is.
_SUPPOSING = frozenset({"if", "unless", "whether"})

_PARTICIPLE_CUES = frozenset("being as living working studying".split())
#: One of these words stands in every sentence with a clause that is worth a look.
CLAUSE_CUES = FIRST_PERSON | frozenset(BASE_FORMS) | {"she's", "he's"}


def expanded(sentence: Sentence) -> str:
    """The plain text with contractions written out, so that patterns need one form each."""
    if _CONTRACTED.isdisjoint(sentence.words):
        return sentence.plain
    return _CONTRACTION.sub(lambda match: _CONTRACTIONS[match.group().lower()], sentence.plain)


def clauses(
    text: str, vocabulary: frozenset[str], speaker: str, person: Subject | None = None
) -> Iterator[Clause]:
    """The clauses of ``text`` whose subject is the speaker, a relative of theirs, a name, or "she" or "he".

    Nothing is given from the first supposition or report on ("if I lived", "she said").

    Args:
        text: A sentence with contractions written out.
        vocabulary: Its words.
        speaker: The subject of what is said in the first person.
        person: Whom "she" or "he" means; None where that is not plain.
    """
    text = _stated(_REQUEST_AT_END.sub("", text), vocabulary)
    if not text:
        return
    has_self = not FIRST_PERSON.isdisjoint(vocabulary)
    if has_self and not _PARTICIPLE_CUES.isdisjoint(vocabulary):
        text = _with_subject(text)
    for part in _CUT.split(text):
        clause = _clause(_without_lead(part), speaker, has_self, person)
        if clause is not None:
            yield from _shared(clause)


def _stated(text: str, vocabulary: frozenset[str]) -> str:
    """The part of ``text`` that the speaker states."""
    bounds = (HYPOTHETICAL | REPORTING) & vocabulary
    match = re.search(rf"\b(?:{any_of(sorted(bounds))})\b", text, re.IGNORECASE) if bounds else None
    if match is None:
        return text
    before = text[: match.start()]
    cut = max(before.rfind(mark) for mark in (", ", "; ", " and ", " but ", ": ", " - "))
    if cut > 0 and match.group().lower() not in _SUPPOSING:
        return before[:cut]
    return before.rstrip(" ,;")


def _with_subject(text: str) -> str:
    """Makes "I am vegan, I cook" of "Being vegan, I cook", where it is about the present."""
    match = _PARTICIPLE.match(text)
    if match is None or is_past(match["verb"].lower()):
        return text
    return f"I am {match['rest'].strip()}{text[match.end('rest') :]}"


def _without_lead(piece: str) -> str:
    for _ in range(_MAX_LEADS):
        match = _LEAD.match(piece)
        if match is None:
            break
        piece = piece[match.end() :]
    return piece


def _clause(piece: str, speaker: str, has_self: bool, person: Subject | None) -> Clause | None:
    found = find_subject(piece, speaker, has_self=has_self, person=person)
    if found is None:
        return None
    subject, rest = found
    return predication(subject, rest, is_third=not (subject.is_self or subject.is_plural))


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
    following = predication(clause.subject, clause.rest[match.end() :], is_third=not clause.subject.is_self)
    if following is not None:
        yield from _shared(following)
