"""The offline extractor: facts, moments and relations by rules of English."""

from __future__ import annotations

from collections.abc import Iterable

from shared_core.extraction.bubbles import find_bubbles
from shared_core.extraction.fact import Fact
from shared_core.extraction.facts import find_facts
from shared_core.extraction.persons import person_named
from shared_core.extraction.schema import (
    ExtractedBubble,
    ExtractedFact,
    ExtractedTriplet,
    Extraction,
    ExtractionRequest,
)
from shared_core.extraction.sentences import Sentence, sentences
from shared_core.records import Message

__all__ = ["RuleExtractor"]

_THIRD = frozenset({"she", "he", "she's", "he's"})
_GREETINGS = frozenset({"hi", "hello", "hey", "greetings"})


class RuleExtractor:
    """Finds facts, moments and relations with patterns: no key, no network, no model.

    It reads English; of other languages it learns nothing. Its output depends on nothing but the request.
    Messages of users are read, and those of an assistant where it is a second human: it has a name, and so
    has each user. It holds no state, so that one instance may serve all threads.

    Example:
        >>> from shared_core.extraction.schema import ExtractionRequest
        >>> from shared_core.records import Message
        >>> from datetime import datetime, timezone
        >>> said_at = datetime(2024, 6, 15, 10, tzinfo=timezone.utc)
        >>> message = Message(id="1", role="user", content="I live in Berlin.", timestamp=said_at)
        >>> extraction = RuleExtractor().extract(ExtractionRequest(messages=(message,), now=said_at))
        >>> extraction.facts[0].text
        'User lives in Berlin'
    """

    @property
    def name(self) -> str:
        """What made a memory, for its metadata; changes when the rules do."""
        return "rules-1"

    @property
    def is_slow(self) -> bool:
        """Never: it waits for nothing."""
        return False

    def extract(self, request: ExtractionRequest) -> Extraction:
        """Everything worth remembering in ``request.messages``; never raises."""
        listeners = _Listeners((*request.recent, *request.messages))
        facts: dict[tuple[str, str, str], ExtractedFact] = {}
        triplets: dict[tuple[str, str, str], ExtractedTriplet] = {}
        bubbles: list[ExtractedBubble] = []
        for position, message in enumerate(request.messages):
            if not listeners.is_human(message):
                continue
            speaker = message.name or "User"
            said = sentences(message.content)
            told = []
            for found in _facts(said, speaker, is_to_assistant=not listeners.are_humans):
                for fact in found:
                    _keep(fact, position, facts, triplets)
                told.append(" ".join(fact.text for fact in found))
            for bubble in find_bubbles(said, speaker, message.timestamp, told):
                bubbles.append(
                    ExtractedBubble(
                        text=bubble.text,
                        importance=bubble.importance,
                        confidence=bubble.confidence,
                        occurred_at=bubble.occurred_at,
                        sources=(position,),
                    )
                )
        return Extraction(
            facts=tuple(facts.values()), bubbles=tuple(bubbles), triplets=tuple(triplets.values())
        )


class _Listeners:
    """Who of a conversation is human."""

    def __init__(self, messages: Iterable[Message]) -> None:
        names = [message.name for message in messages if message.role == "user"]
        others = {message.name for message in messages if message.role == "assistant" and message.name}
        self._is_assistant_human = bool(names) and all(names)
        self.are_humans = self._is_assistant_human and (bool(others) or len(set(names)) > 1)

    def is_human(self, message: Message) -> bool:
        if message.role == "assistant":
            return bool(message.name) and self._is_assistant_human
        return message.role == "user"


def _facts(said: list[Sentence], speaker: str, *, is_to_assistant: bool) -> Iterable[list[Fact]]:
    """The facts of each sentence."""
    person = None
    for place, sentence in enumerate(said):
        is_opening = place == 0 or (place == 1 and not _GREETINGS.isdisjoint(said[0].vocabulary))
        found = find_facts(
            sentence, speaker, is_to_assistant=is_to_assistant, is_opening=is_opening, person=person
        )
        is_spoken_of = place + 1 < len(said) and not _THIRD.isdisjoint(said[place + 1].vocabulary)
        person = person_named(sentence, found, speaker, person) if is_spoken_of else None
        yield found


def _keep(
    fact: Fact,
    position: int,
    facts: dict[tuple[str, str, str], ExtractedFact],
    triplets: dict[tuple[str, str, str], ExtractedTriplet],
) -> None:
    """Adds ``fact`` as a triplet and, where it has a text, as a fact; said again, it gains a source."""
    key = (fact.subject.casefold(), fact.predicate, fact.object.casefold())
    known = triplets.get(key)
    sources = (position,) if known is None else tuple(sorted({*known.sources, position}))
    triplets[key] = ExtractedTriplet(
        subject=fact.subject,
        predicate=fact.predicate,
        object=fact.object,
        confidence=fact.confidence,
        sources=sources,
    )
    if not fact.text:
        return
    facts[key] = ExtractedFact(
        text=fact.text,
        category=fact.category,
        importance=fact.importance,
        confidence=fact.confidence,
        subject=fact.subject,
        predicate=fact.predicate,
        object=fact.object,
        sources=sources,
    )
