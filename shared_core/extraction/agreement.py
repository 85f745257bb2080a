"""Verbs that agree with a subject that became "she" from "I", and which words are verbs in the past."""

from __future__ import annotations

from shared_core.extraction.vocabulary import FIRST_PERSON, IRREGULAR_PAST, NOT_PAST

_VERBS = {
    "am": "is",
    "have": "has",
    "do": "does",
    "don't": "doesn't",
    "haven't": "hasn't",
    "go": "goes",
    "ain't": "isn't",
    "dont": "doesn't",
}
_UNCHANGED = frozenset(
    "can could will would shall should may might must cannot can't couldn't won't "
    "wouldn't shouldn't mustn't didn't hadn't wasn't "
    "had did was were used gotta wanna gonna better cant didnt couldnt wont wouldnt wasnt too and or but not "
    "who which that in on at with for to from myself both all is are has".split()
)
_BETWEEN = frozenset(
    "really always never just also still now often usually sometimes actually "
    "definitely absolutely totally honestly truly only "
    "even finally recently already almost nearly certainly probably simply literally "
    "rarely seldom constantly currently quickly "
    "kinda sorta suddenly eventually accidentally basically both all then somehow "
    "barely hardly secretly generally normally".split()
)


#: "I get up and walk": verbs that "and" may join to another; those of the second list are nouns as well.
_JOINED = frozenset(
    "am get go take make do eat write read listen sit sleep relax meditate feel think try spend start come "
    "leave meet see keep have enjoy hate prefer want live know wear bring buy bake draw sing use teach learn "
    "own speak drive don't".split()
)
_JOINED_NOUNS = frozenset(
    "love like need walk run drink cook dance play talk watch work study help travel paint hike visit plan "
    "swim stay look call".split()
)
_PARTICLES = frozenset("up out off down around in on back home early late there outside away".split())
#: A word that shows that the one before it is a verb.
_OBJECTS = frozenset("my a an the it them him her some with for to at in on as about".split())
#: After these another subject or an infinitive governs what follows.
_BREAKS = frozenset(
    "to you he she it they we i who which that when if because while than let make help see hear watch "
    "can could will would should might must gonna wanna gotta".split()
)
_JOINTS = frozenset({"and", "but", "or", "then"})
_MAX_BETWEEN = 8
_NOT_ADVERBS = frozenset({"reply", "apply", "rely", "fly", "supply"})


def agree(tokens: list[str], place: int) -> None:
    """Makes the verbs after the subject at ``place`` agree with it; changes ``tokens``."""
    verb = next_word(tokens, place)
    while verb is not None and _is_adverb(tokens[verb].lower()):
        verb = next_word(tokens, verb)
    if verb is None or any(mark in "".join(tokens[place + 1 : verb]) for mark in ".!?;:"):
        return
    word = tokens[verb].lower()
    if word in _VERBS:
        tokens[verb] = _VERBS[word]
    elif word in _UNCHANGED or word in FIRST_PERSON or is_past(word) or "'" in word:
        return
    else:
        tokens[verb] = third_singular(tokens[verb])
    if word not in _BREAKS:
        agree_joined(tokens, verb)


def agree_joined(tokens: list[str], verb: int) -> None:
    """Makes the verbs that "and" joins to the one at ``verb`` agree as well; changes ``tokens``."""
    last = verb
    between: list[str] = []
    for place in range(verb + 1, len(tokens)):
        word = tokens[place].lower()
        if not word[0].isalpha():
            if word.strip() or len(between) > _MAX_BETWEEN:
                return
        elif word in _BREAKS:
            return
        elif tokens[last].lower() in _JOINTS and not _is_adverb(word):
            if not _is_joined_verb(tokens, place, between):
                return
            tokens[place] = _VERBS.get(word) or third_singular(tokens[place])
            last, between = place, []
        elif not _is_adverb(word):
            if word not in _JOINTS:
                between.append(word)
            last = place


def _is_joined_verb(tokens: list[str], place: int, between: list[str]) -> bool:
    word = tokens[place].lower()
    if word in _JOINED:
        return True
    if not between and word not in _UNCHANGED and word not in FIRST_PERSON:
        return word.isalpha() and not is_past(word) and not word.endswith("ing")
    if word not in _JOINED_NOUNS:
        return False
    following = next_word(tokens, place)
    after = tokens[following].lower() if following is not None else ""
    return _PARTICLES.issuperset(between) or after in _OBJECTS or after.endswith("ing")


def _is_adverb(word: str) -> bool:
    return word in _BETWEEN or (word.endswith("ly") and word not in _NOT_ADVERBS)


def is_past(word: str) -> bool:
    """Whether a word can be a verb in the past."""
    return (
        word in IRREGULAR_PAST
        or (len(word) > 3 and word.endswith("ed") and not word.endswith("eed") and word not in NOT_PAST)
        or word == "used"
    )


def third_singular(verb: str) -> str:
    """``verb`` as it follows "she"."""
    if verb.endswith(("s", "sh", "ch", "x", "z", "o")):
        return f"{verb}es"
    if verb.endswith("y") and verb[-2:-1] not in ("a", "e", "i", "o", "u"):
        return f"{verb[:-1]}ies"
    return f"{verb}s"


def next_word(tokens: list[str], place: int) -> int | None:
    """The place of the next word, where it is near."""
    for following in range(place + 1, min(place + 4, len(tokens))):
        if tokens[following][0].isalpha():
            return following
    return None
