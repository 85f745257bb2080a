"""Whom a clause is about: the speaker, a relative of theirs, or somebody or something by name."""

from __future__ import annotations

from shared_core.extraction.clause import Subject
from shared_core.extraction.expressions import Expression, any_of
from shared_core.extraction.vocabulary import NOT_NAMES, PLURAL_RELATIONS, RELATIONS

_MODIFIERS = (
    "older younger little big elder eldest oldest youngest twin step late best good new old close dear "
    "lovely first only other"
).split()
_SELF = Expression(r"(?:(?:(?:my|our) [\w-]+|[a-z][\w-]+) and )?(?:i|we)\s+(?P<rest>.+)$", ignore_case=True)
_RELATIVE = Expression(
    rf"(?:my|our) (?:(?:{any_of(_MODIFIERS)}) )?(?P<relation>(?:ex-|step-?)?(?:{any_of(RELATIONS)}))"
    r"(?P<name>,? [A-Z][\w-]+,?)?(?: (?P<rest>.+))?$",
    ignore_case=True,
)
_GROUP = Expression(
    r"(?:my|our) (?P<group>team|company|startup|project|app|website|department) (?P<rest>.+)$",
    ignore_case=True,
)
_PRONOUN = Expression(r"(?P<who>she|he)(?P<short>'s)? (?P<rest>.+)$", ignore_case=True)
_NAMED = Expression(r"(?P<name>[A-Z][\w.+#-]*(?: (?:[A-Z][\w.+#-]*)){0,2}) (?P<rest>[a-z].+)$")


_FEMALE = frozenset("mother sister wife girlfriend daughter aunt niece grandmother".split())
_MALE = frozenset("father brother husband boyfriend son uncle nephew grandfather".split())
#: "She's been", "he's got": has, not is.
_HAS = frozenset({"been", "got", "had", "lived", "worked", "always", "never"})


def find_subject(
    piece: str, speaker: str, *, has_self: bool, person: Subject | None = None
) -> tuple[Subject, str] | None:
    """The subject at the start of a clause, and what follows it; None for any other subject.

    Args:
        piece: A clause.
        speaker: The subject of what is said in the first person.
        has_self: Whether the sentence has a word in the first person.
        person: Whom "she" or "he" means.
    """
    if person is not None:
        match = _PRONOUN.match(piece)
        if match and fits(person, match["who"].lower()):
            short = match["short"] and ("has" if match["rest"].split()[0] in _HAS else "is")
            return person, f"{short} {match['rest']}" if short else match["rest"]
    if has_self:
        match = _SELF.match(piece)
        if match:
            return Subject(speaker, speaker, is_self=True), match["rest"]
        match = _GROUP.match(piece)
        if match:
            name = f"{speaker}'s {match['group'].lower()}"
            return Subject(name, name), match["rest"]
        match = _RELATIVE.match(piece)
        if match:
            return _relative(match["relation"].lower(), match["name"] or "", match["rest"] or "", speaker)
    match = _NAMED.match(piece)
    if match and is_name(match["name"].split()[0]):
        return Subject(match["name"], match["name"]), match["rest"]
    return None


def _relative(relation: str, name: str, rest: str, speaker: str) -> tuple[Subject, str]:
    name = name.strip(" ,")
    if name and not (name[0].isupper() and is_name(name)):
        name, rest = "", f"{name} {rest}".strip()
    possessive = f"{speaker}'s {relation}"
    is_plural = relation in PLURAL_RELATIONS
    return Subject(name or possessive, f"{possessive} {name}".strip(), relation, is_plural=is_plural), rest


def is_name(word: str) -> bool:
    """Whether a capitalised word can be a name: not a function word, a weekday or a gerund."""
    low = word.lower()
    return (
        low not in NOT_NAMES
        and "'" not in low
        and not (low.endswith("ing") and len(low) > 5)
        and len(low) > 1
    )


def fits(person: Subject, pronoun: str) -> bool:
    """Whether "she" or "he" may mean ``person``: their relation to the speaker does not say otherwise."""
    kind = RELATIONS.get((person.relation or "").removeprefix("ex-"), "")
    return kind not in (_MALE if pronoun == "she" else _FEMALE)
