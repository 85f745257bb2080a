"""The verb of a clause: brought into the form that follows "I", its polarity taken out."""

from __future__ import annotations

import re

from shared_core.extraction.clause import Clause, Polarity, Subject
from shared_core.extraction.expressions import Expression

_ADVERBS = Expression(
    r"(?:(?:really|absolutely|just|also|still|currently|now|always|usually|mostly|actually|definitely"
    r"|certainly|totally|truly|simply|honestly|especially|particularly|generally|often|even|kinda|kind of"
    r"|sort of|quite|both|all|already|presently|normally|mainly|primarily|sometimes|personally|recently"
    r"|finally|originally|probably|obviously|strongly|genuinely|much|deeply|so|typically|regularly"
    r"|occasionally|very|pretty|super|only|officially|proudly|happily|very much|secretly|too|slowly)\s+)+",
    ignore_case=True,
)
_ENDED = Expression(r"\b(?:any ?more|any longer)\b[\s.!]*$", ignore_case=True)
_HOLDS = Expression(r"\b(?:for|since|always|all my|my whole)\b")

#: Third-person verb forms to the form that the patterns are written in.
BASE_FORMS = {
    "is": "am",
    "are": "am",
    "has": "have",
    "does": "do",
    "studies": "study",
    "teaches": "teach",
    "goes": "go",
    "'s": "am",
} | {
    f"{verb}s": verb
    for verb in (
        "work live love like hate dislike prefer enjoy adore use speak play own run know want need eat drink "
        "drive code program come hope plan wear collect suffer reside manage lead depend support build write "
        "detest"
    ).split()
}
_PROGRESSIVE = {
    "living": "live",
    "working": "work",
    "using": "use",
    "studying": "study",
    "playing": "play",
    "learning": "learn",
    "planning": "plan",
    "hoping": "hope",
    "suffering": "suffer",
    "based": "live",
    "running": "run",
    "coding": "code",
}
_PERFECT = {
    "lived": "live",
    "worked": "work",
    "loved": "love",
    "wanted": "want",
    "used": "use",
    "played": "play",
    "had": "have",
    "owned": "own",
    "known": "know",
    "liked": "like",
    "hated": "hate",
    "preferred": "prefer",
    "enjoyed": "enjoy",
}
_EVENTS_IN_PERFECT = frozenset("moved joined started adopted got graduated stopped quit".split())
_UNSAID = frozenset("would could might should may will must shall did had almost nearly never".split())
#: Third-person forms that are as the first person's.
_SHARED_FORMS = frozenset({"moved", "was", "used", "no", "grew", "works", "do"})


def predication(subject: Subject, rest: str, *, is_third: bool) -> Clause | None:
    """The clause with its verb in base form and its polarity taken out; None for what is not stated as so."""
    rest = without_adverbs(rest)
    if not rest:
        return None
    first, _, after = rest.partition(" ")
    low = first.lower()
    if is_third or low == "are":
        low = BASE_FORMS.get(low, low if low in _SHARED_FORMS else "")
        if not low:
            return None
        rest = f"{low} {after}"
    if low == "no" and after.startswith("longer "):
        base = _inflected(after[7:], is_third)
        return Clause(subject, _be_doing(base), "no_longer")
    if low == "used" and after.startswith("to ") and not after.startswith(("to it", "to that", "to the")):
        base = re.sub(r"^be\b", "am", without_adverbs(after[3:]))
        return Clause(subject, _be_doing(base), "no_longer", used_to=True)
    return _present(subject, low, without_adverbs(after), rest)


def without_adverbs(rest: str) -> str:
    """``rest`` without the adverbs at its start."""
    match = _ADVERBS.match(rest)
    return rest[match.end() :] if match else rest


def _present(subject: Subject, low: str, after: str, rest: str) -> Clause | None:
    ended: Polarity = "no_longer" if _ENDED.search(rest) else "not"
    following = after.split(" ")[0]
    if low == "do":
        return Clause(subject, without_adverbs(after[4:]), ended) if after.startswith("not ") else None
    if low == "never":
        is_habit = following in ("eat", "drink", "drive", "use", "wear")
        return Clause(subject, after, "not") if is_habit else None
    if low == "cannot":
        if following in ("eat", "drink", "drive", "swim"):
            return Clause(subject, after, ended)
        return Clause(subject, rest)
    if low == "can":
        return Clause(subject, after) if following in ("speak", "play") else None
    if low == "would":
        return Clause(subject, rest) if after.startswith(("rather ", "prefer ")) else None
    if low in _UNSAID:
        return None
    if low == "have":
        return _perfect(subject, after)
    if low == "am" and after.startswith("no longer "):
        return Clause(subject, _be_doing(f"am {after[10:]}"), "no_longer")
    if low == "am" and after.startswith("not "):
        return Clause(subject, _be_doing(f"am {without_adverbs(after[4:])}"), ended)
    return Clause(subject, _be_doing(f"{low} {after}" if low == "am" else rest))


def _perfect(subject: Subject, after: str) -> Clause | None:
    """What "I have …" says: a possession, or a perfect that still holds ("have lived … since")."""
    first, _, following = after.partition(" ")
    low = first.lower()
    if low == "been":
        return Clause(subject, _be_doing(f"am {without_adverbs(following)}"))
    if low in _EVENTS_IN_PERFECT:
        return Clause(subject, after)
    if low in _PERFECT:
        return Clause(subject, f"{_PERFECT[low]} {following}") if _HOLDS.search(following) else None
    if low in ("not", "never", "to") or (low.endswith("ed") and low != "red"):
        return None
    return Clause(subject, f"have {after}")


def _be_doing(rest: str) -> str:
    """The form "live in" for "am living in"."""
    if not rest.startswith("am "):
        return rest
    after = without_adverbs(rest[3:])
    first, _, following = after.partition(" ")
    base = _PROGRESSIVE.get(first.lower())
    return f"{base} {following}" if base else f"am {after}"


def _inflected(rest: str, is_third: bool) -> str:
    first, _, after = rest.partition(" ")
    return f"{BASE_FORMS.get(first.lower(), first)} {after}" if is_third else rest
