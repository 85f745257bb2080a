"""The answer that a model is asked for, and the rules that put its values right.

====================================  ===============================================================
what the model wrote                  what it is read as
====================================  ===============================================================
importance 0 to 1                     itself
``8``, ``"8"``, ``"8/10"``, ``85``    0.8, 0.8, 0.8, 0.85: from 2 to 10 a tenth, above 10 a hundredth
``"85%"``, ``"high"``, ``1.2``        0.85, 0.8, 1: just above 1 is 1
below 0, above 100, NaN, other words  the default: 0.7 of a fact, 0.5 of a bubble, 0.8 of a confidence
an unknown category                   the one that it means (``job`` is ``work``), else ``other``
``messages`` as number or words       the numbers in it
a date that is no text                none
a bare text in a list                 an item with that text
a triplet as a list of three texts    a triplet
other names of a key, in any case     the key: ``content`` is ``text``, ``relation`` is ``predicate``
a text with breaks and controls       the text on one line, without them
no text, or one that is no text       the item is dropped
====================================  ===============================================================
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints
from pydantic import model_validator as validator

from shared_core.records import CATEGORIES, Category

__all__ = ["Answer", "BubbleAnswer", "FactAnswer", "TripletAnswer", "as_weight"]

FACT_IMPORTANCE, BUBBLE_IMPORTANCE, CONFIDENCE = 0.7, 0.5, 0.8

_WORDS = {
    "critical": 0.95,
    "highest": 0.95,
    "high": 0.8,
    "important": 0.8,
    "medium": 0.5,
    "moderate": 0.5,
    "average": 0.5,
    "normal": 0.5,
    "low": 0.2,
    "minor": 0.2,
    "lowest": 0.1,
    "trivial": 0.1,
}
_MEANINGS: dict[Category, str] = {
    "work": "job career profession occupation education school study employment professional",
    "place": "location home residence city country travel address geography",
    "family": "relationship relationships people friend friends pet pets person social marriage",
    "preference": "preferences like likes dislike interest interests hobby hobbies favorite favourite food",
    "skill": "skills ability abilities language languages knowledge expertise",
    "goal": "goals plan plans dream dreams intention aspiration",
    "rule": "rules instruction instructions constraint style",
    "possession": "possessions belongings property item items ownership",
    "health": "medical illness condition allergy diet fitness",
    "name": "names identity nickname",
}
_SYNONYMS = {word: category for category, words in _MEANINGS.items() for word in words.split()}
_FIGURE = re.compile(
    r"(?P<value>-?\d{1,9}(?:[.,]\d{1,9})?)(?:\s*(?:/|out of|of)\s*(?P<of>10{0,2})\b|\s*(?P<percent>%))?"
)
_DIGITS = re.compile(r"\d{1,6}")
_CONTROLS = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u200b\u202a-\u202e\u2060-\u206f\ufeff]")
#: Messages that one item may name.
_MAX_MESSAGES = 20


def as_weight(value: Any, default: float) -> float:
    """An importance or confidence from 0 to 1, by the rules above."""
    if isinstance(value, str):
        return _weight_of_words(value.strip().casefold(), default)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return _scaled(value, default)
    return default


def _weight_of_words(text: str, default: float) -> float:
    match = _FIGURE.search(text)
    if match is None:
        return next((_WORDS[word] for word in re.findall(r"[a-z]+", text) if word in _WORDS), default)
    value = float(match["value"].replace(",", "."))
    if match["percent"] or match["of"]:
        share = value / (100 if match["percent"] else int(match["of"]))
        return share if 0 <= share <= 1 else default
    return _scaled(value, default)


def _scaled(value: float, default: float) -> float:
    try:
        number = float(value)
    except OverflowError:
        return default
    if not math.isfinite(number) or not 0 <= number <= 100:
        return default
    if number <= 1:
        return number
    return 1.0 if number < 2 else round(number / (10 if number <= 10 else 100), 4)


def _importance(default: float) -> BeforeValidator:
    return BeforeValidator(lambda value: as_weight(value, default))


def _category(value: Any) -> Any:
    words = re.findall(r"[a-z]+", value.casefold()) if isinstance(value, str) else []
    known = [word for word in words if word in CATEGORIES]
    return (known or [_SYNONYMS[word] for word in words if word in _SYNONYMS] or ["other"])[0]


def _numbers(value: Any) -> Any:
    """Positions of messages, as a number, a text or a list of them."""
    listed = value if isinstance(value, list) else [value]
    found: list[int] = []
    for item in listed[:_MAX_MESSAGES]:
        if isinstance(item, bool) or not isinstance(item, (int, float, str)):
            continue
        if isinstance(item, str):
            found.extend(int(digits) for digits in _DIGITS.findall(item))
        elif item == item // 1 and abs(item) < 10**6:
            found.append(int(item))
    return list(dict.fromkeys(found))[:_MAX_MESSAGES]


def _line(value: Any) -> Any:
    return " ".join(_CONTROLS.sub("", value).split()) if isinstance(value, str) else value


def _words_or_none(value: Any) -> Any:
    line = _line(value)
    return line if isinstance(line, str) and line else None


def _known_as(*names: str) -> Any:
    return AliasChoices(*names)


_Line = Annotated[str, BeforeValidator(_line), StringConstraints(min_length=1)]
_Messages = Annotated[list[int], BeforeValidator(_numbers)]
_MESSAGES = "messages message message_id message_ids message_number source sources".split()


class _Item(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    messages: _Messages = Field(default=[], validation_alias=_known_as(*_MESSAGES))

    @validator(mode="before")
    @classmethod
    def _put_right(cls, value: Any) -> Any:
        if isinstance(value, str) and "text" in cls.model_fields:
            return {"text": value}
        if isinstance(value, list) and len(value) >= 3 and "predicate" in cls.model_fields:
            return dict(zip(("subject", "predicate", "object"), value, strict=False))
        if isinstance(value, Mapping):
            return {
                "_".join(str(key).casefold().replace("-", " ").split()): inner for key, inner in value.items()
            }
        return value


_TEXT = "text fact content memory statement sentence description bubble moment event summary value".split()
_WEIGHT = "importance importance_score score weight priority salience".split()


class FactAnswer(_Item):
    """A fact as a model gives it."""

    text: _Line = Field(validation_alias=_known_as(*_TEXT))
    category: Annotated[Category, BeforeValidator(_category)] = Field(
        default="other", validation_alias=_known_as("category", "type", "kind", "topic")
    )
    importance: Annotated[float, _importance(FACT_IMPORTANCE)] = Field(
        default=FACT_IMPORTANCE, validation_alias=_known_as(*_WEIGHT)
    )


class BubbleAnswer(_Item):
    """A moment as a model gives it; its date in any words."""

    text: _Line = Field(validation_alias=_known_as(*_TEXT))
    importance: Annotated[float, _importance(BUBBLE_IMPORTANCE)] = Field(
        default=BUBBLE_IMPORTANCE, validation_alias=_known_as(*_WEIGHT)
    )
    occurred_at: Annotated[str | None, BeforeValidator(_words_or_none)] = Field(
        default=None,
        validation_alias=_known_as("occurred_at", "date", "when", "time", "timestamp", "datetime"),
    )


class TripletAnswer(_Item):
    """A relation as a model gives it."""

    subject: _Line = Field(validation_alias=_known_as("subject", "s", "head", "from", "entity1"))
    predicate: _Line = Field(
        validation_alias=_known_as("predicate", "relation", "relationship", "p", "verb", "type")
    )
    object: _Line = Field(validation_alias=_known_as("object", "o", "tail", "to", "entity2", "target"))
    confidence: Annotated[float, _importance(CONFIDENCE)] = Field(
        default=CONFIDENCE, validation_alias=_known_as("confidence", *_WEIGHT)
    )


class Answer(BaseModel):
    """Everything that one call gives: facts, moments and relations (seeds 000 and 002 in one prompt)."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    facts: list[FactAnswer] = Field(
        default=[],
        validation_alias=_known_as("facts", "semantic", "semantic_facts", "semantic_memories", "fact"),
    )
    bubbles: list[BubbleAnswer] = Field(
        default=[],
        validation_alias=_known_as("bubbles", "bubble", "episodic", "episodes", "moments", "events"),
    )
    triplets: list[TripletAnswer] = Field(
        default=[],
        validation_alias=_known_as("triplets", "triples", "relations", "relationships", "knowledge_graph"),
    )
