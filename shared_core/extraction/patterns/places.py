"""Where somebody lives and comes from."""

from __future__ import annotations

from shared_core.extraction.patterns.pattern import LIKELY, row

LIVES_IN = row(
    "live reside",
    "lives_in",
    "place",
    r"(?:live|reside) (?:with (?:[\w'-]+ ){1,4}?|alone |together |here )?in",
    "place",
    "live in",
)
FROM = row("am come", "from", "place", r"(?:am|come) (?:originally )?from", "place", "be from")
MOVED_TO = row(
    "moved relocated",
    "lives_in",
    "place",
    r"(?:moved|relocated) (?:back |over |out )?to",
    "place",
    "live in",
    confidence=LIKELY,
    negatable=False,
)

ROWS = (
    LIVES_IN,
    row("am", "lives_in", "place", r"am (?:based|located) in", "place", "live in"),
    FROM,
    row(
        "was",
        "born_in",
        "place",
        r"was born(?: and raised)? in",
        "place",
        "be born in",
        "was born in",
        negatable=False,
    ),
    row("grew", "grew_up_in", "place", r"grew up in", "place", "grow up in", "grew up in", negatable=False),
    row(
        "moved",
        "moved_from",
        "place",
        r"moved (?:here |over |away )?from",
        "place",
        "move from",
        "moved from",
        negatable=False,
    ),
    MOVED_TO,
)
