"""Rewrites what somebody says of themselves as what is said of them: "I'm tired" to "Anna is tired"."""

from __future__ import annotations

import re

from shared_core.extraction.agreement import agree, agree_joined, next_word
from shared_core.extraction.expressions import Expression
from shared_core.extraction.vocabulary import NOT_PAST

_TOKEN = Expression(r"[A-Za-zÀ-ÿ]+(?:'[A-Za-z]+)?|[^A-Za-zÀ-ÿ]+")
_QUOTED = Expression(r'("[^"]*")')
_FIRST = frozenset({"i", "i'm", "i've", "i'd", "i'll", "im", "ive", "me", "my", "mine", "myself"})
_PLURAL = frozenset({"we", "we're", "we've", "we'd", "we'll", "us", "our", "ours", "ourselves"})
_INVERTED = {"am": "is", "have": "has", "do": "does", "don't": "doesn't", "haven't": "hasn't"}
_NUMBERED = frozenset(
    {
        "war",
        "type",
        "part",
        "phase",
        "chapter",
        "class",
        "stage",
        "level",
        "volume",
        "act",
        "book",
        "grade",
        "tier",
    }
)
_HAD_AFTER = frozenset(
    {"better", "been", "already", "never", "just", "forgotten", "gone", "seen", "known", "done"}
)
_OMITTED = {
    "went had got took saw made met bought finished started visited spent came "
    "left found lost won watched played tried "
    "attended decided ran signed moved passed learned completed joined tried forgot ordered booked": "",
    "working trying planning thinking getting going heading looking studying "
    "preparing debugging building writing reading "
    "learning gonna leaving moving waiting hoping": "is ",
    "been": "has ",
}
_FINITE = frozenset(
    {"is", "was", "has", "isn't", "makes", "helps", "takes", "can", "gives", "keeps", "are", "were"}
)
_OMITTED_AUXILIARY = {word: auxiliary for words, auxiliary in _OMITTED.items() for word in words.split()}
_AFTER_AND = Expression(
    r"\band I (?=(?:[a-z]+ed|was|had|went|got|took|saw|made|met|bought|came|left|"
    r"found|will|can|could|would)\b)"
)


def in_third_person(text: str, speaker: str, *, is_named: bool = False) -> str:
    """``text`` as said of ``speaker``.

    The first mention of the speaker is by name; later ones too where they are the subject, else "their" and
    "them". "We" becomes "Anna and others", then "they". What stands in quotation marks is left as it is.

    Args:
        text: One sentence or less.
        speaker: The name of who said it.
        is_named: Whether the text already names the speaker before the first "my" or "me".
    """
    if '"' not in text:
        return _rewritten(text, speaker, is_named)
    parts = _QUOTED.split(text)
    return "".join(
        part if index % 2 else _rewritten(part, speaker, is_named) for index, part in enumerate(parts)
    )


def omitted_subject(words: tuple[str, ...]) -> str | None:
    """The auxiliary that goes with the "I" left out of "Went home", "Working on it"; None where none was."""
    place = 1 if words and words[0] in ("just", "finally", "recently", "also", "already") else 0
    if len(words) < place + 2:
        return None
    first, second = words[place : place + 2]
    auxiliary = _OMITTED_AUXILIARY.get(first)
    if auxiliary == "is " and not _FINITE.isdisjoint(words[:8]):
        return None  # "Trying seafood is a must": the first word is the subject
    if (first, second) in (("got", "your"), ("got", "it"), ("got", "you")) or (
        (first, second) == ("gonna", "be") and "able" not in words
    ):
        return None  # "Got it", "Gonna be a big change": nothing of the speaker's
    if first == "been" and not (
        second.endswith("ing") or second in ("to", "at", "on", "in", "thinking", "busy")
    ):
        return None
    return auxiliary


