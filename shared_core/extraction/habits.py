"""What somebody does again and again, or always in the same way: "I swim twice a week"."""

from __future__ import annotations

from shared_core.extraction.agreement import is_past
from shared_core.extraction.clause import Clause
from shared_core.extraction.date_meanings import WEEKDAYS
from shared_core.extraction.expressions import Expression
from shared_core.extraction.fact import Fact
from shared_core.extraction.objects import is_sound
from shared_core.extraction.patterns.pattern import LIKELY
from shared_core.extraction.third_person import in_third_person
from shared_core.extraction.vocabulary import NOT_PAST

_SERVED = Expression(
    r"(?:take|drink|like|have|want|eat) my (?P<what>coffee|tea|espresso|steaks?|eggs?|burgers?|toast"
    r"|whisk(?:e)?y|martinis?|pizza|food|curry|curries|noodles|pasta|rice|bread) "
    r"(?P<how>(?:with|without) [\w ]{2,30}|(?:(?:very|extra|really) )?(?:black|white|strong|weak|rare"
    r"|medium rare|medium|well done|scrambled|fried|poached|boiled|spicy|mild"
    r"|hot|cold|iced|sweet|unsweetened|plain|neat"
    r"|on the rocks|al dente|sugarless))(?=[,.!;]|$| (?:and|but|in)\b)",
    ignore_case=True,
)
_OFTEN = Expression(
    r"\b(?:every (?:single |other )?(?:day|morning|afternoon|evening|night|week|weekend|month|year"
    r"|spring|summer|autumn|fall|winter|\w+day)|each (?:day|morning|evening|night|week|year)"
    r"|(?:once|twice|(?:two|three|four|five|six|several|\d) times) (?:a|per) (?:day|week|month|year)"
    r"|on (?:weekdays|weekends|\w+days)|daily(?=$|[,.]))",
    ignore_case=True,
)
#: Longer ones are stories.
_MAX_WORDS = 12
_END = Expression(r", | (?:so|because|but|since|although|when|while|if)\b")
#: "I have a standup every morning", "I am training twice a week".
_IS_ACTIVE = Expression(r"have an? |am (?!going to\b)[a-z]+ing ")
_NOT_DOING = frozenset(
    "am was were have had do did would could should might will can cannot feel think say see hear know mean "
    "hope wish guess get find need want miss".split()
)
_MANNERS = frozenset({"with", "without", "on", "al", "very", "extra", "really"})


#: One of these words stands in every habit.
_CUES = frozenset(
    "every each once twice times daily weekdays weekends coffee tea espresso steak steaks egg eggs burger "
    "burgers toast whisky whiskey martini martinis pizza food curry curries noodles pasta rice bread".split()
) | frozenset(f"{day}{s}" for day in WEEKDAYS for s in ("", "s"))


def may_name_habit(words: frozenset[str]) -> bool:
    """Whether a sentence with these words can tell of a habit: a quick look before ``find_habit``."""
    return not words.isdisjoint(_CUES)


def find_habit(clause: Clause) -> list[Fact]:
    """The habit that a clause in the present tells of its speaker, or nothing."""
    subject, rest = clause.subject, clause.rest.strip(" .!,;")
    if not subject.is_self or clause.polarity != "yes":
        return []
    served = _SERVED.match(rest)
    if served:
        what, how = served["what"], served["how"].strip()
        found = f"{what} {how}" if how.split()[0].lower() in _MANNERS else f"{how} {what}"
        text = f"{subject.shown} likes their {what} {how}"
        return [Fact(text, "preference", LIKELY, subject.name, "likes", found)]
    end = _END.search(rest)
    rest = rest[: end.start()] if end else rest
    words = rest.split()
    verb = words[0].lower() if words else ""
    if _IS_ACTIVE.match(rest):
        verb = words[1].lower()
    if len(words) > _MAX_WORDS or not _OFTEN.search(rest) or verb in _NOT_DOING or not verb.isalpha():
        return []
    if (is_past(verb) and verb not in ("read", "put", "set", "cut")) or verb in NOT_PAST:
        return []
    text = in_third_person(f"I {rest}", subject.shown)
    found = text.removeprefix(f"{subject.shown} ")
    if not is_sound(found, "action"):
        return []
    return [Fact(text, "other", LIKELY, subject.name, "does", found)]
