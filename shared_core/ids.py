"""Ids that follow from what a record says, so that a write that is repeated writes the same records."""

from __future__ import annotations

import hashlib

from shared_core.records import Kind

_PREFIXES: dict[Kind, str] = {
    "message": "msg",
    "fact": "fact",
    "bubble": "bub",
    "triplet": "tri",
    "summary": "sum",
    "block": "blk",
}


def record_id(kind: Kind, *parts: str) -> str:
    """The id of a record of ``kind`` that ``parts`` identify: ``fact-`` and 20 hexadecimal digits."""
    digest = hashlib.blake2b(digest_size=10)
    for part in parts:
        encoded = part.encode("utf-8")
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return f"{_PREFIXES[kind]}-{digest.hexdigest()}"


def message_record_id(conversation_id: str, message_id: str) -> str:
    """The id of the record of a message; message ids are unique within their conversation."""
    return record_id("message", conversation_id, message_id)


def fact_id(text: str) -> str:
    """The id of a fact: the same sentence, whatever its case and spacing, is the same fact."""
    return record_id("fact", " ".join(text.casefold().split()))


def triplet_id(subject: str, predicate: str, obj: str) -> str:
    """The id of a triplet, whatever the case of its ends."""
    return record_id("triplet", subject.casefold(), predicate, obj.casefold())
