"""Which spellings mean one thing; where it is not plain, they stay two."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable
from functools import lru_cache

__all__ = ["NAMING", "Names", "key_of", "stated_name"]

#: Predicates that give their subject a name, rather than say something of it.
NAMING = frozenset({"name", "has_name", "is_named", "is_called", "named", "called", "full_name"})
#: Longest name that a statement may give, in words; more than these are no name.
MOST_WORDS = 4
_PARTICLES = frozenset("al bin da de del della der di la le van von y".split())

_APOSTROPHES = str.maketrans({"’": "'", "ʼ": "'", "`": "'"})
_AROUND = ' \t\n"“”«».,;:!?'
_ARTICLE = re.compile(r"(?:the|an?)\s+(?=\S)")
_STATED = re.compile(
    r"(?:the )?(?P<subject>[\w'’ -]{1,60}?)(?:['’]s (?:full |real |first )?name is| is (?:called|named))"
    r" (?P<name>[^\W\d_][\w'’. -]{0,60}?)[.!]?",
    re.IGNORECASE,
)


@lru_cache(maxsize=65_536)  # a graph asks for each name once for every statement about it
def key_of(name: str) -> str:
    """The form under which a thing is known: without case, article, needless space, and marks around it."""
    folded = unicodedata.normalize("NFKC", name).translate(_APOSTROPHES).casefold()
    bare = " ".join(folded.strip(_AROUND).split())
    return _ARTICLE.sub("", bare, count=1) if _ARTICLE.match(bare) else bare or " ".join(folded.split())


def stated_name(text: str) -> tuple[str, str] | None:
    """Subject and name in ``User's name is Alex``, for a fact that does not say so as a triplet."""
    match = _STATED.fullmatch(" ".join(text.split()))
    if match is None:
        return None
    words = match["name"].split()
    is_name = len(words) == 1 or all(word[0].isupper() or word in _PARTICLES for word in words)
    return (match["subject"], match["name"]) if is_name else None


class Names:
    """Joins the keys of one thing.

    ``User`` and ``Alex`` are one where a current statement names the user so; not where several names are
    stated, or one name for several. ``Alex's`` is Alex where Alex is spoken of as well.

    Args:
        keys: Every key that is spoken of.
        named: Pairs of a subject and the name that a current statement gives it.
    """

    def __init__(self, keys: Collection[str], named: Iterable[tuple[str, str]] = ()) -> None:
        self._joined = {
            key: bare
            for key in keys
            if (bare := key.removesuffix("'s") if key.endswith("'s") else key.removesuffix("'")) != key
            and bare in keys
        }
        pairs = {
            (self._joined.get(key_of(one), key_of(one)), key_of(name))
            for one, name in named
            if len(name.split()) <= MOST_WORDS
        }
        subjects = Counter(subject for subject, _ in pairs)
        names = Counter(name for _, name in pairs)
        self._names = {
            subject: name
            for subject, name in pairs
            if subjects[subject] == names[name] == 1 and name not in subjects and subject not in names
        }

    def of(self, name: str) -> str:
        """The one key of the thing that ``name`` means."""
        key = key_of(name)
        key = self._joined.get(key, key)
        return self._names.get(key, key)
