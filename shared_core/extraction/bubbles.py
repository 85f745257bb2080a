"""Moments of a message: what happened, is happening or is planned, near verbatim and dated."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from shared_core.extraction.clauses import is_name
from shared_core.extraction.dates import DatePhrase, find_date, may_name_date
from shared_core.extraction.sentences import Sentence
from shared_core.extraction.third_person import in_third_person, is_past, omitted_subject
from shared_core.extraction.vocabulary import (
    FEELINGS,
    FIRST_PERSON,
    HEDGES,
    IRREGULAR_PARTICIPLES,
    LIFE_EVENTS,
    NOT_DOING,
    STOPS,
)

#: Importance: where a bubble starts, what each cue adds or takes, and between which it stays.
BASE_IMPORTANCE = 0.5
LIFE_EVENT_BONUS = 0.25
FEELING_BONUS = 0.1
DATE_BONUS = 0.1
PLAN_BONUS = 0.1
SHORT_COST = 0.1
HEDGE_COST = 0.1
IMPORTANCE_BOUNDS = (0.3, 1.0)
SHORT_WORDS = 6

#: Confidence: of a sentence with a finite verb of the speaker, of one without, and of a hedged one.
CONFIDENCE = 0.9
LOOSE_CONFIDENCE = 0.7
HEDGED_CONFIDENCE = 0.6

MIN_CONTENT_WORDS = 2
#: A sentence that states facts and no more than this many other words is not a moment as well.
MAX_UNTOLD_WORDS = 2
#: A sentence that goes on about a moment ("It was great!") is joined to it, up to this length.
MAX_JOINED_CHARS = 300

_PLAN = re.compile(
    r"\b(?:(?:am|are|is|'m|'re|'s) (?:\w+ )?(?:going to|planning|about to|off "
    r"to|flying|travell?ing|moving|leaving|heading|visiting|getting married|starting)|"
    r"gonna"
    r"|will|'ll|(?:plan|hope|need|have|want)s? to|looking forward|scheduled|due|"
    r"next|tomorrow|tonight|upcoming"
    r"|(?:have|has|got) (?:an?|my|our) (?:[\w-]+ ){0,2}(?:interview|appointment|"
    r"meeting|exam|flight|deadline|date|trip|party|wedding|concert|game|test|class|"
    r"call|surgery|checkup|check-up|show|race|match|presentation))\b",
    re.IGNORECASE,
)
_DOING = re.compile(
    r"\b(?:i'm|im|i am|we're|we are|i've been|we've been|i have been|we have been) "
    r"(?:(?:also|now|currently|still|just|really|actually|always) ){0,2}(?P<verb>[a-z]+ing)\b",
    re.IGNORECASE,
)
_PERFECT = re.compile(
    r"\b(?:i've|we've|i have|we have|has|have|he's|she's|they've) (?:(?:just|finally|"
    r"already|recently|also|always|really|even) ){0,2}(?P<verb>[a-z]+)\b",
    re.IGNORECASE,
)
_UNREAL = re.compile(
    r"^(?:if|imagine|suppose|pretend|what if|unless)\b|\b(?:i|we) (?:wish|would|"
    r"could|might)\b|\b(?:i'd|we'd) (?:love|like|be|rather|prefer|go|have)\b|\bwould've\b|"
    r"\bwould have\b|\bif i (?:were|was|had)\b",
    re.IGNORECASE,
)
_ADDRESS = re.compile(
    r"^(?:(?:thanks|thank you|congrats|congratulations|sorry|glad|happy|good luck|"
    r"take care|bye|see you|talk to you|sounds|welcome)\b|(?:i'm|i am) (?:so |"
    r"really |very )?(?:glad|happy|sorry|sure|proud of you|excited for you|here "
    r"for you)\b.{0,24}\b(?:you|your|that)\b)",
    re.IGNORECASE,
)
_FIRST_NAME = re.compile(
    r"^(?:[A-Z][\w-]+(?: and [A-Z][\w-]+)?|(?:My|Our|The) [\w' -]{2,40}?) (?:\w+ly )?(?P<verb>[a-z]+)\b"
)
_PROMISE = re.compile(
    r"\b(?:let you know|keep you|keep (?:that|it|this) (?:in mind|up)|make sure|"
    r"send you|share (?:it|them|more)|check (?:it|that|them|this) out|definitely|"
    r"look into)\b",
    re.IGNORECASE,
)
_IMPERATIVES = frozenset(
    "let let's lets check keep look don't take try please stop remember make "
    "go tell show help give write explain describe fix add "
    "wish imagine suppose pretend unless if".split()
)
_ADDRESS_CUES = frozenset(
    "thanks thank congrats congratulations sorry glad happy good take bye see "
    "talk sounds welcome i'm i".split()
)
_UNREAL_CUES = frozenset("if what wish would could might i'd we'd would've".split())
_PLAN_CUES = frozenset(
    "i'm we're am are is going planning about off flying traveling travelling "
    "moving leaving heading visiting getting starting gonna "
    "will i'll we'll he'll she'll they'll plan plans hope hopes need needs have "
    "has want wants looking scheduled due next tomorrow "
    "tonight upcoming got".split()
)
_PLAN_WORDS = frozenset("going gonna planning forward i'll we'll have".split())
_HAVE = frozenset("i've we've have has he's she's they've".split())
_DANGLES = frozenset(
    {
        "it",
        "they",
        "that",
        "this",
        "he",
        "she",
        "those",
        "these",
        "it's",
        "that's",
        "they're",
        "he's",
        "she's",
        "there",
    }
)
_STATIVE = frozenset(
    "is are am be i'm we're you're he's she's they're it's that's so very really a an named called".split()
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


@dataclass(frozen=True, slots=True)
class Bubble:
    """A moment before it knows its message; see ``ExtractedBubble``."""

    text: str
    importance: float
    confidence: float
    occurred_at: datetime | None


def find_bubbles(
    sentences: Sequence[Sentence], speaker: str, said_at: datetime, facts: Sequence[str] = ()
) -> list[Bubble]:
    """The moments that ``sentences``, one message's, tell of, in their order.

    Args:
        sentences: The sentences of a message.
        speaker: Who said them.
        said_at: When, in UTC.
        facts: For each sentence the facts that it states, in words: what says no more is no moment.
    """
    found: list[Bubble] = []
    may_join = False
    for sentence, known in zip(sentences, (*facts, *("",) * (len(sentences) - len(facts))), strict=True):
        bubble = _bubble(sentence, speaker, said_at)
        if bubble is not None and known and _echoes(sentence, known):
            bubble = None
        dangles = sentence.words[:1] != () and sentence.words[0] in _DANGLES
        if may_join and found and dangles and _joins(sentence, found[-1]):
            text = f"{found[-1].text} {in_third_person(sentence.text, speaker)}"
            found[-1] = replace(
                found[-1],
                text=text,
                occurred_at=found[-1].occurred_at or (bubble.occurred_at if bubble else None),
            )
        elif bubble is not None and (
            not dangles or bubble.occurred_at or not FIRST_PERSON.isdisjoint(sentence.vocabulary)
        ):
            found.append(bubble)
            may_join = True
        else:
            may_join = False
    return found


def _echoes(sentence: Sentence, known: str) -> bool:
    """Whether a sentence without a verb in the past says little more than the facts taken from it."""
    if _has_past(sentence.words):
        return False
    content = {word for word in sentence.vocabulary if word not in STOPS and not word[0].isdigit()}
    told = {word.strip(".,'").lower() for word in known.replace("'s", " ").split()}
    return len(content - told) <= MAX_UNTOLD_WORDS


def _joins(sentence: Sentence, before: Bubble) -> bool:
    fits = len(before.text) + len(sentence.text) <= MAX_JOINED_CHARS
    return fits and not sentence.is_question and not _ADDRESS.search(sentence.text)


def _bubble(sentence: Sentence, speaker: str, said_at: datetime) -> Bubble | None:
    words = sentence.words
    if (
        sentence.is_question
        or len(words) < 3
        or words[0] in _IMPERATIVES
        or len(sentence.vocabulary - STOPS) < MIN_CONTENT_WORDS
    ):
        return None
    if words[0] in _ADDRESS_CUES and _ADDRESS.search(sentence.text):
        return None
    if not _UNREAL_CUES.isdisjoint(sentence.vocabulary) and _UNREAL.search(sentence.text):
        return None
    is_future = not _PLAN_CUES.isdisjoint(sentence.vocabulary) and _PLAN.search(sentence.text) is not None
    date = None
    if may_name_date(sentence.vocabulary):
        date = find_date(
            sentence.text, said_at, is_future=not _has_past(words) and not _has_perfect(sentence)
        )
    if is_future and date is None and _PROMISE.search(sentence.text):
        return None
    confidence = _confidence(sentence, date, is_future)
    if confidence is None:
        return None
    text = sentence.text
    auxiliary = omitted_subject(words)
    if auxiliary is not None:
        text = f"{speaker} {auxiliary}{text[0].lower()}{text[1:]}"
    text = in_third_person(text, speaker, is_named=auxiliary is not None)
    importance = _importance(sentence, date, is_future)
    return Bubble(text, importance, confidence, date.moment if date else None)


def _confidence(sentence: Sentence, date: DatePhrase | None, is_future: bool) -> float | None:
    """How sure it is that the sentence tells of a moment; None where it does not."""
    words, text = sentence.words, sentence.text
    is_own = not FIRST_PERSON.isdisjoint(sentence.vocabulary)
    confidence: float | None = None
    is_event = is_own and (_has_past(words) or _is_doing(text) or _has_perfect(sentence))
    is_planned = is_own and is_future and (date is not None or _is_plan(words))
    if is_event or is_planned or omitted_subject(words) is not None:
        confidence = CONFIDENCE
    elif _is_about_other(text) or (date is not None and len(words) > 3):
        confidence = LOOSE_CONFIDENCE
    if confidence is not None and not HEDGES.isdisjoint(sentence.vocabulary):
        confidence = min(confidence, HEDGED_CONFIDENCE)
    return confidence


def _is_plan(words: tuple[str, ...]) -> bool:
    return not _PLAN_WORDS.isdisjoint(words)


def _has_past(words: tuple[str, ...]) -> bool:
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


def _is_doing(text: str) -> bool:
    match = _DOING.search(text) if "ing" in text else None
    return match is not None and match["verb"].lower() not in NOT_DOING


def _has_perfect(sentence: Sentence) -> bool:
    if _HAVE.isdisjoint(sentence.vocabulary):
        return False
    match = _PERFECT.search(sentence.text)
    if match is None:
        return False
    verb = match["verb"].lower()
    return verb != "got" and (verb in IRREGULAR_PARTICIPLES or is_past(verb))


def _is_about_other(text: str) -> bool:
    """Whether a third person or thing, by name, did something: "Anna got married"."""
    match = _FIRST_NAME.match(text)
    if match is None:
        return False
    first = text.split(" ", 1)[0]
    return is_past(match["verb"]) and (first in ("My", "Our", "The") or is_name(first))


def _importance(sentence: Sentence, date: DatePhrase | None, is_future: bool) -> float:
    words = sentence.vocabulary
    total = BASE_IMPORTANCE
    total += LIFE_EVENT_BONUS * (not words.isdisjoint(LIFE_EVENTS))
    total += FEELING_BONUS * (not words.isdisjoint(FEELINGS))
    total += DATE_BONUS * (date is not None)
    total += PLAN_BONUS * is_future
    total -= SHORT_COST * (len(sentence.words) < SHORT_WORDS)
    total -= HEDGE_COST * (not words.isdisjoint(HEDGES))
    low, high = IMPORTANCE_BOUNDS
    return round(min(high, max(low, total)), 2)
