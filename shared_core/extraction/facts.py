"""Facts of one sentence: what its clauses state, what is said of the speaker's own things, rules to keep."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from shared_core.extraction.clauses import CLAUSE_CUES, Clause, clauses, expanded, is_name
from shared_core.extraction.objects import cut_object, is_sound, listed, without_article
from shared_core.extraction.patterns import IMPORTANCE, LIKELY, PATTERNS, PET, SIBLING, SURE, Pattern
from shared_core.extraction.predicates import NO_LONGER, NOT
from shared_core.extraction.sentences import MASK, Sentence
from shared_core.extraction.third_person import in_third_person
from shared_core.extraction.vocabulary import (
    DEMONYMS,
    FIRST_PERSON,
    HEDGES,
    IDENTITIES,
    NOT_GOALS,
    NOT_NAMES,
    PROFESSIONS,
    RELATIONS,
)
from shared_core.records import Category

#: What a hedge ("I think", "maybe") and being about a third person take from the confidence.
HEDGE_COST = 0.3
THIRD_PERSON_COST = 0.1

_GREETINGS = frozenset({"hi", "hello", "hey", "greetings", "morning", "afternoon", "evening", "howdy"})
_MY_NAME = re.compile(
    r"(?:^|[,.!;] |\b(?:and|but|so|well) )my (?:full |first |real )?name(?: is|"
    r"'s) (?P<name>[\w'-]+(?: [A-Z][\w'-]+){0,3})",
    re.IGNORECASE,
)
_I_AM = re.compile(
    r"(?:^|[,.!;] )(?:I am|I'm|[Tt]his is) (?P<name>[A-Z][a-zà-ÿ'-]+(?: [A-Z][a-zà-ÿ'-]+){0,2})(?= "
    r"(?:and|from)\b|[,.!]|$)"
)
_CALL_ME = re.compile(
    r"(?:^|[,.!;] |\b(?:and|but|so|just|please|can|always|everyone|friends|people|"
    r"they) )call(?:s)? me (?P<name>[\w'-]+(?: [A-Z][\w'-]+){0,2})(?=[.,!]|$| "
    r"please\b| and\b| from now)",
    re.IGNORECASE,
)
_FAVORITE = re.compile(
    r"\b(?:my|our) (?:all[- ]time |absolute )?favou?rite (?P<what>[a-z]+(?: [a-z]+){0,2}?) "
    r"(?:is|are|has to be|would be|was always) (?P<object>[^.!?]+)",
    re.IGNORECASE,
)
_FAVORITE_AFTER = re.compile(
    r"^(?P<object>[\w' &-]{2,60}?) (?:is|are) (?:probably |definitely )?my (?:all[- "
    r"]time |absolute )?favou?rite (?P<what>[a-z]+)\b",
    re.IGNORECASE,
)
_NAMED_THING = re.compile(
    r"\b(?:[Mm]y|[Oo]ur) (?:[\w-]+ )?(?P<relation>(?!is\b|are\b)[\w-]+)(?:'s? "
    r"names? (?:is|are)| are(?= [A-Z]\w+ and [A-Z])| is (?:called|named)| are (?:called|named)|,? named|,? "
    r"called) (?P<name>[A-Z][\w-]+(?:(?:, | and )[A-Z][\w-]+)*)"
)
_APPOSED = re.compile(
    r"\b(?:[Mm]y|[Oo]ur) (?:(?!new\b)[a-z-]+ )?(?P<relation>[a-zé-]+),? (?P<name>[A-Z][a-zà-ÿ-]+)\b(?!')"
)
_IS_MY = re.compile(r"^(?P<name>[A-Z][\w-]+) is my (?:[a-z]+ )?(?P<relation>[a-z]+)(?=[.,!]|$| and\b)")
_MY_ATTRIBUTE = re.compile(
    r"^(?:my|our) (?P<what>birthday|email(?: address)?|phone number|address|time "
    r"?zone|hometown|native language|mother tongue|"
    r"job|occupation|profession|dream|goal|biggest goal|dream job|age|diet|major|"
    r"nationality|hobby|hobbies|degree|company|pronouns)"
    r"(?: is| are|'s) (?P<object>.+)$",
    re.IGNORECASE,
)
_ATTRIBUTES: dict[str, tuple[str, Category]] = {
    "email address": ("email", "other"),
    "timezone": ("time_zone", "other"),
    "time zone": ("time_zone", "other"),
    "hometown": ("hometown", "place"),
    "mother tongue": ("native_language", "skill"),
    "native language": ("native_language", "skill"),
    "job": ("works_as", "work"),
    "occupation": ("works_as", "work"),
    "profession": ("works_as", "work"),
    "dream": ("wants_to", "goal"),
    "goal": ("wants_to", "goal"),
    "biggest goal": ("wants_to", "goal"),
    "hobby": ("likes", "preference"),
    "hobbies": ("likes", "preference"),
    "company": ("company", "work"),
    "diet": ("diet", "health"),
}
_BRITISH = {"colour": "color", "flavour": "flavor", "neighbourhood": "neighborhood", "theatre": "theater"}

_RULE = re.compile(
    r"^(?:(?:please|ok(?:ay)?|also|and|so|hey|btw|by the way|in (?:the )?future|"
    r"i (?:want|need|would like) you to|i prefer that "
    r"you|make sure (?:you|to)|remember to|can you(?: please)?),? )*"
    r"(?P<rule>(?:from now on,?|going forward,?)? ?(?:please )?(?:always|never|"
    r"from now on|going forward),? .+"
    r"|(?:do not|stop|avoid) (?:us(?:e|ing)|add(?:ing)?|includ(?:e|ing)|writ(?:e|"
    r"ing)) (?:\w+ )?(?:emojis?|bullet points?|markdown|jargon|tables?|headings?|"
    r"exclamation marks?|disclaimers?|semicolons?)\b.*"
    r"|(?:answer|reply|respond|speak|talk|write|communicate)(?: to me| back)? "
    r"(?:only )?in (?P<language>[A-Z]\w+)\b.*"
    r"|keep (?:your|the|all) (?:answers?|repl(?:y|ies)|responses?|explanations?) .+"
    r"|(?:be|stay) (?:concise|brief|formal|informal|direct|succinct)(?: with me| in your \w+)?)[.!]*$",
    re.IGNORECASE,
)
_RULE_CUES = frozenset(
    "always never emoji emojis bullet markdown answer reply respond speak talk "
    "write communicate keep concise brief formal "
    "informal direct succinct forward now tables headings jargon disclaimers".split()
)
_RULE_STARTS = frozenset(
    {"i", "my", "we", "he", "she", "they", "it", "that's", "you've", "you're", "there's"}
)
_ROLE_AT = re.compile(r"\b(?:at|with|for) (?P<object>(?:the )?[A-Z].*)$")
_ROLE_FROM = re.compile(r"\bfrom (?P<object>[A-Z].*)$")
_FROM = next(pattern for pattern in PATTERNS["come"] if pattern.predicate == "from")
_SOON = re.compile(r"\b(?:next|this|last|tomorrow|today|tonight|yesterday|soon|now|again)\b", re.IGNORECASE)
_AS = next(pattern for pattern in PATTERNS["work"] if pattern.predicate == "works_as")
_ROLE_AS = re.compile(r"\bas an? (?P<object>.+)$")
_HAVER = re.compile(r"\b(?:I|We|we|i|and|also|just|recently|finally) $")
_AND_MY = re.compile(r",? and (?=(?:my|our)\b)", re.IGNORECASE)
_MOVED_TO = re.compile(r"\bto (?P<object>.+)$")


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact before it knows its message; see ``ExtractedFact``. Without ``text`` it is a triplet only."""

    text: str
    category: Category
    confidence: float
    subject: str
    predicate: str
    object: str

    @property
    def importance(self) -> float:
        """That of its category."""
        return IMPORTANCE[self.category]


