"""Names of Chroma collections: the namespace, told apart from every other one."""

from __future__ import annotations

import hashlib

from shared_core.messages import quoted
from shared_core.stores.base import Purpose

__all__ = ["NAMESPACE_LENGTH", "NAME_PREFIX", "collection_name"]

#: Collections of ours begin with it; the rest of the name is a digest of the namespace.
NAME_PREFIX = "contextmemory-"
#: Longest namespace, in characters.
NAMESPACE_LENGTH = 512


def collection_name(namespace: str, purpose: Purpose = "memories") -> str:
    """The name of a namespace's collection: the same for the same string, different for any other.

    Raises:
        ValueError: If the namespace is empty, over-long or not valid Unicode.
    """
    if not isinstance(namespace, str) or not namespace.strip():
        raise ValueError(f"namespace {quoted(namespace)} is not a non-empty string")
    if len(namespace) > NAMESPACE_LENGTH:
        raise ValueError(f"namespace {quoted(namespace)} is longer than {NAMESPACE_LENGTH} characters")
    try:
        digest = hashlib.sha256(namespace.encode("utf-8")).hexdigest()
    except UnicodeEncodeError as error:
        raise ValueError(f"namespace {quoted(namespace)} holds a lone surrogate") from error
    return NAME_PREFIX + digest[:48] + ("" if purpose == "memories" else f"-{purpose}")
