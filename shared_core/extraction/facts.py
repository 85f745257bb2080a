"""Facts of one sentence: what its clauses state, what is said of the speaker's own, rules to keep."""

from __future__ import annotations

from dataclasses import replace

from shared_core.extraction.assistant_rules import find_rule
from shared_core.extraction.attributes import find_attributes
from shared_core.extraction.clause import Subject
from shared_core.extraction.clauses import CLAUSE_CUES, clauses, expanded
from shared_core.extraction.fact import Fact
from shared_core.extraction.habits import find_habit, may_name_habit
from shared_core.extraction.names import INTRODUCTIONS, find_names
from shared_core.extraction.notes import as_noted, noted
from shared_core.extraction.relatives import find_relatives, names_relative
from shared_core.extraction.sentences import Sentence
from shared_core.extraction.statements import find_statements
from shared_core.extraction.vocabulary import FIRST_PERSON, HEDGES

#: What a hedge ("I think", "maybe") takes from the confidence.
HEDGE_COST = 0.3
MIN_CONFIDENCE = 0.1

#: One of these words stands in every sentence about something of the speaker's.
_OWN_CUES = frozenset({"my", "our", "have", "got", "adopted"})


def find_facts(
    sentence: Sentence,
    speaker: str,
    *,
    is_to_assistant: bool,
    is_opening: bool,
    person: Subject | None = None,
) -> list[Fact]:
    """What ``sentence`` states, most direct first; nothing where it asks.

    Args:
        sentence: One sentence of the speaker.
        speaker: The subject of what is said in the first person.
        is_to_assistant: Whether imperatives are rules for the assistant.
        is_opening: Whether the speaker may be introducing themselves.
        person: Whom "she" or "he" means.
    """
    rule = find_rule(sentence, speaker) if is_to_assistant else None
    if rule is not None:
        return [rule]
    note = noted(sentence) if is_to_assistant else None
    if sentence.is_question and note is None:
        return []
    found = _stated(note or expanded(sentence), sentence.vocabulary, speaker, is_opening, person)
    if note and not found:
        return [as_noted(note, speaker)]
    if found and not HEDGES.isdisjoint(sentence.vocabulary):
        found = [_hedged(fact) for fact in found]
    first = {(fact.subject, fact.predicate, fact.object): fact for fact in reversed(found)}
    return list(first.values())[::-1]


def _stated(
    text: str, words: frozenset[str], speaker: str, is_opening: bool, person: Subject | None
) -> list[Fact]:
    found: list[Fact] = []
    has_self = not FIRST_PERSON.isdisjoint(words)
    if has_self or not words.isdisjoint(INTRODUCTIONS):
        found.extend(find_names(text, words, speaker, is_opening=is_opening))
    if has_self and not words.isdisjoint(_OWN_CUES):
        found.extend(find_attributes(text, words, speaker))
        if names_relative(words):
            found.extend(find_relatives(text, speaker))
    if person is not None or not words.isdisjoint(CLAUSE_CUES):
        has_habit = has_self and may_name_habit(words)
        for clause in clauses(text, words, speaker, person):
            stated = list(find_statements(clause))
            found.extend(stated or (find_habit(clause) if has_habit else ()))
    return found


def _hedged(fact: Fact) -> Fact:
    return replace(fact, confidence=round(max(MIN_CONFIDENCE, fact.confidence - HEDGE_COST), 2))
