"""The extractor that asks a language model, and leaves to rules what the model cannot do."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence

from shared_core.context.rendering import shortened
from shared_core.errors import ExtractionError
from shared_core.extraction.answer import Answer
from shared_core.extraction.prompts import correction, extraction_prompt
from shared_core.extraction.rules import RuleExtractor
from shared_core.extraction.schema import Extraction, ExtractionRequest, Extractor
from shared_core.extraction.screening import screened
from shared_core.learning.llm_reconciliation import reconcile_with
from shared_core.learning.reconciliation import Case, Decision
from shared_core.llm.base import LLMOutputError, LLMUnavailableError, StructuredLLM
from shared_core.messages import quoted
from shared_core.records import Message, Usage
from shared_core.tokens import TokenCounter, counter_for

__all__ = ["LLMExtractor"]

logger = logging.getLogger(__name__)

#: Messages, and tokens of their text, that one call reads.
MAX_MESSAGES = 30
MAX_TOKENS = 4_000
#: Messages before the new ones that a call is shown (seed 000).
RECENT_MESSAGES = 10
#: No token of a usual text is longer, on average; what is cut before counting is cut after it anyway.
_CHARACTERS_PER_TOKEN = 8

_WORD = re.compile(r"\w+")
#: Nobody says anything in these words alone. Yes and no are not among them: they answer questions.
_SMALL_TALK = frozenset(
    "hi hello hey hiya howdy greetings good morning afternoon evening night day bye goodbye cheers thanks "
    "thank you thx ty so much very welcome re are lol haha hahaha wow there everyone all again".split()
)


class LLMExtractor:
    """Finds facts, moments and relations with one call of a language model; safe to use from many threads.

    **Cost.** Up to 30 new messages of 4,000 tokens make one call; a longer batch makes one for each such
    part, and a longer message is shown by its beginning. An answer of no use is asked for once more: two
    calls at most for each part. One more call for each batch decides what its facts do to those known near
    them, if there are any. Greetings and thanks alone make none. ``Extraction.usage`` tells all of it.

    **Failures.** Where no answer comes (timeout, lost connection, rate limit, server error, wrong key),
    ``ExtractionError`` is raised, and the messages stay pending for a later attempt. Where the model answers
    and its output is of no use (a refusal, no JSON, nothing but absurd items, a text that is too long for
    it), asking again later would not help: rules read those messages, and ``usage.fell_back`` counts it.

    Example:
        >>> from shared_core.llm import OpenAILLM
        >>> extractor = LLMExtractor(OpenAILLM("qwen3", base_url="http://localhost:11434/v1"))
        >>> extractor.name
        'llm-1/openai/qwen3'
    """

    def __init__(
        self,
        llm: StructuredLLM,
        *,
        fallback: Extractor | None = None,
        attempts: int = 2,
        max_messages: int = MAX_MESSAGES,
        max_tokens: int = MAX_TOKENS,
    ) -> None:
        """An extractor for one model.

        Args:
            llm: The model.
            fallback: Reads what the model cannot; rules if left out.
            attempts: Calls for one part, at most.
            max_messages: New messages that one call reads.
            max_tokens: Tokens of these messages; counted for OpenAI's newest models, or bounded.

        Raises:
            ValueError: An argument is out of range, or ``llm`` is no ``StructuredLLM``.
        """
        if not isinstance(llm, StructuredLLM):
            raise ValueError(
                f"llm {quoted(llm)} has no name and complete: pass an OpenAILLM, or see StructuredLLM"
            )
        limits = {"attempts": attempts, "max_messages": max_messages, "max_tokens": max_tokens}
        for label, value in limits.items():
            if value < 1:
                raise ValueError(f"{label} must be 1 or more, not {value!r}")
        self._llm = llm
        self._fallback: Extractor = fallback or RuleExtractor()
        self._attempts = attempts
        self._max_messages = max_messages
        self._max_tokens = max_tokens

    @property
    def name(self) -> str:
        """What made a memory; changes when the prompt does."""
        return f"llm-1/{self._llm.name}"

    @property
    def is_slow(self) -> bool:
        """Always: it waits for a model."""
        return True

    def __repr__(self) -> str:
        return f"LLMExtractor({self._llm!r})"

    def extract(self, request: ExtractionRequest) -> Extraction:
        """Everything worth remembering in ``request.messages``.

        Raises:
            ExtractionError: No answer came for one of its parts.
        """
        total = Extraction()
        for places in self._parts(request.messages):
            first = places[0]
            messages = tuple(request.messages[place] for place in places)
            part = request.model_copy(
                update={
                    "messages": messages,
                    "recent": (*request.recent, *request.messages[:first])[-RECENT_MESSAGES:],
                }
            )
            total = _joined(total, self._extract_part(part), places)
        return total

    def reconcile(self, cases: Sequence[Case]) -> tuple[Mapping[int, Decision], Usage]:
        """What the model decides of new facts that are near known ones: one call, and never an error."""
        return reconcile_with(self._llm, cases)

    def _parts(self, messages: Sequence[Message]) -> Iterator[list[int]]:
        """Positions of messages that go into one call; what says nothing is left out."""
        counter = counter_for(None, allow_download=False)
        held: list[int] = []
        tokens = 0
        for place, message in enumerate(messages):
            if message.role not in ("user", "assistant") or _is_small_talk(message.content):
                continue
            size = min(self._max_tokens, counter.count(self._pre_cut(message.content)))
            if held and (tokens + size > self._max_tokens or len(held) == self._max_messages):
                yield held
                held, tokens = [], 0
            held.append(place)
            tokens += size
        if held:
            yield held

    def _extract_part(self, request: ExtractionRequest) -> Extraction:
        counter = counter_for(None, allow_download=False)
        shown = tuple(self._shortened(message, counter) for message in request.messages)
        prompt = extraction_prompt(request.model_copy(update={"messages": shown}))
        usage, reason = Usage(), ""
        for attempt in range(self._attempts):
            asked = [*prompt, correction(reason)] if attempt else prompt
            try:
                completion = self._llm.complete(asked, Answer)
            except LLMUnavailableError as error:
                raise ExtractionError(
                    f"{self.name} did not read {len(request.messages)} messages: {error}"
                ) from error
            except LLMOutputError as error:
                usage, reason = usage + error.usage, str(error)
                logger.info("attempt %d of %d: %s", attempt + 1, self._attempts, error)
                if error.is_final:
                    break
                continue
            kept = screened(completion.value, request.messages)
            usage += completion.usage + kept.usage
            if kept.facts or kept.bubbles or kept.triplets or not (kept.usage + completion.usage).dropped:
                return kept.model_copy(update={"usage": usage})
            reason = "none of its items says anything"
        logger.warning("%s: rules read %d messages: %s", self.name, len(request.messages), reason)
        read = self._fallback.extract(request)
        return read.model_copy(update={"usage": read.usage + usage + Usage(fell_back=1)})

    def _shortened(self, message: Message, counter: TokenCounter) -> Message:
        text = self._pre_cut(message.content)
        if counter.count(text) > self._max_tokens:
            text = shortened(text, lambda part: counter.count(part) <= self._max_tokens) or text[:1]
        return message if text == message.content else message.model_copy(update={"content": text})

    def _pre_cut(self, text: str) -> str:
        return text[: self._max_tokens * _CHARACTERS_PER_TOKEN]


def _is_small_talk(text: str) -> bool:
    return _SMALL_TALK.issuperset(_WORD.findall(text.casefold()))


def _joined(total: Extraction, part: Extraction, places: Sequence[int]) -> Extraction:
    """``total`` and ``part``, whose sources are positions in ``places``."""
    facts, bubbles, triplets = (
        tuple(
            item.model_copy(update={"sources": tuple(places[source] for source in item.sources)})
            for item in items
        )
        for items in (part.facts, part.bubbles, part.triplets)
    )
    return Extraction(
        facts=(*total.facts, *facts),
        bubbles=(*total.bubbles, *bubbles),
        triplets=(*total.triplets, *triplets),
        usage=total.usage + part.usage,
    )