def find_facts(sentence: Sentence, speaker: str, *, is_to_assistant: bool, is_opening: bool) -> list[Fact]:
    """What ``sentence`` states, most direct first; nothing where it asks.

    Args:
        sentence: One sentence of the speaker.
        speaker: The subject of what is said in the first person.
        is_to_assistant: Whether imperatives are rules for the assistant.
        is_opening: Whether the speaker may be introducing themselves.
    """
    words = sentence.vocabulary
    if is_to_assistant and not _RULE_CUES.isdisjoint(words):
        rule = _rule(sentence, speaker)
        if rule is not None:
            return [rule]
    if sentence.is_question:
        return []
    text = expanded(sentence)
    found: list[Fact] = []
    if not FIRST_PERSON.isdisjoint(words):
        found.extend(_names(text, words, speaker, is_opening))
        found.extend(_own(text, words, speaker))
    if not words.isdisjoint(CLAUSE_CUES):
        for clause in clauses(text, words, speaker):
            found.extend(_of_clause(clause))
    if found and not HEDGES.isdisjoint(words):
        found = [replace(fact, confidence=round(max(0.1, fact.confidence - HEDGE_COST), 2)) for fact in found]
    return list({(fact.subject, fact.predicate, fact.object): fact for fact in reversed(found)}.values())[
        ::-1
    ]