def _rewritten(text: str, speaker: str, is_named: bool) -> str:
    text = (
        _AFTER_AND.sub("and ", text)
        if _AFTER_AND.search(text) and re.match(r".{0,60}?\bI\b.*\band I\b", text)
        else text
    )
    tokens = _TOKEN.findall(text)
    said = _Mentions(speaker, is_named)
    for place, token in enumerate(tokens):
        low = token.lower()
        if (
            low in _FIRST
            and tokens[place + 1 : place + 2] != ["-"]
            and not (token == "I" and _previous_word(tokens, place) in _NUMBERED)
        ):
            _first_person(tokens, place, low, said)
        elif low in _PLURAL and token != "US":
            _plural(tokens, place, low, said)
    result = "".join(tokens)
    return result[:1].upper() + result[1:] if text[:1].isupper() else result


class _Mentions:
    """Who was mentioned so far in the sentence, and so may be "they"."""

    def __init__(self, speaker: str, is_named: bool) -> None:
        self.speaker = speaker
        self.is_named = is_named
        self.is_group_named = False

    def possessive(self) -> str:
        return "their" if self._again() else f"{self.speaker}'s"

    def object(self) -> str:
        return "them" if self._again() else self.speaker

    def group(self, later: str) -> str:
        if self.is_group_named or self.is_named:
            return later
        self.is_group_named = self.is_named = True
        return f"{self.speaker} and others"

    def _again(self) -> bool:
        again = self.is_named
        self.is_named = True
        return again


def _first_person(tokens: list[str], place: int, low: str, said: _Mentions) -> None:
    if low == "my":
        tokens[place] = said.possessive()
    elif low == "me":
        tokens[place] = said.object()
    elif low == "mine":
        tokens[place] = "theirs" if said._again() else f"{said.speaker}'s"
    elif low == "myself":
        tokens[place] = "themselves" if said._again() else said.speaker
    else:
        said.is_named = True
        _subject(tokens, place, low, said.speaker)


def _subject(tokens: list[str], place: int, low: str, speaker: str) -> None:
    """Puts the name for "I" and makes the verb that goes with it agree."""
    following = next_word(tokens, place)
    word = tokens[following].lower() if following is not None else ""
    if low in ("i'm", "im"):
        agree_joined(tokens, place)
        tokens[place] = f"{speaker} is"
    elif low in ("i've", "ive"):
        agree_joined(tokens, place)
        tokens[place] = f"{speaker} has"
    elif low == "i'll":
        tokens[place] = f"{speaker} will"
    elif low == "i'd":
        is_had = word in _HAD_AFTER or (word.endswith("ed") and word not in NOT_PAST)
        tokens[place] = f"{speaker} {'had' if is_had else 'would'}"
    else:
        tokens[place] = speaker
        before = _previous_place(tokens, place)
        if before is not None and tokens[before].lower() in _INVERTED and tokens[place - 1] == " ":
            tokens[before] = _INVERTED[tokens[before].lower()]
        elif (
            before is not None
            and tokens[before].lower() in ("and", "did", "would", "could", "should", "will", "can", "or")
            and _is_joint(tokens, before)
        ):
            return
        else:
            agree(tokens, place)


def _is_joint(tokens: list[str], before: int) -> bool:
    """Whether "… and I" is one plural subject, so that its verb stays: "my sister and I love"."""
    if tokens[before].lower() != "and":
        return True
    words = [token for token in tokens[:before] if token[0].isalpha()]
    if not 1 <= len(words) <= 3 or "," in tokens[before - 1]:
        return False
    return (
        len(words) == 1 or words[0].lower() in ("my", "our", "the", "their", "me") or words[0].endswith("'s")
    )


def _plural(tokens: list[str], place: int, low: str, said: _Mentions) -> None:
    head, _, tail = low.partition("'")
    if head == "we":
        tokens[place] = said.group("they") + {
            "": "",
            "re": " are",
            "ve": " have",
            "d": " would",
            "ll": " will",
        }.get(tail, f"'{tail}")
    elif head == "us":
        tokens[place] = said.group("them")
    elif head == "our":
        tokens[place] = said.possessive()
    elif head == "ours":
        tokens[place] = "theirs"
    else:
        tokens[place] = "themselves"


def _previous_place(tokens: list[str], place: int) -> int | None:
    for before in range(place - 1, max(place - 4, -1), -1):
        if tokens[before][0].isalpha():
            return before
    return None


def _previous_word(tokens: list[str], place: int) -> str:
    before = _previous_place(tokens, place)
    return "" if before is None else tokens[before].lower()
