"""Moments of a message: what happened, is happening or is planned, near verbatim and dated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from shared_core.extraction.agreement import is_past
from shared_core.extraction.dates import DatePhrase, find_date, may_name_date
from shared_core.extraction.expressions import Expression
from shared_core.extraction.sentences import Sentence
from shared_core.extraction.subjects import is_name
from shared_core.extraction.tenses import has_past, has_perfect, is_doing, is_lasting
from shared_core.extraction.third_person import in_third_person, omitted_subject
from shared_core.extraction.vocabulary import (
    FEELINGS,
    FIRST_PERSON,
    HEDGES,
    LIFE_EVENTS,
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

_PLAN = Expression(
    r"\b(?:(?:am|are|is|'m|'re|'s) (?:\w+ )?(?:going to|planning|about to|off "
    r"to|flying|travell?ing|moving|leaving|heading|visiting|getting married|starting)|"
    r"gonna"
    r"|will|'ll|(?:plan|hope|need|have|want)s? to|looking forward|scheduled|due|"
    r"next|tomorrow|tonight|upcoming"
    r"|(?:have|has|got) (?:an?|my|our) (?:[\w-]+ ){0,2}(?:interview|appointment|"
    r"meeting|exam|flight|deadline|date|trip|party|wedding|concert|game|test|class|"
    r"call|surgery|checkup|check-up|show|race|match|presentation))\b",
    ignore_case=True,
)
_UNREAL = Expression(
    r"^(?:if|imagine|suppose|pretend|what if|unless)\b|\b(?:i|we) (?:wish|would|"
    r"could|might)\b|\b(?:i'd|we'd) (?:love|like|be|rather|prefer|go|have)\b|\bwould've\b|"
    r"\bwould have\b|\bif i (?:were|was|had)\b",
    ignore_case=True,
)
_ADDRESS = Expression(
    r"^(?:(?:thanks|thank you|congrats|congratulations|sorry|glad|happy|good (?:luck|night|morning|evening)"
    r"|take care|bye|see you|talk to you|sounds|welcome)\b|(?:i'm|i am) (?:so |really |very )?"
    r"(?:glad|happy|sorry|sure|proud of you|excited for you|here for you)\b.{0,24}\b(?:you|your|that)\b)",
    ignore_case=True,
)
_FIRST_NAME = Expression(
    r"^(?:[A-Z][\w-]+(?: and [A-Z][\w-]+)?|(?:My|Our|The) [\w' -]{2,40}?) (?:\w+ly )?(?P<verb>[a-z]+)\b"
)
_PROMISE = Expression(
    r"\b(?:let you know|keep you|keep (?:that|it|this) (?:in mind|up)|make sure|"
    r"send you|share (?:it|them|more)|check (?:it|that|them|this) out|definitely|"
    r"look into)\b",
    ignore_case=True,
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
#: A sentence that begins so points to the one before it.
_DANGLES = frozenset(
    "it they that this he she those these it's that's they're he's she's there gives makes "
    "keeps helps reminds feels looks sounds means".split()
)


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
        if bubble is not None and known and _echoes(sentence, known, is_dated=bubble.occurred_at is not None):
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


def _echoes(sentence: Sentence, known: str, *, is_dated: bool) -> bool:
    """Whether a sentence says little more than its facts: what is past in it, they say too, and not when."""
    content = {word for word in sentence.vocabulary if word not in STOPS and not word[0].isdigit()}
    told = {word.strip(".,'").lower() for word in known.replace("'s", " ").split()}
    if has_past(tuple(word for word in sentence.words if is_dated or word not in told)):
        return False
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
        date = find_date(sentence.text, said_at, is_future=not has_past(words) and not has_perfect(sentence))
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
    if is_lasting(sentence) and date is None:
        return None
    is_event = is_own and (has_past(words) or is_doing(text) or has_perfect(sentence))
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
