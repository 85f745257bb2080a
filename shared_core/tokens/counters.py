"""The token counter of a model: exact where its tokenizer's file can be had, else never too low."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from shared_core.tokens.bound import count_bound, count_bytes, well_formed
from shared_core.tokens.encodings import SAME_TOKENS, UNAVAILABLE, downloaded_encoding, local_encoding

if TYPE_CHECKING:
    from tiktoken import Encoding

logger = logging.getLogger(__name__)

#: The encoding of models that tiktoken does not know.
DEFAULT_ENCODING = "o200k_base"

#: How long a missing file is waited for, once in the life of the process.
DOWNLOAD_WAIT_SECONDS = 3.0

#: The time of older releases of tiktoken grows with the square of a run of letters, signs or white space.
#: Runs of more characters than this are bounded instead, unless they can be cut.
SOLID_CHARACTERS = 2_000

_LONG_SPACE = re.compile(rf"\s{{{SOLID_CHARACTERS}}}")

# Between these no encoding joins: before a space that follows something else, and between a letter or digit
# and punctuation other than an apostrophe, which may open a contraction. So a count is the sum over the
# parts.
_CUT = re.compile(
    r"(?<=\S)(?= )|(?<=[0-9A-Za-zぁ-ゖァ-ヺ一-鿋가-힣])(?=[\n\r\t!-&(-/:-@\[-`{-~、。，！？；：])"
)


class TokenCounter(Protocol):
    """Counts the tokens of a text, exactly or by an upper bound."""

    @property
    def name(self) -> str:
        """What counts."""
        ...

    @property
    def exact(self) -> bool:
        """Whether ``count`` is the true number, and not a bound."""
        ...

    def count(self, text: str) -> int:
        """Tokens of ``text``; special tokens such as ``<|endoftext|>`` count as the text that they are."""
        ...


@dataclass(frozen=True)
class ExactCounter:
    """Counts with tiktoken; only a run of over 2,000 characters without a break is bounded instead."""

    name: str
    encoding: Encoding = field(repr=False)
    exact: bool = True

    def count(self, text: str) -> int:
        """Tokens of ``text``, in time linear in its length."""
        if _is_solid(text):
            return sum(self._count_part(part) for part in _parts(well_formed(text), SOLID_CHARACTERS))
        return len(self.encoding.encode_ordinary(text))

    def _count_part(self, part: str) -> int:
        if len(part) <= SOLID_CHARACTERS:
            return len(self.encoding.encode_ordinary(part))
        return _bounding_counter(self.name).count(part)


@dataclass(frozen=True)
class BoundingCounter:
    """Counts without the tokenizer's file: never below ``o200k_base`` and ``cl100k_base``."""

    name: str
    exact: bool = False

    def count(self, text: str) -> int:
        """An upper bound of the tokens of ``text``."""
        return count_bound(text)


@dataclass(frozen=True)
class ByteCounter:
    """Counts UTF-8 bytes, which no byte-level encoding exceeds; for the encodings of retired models."""

    name: str
    exact: bool = False

    def count(self, text: str) -> int:
        """An upper bound of the tokens of ``text``."""
        return count_bytes(text)


def encoding_name(model: str | None) -> str:
    """The encoding of ``model``, which is ``o200k_base`` for None and for a model unknown to tiktoken."""
    if model is None:
        return DEFAULT_ENCODING
    from tiktoken.model import encoding_name_for_model

    try:
        name = encoding_name_for_model(model)
    except KeyError:
        return DEFAULT_ENCODING
    return SAME_TOKENS.get(name, name)


def counter_for(model: str | None = None, *, allow_download: bool = True) -> TokenCounter:
    """The counter of ``model``, exact if its tokenizer's file is on this machine or can be fetched.

    Never hangs: a file that is missing is asked for once in the life of the process, for
    ``DOWNLOAD_WAIT_SECONDS`` at most; then, and without ``allow_download`` at once, a bound takes its place.
    If the download ends later, later calls get the exact counter. Where no model is named, nothing is
    fetched: whoever names none has not asked for the network.

    Example:
        >>> counter_for("gpt-4o", allow_download=False).count("My name is Alice.") >= 5
        True
    """
    name = encoding_name(model)
    fetched = _download(name) if allow_download and model is not None else None
    return _local(name) or fetched or _bounding_counter(name)


def _bounding_counter(name: str) -> TokenCounter:
    if name in ("o200k_base", "cl100k_base"):
        return BoundingCounter(f"{name} (bound)")
    return ByteCounter(f"{name} (bytes)")


_loaded: dict[str, ExactCounter] = {}
_loading = threading.Lock()
_downloading = threading.Lock()
_network_failed = threading.Event()


def _local(name: str) -> TokenCounter | None:
    """The exact counter, if its file is on this machine."""
    if name not in _loaded:
        with _loading:
            if name not in _loaded:
                try:
                    _loaded[name] = ExactCounter(name, local_encoding(name))
                except UNAVAILABLE:
                    return None
    return _loaded[name]


def _download(name: str) -> TokenCounter | None:
    """The exact counter, if its file arrives in time; after a failure nothing is tried again."""
    with _downloading:
        if name in _loaded or _network_failed.is_set():
            return _loaded.get(name)
        worker = threading.Thread(target=_fetch, args=(name,), name="contextmemory-tokenizer", daemon=True)
        worker.start()
        worker.join(DOWNLOAD_WAIT_SECONDS)
        if name not in _loaded:
            _network_failed.set()
            logger.info("The tokenizer file of %s cannot be had: token counts are upper bounds.", name)
        return _loaded.get(name)


def _fetch(name: str) -> None:
    try:
        _loaded[name] = ExactCounter(name, downloaded_encoding(name))
    except Exception as error:  # noqa: BLE001 -- the end of a thread: the caller sees that nothing was loaded
        logger.debug("Fetching the tokenizer file of %s failed: %s", name, error)


def _is_solid(text: str) -> bool:
    """Whether a run of more than ``SOLID_CHARACTERS`` is in ``text``."""
    return len(text) > SOLID_CHARACTERS and (
        max(map(len, text.split()), default=0) > SOLID_CHARACTERS or _LONG_SPACE.search(text) is not None
    )


def _parts(text: str, longest: int) -> Iterator[str]:
    """``text`` cut where no encoding joins: parts of at most ``longest`` characters where it can be cut."""
    start = safe = 0
    for end in (*(cut.end() for cut in _CUT.finditer(text)), len(text)):
        if end - start > longest and safe > start:
            yield text[start:safe]
            start = safe
        safe = end
    yield text[start:]
