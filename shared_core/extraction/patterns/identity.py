"""Who somebody is: name, age, nationality."""

from __future__ import annotations

from shared_core.extraction.expressions import any_of
from shared_core.extraction.patterns.pattern import row
from shared_core.extraction.vocabulary import DEMONYMS

ROWS = (
    row("am", "name", "name", r"am (?:called|named)", "name", "be called", negatable=False, anyones=False),
    row("go", "goes_by", "name", r"go by", "name", "go by", negatable=False),
    row(
        "am",
        "nationality",
        "other",
        rf"am(?: half| part)?(?= (?:{any_of(DEMONYMS)})(?:[.,!]|$))",
        "word",
        "be",
    ),
    row("am", "age", "other", r"am (?P<object>\d{1,3})(?: years old| years of age|(?=$))", "word", "be"),
)