def _rule(sentence: Sentence, speaker: str) -> Fact | None:
    """An instruction that holds for every answer to come."""
    text = expanded(sentence).strip(" .!")
    if sentence.words[0] in _RULE_STARTS and not text.lower().startswith(
        ("i want you", "i need you", "i would like you", "i prefer")
    ):
        return None
    match = _RULE.match(text)
    if match is None or MASK in text or (sentence.is_question and not text.lower().startswith("can you")):
        return None
    rule = match["rule"].strip().rstrip("?").strip()
    language = match["language"]
    if language and language.lower() not in DEMONYMS and not language.istitle():
        return None
    words = rule.split()
    if not 2 <= len(words) <= 30 or words[1].lower().strip(",") in (
        "been",
        "had",
        "was",
        "seen",
        "thought",
        "a",
        "the",
        "mind",
        "knew",
        "wanted",
        "good",
        "nice",
    ):
        return None
    rule = rule[0].lower() + rule[1:]
    return Fact(_rule_text(rule, speaker), "rule", SURE, speaker, "wants_assistant_to", rule)


def _rule_text(rule: str, speaker: str) -> str:
    if rule.startswith("do not "):
        return f"{speaker} wants the assistant not to {rule[7:]}"
    match = re.match(r"(from now on|going forward),? ", rule)
    when = f" {match.group(1)}" if match else ""
    return f"{speaker} wants the assistant{when} to {rule[match.end() :] if match else rule}"


def _names(text: str, words: frozenset[str], speaker: str, is_opening: bool) -> Iterator[Fact]:
    if "name" in words or "name's" in words:
        match = _MY_NAME.search(text)
        if match and is_name(match["name"].split()[0]):
            yield _named(speaker, match["name"], 1.0)
    elif is_opening or not _GREETINGS.isdisjoint(words):
        match = _I_AM.search(text)
        if match and _is_personal(match["name"]):
            yield _named(speaker, match["name"], LIKELY)
    if "call" in words or "calls" in words:
        match = _CALL_ME.search(text)
        if (
            match
            and is_name(match["name"])
            and match["name"].lower() not in ("back", "when", "later", "if", "crazy", "out", "old")
        ):
            name = _capital(match["name"])
            yield Fact(f"{speaker} wants to be called {name}", "rule", SURE, speaker, "goes_by", name)


def _is_personal(name: str) -> bool:
    first = name.split()[0].lower()
    return is_name(first) and first not in DEMONYMS and first not in IDENTITIES and first not in PROFESSIONS


def _named(speaker: str, name: str, confidence: float) -> Fact:
    name = _capital(name)
    return Fact(f"{speaker}'s name is {name}", "name", confidence, speaker, "name", name)


def _capital(name: str) -> str:
    return name if name != name.lower() else name.title()


def _own(text: str, words: frozenset[str], speaker: str) -> Iterator[Fact]:
    """What is said of "my …": favourites, relatives and pets by name, attributes."""
    if (
        "my" not in words
        and "our" not in words
        and "have" not in words
        and "got" not in words
        and "adopted" not in words
    ):
        return
    parts = _AND_MY.split(text)
    if "favorite" in words or "favourite" in words:
        for part in parts:
            yield from _favorites(part, speaker)
    if not words.isdisjoint(RELATIONS) or any(
        word.endswith("'s") and word[:-2] in RELATIONS for word in words
    ):
        yield from _relatives(text, speaker)
    for part in parts:
        match = _MY_ATTRIBUTE.match(part)
        if match:
            yield from _attribute(match, speaker)


def _favorites(text: str, speaker: str) -> Iterator[Fact]:
    match = _FAVORITE.search(text) or _FAVORITE_AFTER.match(text)
    if match is None:
        return
    found = cut_object(match["object"], "things")
    what = " ".join(_BRITISH.get(word, word) for word in match["what"].lower().split())
    if (
        found is None
        or what in ("part", "thing", "one", "moment", "memory")
        or " of " in f" {what} "
        or found.lower() in NOT_NAMES
    ):
        return
    shown = " ".join(match["what"].lower().split())
    yield Fact(
        f"{speaker}'s favorite {shown} is {found}",
        "preference",
        SURE,
        speaker,
        f"favorite_{what.replace(' ', '_')}",
        found,
    )


