"""Allergies, diets, conditions, and what somebody eats and drinks."""

from __future__ import annotations

from shared_core.extraction.expressions import any_of
from shared_core.extraction.patterns.pattern import row
from shared_core.extraction.vocabulary import CONDITIONS

_INTOLERANCES = r"lactose|gluten|fructose|histamine"
_DIETS = r"vegetarian|vegan|pescatarian|gluten[- ]free|diabetic|celiac|coeliac"

ROWS = (
    row("am", "allergic_to", "health", r"am (?:\w+ )?allergic to", "things", "be allergic to"),
    row("have", "allergic_to", "health", r"have an? (?:\w+ )?allergy to", "things", "be allergic to"),
    row(
        "have",
        "allergic_to",
        "health",
        r"have an? (?:severe |bad |mild )?(?P<object>[\w-]+) allergy",
        "word",
        "be allergic to",
    ),
    row(
        "am",
        "intolerant_to",
        "health",
        rf"am (?P<object>{_INTOLERANCES})[- ]intolerant",
        "word",
        "be intolerant to",
    ),
    row(
        "am",
        "diet",
        "health",
        rf"am (?:an? )?(?P<object>{_DIETS})\b(?! (?:restaurant|cook))",
        "word",
        "be",
    ),
    row(
        "have suffer",
        "has_condition",
        "health",
        rf"(?:have|suffer from)(?: an?)?(?= (?:\w+ ){{0,2}}(?:{any_of(CONDITIONS)})\b)",
        "thing",
        "have",
    ),
    row(
        "was am",
        "has_condition",
        "health",
        r"(?:was|am) diagnosed with",
        "thing",
        "have",
        "was diagnosed with",
        negatable=False,
    ),
    row(
        "eat",
        "eats",
        "preference",
        r"eat(?! out| at\b| in\b| with\b| there| here| dinner| lunch| breakfast| well| healthy)",
        "things",
        "eat",
    ),
    row("drink", "drinks", "preference", r"drink(?! at\b| with\b| enough)", "things", "drink"),
)
