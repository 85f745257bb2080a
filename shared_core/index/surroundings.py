"""What stands around each turn: the two before and the two after it, and the session it belongs to.

All of it follows from the columns and vectors of an index. It is computed when a search first needs it after
a write, for all rows at once; only the norms of windows that have not changed are carried over. Everything
here that a search could compute itself is here because it would compute it each time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shared_core.embedding.base import FloatArray
from shared_core.index.columns import NO_ROW, Columns
from shared_core.index.lexical import K1, B
from shared_core.index.vectors import VectorTable
from shared_core.records import MESSAGE

#: BM25's saturation of repeated words in a whole session, where counts are larger.
SESSION_K1 = 2.0
#: Window norms computed at a time, which bounds the memory that it takes.
CHUNK_ROWS = 4_096

Rows = NDArray[np.int32]


@dataclass(frozen=True)
class Surroundings:
    """Arrays by row ``[n]`` and by session ``[s]``; a missing neighbour is row −1.

    Attributes:
        around: ``int32 [5, n]``: each turn itself, before, after, two before, two after it.
        window_norms: Length of the sum of the vectors of a turn and those around it.
        window_damping: What BM25 adds to a count in the window of a turn and its two neighbours.
        turn_damping: The same for one text.
        session_damping: ``[s]``, the same for all of a session's turns.
        sessions: Code of the session of each row; ``s`` for none.
        turn_sessions: The same for turns; ``s`` for every other row.
        origins: The row of the turn that each row belongs to: of what was learnt its source, else its own.
        previous_words: Logarithm of one more than the words of the turn before, 0 where there is none.
        by_session: Rows of turns, session by session, as they were said.
        follows: 1 where a turn stands right behind the one before it in ``by_session``, else 0.
        follows_two: The same for the turn before that one; starts with the third turn.
        session_starts: Where each session begins in ``by_session``, of those that hold a turn.
        session_codes: The code of each of these sessions.
    """

    around: Rows
    window_norms: FloatArray
    window_damping: FloatArray
    turn_damping: FloatArray
    session_damping: FloatArray
    sessions: Rows
    turn_sessions: Rows
    origins: NDArray[np.intp]
    previous_words: FloatArray
    by_session: NDArray[np.intp]
    follows: FloatArray
    follows_two: FloatArray
    session_starts: NDArray[np.intp]
    session_codes: Rows

    @property
    def session_count(self) -> int:
        """How many sessions there are."""
        return len(self.session_damping)

    def beside(self, one_away: FloatArray, two_away: FloatArray) -> FloatArray:
        """What the neighbours of each turn bring it: ``float32 [t]``, in the order of ``by_session``.

        Args:
            one_away: What each turn brings to the one before and the one after it, ``[t]`` in that order.
            two_away: What it brings to the second before and the second after it.
        """
        brought = np.zeros(len(one_away), dtype=np.float32)
        brought[1:] += self.follows[1:] * one_away[:-1]
        brought[:-1] += self.follows[1:] * one_away[1:]
        brought[2:] += self.follows_two * two_away[:-2]
        brought[:-2] += self.follows_two * two_away[2:]
        return brought

    def best_of_session(self, values: FloatArray) -> FloatArray:
        """The highest value among the turns of each session: ``float32 [s + 1]``, 0 for one without turns."""
        best = np.zeros(self.session_count + 1, dtype=np.float32)
        if len(self.by_session):
            best[self.session_codes] = np.maximum.reduceat(values[self.by_session], self.session_starts)
        return best


def surroundings_of(
    columns: Columns,
    vectors: VectorTable,
    lengths: NDArray[np.int32],
    *,
    session_count: int,
    previous: Surroundings | None,
) -> Surroundings:
    """The surroundings of every row.

    Args:
        columns: Of the index.
        vectors: Of the index.
        lengths: Terms of each row's text.
        session_count: How many sessions have a code.
        previous: The surroundings before the last writes, if there were any.
    """
    turns = columns["alive"] & (columns["kind"] == MESSAGE)
    around = _around(columns)
    padded = np.append(lengths, 0).astype(np.float32)
    window_lengths = padded[around[:3]].sum(axis=0)
    sessions = np.where(columns["session"] == NO_ROW, session_count, columns["session"]).astype(np.int32)
    session_lengths = np.bincount(sessions[turns], lengths[turns], session_count)[:session_count]
    by_session = _by_session(columns, turns)
    codes, starts = np.unique(sessions[by_session], return_index=True)
    follows = np.zeros(len(by_session), dtype=np.float32)
    follows[1:] = columns["before"][by_session[1:]] == by_session[:-1]
    sources, before = columns["source"], around[1]
    return Surroundings(
        around=around,
        window_norms=_window_norms(around, vectors, previous),
        window_damping=_damping(window_lengths, turns, K1),
        turn_damping=_damping(padded[:-1], turns, K1),
        session_damping=_damping(session_lengths.astype(np.float32), session_lengths > 0, SESSION_K1),
        sessions=sessions,
        turn_sessions=np.where(turns, sessions, np.int32(session_count)),
        origins=np.where(sources == NO_ROW, np.arange(len(columns)), sources),
        previous_words=np.where(before == NO_ROW, np.float32(0.0), columns["log_words"][before]),
        by_session=by_session,
        follows=follows,
        follows_two=follows[2:] * follows[1:-1],
        session_starts=starts,
        session_codes=codes.astype(np.int32),
    )


def _by_session(columns: Columns, turns: NDArray[np.bool_]) -> NDArray[np.intp]:
    rows = np.flatnonzero(turns)
    keys = (columns["turn"][rows], columns["conversation"][rows], columns["session"][rows])
    return rows[np.lexsort(keys)]


def _around(columns: Columns) -> Rows:
    before = np.append(columns["before"], NO_ROW)
    after = np.append(columns["after"], NO_ROW)
    own = np.arange(len(columns), dtype=np.int32)
    return np.stack([own, before[:-1], after[:-1], before[before[:-1]], after[after[:-1]]])


def _damping(lengths: FloatArray, counted: NDArray[np.bool_], k1: float) -> FloatArray:
    """BM25's length normalisation over the average of those that are ``counted``."""
    average = float(lengths[counted].mean()) if counted.any() else 1.0
    return (k1 * (1.0 - B + B * lengths / max(average, 1e-6))).astype(np.float32)


def _window_norms(around: Rows, vectors: VectorTable, previous: Surroundings | None) -> FloatArray:
    count = around.shape[1]
    norms = np.ones(count, dtype=np.float32)
    stale = np.ones(count, dtype=np.bool_)
    if previous is not None:
        known = min(count, previous.around.shape[1])
        norms[:known] = previous.window_norms[:known]
        stale[:known] = (around[:, :known] != previous.around[:, :known]).any(axis=0)
    stale_rows = np.flatnonzero(stale)
    for start in range(0, len(stale_rows), CHUNK_ROWS):
        rows = stale_rows[start : start + CHUNK_ROWS]
        wanted, places = np.unique(around[:, rows], return_inverse=True)
        vectors_wanted = vectors.take(np.maximum(wanted, 0))
        vectors_wanted[wanted == NO_ROW] = 0.0
        own, *neighbours = places.reshape(len(around), -1)
        total = vectors_wanted[own]
        for places_beside in neighbours:
            total += vectors_wanted[places_beside]
        norms[rows] = np.maximum(np.sqrt(np.einsum("nd,nd->n", total, total)), 1e-6)
    return norms
