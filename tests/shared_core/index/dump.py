"""Everything that a resident index knows, in a form that does not depend on the order of its rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from shared_core.embedding.base import FloatArray
from shared_core.index.columns import NO_ROW
from shared_core.index.resident import ResidentIndex
from shared_core.index.words import terms_of

CODES = ("conversation", "session", "speaker")
ROWS = ("source", "before", "after")


def dump(index: ResidentIndex) -> dict[str, Any]:
    """What the index knows of each record by id, and of each conversation."""
    codes = {
        "conversation": index.conversation_codes,
        "session": index.session_codes,
        "speaker": index.speaker_codes,
    }
    names = index.columns._arrays  # the columns have no list of their own
    records: dict[str, Any] = {}
    for memory_id in index:
        row = index.row(memory_id)
        assert row is not None
        columns: dict[str, Any] = {name: index.columns[name][row].item() for name in names}
        columns |= {name: codes[name].name(columns[name]) for name in CODES}
        columns |= {name: None if columns[name] == NO_ROW else index.id_at(columns[name]) for name in ROWS}
        records[memory_id] = {
            "memory": index.memory_at(row).model_dump(),
            "stored": index.stored(memory_id).model_dump(),
            "columns": columns,
            "links": {
                other: strength for other, strength in index.links(memory_id).items() if other in index
            },
            "learnt_from": index.learnt_from(memory_id),
            "summary_of": index.summary_of(memory_id),
            "replaced_by": index.replaced_by(memory_id),
            "origins": index.origins_at(row),
            "metadata": index.metadata_at(row),
        }
    conversations = {
        name: {
            "turns": [(turn, index.id_at(row)) for turn, row in conversation.turns],
            "buffered": [index.id_at(row) for row in index.buffered(name)],
            "summaries": [index.id_at(row) for row in index.summaries_of(name)],
        }
        for name, conversation in index.conversations.items()
    }
    alive = sorted(index.id_at(int(row)) for row in np.flatnonzero(index.columns["alive"]))
    return {"records": records, "conversations": conversations, "pending": index.pending, "alive": alive}


def scores(index: ResidentIndex, queries: list[tuple[str, FloatArray]]) -> dict[str, float]:
    """BM25 and the product of the vectors, of each record with each query (a text and its vector).

    They are to be compared approximately: how a product is rounded depends on the number of rows.
    """
    found = {}
    for text, vector in queries:
        words, products = index.lexical.scores(terms_of(text)), index.vectors.products(vector)
        for memory_id in index:
            row = index.row(memory_id)
            assert row is not None
            found[f"{memory_id} has the words of {text!r}"] = float(words[row])
            found[f"{memory_id} is near {text!r}"] = float(products[row])
    return found
