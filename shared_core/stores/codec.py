"""A memory as Chroma keeps it: text as document, the rest as one JSON value, its vector once more as text.

One JSON value instead of twenty metadata keys, because Chroma stores each key as a row of its own: on 2
cores, 4,000 records with 13 keys were read at 5,700 a second, with 3 keys at 37,000, and written in 8.4 s
instead of 5.4. ``kind`` and ``conversation_id`` stay plain, for whoever queries the collection directly.

The vector stands in the metadata as well, because Chroma's own copy is in an index file beside the database:
reading it back makes a Python number of each component, fails for small collections once Chroma's cache of
open indexes overflows, and is lost with that file. What stands in the database is written with the record.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from json.encoder import encode_basestring_ascii as _quoted

import numpy as np
from pydantic import ValidationError

from shared_core.embedding.base import FloatArray
from shared_core.errors import StoreError
from shared_core.records import Memory

RECORD_KEY = "record"
KIND_KEY = "kind"
CONVERSATION_KEY = "conversation_id"
VECTOR_KEY = "vector"

Metadata = dict[str, str | int | float | bool | None]


def encode(memory: Memory) -> str:
    """Everything of ``memory`` but its id and text, as JSON without the fields that have their default."""
    return memory.model_dump_json(exclude_defaults=True, exclude={"id", "text"})


def metadata_of(memory: Memory, payload: str, vector: FloatArray) -> Metadata:
    """The flat metadata of a record. Each key is set, or None, which deletes what stood there before."""
    return {
        RECORD_KEY: payload,
        KIND_KEY: memory.kind,
        CONVERSATION_KEY: memory.conversation_id,
        VECTOR_KEY: base64.b64encode(np.asarray(vector, dtype="<f4").tobytes()).decode("ascii"),
    }


def decode_vectors(memory_ids: Sequence[str], texts: Sequence[str], dimension: int) -> FloatArray:
    """The vectors ``float32 [len(texts), dimension]`` that ``metadata_of`` wrote.

    Raises:
        StoreError: If one is not a vector of that dimension.
    """
    vectors: FloatArray = np.empty((len(texts), dimension), dtype=np.float32)
    for row, text in enumerate(texts):
        try:
            vectors[row] = np.frombuffer(binascii.a2b_base64(text), dtype="<f4")
        except (ValueError, binascii.Error) as error:
            raise StoreError(
                f"the vector of record {memory_ids[row]!r} cannot be read: {error}; it was changed by hand"
            ) from error
    return vectors


def decode(memory_id: str, text: str, payload: str) -> Memory:
    """The memory that ``encode`` wrote.

    Raises:
        StoreError: If the payload is not of a schema that this version knows.
    """
    try:
        if not payload.startswith("{"):
            raise ValueError(f"{payload[:40]!r} is not a JSON object")
        # One pass over one JSON value takes half as long as making a dictionary of it first.
        named = f'{{"id":{_quoted(memory_id)},"text":{_quoted(text)},{payload[1:]}'
        return Memory.model_validate_json(named)
    except (ValueError, TypeError, ValidationError) as error:
        raise StoreError(
            f"record {memory_id!r} cannot be read: {str(error).splitlines()[0]}; "
            "it was changed by hand or written by a newer version"
        ) from error
