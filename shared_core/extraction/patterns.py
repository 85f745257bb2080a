"""What a clause can state: one row for each form of words.

A row is matched at the start of a clause whose verb has the form that follows "I" (``clauses.py``).
Importance says how much a later conversation loses without the fact, confidence how often the form of
words means what it seems to.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Literal

from shared_core.extraction.vocabulary import CONDITIONS, DEMONYMS, LANGUAGES, POSSESSIONS
from shared_core.records import Category

#: What the object of a pattern is, and so how it is cut out of the clause (``objects.py``).
ObjectKind = Literal["place", "organisation", "thing", "things", "role", "action", "name", "word"]

IMPORTANCE: dict[Category, float] = {
    "name": 0.9,
    "rule": 0.9,
    "health": 0.9,
    "family": 0.8,
    "work": 0.8,
    "place": 0.8,
    "goal": 0.7,
    "preference": 0.7,
    "skill": 0.6,
    "possession": 0.6,
    "other": 0.5,
}
SURE = 0.95
LIKELY = 0.8


@dataclass(frozen=True)
class Pattern:
    """One form of words.

    Attributes:
        predicate: Of the triplet.
        category: Of the fact.
        expression: Matches the verb; what follows is the object, unless it has a group ``object``.
        kind: How the object is cut out.
        base, verb: The verb of the fact's sentence: ``live in``, ``lives in``.
        confidence: Before hedges.
        is_negatable: Whether "I don't …" of it is worth a fact.
        is_anyones: Whether it is also believed of third persons.
    """

    predicate: str
    category: Category
    expression: str
    kind: ObjectKind
    base: str
    verb: str
    confidence: float = SURE
    is_negatable: bool = True
    is_anyones: bool = True

    def match(self, rest: str) -> re.Match[str] | None:
        """The verb at the start of ``rest``."""
        return _compiled(self.expression).match(rest)


@cache
def _compiled(expression: str) -> re.Pattern[str]:
    """Compiled on first use, so that importing costs little."""
    return re.compile(rf"(?:{expression})(?:\s+|(?=[^\w\s]|$))", re.IGNORECASE)


def _row(
    starts: str,
    predicate: str,
    category: Category,
    expression: str,
    kind: ObjectKind,
    verbs: tuple[str, str],
    confidence: float = SURE,
    *,
    negatable: bool = True,
    anyones: bool = True,
) -> tuple[str, Pattern]:
    return starts, Pattern(predicate, category, expression, kind, *verbs, confidence, negatable, anyones)


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, words), key=len, reverse=True))


_PET = (
    r"dog|cat|puppy|kitten|hamster|parrot|rabbit|bunny|horse|turtle|tortoise|ferret|"
    r"budgie|canary|goldfish|guinea pig|snake"
)
_SIBLING = r"sister|brother|son|daughter|twin|cousin|niece|nephew"
_COUNT = r"(?:one|two|three|four|five|six|seven|\d{1,2})"
_NEGATABLE_ONLY = ("eat", "eats")

_TABLE: tuple[tuple[str, Pattern], ...] = (
    # names
    _row(
        "am",
        "name",
        "name",
        r"am (?:called|named)",
        "name",
        ("be called", "is called"),
        negatable=False,
        anyones=False,
    ),
    _row("go", "goes_by", "name", r"go by", "name", ("go by", "goes by"), negatable=False),
    # work and study
    _row(
        "work",
        "works_at",
        "work",
        r"work (?:full[- ]time |part[- ]time |remotely )?(?:at|for)",
        "organisation",
        ("work at", "works at"),
    ),
    _row(
        "work",
        "works_as",
        "work",
        r"work (?:full[- ]time |part[- ]time |remotely |there |here )?as an?",
        "role",
        ("work as", "works as"),
    ),
    _row("work", "works_on", "work", r"work on", "name", ("work on", "works on"), LIKELY),
    _row(
        "work",
        "works_in",
        "work",
        r"work in(?! an?\b| the\b| my\b| our\b| progress)",
        "thing",
        ("work in", "works in"),
        LIKELY,
    ),
    _row("am", "works_as", "work", r"am (?:an?|the)(?= )", "role", ("be", "is")),
    _row(
        "joined",
        "works_at",
        "work",
        r"joined(?! the\b| an?\b| my\b| in\b| us\b| up\b)",
        "organisation",
        ("work at", "works at"),
        0.6,
        negatable=False,
    ),
    _row(
        "got started",
        "works_at",
        "work",
        r"(?:got|started) (?:an?|my)(?: new| first)? (?:job|position|role) (?:at|with)",
        "organisation",
        ("work at", "works at"),
        LIKELY,
        negatable=False,
    ),
    _row(
        "started",
        "works_at",
        "work",
        r"started working (?:at|for)",
        "organisation",
        ("work at", "works at"),
        LIKELY,
        negatable=False,
    ),
    _row(
        "stopped",
        "no_longer_works_at",
        "work",
        r"stopped working (?:at|for)",
        "organisation",
        ("work at", "no longer works at"),
        negatable=False,
    ),
    _row(
        "quit left",
        "no_longer_works_at",
        "work",
        r"(?:quit|left) my (?:job|position|role) (?:at|with)",
        "organisation",
        ("work at", "no longer works at"),
        negatable=False,
    ),
    _row("study", "studies_at", "work", r"study at", "organisation", ("study at", "studies at")),
    _row(
        "study",
        "studies",
        "work",
        r"study(?! at\b| for\b| in\b| abroad| hard| with\b| at\b)",
        "things",
        ("study", "studies"),
        LIKELY,
    ),
    _row(
        "graduated",
        "graduated_from",
        "work",
        r"graduated from",
        "organisation",
        ("graduate from", "graduated from"),
        negatable=False,
    ),
    _row(
        "teach",
        "teaches",
        "work",
        r"teach(?! me\b| you\b| my\b| him\b| her\b| them\b| us\b)",
        "thing",
        ("teach", "teaches"),
        LIKELY,
    ),
    # places
    _row(
        "live reside",
        "lives_in",
        "place",
        r"(?:live|reside) in",
        "place",
        ("live in", "lives in"),
    ),
    _row("am", "lives_in", "place", r"am (?:based|located) in", "place", ("live in", "lives in")),
    _row("am come", "from", "place", r"(?:am|come) (?:originally )?from", "place", ("be from", "is from")),
    _row(
        "was",
        "born_in",
        "place",
        r"was born(?: and raised)? in",
        "place",
        ("be born in", "was born in"),
        negatable=False,
    ),
    _row(
        "grew", "grew_up_in", "place", r"grew up in", "place", ("grow up in", "grew up in"), negatable=False
    ),
    _row(
        "moved",
        "moved_from",
        "place",
        r"moved (?:here |over |away )?from",
        "place",
        ("move from", "moved from"),
        negatable=False,
    ),
    _row(
        "moved relocated",
        "lives_in",
        "place",
        r"(?:moved|relocated) (?:back |over |out )?to",
        "place",
        ("live in", "lives in"),
        LIKELY,
        negatable=False,
    ),
    # family
    _row(
        "am",
        "married_to",
        "family",
        r"am (?:happily )?married to",
        "name",
        ("be married to", "is married to"),
    ),
    _row(
        "am got",
        "marital_status",
        "family",
        r"am(?= (?:single|married|divorced|widowed|engaged)\b(?! to))",
        "word",
        ("be", "is"),
    ),
    _row(
        "have",
        "has_children",
        "family",
        rf"have(?= (?:{_COUNT}|any|no) (?:\w+ )?(?:kids?|child|children|sons?|daughters?)\b)",
        "thing",
        ("have", "has"),
    ),
    _row(
        "have",
        "has_sibling",
        "family",
        rf"have(?= {_COUNT} (?:\w+ )?(?:sisters|brothers|siblings)\b)",
        "thing",
        ("have", "has"),
    ),
    _row(
        "have",
        "has_pet",
        "possession",
        rf"have(?= (?:{_COUNT}|any|no) (?:\w+ )?(?:pets|dogs|cats|puppies|kittens|rabbits|"
        rf"hamsters|horses|turtles|parrots|guinea pigs)\b)",
        "thing",
        ("have", "has"),
    ),
    # health
    _row(
        "am",
        "allergic_to",
        "health",
        r"am (?:\w+ )?allergic to",
        "things",
        ("be allergic to", "is allergic to"),
    ),
    _row(
        "have",
        "allergic_to",
        "health",
        r"have an? (?:\w+ )?allergy to",
        "things",
        ("be allergic to", "is allergic to"),
    ),
    _row(
        "have",
        "allergic_to",
        "health",
        r"have an? (?:severe |bad |mild )?(?P<object>[\w-]+) allergy",
        "word",
        ("be allergic to", "is allergic to"),
    ),
    _row(
        "am",
        "intolerant_to",
        "health",
        r"am (?P<object>lactose|gluten|fructose|histamine)[- ]intolerant",
        "word",
        ("be intolerant to", "is intolerant to"),
    ),
    _row(
        "am",
        "diet",
        "health",
        r"am (?:an? )?(?P<object>vegetarian|vegan|pescatarian|gluten[- ]free|diabetic|"
        r"celiac|coeliac)\b(?! (?:restaurant|cook))",
        "word",
        ("be", "is"),
    ),
    _row(
        "have suffer",
        "has_condition",
        "health",
        rf"(?:have|suffer from)(?: an?)?(?= (?:\w+ ){{0,2}}(?:{_any(CONDITIONS)})\b)",
        "thing",
        ("have", "has"),
    ),
    _row(
        "was am",
        "has_condition",
        "health",
        r"(?:was|am) diagnosed with",
        "thing",
        ("have", "was diagnosed with"),
        negatable=False,
    ),
    _row(
        "eat",
        "eats",
        "preference",
        r"eat(?! out| at\b| in\b| with\b| there| here| dinner| lunch| breakfast| well| healthy)",
        "things",
        _NEGATABLE_ONLY,
    ),
    _row("drink", "drinks", "preference", r"drink(?! at\b| with\b| enough)", "things", ("drink", "drinks")),
    _row("drive", "drives", "possession", r"drive(?= an? )", "thing", ("drive", "drives")),
    # preferences
    _row(
        "love adore",
        "loves",
        "preference",
        r"(?:love|adore)(?! you| to see| to hear| to know| for you| how | that )",
        "things",
        ("love", "loves"),
    ),
    _row(
        "like",
        "likes",
        "preference",
        r"like(?! you| to see| to hear| to know| to think| how | that | when| where| what| if| your)",
        "things",
        ("like", "likes"),
    ),
    _row("enjoy", "likes", "preference", r"enjoy(?! that | your)", "things", ("enjoy", "enjoys")),
    _row(
        "am",
        "likes",
        "preference",
        r"am (?:an? )?(?:(?:big|huge|massive|real|so|avid|great|more|totally|pretty|"
        r"heavily) )?(?:fan of|fond of|keen on|into|passionate about|crazy about|obsessed "
        r"with|addicted to)",
        "things",
        ("like", "likes"),
        LIKELY,
    ),
    _row(
        "am",
        "interested_in",
        "preference",
        r"am (?:\w+ )?interested in",
        "things",
        ("be interested in", "is interested in"),
        LIKELY,
    ),
    _row(
        "hate dislike detest",
        "dislikes",
        "preference",
        r"(?:hate|dislike|detest)(?! to say| to see| to admit| how | when| that )",
        "things",
        ("dislike", "dislikes"),
        negatable=False,
    ),
    _row(
        "cannot",
        "dislikes",
        "preference",
        r"cannot (?:stand|bear)(?! how | when| that )",
        "things",
        ("dislike", "dislikes"),
        negatable=False,
    ),
    _row("prefer", "prefers", "preference", r"prefer(?! not)", "action", ("prefer", "prefers")),
    _row(
        "would",
        "prefers",
        "preference",
        r"would rather(?! not| you| have| be\b)",
        "action",
        ("prefer to", "would rather"),
        LIKELY,
        negatable=False,
    ),
    # skills and tools
    _row(
        "speak",
        "speaks",
        "skill",
        rf"speak(?: some| a (?:little|bit of)| fluent| native)?(?= (?:{_any(LANGUAGES)})\b)",
        "things",
        ("speak", "speaks"),
    ),
    _row(
        "am",
        "speaks",
        "skill",
        rf"am (?:\w+ )?fluent in(?= (?:{_any(LANGUAGES)})\b)",
        "things",
        ("speak", "speaks"),
    ),
    _row(
        "play",
        "plays",
        "skill",
        r"play(?! with\b| a role| in\b| at\b| around| along| for\b| games?\b| on\b|"
        r" together| outside| ever| like\b| well| \w+ly\b| (?:soft|hard|tag|house|"
        r"pretend|catch)|ed)(?: the| some| a (?:little|bit of))?",
        "things",
        ("play", "plays"),
    ),
    _row(
        "use",
        "uses",
        "skill",
        r"use(?! it| to\b| my\b| our\b| your\b| that\b| this\b| the same)(?: the)?",
        "things",
        ("use", "uses"),
    ),
    _row(
        "code program", "uses", "skill", r"(?:code|program)(?: mostly| mainly)? in", "things", ("use", "uses")
    ),
    _row(
        "know",
        "knows",
        "skill",
        r"know(?= (?-i:[A-Z]))(?! I\b)(?!.* (?:is|are|was|were|will|would|can|has|have)\b)",
        "things",
        ("know", "knows"),
        LIKELY,
    ),
    _row(
        "am",
        "good_at",
        "skill",
        r"am (?:\w+ )?(?:good|great|skilled|experienced) (?:at|in)(?! all| remembering)",
        "things",
        ("be good at", "is good at"),
        LIKELY,
    ),
    _row(
        "learn",
        "learns",
        "skill",
        r"learn(?! about| that| how| a lot| an?\b| new\b| more\b| to\b| as\b| so| from| more| to )(?: to)?",
        "things",
        ("learn", "is learning"),
        LIKELY,
        negatable=False,
    ),
    # goals
    _row("want", "wants_to", "goal", r"want to", "action", ("want to", "wants to"), LIKELY, negatable=False),
    _row(
        "hope plan",
        "wants_to",
        "goal",
        r"(?:hope|plan) to",
        "action",
        ("want to", "wants to"),
        LIKELY,
        negatable=False,
    ),
    _row(
        "am",
        "wants_to",
        "goal",
        r"am (?:saving (?:up )?for|training for)(?= )",
        "thing",
        ("prepare for", "is preparing for"),
        LIKELY,
        negatable=False,
        anyones=False,
    ),
    # possessions
    _row(
        "have own",
        "owns",
        "possession",
        rf"(?:have|own)(?= (?:an?|\d|two|three) (?:[\w-]+ ){{0,3}}(?:{_any(POSSESSIONS)})\b)",
        "thing",
        ("own", "owns"),
    ),
    _row("own", "owns", "possession", r"own(?= (?:an?|two|three) )", "thing", ("own", "owns")),
    _row(
        "have",
        "has_degree",
        "skill",
        r"have(?= (?:an? )?(?:\w+'?s? )?(?:degree|phd|masters|bachelors|diploma|doctorate|mba)\b)",
        "thing",
        ("have", "has"),
        LIKELY,
    ),
    _row(
        "run",
        "runs",
        "work",
        rf"run(?= (?:an?|my own) (?:[\w-]+ ){{0,3}}(?:{_any(POSSESSIONS)})\b)",
        "thing",
        ("run", "runs"),
    ),
    # about oneself
    _row(
        "am",
        "nationality",
        "other",
        rf"am(?: half| part)?(?= (?:{_any(DEMONYMS)})(?:[.,!]|$))",
        "word",
        ("be", "is"),
    ),
    _row(
        "am",
        "age",
        "other",
        r"am (?P<object>\d{1,3})(?: years old| years of age|(?=$))",
        "word",
        ("be", "is"),
    ),
    # things about things
    _row("depend", "depends_on", "other", r"depend on", "name", ("depend on", "depends on"), LIKELY),
)

PATTERNS: dict[str, tuple[Pattern, ...]] = {}
for _starts, _pattern in _TABLE:
    for _start in _starts.split():
        PATTERNS[_start] = (*PATTERNS.get(_start, ()), _pattern)

PET = re.compile(
    rf"(?:have got|have adopted|have|adopted|got) (?:an?|our|my) (?:[\w-]+ ){{0,3}}?(?P<kind>{_PET})(?:,? "
    rf"(?:named|called|whose name is) (?P<name>[A-Z][\w-]+)|,? (?P<bare>[A-Z][\w-]+))?(?=$|"
    rf"[\s,.!])"
)
SIBLING = re.compile(
    rf"have an? (?:[\w-]+ ){{0,2}}?(?P<kind>{_SIBLING})(?:,? (?:named|called|whose "
    rf"name is) (?P<name>[A-Z][\w-]+)|,? (?P<bare>[A-Z][\w-]+))?(?=$|[\s,.!])"
)