def _relatives(text: str, speaker: str) -> Iterator[Fact]:
    seen: set[str] = set()
    for expression in (_NAMED_THING, _APPOSED, _IS_MY):
        for match in expression.finditer(text):
            relation = match["relation"].lower()
            if relation.removeprefix("ex-") in RELATIONS and is_name(match["name"].split()[0]):
                for name in listed(match["name"]):
                    if name not in seen:
                        seen.add(name)
                        yield from _relative(speaker, relation, name)
    for expression in (PET, SIBLING):
        having = expression.search(text)
        if having is None or not _HAVER.search(text[: having.start()]):
            continue
        kind, name = having["kind"], having["name"] or having["bare"]
        if name and is_name(name):
            if name not in seen:
                yield from _relative(speaker, kind, name)
        else:
            predicate = "has_pet" if expression is PET else f"has_{kind}"
            category: Category = "possession" if expression is PET else "family"
            yield Fact(f"{speaker} has a {kind}", category, LIKELY, speaker, predicate, kind)


def _relative(speaker: str, relation: str, name: str) -> Iterator[Fact]:
    """``User's sister is called Anna``; of a pet also what it is."""
    singular = {"kids": "child", "children": "child"}.get(relation, relation)
    if singular.endswith("ies"):
        singular = f"{singular[:-3]}y"
    elif relation in RELATIONS and singular.endswith("s") and singular not in ("boss",):
        singular = singular[:-1]
    kind = RELATIONS.get(relation.removeprefix("ex-"), relation)
    is_pet = kind == "pet"
    predicate = f"has_ex_{kind}" if relation.startswith("ex-") else f"has_{kind}"
    category: Category = "possession" if is_pet else "family"
    text = f"{speaker}'s {singular} is called {name}"
    yield Fact(text, category, SURE, speaker, predicate, name)
    if is_pet and singular != "pet":
        yield Fact("", category, SURE, name, "is_a", singular)


def _attribute(match: re.Match[str], speaker: str) -> Iterator[Fact]:
    what = match["what"].lower()
    predicate, category = _ATTRIBUTES.get(what, (what.replace(" ", "_"), "other"))
    text = match["object"]
    if predicate == "wants_to":
        text = re.sub(r"^(?:to|of) ", "", text)
        found = cut_object(text, "action") if match["object"].startswith("to ") else None
    elif predicate in ("works_as",):
        text = re.sub(r"^(?:being|working as) ", "", text)
        found = cut_object(text, "role")
        found = without_article(found) if found else None
        if found and found.split()[-1].lower() not in PROFESSIONS:
            found = None
    elif predicate == "birthday":
        found = re.sub(r"^on ", "", cut_object(text, "thing") or "")
        if not re.search(
            r"\d|january|february|march|april|may|june|july|august|september|october|november|december",
            found,
            re.IGNORECASE,
        ):
            found = None
    elif predicate == "email":
        found = (re.search(r"[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{2,63}", text) or [None])[0]
    else:
        found = cut_object(text, "thing")
    if not found or not is_sound(found, "action"):
        return
    verb = "are" if what in ("hobbies", "pronouns") else "is"
    shown = (
        f"to {found}"
        if predicate == "wants_to"
        else match["object"].split(" ")[0] + f" {found}"
        if predicate == "works_as" and match["object"].lower().startswith(("a ", "an "))
        else found
    )
    yield Fact(f"{speaker}'s {what} {verb} {shown}", category, SURE, speaker, predicate, found)


def _of_clause(clause: Clause) -> Iterator[Fact]:
    """What the patterns find in one clause, and the name of the relative that it is about."""
    subject = clause.subject
    rest = clause.rest
    first = rest.split(" ", 1)[0].lower()
    for pattern in PATTERNS.get(first, ()):
        if not subject.is_self and not pattern.is_anyones:
            continue
        if clause.polarity != "yes" and not pattern.is_negatable:
            continue
        match = pattern.match(rest)
        if match is None:
            continue
        facts = list(_matched(pattern, match, clause))
        if facts:
            yield from facts
            return


