"""Family, pets and possessions."""

from __future__ import annotations

from shared_core.extraction.expressions import Expression, any_of
from shared_core.extraction.patterns.pattern import row
from shared_core.extraction.vocabulary import POSSESSIONS

_COUNT = r"(?:one|two|three|four|five|six|seven|\d{1,2})"
_ADJECTIVES = r"(?:[\w-]+ ){0,3}"
_PET = (
    r"dog|cat|puppy|kitten|hamster|parrot|rabbit|bunny|horse|turtle|tortoise|ferret|"
    r"budgie|canary|goldfish|guinea pig|snake"
)
_PETS = r"pets|dogs|cats|puppies|kittens|rabbits|hamsters|horses|turtles|parrots|guinea pigs"
_SIBLING = r"sister|brother|son|daughter|twin|cousin|niece|nephew"
_NAME_AFTER = (
    r"(?:,? (?:named|called|whose name is) (?P<name>[A-Z][\w-]+)|,? (?P<bare>[A-Z][\w-]+))?(?=$|[\s,.!])"
)

ROWS = (
    row("am", "married_to", "family", r"am (?:happily )?married to", "name", "be married to"),
    row(
        "am got",
        "marital_status",
        "family",
        r"am(?= (?:single|married|divorced|widowed|engaged)\b(?! to))",
        "word",
        "be",
    ),
    row(
        "have",
        "has_children",
        "family",
        rf"have(?= (?:{_COUNT}|any|no) (?:\w+ )?(?:kids?|child|children|sons?|daughters?)\b)",
        "thing",
        "have",
    ),
    row(
        "have",
        "has_sibling",
        "family",
        rf"have(?= {_COUNT} (?:\w+ )?(?:sisters|brothers|siblings)\b)",
        "thing",
        "have",
    ),
    row(
        "have",
        "has_pet",
        "possession",
        rf"have(?= (?:{_COUNT}|any|no) (?:\w+ )?(?:{_PETS})\b)",
        "thing",
        "have",
    ),
    row("drive", "drives", "possession", r"drive(?= an? )", "thing", "drive"),
    row(
        "have own",
        "owns",
        "possession",
        rf"(?:have|own)(?= (?:an?|\d|two|three) {_ADJECTIVES}(?:{any_of(POSSESSIONS)})\b)",
        "thing",
        "own",
    ),
    row("own", "owns", "possession", r"own(?= (?:an?|two|three) )", "thing", "own"),
)

#: "I have a cat named Miso", "We adopted a puppy": ``kind``, and the name as ``name`` or ``bare``.
PET = Expression(
    rf"(?:have got|have adopted|have|adopted|got) (?:an?|our|my) {_ADJECTIVES}?(?P<kind>{_PET})"
    rf"{_NAME_AFTER}"
)
SIBLING = Expression(rf"have an? (?:[\w-]+ ){{0,2}}?(?P<kind>{_SIBLING}){_NAME_AFTER}")
