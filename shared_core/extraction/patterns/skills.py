"""What somebody can do, and with which tools."""

from __future__ import annotations

from shared_core.extraction.expressions import any_of
from shared_core.extraction.patterns.pattern import LIKELY, row
from shared_core.extraction.vocabulary import LANGUAGES

_LANGUAGE_AHEAD = rf"(?= (?:{any_of(LANGUAGES)})\b)"
#: "I play with …", "I play well": no game and no instrument follows.
_NOT_PLAYED = (
    r"(?! with\b| a role| in\b| at\b| around| along| for\b| games?\b| on\b| together| outside| ever| like\b"
    r"| well| \w+ly\b| (?:soft|hard|tag|house|pretend|catch)|ed)"
)
_NOT_LEARNT = r"(?! about| that| how| a lot| an?\b| new\b| more\b| to\b| as\b| so| from| more| to )"
_NAME_AHEAD = r"(?= (?-i:[A-Z]))(?! I\b)(?!.* (?:is|are|was|were|will|would|can|has|have)\b)"

SPEAKS = row(
    "speak",
    "speaks",
    "skill",
    rf"speak(?: some| a (?:little|bit of)| fluent| native)?{_LANGUAGE_AHEAD}",
    "things",
    "speak",
)

ROWS = (
    SPEAKS,
    row("am", "speaks", "skill", rf"am (?:\w+ )?fluent in{_LANGUAGE_AHEAD}", "things", "speak"),
    row(
        "play",
        "plays",
        "skill",
        rf"play{_NOT_PLAYED}(?: the| some| a (?:little|bit of))?",
        "things",
        "play",
    ),
    row(
        "use",
        "uses",
        "skill",
        r"use(?! it| to\b| my\b| our\b| your\b| that\b| this\b| the same)(?: the)?",
        "things",
        "use",
    ),
    row("code program", "uses", "skill", r"(?:code|program)(?: mostly| mainly)? in", "things", "use"),
    row("depend", "depends_on", "other", r"depend on", "name", "depend on", confidence=LIKELY),
    row("know", "knows", "skill", rf"know{_NAME_AHEAD}", "things", "know", confidence=LIKELY),
    row(
        "am",
        "good_at",
        "skill",
        r"am (?:\w+ )?(?:good|great|skilled|experienced) (?:at|in)(?! all| remembering)",
        "things",
        "be good at",
        confidence=LIKELY,
    ),
    row(
        "learn",
        "learns",
        "skill",
        rf"learn{_NOT_LEARNT}(?: to)?",
        "things",
        "learn",
        "is learning",
        confidence=LIKELY,
        negatable=False,
    ),
    row(
        "have",
        "has_degree",
        "skill",
        r"have(?= (?:an? )?(?:\w+'?s? )?(?:degree|phd|masters|bachelors|diploma|doctorate|mba)\b)",
        "thing",
        "have",
        confidence=LIKELY,
    ),
)