def _matched(pattern: Pattern, match: re.Match[str], clause: Clause) -> Iterator[Fact]:
    text = match.groupdict().get("object") or clause.rest[match.end() :]
    if pattern.predicate == "works_as" and pattern.verb == "is":
        yield from _is_a(pattern, match.group(), text, clause)
        return
    if pattern.predicate == "eats" and clause.polarity == "yes":
        return
    found = cut_object(text, pattern.kind)
    if found is None:
        return
    if not FIRST_PERSON.isdisjoint(found.lower().split()):
        found = in_third_person(found, clause.subject.name, is_named=True)
    if pattern.predicate == "wants_to" and _SOON.search(found):
        return  # a plan with a date is a moment
    if pattern.predicate == "wants_to" and found.split(" ")[0].lower() in NOT_GOALS:
        return
    if pattern.predicate == "works_as" and found.split()[-1].lower() in ("team", "result", "group", "couple"):
        return
    if pattern.predicate in ("has_sibling", "has_children"):
        found = found.split(",")[0]
    for part in listed(found) if pattern.kind in ("things", "name") else (found,):
        yield _fact(pattern, part, clause)
    if pattern.predicate == "moved_from":
        onward = _MOVED_TO.search(text)
        place = cut_object(onward["object"], "place") if onward else None
        if place:
            living = PATTERNS["relocated"][0]
            yield _fact(living, place, clause)
    if pattern.predicate == "works_as":
        yield from _employer(text, clause)
    if pattern.predicate == "works_at" and clause.polarity == "yes":
        post = _ROLE_AS.search(text)
        role = cut_object(post["object"], "role") if post else None
        if role:
            yield _fact(_AS, role, clause)


def _is_a(pattern: Pattern, opening: str, text: str, clause: Clause) -> Iterator[Fact]:
    """What "I'm a nurse" says: work, where the word is a profession; else what somebody is."""
    found = cut_object(text, "role")
    if found is None:
        return
    head = found.split()[-1].lower()
    article = opening.strip().split(" ")[-1].lower()
    if head in PROFESSIONS:
        yield _fact(pattern, found, clause, article=article)
        if clause.polarity != "not":
            yield from _employer(text, clause)
        origin = _ROLE_FROM.search(text)
        place = cut_object(origin["object"], "place") if origin else None
        if place and clause.polarity == "yes":
            yield _fact(_FROM, place, clause)
    elif head in IDENTITIES and article != "the":
        is_diet = head in ("vegetarian", "vegan", "pescatarian")
        as_identity = replace(
            pattern, predicate="diet" if is_diet else "is_a", category="health" if is_diet else "other"
        )
        yield _fact(as_identity, found, clause, article=article)


def _employer(text: str, clause: Clause) -> Iterator[Fact]:
    match = _ROLE_AT.search(text)
    place = cut_object(match["object"], "organisation") if match else None
    if place:
        yield _fact(PATTERNS["work"][0], place, clause)


def _fact(pattern: Pattern, found: str, clause: Clause, *, article: str = "") -> Fact:
    """The fact in words and as a triplet, with its polarity in both."""
    subject, polarity = clause.subject, clause.polarity
    predicate = pattern.predicate
    verb = pattern.verb
    shown = f"{article} {found}" if article else found
    if predicate == "works_as" and not article:
        shown = f"{'an' if found[0].lower() in 'aeiou' else 'a'} {found}"
    if predicate == "plays" and re.fullmatch(
        r"violin|guitar|piano|drums?|cello|flute|trumpet|saxophone|bass|harp|viola|"
        r"clarinet|ukulele|banjo|organ",
        found,
        re.IGNORECASE,
    ):
        shown = f"the {found}"
    if subject.is_plural:
        verb = pattern.base.replace("be ", "are ", 1) if pattern.base.startswith("be") else pattern.base
        verb = "are" if verb == "be" else verb
    if polarity != "yes":
        verb = _negated(pattern, clause)
        predicate = _negated_predicate(predicate, polarity)
    found = (
        without_article(found)
        if (pattern.kind in ("role", "thing", "things") and pattern.category != "work")
        or pattern.kind == "role"
        else found
    )
    confidence = pattern.confidence if subject.is_self else round(pattern.confidence - THIRD_PERSON_COST, 2)
    return Fact(
        f"{subject.shown} {verb} {shown}", pattern.category, confidence, subject.name, predicate, found
    )


def _negated_predicate(predicate: str, polarity: str) -> str:
    if polarity == "not" and predicate in ("likes", "loves"):
        return "dislikes"
    return (NOT if polarity == "not" else NO_LONGER) + predicate


def _negated(pattern: Pattern, clause: Clause) -> str:
    """The verb of a statement that something is not so, or no longer."""
    base, is_plural = pattern.base, clause.subject.is_plural
    is_be = base == "be" or base.startswith("be ")
    be = "are" if is_plural else "is"
    if clause.polarity == "not":
        return f"{be} not{base[2:]}" if is_be else f"{'do' if is_plural else 'does'} not {base}"
    if clause.used_to:
        return f"used to {base}"
    if is_be:
        return f"{be} no longer{base[2:]}"
    return f"no longer {base if is_plural else pattern.verb}"
