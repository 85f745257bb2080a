"""What is said of "my …": favourites, a birthday, a job, a dream."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shared_core.extraction.expressions import Expression
from shared_core.extraction.fact import Fact
from shared_core.extraction.objects import cut_object, is_sound, without_article
from shared_core.extraction.patterns.pattern import SURE
from shared_core.extraction.third_person import in_third_person
from shared_core.extraction.vocabulary import FIRST_PERSON, NOT_NAMES, PROFESSIONS
from shared_core.records import Category

_FAVORITE = Expression(
    r"\b(?:my|our) (?:all[- ]time |absolute )?favou?rite (?P<what>[a-z]+(?: [a-z]+){0,2}?) "
    r"(?:is|are|has to be|would be|was always) (?P<object>[^.!?]+)",
    ignore_case=True,
)
_FAVORITE_AFTER = Expression(
    r"^(?P<object>[\w' &-]{2,60}?) (?:is|are) (?:probably |definitely )?my (?:all[- ]time |absolute )?"
    r"favou?rite (?P<what>[a-z]+)\b",
    ignore_case=True,
)
#: "My favourite part", "my favourite memory": of something said before.
_NOT_KINDS = frozenset({"part", "thing", "one", "moment", "memory"})
_BRITISH = {"colour": "color", "flavour": "flavor", "neighbourhood": "neighborhood", "theatre": "theater"}
_MY_ATTRIBUTE = Expression(
    r"^(?:my|our) (?P<what>birthday|email(?: address)?|phone number|address|time ?zone|hometown"
    r"|native language|mother tongue|job|occupation|profession|dream|goal|biggest goal|dream job|age|diet"
    r"|major|nationality|hobby|hobbies|degree|company|pronouns"
    r"|car|bike|laptop|phone|computer|guitar|camera)"
    r"(?: is| are|'s) (?P<object>.+)$",
    ignore_case=True,
)
#: Predicate and category of those that are not called as they are said.
_ATTRIBUTES: dict[str, tuple[str, Category]] = {
    "email address": ("email", "other"),
    "timezone": ("time_zone", "other"),
    "time zone": ("time_zone", "other"),
    "hometown": ("hometown", "place"),
    "mother tongue": ("native_language", "skill"),
    "native language": ("native_language", "skill"),
    "job": ("works_as", "work"),
    "occupation": ("works_as", "work"),
    "profession": ("works_as", "work"),
    "dream": ("wants_to", "goal"),
    "goal": ("wants_to", "goal"),
    "biggest goal": ("wants_to", "goal"),
    "hobby": ("likes", "preference"),
    "hobbies": ("likes", "preference"),
    "company": ("company", "work"),
    "diet": ("diet", "health"),
    **dict.fromkeys(
        ("car", "bike", "laptop", "phone", "computer", "guitar", "camera"), ("owns", "possession")
    ),
}
_PLURAL = frozenset({"hobbies", "pronouns"})
_AND_MY = Expression(r",? and (?=(?:my|our)\b)", ignore_case=True)
_EMAIL = Expression(r"[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{2,63}")
_DAY = Expression(
    r"\d|january|february|march|april|may|june|july|august|september|october|november|december",
    ignore_case=True,
)


def find_attributes(text: str, words: frozenset[str], speaker: str) -> Iterator[Fact]:
    """The favourites and attributes that ``text``, with contractions written out, gives of the speaker."""
    parts = _AND_MY.split(text)
    if "favorite" in words or "favourite" in words:
        for part in parts:
            yield from _favorites(part, speaker)
    for part in parts:
        match = _MY_ATTRIBUTE.match(part)
        if match:
            yield from _attribute(match, speaker)


def _favorites(text: str, speaker: str) -> Iterator[Fact]:
    match = _FAVORITE.search(text) or _FAVORITE_AFTER.match(text)
    found = cut_object(match["object"], "things") if match else None
    if found and not FIRST_PERSON.isdisjoint(found.lower().split()):
        found = in_third_person(found, speaker, is_named=True)
    if match is None or found is None or found.lower() in NOT_NAMES:
        return
    words = match["what"].lower().split()
    kind = "_".join(_BRITISH.get(word, word) for word in words)
    if kind in _NOT_KINDS or "of" in words:
        return
    text = f"{speaker}'s favorite {' '.join(words)} is {found}"
    yield Fact(text, "preference", SURE, speaker, f"favorite_{kind}", found)


def _attribute(match: re.Match[str], speaker: str) -> Iterator[Fact]:
    what = match["what"].lower()
    predicate, category = _ATTRIBUTES.get(what, (what.replace(" ", "_"), "other"))
    found = _value(predicate, match["object"])
    if not found or not is_sound(found, "action"):
        return
    shown = found
    if predicate == "wants_to":
        shown = f"to {found}"
    elif predicate in ("works_as", "owns") and match["object"].lower().startswith(("a ", "an ")):
        shown = f"{match['object'].split(' ')[0]} {found}"
    verb = "are" if what in _PLURAL else "is"
    yield Fact(f"{speaker}'s {what} {verb} {shown}", category, SURE, speaker, predicate, found)


def _value(predicate: str, text: str) -> str | None:
    if predicate == "wants_to":
        return cut_object(text[3:], "action") if text.startswith("to ") else None
    if predicate == "works_as":
        found = cut_object(re.sub(r"^(?:being|working as) ", "", text), "role")
        found = without_article(found) if found else ""
        return found if found and found.split()[-1].lower() in PROFESSIONS else None
    if predicate == "birthday":
        found = re.sub(r"^on ", "", cut_object(text, "thing") or "")
        return found if _DAY.search(found) else None
    if predicate == "owns":
        found = cut_object(text, "thing") if re.match(r"(?:an?|\d{4}|[A-Z]\w+) ", text) else None
        return without_article(found) if found else None
    if predicate == "email":
        match = _EMAIL.search(text)
        return match.group().rstrip(".") if match else None
    return cut_object(text, "thing")
