"""From a text to the terms that it is found by: base forms, stems, no stop words."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from functools import lru_cache

import Stemmer

#: Words cut from a text beyond this number: what comes after cannot be found by its words.
MAX_TERMS = 20_000

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
#: What stands between the words of a text in ASCII.
_GAPS = {code: " " for code in range(128) if not chr(code).isalnum() and chr(code) != "'"}
#: Scripts written without spaces are indexed by pairs of characters.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+"
)

#: Words that say too little to be searched for.
STOP_WORDS = frozenset(
    """a about above after again against all also am an and any are as at be because been before being
    below between both but by can cannot could did do does doing don down during each few for from
    further get got had has have having he her here hers herself him himself his how i if in into is
    it its itself just let may me might more most must my myself no nor not now of off on once only
    onto or other our ours ourselves out over own really same shall she should so some such than that
    the their theirs them themselves then there these they this those through to too under until up us
    very was we were what when where which while who whom whose why will with without would you your
    yours yourself yourselves aren't can't couldn't didn't doesn't don't hadn't hasn't haven't isn't
    mustn't shouldn't wasn't weren't won't wouldn't i'm i've i'd i'll you're you've you'd you'll he's
    he'd he'll she's she'd she'll it's it'd it'll we're we've we'd we'll they're they've they'd
    they'll that's there's here's what's where's when's who's how's why's let's""".split()
)

#: Forms that a stemmer does not bring together, after the form that they stand for.
_IRREGULAR_FORMS = """become became; begin began begun; bend bent; bite bit bitten; blow blew blown;
    break broke broken;
    bring brought; build built; burn burnt; buy bought; catch caught; child children; choose chose
    chosen; come came; dad father; dig dug; draw drew drawn; dream dreamt; drink drank drunk; drive
    drove driven; eat ate eaten; fall fell fallen; feed fed; feel felt; fight fought; find found; fly
    flew flown; foot feet; forget forgot forgotten; forgive forgave forgiven; freeze froze frozen;
    give gave given; go went gone; grow grew grown; hang hung; hear heard; hide hid hidden; hold held;
    keep kept; know knew known; lead led; learn learnt; leave left; lend lent; life lives; lose lost;
    make made; man men; marry married; mean meant; meet met; mom mum mother; mouse mice; pay paid;
    person people; photo picture pic; ride rode ridden; ring rang rung; rise rose risen; run ran; say
    said; see saw seen; seek sought; sell sold; send sent; shake shook shaken; shine shone; shoot
    shot; show shown; sing sang sung; sit sat; sleep slept; speak spoke spoken; spend spent; stand
    stood; steal stole stolen; stick stuck; strike struck; swear swore sworn; sweep swept; swim swam
    swum; swing swung; take took taken; teach taught; tear tore torn; tell told; think thought; throw
    threw thrown; tooth teeth; understand understood; wake woke woken; wear wore worn; weave wove
    woven; wife wives; win won; woman women; write wrote written"""
_BASE_FORMS = {form: forms.split()[0] for forms in _IRREGULAR_FORMS.split(";") for form in forms.split()[1:]}


class _Snowball(threading.local):
    """The English stemmer of this thread: one may not be shared."""

    def __init__(self) -> None:
        self.stem = Stemmer.Stemmer("english").stemWord


_SNOWBALL = _Snowball()


def words_of(text: str) -> list[str]:
    """The words of a text in lower case, in order; an apostrophe belongs to its word."""
    lowered = text.lower().replace("’", "'")
    if not lowered.isascii():
        return _WORD.findall(lowered)
    words = lowered.translate(_GAPS).split()  # the same words in half the time
    if "'" not in lowered:
        return words
    return [piece for word in words for piece in ((word,) if "'" not in word else _WORD.findall(word))]


@lru_cache(maxsize=65_536)
def term_of(word: str) -> str | None:
    """The stem of a lower-case word's base form (``went`` and ``going`` → ``go``); None for a stop word."""
    if word in STOP_WORDS:
        return None
    bare = word.removesuffix("'s").replace("'", "")
    if bare in STOP_WORDS:
        return None
    return str(_SNOWBALL.stem(_BASE_FORMS.get(bare, bare)))


def terms_of(text: str) -> list[str]:
    """The terms of a text in order; where words have no spaces, each pair of neighbouring characters."""
    return [term for _, term in worded_terms(words_of(text))]


def worded_terms(words: list[str]) -> list[tuple[str, str]]:
    """Each term after the word of ``words`` that it comes from, in order, ``MAX_TERMS`` at most."""
    found: list[tuple[str, str]] = []
    for word in words:
        if word.isascii() or not _UNSPACED.search(word):
            term = term_of(word)
            if term is not None:
                found.append((word, term))
        else:
            found.extend((piece, piece) for piece in _pieces(word))
        if len(found) >= MAX_TERMS:
            break
    return found[:MAX_TERMS]


def _pieces(word: str) -> Iterator[str]:
    """Pairs of characters where a word has no spaces inside, and what stands between as it is."""
    place = 0
    for run in _UNSPACED.finditer(word):
        if run.start() > place:
            yield word[place : run.start()]
        characters = run.group()
        yield from (characters[i : i + 2] for i in range(max(1, len(characters) - 1)))
        place = run.end()
    if place < len(word):
        yield word[place:]
