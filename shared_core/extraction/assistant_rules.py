"""Instructions that hold for every answer to come: "Never use emojis"."""

from __future__ import annotations

import re

from shared_core.extraction.clauses import expanded
from shared_core.extraction.expressions import Expression
from shared_core.extraction.fact import Fact
from shared_core.extraction.patterns.pattern import SURE
from shared_core.extraction.sentences import MASK, Sentence
from shared_core.extraction.vocabulary import DEMONYMS

_STYLE = (
    r"emojis?|bullet points?|markdown|jargon|tables?|headings?|exclamation marks?|disclaimers?|semicolons?"
)
_RULE = Expression(
    r"^(?:(?:please|ok(?:ay)?|also|and|so|hey|btw|by the way|in (?:the )?future"
    r"|i (?:want|need|would like) you to|i prefer that you|make sure (?:you|to)|remember to"
    r"|can you(?: please)?),? )*"
    r"(?P<rule>(?:from now on,?|going forward,?)? ?(?:please )?"
    r"(?:always|never|from now on|going forward),? .+"
    r"|(?:do not|stop|avoid) (?:us(?:e|ing)|add(?:ing)?|includ(?:e|ing)|writ(?:e|ing)) "
    rf"(?:\w+ )?(?:{_STYLE})\b.*"
    r"|(?:answer|reply|respond|speak|talk|write|communicate)(?: to me| back)? "
    r"(?:only )?in (?P<language>[A-Z]\w+)\b.*"
    r"|keep (?:your|the|all) (?:answers?|repl(?:y|ies)|responses?|explanations?) .+"
    r"|(?:be|stay) (?:concise|brief|formal|informal|direct|succinct)(?: with me| in your \w+)?)[.!]*$",
    ignore_case=True,
)
#: One of these words stands in every rule.
_CUES = frozenset(
    "always never emoji emojis bullet markdown answer reply respond speak talk write communicate keep "
    "concise brief formal informal direct succinct forward now tables headings jargon disclaimers".split()
)
#: What begins so is told rather than asked, unless it is a wish.
_TELLING = frozenset({"i", "my", "we", "he", "she", "they", "it", "that's", "you've", "you're", "there's"})
_WISHES = ("i want you", "i need you", "i would like you", "i prefer")
#: "Never been", "always the same", "never mind": no instruction.
_NOT_VERBS = frozenset("been had was seen thought a the mind knew wanted good nice".split())
_WORD_BOUNDS = (2, 30)
#: "…, I find them hard to read": why, which is no part of the rule.
_REASON = Expression(r"(?:,| -)? (?:because|since) |, (?=(?:I|it|they|that|as|so)\b)")
_WHEN = Expression(r"(from now on|going forward),? ")


def find_rule(sentence: Sentence, speaker: str) -> Fact | None:
    """The rule that ``sentence`` gives, or None."""
    if _CUES.isdisjoint(sentence.vocabulary):
        return None
    text = expanded(sentence).strip(" .!")
    if sentence.words[0] in _TELLING and not text.lower().startswith(_WISHES):
        return None
    match = _RULE.match(text)
    if match is None or MASK in text or (sentence.is_question and not text.lower().startswith("can you")):
        return None
    language = match["language"]
    if language and language.lower() not in DEMONYMS and not language.istitle():
        return None
    rule = _REASON.split(match["rule"])[0].strip().rstrip("?").strip()
    words = rule.split()
    low, high = _WORD_BOUNDS
    if not low <= len(words) <= high or words[1].lower().strip(",") in _NOT_VERBS:
        return None
    rule = rule[0].lower() + rule[1:]
    return Fact(_in_words(rule, speaker), "rule", SURE, speaker, "wants_assistant_to", rule)


def _in_words(rule: str, speaker: str) -> str:
    if rule.startswith("do not "):
        return f"{speaker} wants the assistant not to {rule[7:]}"
    match: re.Match[str] | None = _WHEN.match(rule)
    when = f" {match.group(1)}" if match else ""
    return f"{speaker} wants the assistant{when} to {rule[match.end() :] if match else rule}"
