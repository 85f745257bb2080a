"""Which items of a model's answer are kept, and what is put right in view of the conversation.

==========================================  ==========================================================
item                                        what becomes of it
==========================================  ==========================================================
no letter, one single word, a placeholder   dropped
over 400 characters (names of 80)           dropped
a question                                  dropped
the same words again and again              dropped
a part of our prompt or of our own context  dropped
said twice in one answer                    dropped
more than 8 of a kind and message           the rest dropped
a triplet of pronouns, or of a thing to     dropped
itself
no message named, or none that is there     the message that shares most of its letters; where none shares
                                            enough, dropped: nothing is kept whose origin is unknown
"I live in Berlin"                          "Anna lives in Berlin": in the third person
"The user likes tea", of a named user       "Anna likes tea"
a date in words ("last Friday")             counted from the time of the message; no date where it has none
a date before 1900, or 50 years ahead       none
==========================================  ==========================================================
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import TypeVar

from shared_core.context.rendering import is_own_context
from shared_core.extraction.answer import Answer, BubbleAnswer, FactAnswer, TripletAnswer
from shared_core.extraction.dates import find_date
from shared_core.extraction.prompts import INSTRUCTIONS
from shared_core.extraction.schema import ExtractedBubble, ExtractedFact, ExtractedTriplet, Extraction
from shared_core.extraction.third_person import in_third_person
from shared_core.extraction.vocabulary import FIRST_PERSON
from shared_core.records import Message, Usage
from shared_core.times import parse_timestamp

__all__ = ["moment_of", "screened"]

Item = TypeVar("Item", FactAnswer, BubbleAnswer, TripletAnswer)

MAX_CHARACTERS = 400
MAX_NAME_CHARACTERS = 80
#: Items of one kind, for each message of the request.
MAX_PER_MESSAGE = 8
#: Of many words fewer than this part are different ones: the model turns in circles.
_VARIETY, _MANY_WORDS = 0.4, 12
#: The share of a text's runs of three letters that its message must have, where it names no message.
_SHARED = 0.25
_EARLIEST_YEAR, _YEARS_AHEAD = 1900, 50

_WORD = re.compile(r"\w+")
_LETTER = re.compile(r"[^\W\d_]")
_QUESTION = re.compile(r"[?？؟]\W*$")
_PLACEHOLDER = re.compile(
    r"^[\W_]*(?:\.{3}|…|<.*>|text|string|null|none|n/?a|unknown|subject|predicate|object|your text here"
    r"|no (?:new )?(?:facts?|bubbles?|moments?|triplets?|information)\b.*)[\W_]*$",
    re.IGNORECASE | re.DOTALL,
)
_RUN = re.compile(r"(.)\1{15}")
_USER = re.compile(r"^(?:the )?user\b", re.IGNORECASE)
_PRONOUNS = frozenset("he she it they him her them this that these those you one someone something".split())
_YEAR = re.compile(r"^((?:19|20)\d\d)(?:-(0[1-9]|1[0-2]))?$")


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


_OWN_WORDS = f" {_plain(INSTRUCTIONS)} "


@dataclass
class _Screen:
    """Screens one answer; counts what it drops and puts right."""

    messages: Sequence[Message]
    dropped: int = 0
    repaired: int = 0
    _grams: dict[int, frozenset[str]] = field(default_factory=dict)

    def facts(self, items: Sequence[FactAnswer]) -> Iterator[ExtractedFact]:
        for item, sources in self._sound(items, lambda item: item.text):
            text = self._of_speaker(item.text, sources)
            yield ExtractedFact(
                text=text, category=item.category, importance=item.importance, sources=sources
            )

    def bubbles(self, items: Sequence[BubbleAnswer]) -> Iterator[ExtractedBubble]:
        for item, sources in self._sound(items, lambda item: item.text):
            said_at = self.messages[sources[0]].timestamp
            moment = moment_of(item.occurred_at, said_at) if item.occurred_at else None
            text = self._of_speaker(item.text, sources)
            yield ExtractedBubble(text=text, importance=item.importance, occurred_at=moment, sources=sources)

    def triplets(self, items: Sequence[TripletAnswer]) -> Iterator[ExtractedTriplet]:
        for item, sources in self._sound(
            items, lambda item: f"{item.subject} {item.predicate} {item.object}"
        ):
            subject, thing = (self._named(name, sources) for name in (item.subject, item.object))
            predicate = "_".join(_WORD.findall(item.predicate.casefold()))
            names = {subject.casefold(), thing.casefold()}
            is_long = max(map(len, (subject, predicate, thing))) > MAX_NAME_CHARACTERS
            parts = (subject, predicate, thing)
            if is_long or len(names) == 1 or names & _PRONOUNS or any(_is_nothing(part) for part in parts):
                self.dropped += 1
                continue
            yield ExtractedTriplet(
                subject=subject,
                predicate=predicate,
                object=thing,
                confidence=item.confidence,
                sources=sources,
            )

    def _sound(
        self, items: Sequence[Item], text_of: Callable[[Item], str]
    ) -> Iterator[tuple[Item, tuple[int, ...]]]:
        """The items that say something once, each with the positions of its messages."""
        seen: set[str] = set()
        for item in items:
            text = text_of(item)
            key = _plain(text)
            is_more = len(seen) >= MAX_PER_MESSAGE * len(self.messages)
            sources = () if key in seen or is_more or is_absurd(text) else self._sources(item.messages, text)
            if not sources:
                self.dropped += 1
                continue
            seen.add(key)
            yield item, sources

    def _sources(self, numbers: Sequence[int], text: str) -> tuple[int, ...]:
        count = len(self.messages)
        named = tuple(sorted({number - 1 for number in numbers if 1 <= number <= count}))
        if named:
            return named
        self.repaired += 1
        if count == 1:
            return (0,)
        grams = _grams(text)
        shared = [len(grams & self._grams_of(place)) for place in range(count)]
        best = max(range(count), key=shared.__getitem__)
        return (best,) if shared[best] >= max(1.0, _SHARED * len(grams)) else ()

    def _grams_of(self, place: int) -> frozenset[str]:
        if place not in self._grams:
            message = self.messages[place]
            self._grams[place] = _grams(f"{message.speaker} {message.content}")
        return self._grams[place]

    def _of_speaker(self, text: str, sources: Sequence[int]) -> str:
        """``text`` in the third person, by the name of who said it."""
        speaker = self.messages[sources[0]].speaker
        first = (_WORD.findall(text.casefold()) or [""])[0]
        if first in FIRST_PERSON:
            said = in_third_person(text, speaker)
        elif self.messages[sources[0]].role == "user":
            said = _USER.sub(lambda _: speaker, text, count=1)
        else:
            return text
        self.repaired += said != text
        return said

    def _named(self, name: str, sources: Sequence[int]) -> str:
        message = self.messages[sources[0]]
        is_user = _USER.fullmatch(name) is not None and message.role == "user"
        if not is_user and name.casefold() not in FIRST_PERSON:
            return name
        self.repaired += name != message.speaker
        return message.speaker


def screened(answer: Answer, messages: Sequence[Message]) -> Extraction:
    """What is kept of ``answer``, by the rules above; ``usage`` counts what was dropped and put right.

    A fact gets the words of the first triplet that it says, so that a later fact can replace it.

    Args:
        answer: Of a model.
        messages: The new messages, in the order in which the prompt numbers them.
    """
    screen = _Screen(messages)
    triplets = tuple(screen.triplets(answer.triplets))
    facts = tuple(_with_triplet(fact, triplets) for fact in screen.facts(answer.facts))
    bubbles = tuple(screen.bubbles(answer.bubbles))
    usage = Usage(dropped=screen.dropped, repaired=screen.repaired)
    return Extraction(facts=facts, bubbles=bubbles, triplets=triplets, usage=usage)


def is_absurd(text: str) -> bool:
    """Whether ``text`` is nothing that anybody would want to remember."""
    words = _WORD.findall(text.casefold())
    is_circle = len(words) >= _MANY_WORDS and len(set(words)) < _VARIETY * len(words)
    return (
        _is_nothing(text)
        or len(text) > MAX_CHARACTERS
        or (len(words) < 2 and text.isascii())
        or bool(_QUESTION.search(text))
        or is_circle
        or bool(_RUN.search(text))
        or (len(words) > 3 and f" {_plain(text)} " in _OWN_WORDS)
        or is_own_context(text)
    )


def _is_nothing(text: str) -> bool:
    return _LETTER.search(text) is None or bool(_PLACEHOLDER.match(text))


def moment_of(words: str, said_at: datetime) -> datetime | None:
    """The moment that a model's date stands for, in UTC; None for what is no date, or an absurd one.

    A day without a time is its noon, a month its 15th, a year its 1 July, as in ``date_meanings``.

    Args:
        words: ISO 8601, or words such as ``yesterday`` and ``last Friday``.
        said_at: When its message was said.
    """
    partial = _YEAR.match(words)
    try:
        if partial:
            month, day = (int(partial[2]), 15) if partial[2] else (7, 1)
            moment = datetime(int(partial[1]), month, day, 12, tzinfo=timezone.utc)
        else:
            moment = parse_timestamp(words)
            moment = moment.replace(hour=12) if len(words) <= len("2024-05-03") else moment
    except ValueError:
        found = find_date(words[:MAX_CHARACTERS], said_at)
        if found is None:
            return None
        moment = found.moment
    return moment if _EARLIEST_YEAR <= moment.year <= said_at.year + _YEARS_AHEAD else None


def _grams(text: str) -> frozenset[str]:
    plain = _plain(text)
    return frozenset(plain[place : place + 3] for place in range(max(1, len(plain) - 2)))


def _with_triplet(fact: ExtractedFact, triplets: Sequence[ExtractedTriplet]) -> ExtractedFact:
    text = fact.text.casefold()
    for said in triplets:
        if said.subject.casefold() in text and said.object.casefold() in text:
            words = {"subject": said.subject, "predicate": said.predicate, "object": said.object}
            return fact.model_copy(update=words)
    return fact
