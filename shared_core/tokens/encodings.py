"""tiktoken's encodings, built from files that are on this machine, without touching the environment.

``tiktoken.get_encoding`` downloads a missing file with no timeout, and holds a lock meanwhile. So it is not
used: tiktoken's own constructors run here with a loader that says where bytes may come from.
"""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import os
import tempfile
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tiktoken import Encoding

Loader = Callable[..., dict[bytes, int]]

#: Encodings that differ from another in special tokens only, which a count of plain text does not use.
SAME_TOKENS = {"o200k_harmony": "o200k_base", "p50k_edit": "p50k_base", "gpt2": "r50k_base"}

#: What fails when a file is missing or unreadable, or when tiktoken's insides have changed.
UNAVAILABLE = (OSError, ValueError, ImportError, AttributeError, KeyError, TypeError)


def local_encoding(name: str) -> Encoding:
    """The encoding ``name`` from files on this machine: never the network.

    Raises:
        OSError: If its file is in none of the folders, or not as published.
    """
    from tiktoken import registry

    return registry.ENCODINGS.get(name) or _build(name, _load_local)


def downloaded_encoding(name: str) -> Encoding:
    """The encoding ``name``; tiktoken fetches and caches a missing file, and may take for ever."""
    from tiktoken.load import load_tiktoken_bpe

    return _build(name, load_tiktoken_bpe)


def pattern_of(name: str) -> str:
    """The regular expression by which the encoding cuts text before it looks for tokens; needs no file."""
    return str(_definition(name, lambda *_args, **_kwargs: {})["pat_str"])


def _build(name: str, loader: Loader) -> Encoding:
    from tiktoken import Encoding

    return Encoding(**_definition(name, loader))


def _definition(name: str, loader: Loader) -> dict[str, Any]:
    """The arguments of ``Encoding``: tiktoken's constructor, with ``loader`` in the place of its own."""
    constructor = import_module("tiktoken_ext.openai_public").ENCODING_CONSTRUCTORS[name]
    rebound = FunctionType(constructor.__code__, {**constructor.__globals__, "load_tiktoken_bpe": loader})
    definition: dict[str, Any] = rebound()
    return definition


def _load_local(url: str, expected_hash: str | None = None) -> dict[bytes, int]:
    """Ranks by token, from the first folder that has the file of ``url`` under its cache name, intact."""
    file_name = hashlib.sha1(url.encode()).hexdigest()
    for folder in _folders():
        path = folder / file_name
        if not path.is_file():
            continue
        content = path.read_bytes()
        if expected_hash is None or hashlib.sha256(content).hexdigest() == expected_hash:
            lines = (line.split() for line in content.splitlines() if line)
            return {base64.b64decode(token): int(rank) for token, rank in lines}
    raise FileNotFoundError(f"no tokenizer file {file_name} ({url}) on this machine")


def _folders() -> Iterator[Path]:
    """Where tiktoken keeps its files, then the copy that LlamaIndex ships."""
    for variable in ("TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"):
        if variable in os.environ:
            if os.environ[variable]:
                yield Path(os.environ[variable])
            break
    else:
        yield Path(tempfile.gettempdir()) / "data-gym-cache"
    package = importlib.util.find_spec("llama_index")
    for location in (package.submodule_search_locations or ()) if package else ():
        yield Path(location) / "core" / "_static" / "tiktoken_cache"
