"""Work and study."""

from __future__ import annotations

from shared_core.extraction.expressions import any_of
from shared_core.extraction.patterns.pattern import DOUBTFUL, LIKELY, row
from shared_core.extraction.vocabulary import POSSESSIONS

_HOURS = r"(?:full[- ]time |part[- ]time |remotely )?"

WORKS_AT = row("work", "works_at", "work", rf"work {_HOURS}(?:at|for)", "organisation", "work at")
WORKS_AS = row(
    "work",
    "works_as",
    "work",
    r"work (?:full[- ]time |part[- ]time |remotely |there |here )?as an?",
    "role",
    "work as",
)
#: "I'm a nurse": work only where the word is a profession.
IS_A = row("am", "works_as", "work", r"am (?:an?|the)(?= )", "role", "be")

ROWS = (
    WORKS_AT,
    WORKS_AS,
    row("work", "works_on", "work", r"work on", "name", "work on", confidence=LIKELY),
    row(
        "work",
        "works_in",
        "work",
        r"work in(?! an?\b| the\b| my\b| our\b| progress)",
        "thing",
        "work in",
        confidence=LIKELY,
    ),
    IS_A,
    row(
        "joined",
        "works_at",
        "work",
        r"joined(?! the\b| an?\b| my\b| in\b| us\b| up\b)",
        "organisation",
        "work at",
        confidence=DOUBTFUL,
        negatable=False,
    ),
    row(
        "got started",
        "works_at",
        "work",
        r"(?:got|started) (?:an?|my)(?: new| first)? (?:job|position|role) (?:at|with)",
        "organisation",
        "work at",
        confidence=LIKELY,
        negatable=False,
    ),
    row(
        "started",
        "works_at",
        "work",
        r"started working (?:at|for)",
        "organisation",
        "work at",
        confidence=LIKELY,
        negatable=False,
    ),
    row(
        "stopped",
        "no_longer_works_at",
        "work",
        r"stopped working (?:at|for)",
        "organisation",
        "work at",
        "no longer works at",
        negatable=False,
    ),
    row(
        "quit left",
        "no_longer_works_at",
        "work",
        r"(?:quit|left) my (?:job|position|role) (?:at|with)",
        "organisation",
        "work at",
        "no longer works at",
        negatable=False,
    ),
    row(
        "run",
        "runs",
        "work",
        rf"run(?= (?:an?|my own) (?:[\w-]+ ){{0,3}}(?:{any_of(POSSESSIONS)})\b)",
        "thing",
        "run",
    ),
    row("study", "studies_at", "work", r"study at", "organisation", "study at"),
    row(
        "study",
        "studies",
        "work",
        r"study(?! at\b| for\b| in\b| abroad| hard| with\b| at\b)",
        "things",
        "study",
        confidence=LIKELY,
    ),
    row(
        "graduated",
        "graduated_from",
        "work",
        r"graduated from",
        "organisation",
        "graduate from",
        "graduated from",
        negatable=False,
    ),
    row(
        "teach",
        "teaches",
        "work",
        r"teach(?! me\b| you\b| my\b| him\b| her\b| them\b| us\b)",
        "thing",
        "teach",
        confidence=LIKELY,
    ),
)
