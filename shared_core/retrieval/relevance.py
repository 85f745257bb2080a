"""How well each record fits a question: a cheap look at all of them, a close one at the best.

The first look is one product of the question's vector with all vectors and one walk over the postings of its
terms, both carried to the neighbouring turns and up to the session. The closer look is a linear model over
features of the best turns, most of which come from those two passes. What was learnt from a turn is judged
by its own words and vector, and by the surroundings of that turn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

import numpy as np
from numpy.typing import NDArray

from shared_core.embedding.base import FloatArray
from shared_core.index.columns import NO_ROW
from shared_core.index.lexical import K1
from shared_core.index.resident import ResidentIndex
from shared_core.index.surroundings import SESSION_K1, Surroundings
from shared_core.records import MESSAGE, SUMMARY
from shared_core.retrieval.question import Question
from shared_core.retrieval.relevance_weights import FIRST_LOOK, INTERCEPT, SECOND_LOOK
from shared_core.times import SECONDS_PER_DAY

#: Turns that get the closer look.
CANDIDATES = 200
#: What happened on a day is told on that day, or up to so many days later.
DAYS_TOLD_LATER = 10
#: Divides the logarithm of the odds before it becomes a number from 0 to 1, so that a perfect match and a
#: very good one stay apart.
SOFTNESS = 4.0
#: A summary holds many words of any question, and the messages that it sums up are there as well: it comes
#: first only where they say little. Added to its logarithm of the odds; without it recall@10 falls by 2.5.
SUMMARY_LOGIT = np.float32(-4.0)
#: Where the question is about the conversation itself, a summary is what it asks for.
RECAP_LOGIT = np.float32(6.0)
#: What was learnt from a message stands for it where both fit alike.
LEARNT_LOGIT = np.float32(0.2)

Rows = NDArray[np.intp]
NO_ROWS, NO_COUNTS = np.empty(0, dtype=np.int32), np.empty(0, dtype=np.float32)
Columns = dict[str, FloatArray]


@dataclass(frozen=True)
class Scan:
    """The first look at every row.

    Attributes:
        similarity: Cosine similarity, ``float32 [n + 1]``; the last one, of row −1, is 0.
        lexical: BM25 as a share of the question's weight, ``float32 [n + 1]``.
        session_lexical, session_rare: BM25 of each session, the latter with the weight of a term among
            sessions: ``float32 [s + 1]``, the last for rows without a session.
        weights: Weight of each known term of the question, as a share of all of them: ``float32 [t]``.
        terms, rows, counts: Where the known terms stand: number of the term, row, and how often, ``[m]``.
    """

    similarity: FloatArray
    lexical: FloatArray
    session_lexical: FloatArray
    session_rare: FloatArray
    weights: FloatArray
    terms: Rows
    rows: NDArray[np.int32]
    counts: FloatArray


@dataclass(frozen=True)
class Relevance:
    """Rows that were looked at closely.

    Attributes:
        rows: Row numbers, in order.
        total: How well each answers the question, 0 to 1, one half where it is as likely to as not:
            ``float64 [len(rows)]``.
        similarity: Cosine similarity of each, ``float32 [len(rows)]``.
        lexical: BM25 of each as a share of the question's weight, ``float32 [len(rows)]``.
    """

    rows: Rows
    total: NDArray[np.float64]
    similarity: FloatArray
    lexical: FloatArray


def relevance_of(
    index: ResidentIndex,
    question: Question,
    vector: FloatArray,
    allowed: NDArray[np.bool_],
    *,
    candidates: int | None = CANDIDATES,
) -> Relevance:
    """The rows that answer a question best.

    Args:
        index: The namespace; only read.
        question: As read against the index's speakers.
        vector: The embedding of its subject, ``float32 [dimension]``.
        allowed: Rows that may be returned, ``bool [n]``.
        candidates: Turns that get the closer look; None for every allowed row.
    """
    around = index.surroundings()
    scanned = scan(index, around, question, vector)
    rows = np.flatnonzero(allowed)
    if candidates is not None and len(rows) > candidates:
        chosen = candidate_rows(index, around, scanned, question, rows, candidates)
        if question.asks_recap:
            chosen = np.union1d(chosen, rows[index.columns["kind"][rows] == SUMMARY])
        rows = chosen
    prior = INTERCEPT - math.log(max(1, len(around.by_session)))
    logits = weighted(features(index, around, scanned, question, rows), SECOND_LOOK) + np.float32(prior)
    kinds = index.columns["kind"][rows]
    summary = RECAP_LOGIT if question.asks_recap else SUMMARY_LOGIT
    logits += summary * (kinds == SUMMARY) + LEARNT_LOGIT * (kinds != MESSAGE)
    total = 1.0 / (1.0 + np.exp(-logits.astype(np.float64) / SOFTNESS))
    return Relevance(rows, total, scanned.similarity[rows], scanned.lexical[rows])


def scan(index: ResidentIndex, around: Surroundings, question: Question, vector: FloatArray) -> Scan:
    """One pass over all vectors, and one over the postings of the question's terms."""
    count, sessions = len(index.columns), around.session_count
    similarity = np.zeros(count + 1, dtype=np.float32)
    index.vectors.products(vector, out=similarity[:-1])
    known = [index.lexical.occurrences(term) for term in question.terms]
    found = [occurrences for occurrences in known if occurrences is not None]
    unknown = len(known) - len(found)
    mass = max(sum(one.weight for one in found) + unknown * index.lexical.weight(0), 1e-6)
    rows = np.concatenate([NO_ROWS, *(one.rows for one in found)])
    counts = np.concatenate([NO_COUNTS, *(one.counts for one in found)])
    weights = np.array([one.weight / mass for one in found], dtype=np.float32)
    terms = np.repeat(np.arange(len(found)), [len(one.rows) for one in found])
    lexical = np.zeros(count + 1, dtype=np.float32)
    session_lexical = np.zeros(sessions + 1, dtype=np.float32)
    session_rare = np.zeros(sessions + 1, dtype=np.float32)
    if found:
        shares = weights[terms] * ((K1 + 1.0) * counts / (counts + around.turn_damping[rows]))
        lexical[:] = np.bincount(rows, shares, count + 1)
        said = terms * (sessions + 1) + around.turn_sessions[rows]
        told = np.bincount(said, counts, len(found) * (sessions + 1)).reshape(len(found), -1)[:, :-1]
        scores = (SESSION_K1 + 1.0) * told / (told + around.session_damping)
        holding = np.count_nonzero(told, axis=1)
        rarity = np.log1p((len(around.session_codes) - holding + 0.5) / (holding + 0.5)) / mass
        session_lexical[:-1] = weights @ scores
        session_rare[:-1] = rarity @ scores
    return Scan(similarity, lexical, session_lexical, session_rare, weights, terms, rows, counts)


def first_look(
    index: ResidentIndex,
    around: Surroundings,
    scanned: Scan,
    question: Question,
    weights: Mapping[str, float] = FIRST_LOOK,
) -> FloatArray:
    """How promising each row is: ``float32 [n]``, linear in ``weights``.

    Args:
        index: The namespace; only read.
        around: Its surroundings.
        scanned: The scan for the question.
        question: What is asked.
        weights: By the names of ``FIRST_LOOK``; a column by itself is that of weight 1 and all others 0.
    """
    weight = {name: np.float32(value) for name, value in weights.items()}
    similarity, lexical = scanned.similarity[:-1], scanned.lexical[:-1]
    session = weight["session_lexical"] * scanned.session_lexical
    session += weight["session_rare"] * scanned.session_rare
    total: FloatArray = session[around.sessions]
    total += weight["similarity"] * similarity
    total += weight["lexical"] * lexical
    total += weight["previous_words"] * around.previous_words
    total += weight["question_share"] * index.columns["question_share"]
    if question.speakers:
        total += weight["other_speaker"] * _other_speaker(index, question, slice(None))
    said = around.by_session
    similar, worded = similarity[said], lexical[said]
    total[said] += around.beside(
        weight["similarity_beside"] * similar + weight["lexical_beside"] * worded,
        weight["similarity_near"] * similar + weight["lexical_near"] * worded,
    )
    return total


def candidate_rows(
    index: ResidentIndex,
    around: Surroundings,
    scanned: Scan,
    question: Question,
    permitted: Rows,
    count: int = CANDIDATES,
) -> Rows:
    """Those of ``permitted`` worth a closer look: the ``count`` best turns, with all learnt from them.

    A turn is as good as the best of itself and of what was learnt from it.
    """
    strength = first_look(index, around, scanned, question)
    origins = around.origins[permitted]
    learnt = permitted[origins != permitted]
    np.maximum.at(strength, around.origins[learnt], strength[learnt])
    is_origin = np.zeros(len(strength), dtype=np.bool_)
    is_origin[origins] = True
    strength[~is_origin] = -np.inf
    if len(strength) > count:
        strength[strength < np.partition(strength, -count)[-count]] = -np.inf
    return permitted[strength[origins] > -np.inf]


def features(
    index: ResidentIndex, around: Surroundings, scanned: Scan, question: Question, rows: Rows
) -> Columns:
    """The columns of the closer look, each ``float32 [len(rows)]``."""
    columns = index.columns
    turn = around.origins[rows]
    near = around.around[:, turn].astype(np.intp)
    words = _word_features(around, scanned, question, rows, turn, near)
    session = around.sessions[turn]
    named = _named(index, question, turn)
    best = around.best_of_session(scanned.similarity)
    before = near[1]
    return {
        "similarity": scanned.similarity[rows],
        "similarity_window": scanned.similarity[near].sum(axis=0) / around.window_norms[turn],
        "similarity_session": best[session],
        **words,
        "session_lexical": scanned.session_lexical[session],
        "session_rare": scanned.session_rare[session],
        "session_long_question": scanned.session_lexical[session] * np.log(max(1, len(question.terms))),
        "answers_match": _at(columns["asks"], before) * scanned.lexical[before],
        "named_speaker": named.astype(np.float32),
        "other_speaker": _other_speaker(index, question, turn),
        "previous_words": around.previous_words[turn],
        "question_share": columns["question_share"][turn],
        "when_time": question.asks_when * columns["has_time"][turn],
        "what_capitalised": question.asks_what * columns["log_capitalised"][turn],
        "where_capitalised": question.asks_where * columns["log_capitalised"][turn],
        "many_number": question.asks_many * columns["has_number"][turn],
        **_date_features(question, columns["created"][turn]),
    }


def _word_features(
    around: Surroundings, scanned: Scan, question: Question, rows: Rows, turn: Rows, near: Rows
) -> Columns:
    """What the question's words do in a row, in its turn's neighbours, and side by side."""
    table = np.zeros((len(scanned.weights), len(around.sessions) + 1), dtype=np.float32)
    table[scanned.terms, scanned.rows] = scanned.counts
    held, own = table[:, near], table[:, rows] > 0  # [t, 5, n] and [t, n]
    three = held[:, :3].sum(axis=1)
    present = held > 0
    share = (K1 + 1.0) * three / (three + around.window_damping[turn])
    side_by_side = present[:-1, :3] & present[1:, :3]
    return {
        "lexical_window": scanned.weights @ share.astype(np.float32),
        "covered": scanned.weights @ own.astype(np.float32),
        "covered_window": scanned.weights @ (present.any(axis=1) | own).astype(np.float32),
        "terms_window": np.count_nonzero(three, axis=0) / np.float32(max(1, len(question.terms))),
        "pairs": np.count_nonzero(side_by_side, axis=0).max(axis=0).astype(np.float32),
    }


def _date_features(question: Question, created: NDArray[np.float64]) -> Columns:
    """Whether a turn was said in a month, or soon after a day, that the question names."""
    month_asked = np.zeros(len(created), dtype=np.float32)
    day_asked = np.zeros(len(created), dtype=np.float32)
    if question.months or question.days:
        days = np.floor(created / SECONDS_PER_DAY).astype("datetime64[D]")
        months = days.astype("datetime64[M]")
        month_asked[np.isin(months.astype(np.int64) % 12 + 1, question.months)] = 1.0
        for year, month, day in question.days:
            years = (
                np.unique(months.astype("datetime64[Y]").astype(np.int64) + 1970) if year is None else [year]
            )
            for one in years:
                day_asked[_told_later(days, int(one), month, day)] = 1.0
    return {"month_asked": month_asked, "day_asked": day_asked}


def _told_later(said: NDArray[np.datetime64], year: int, month: int, day: int) -> NDArray[np.bool_]:
    """Which days are that day, or up to ``DAYS_TOLD_LATER`` after it; none for no day of the calendar."""
    try:
        asked = np.datetime64(date(year, month, day))
    except ValueError:
        return np.zeros(len(said), dtype=np.bool_)
    passed = (said - asked).astype(np.int64)
    told: NDArray[np.bool_] = (passed >= 0) & (passed <= DAYS_TOLD_LATER)
    return told


def _named(index: ResidentIndex, question: Question, rows: Rows | slice) -> NDArray[np.bool_]:
    table = np.zeros(len(index.speaker_codes) + 1, dtype=np.bool_)  # the last is that of no speaker, -1
    table[list(question.speakers)] = True
    named: NDArray[np.bool_] = table[index.columns["speaker"][rows]]
    return named


def _other_speaker(index: ResidentIndex, question: Question, rows: Rows | slice) -> FloatArray:
    """1 where the question names a speaker who is not the one of the row."""
    if not question.speakers:
        return np.zeros(len(index.columns["speaker"][rows]), dtype=np.float32)
    return (~_named(index, question, rows)).astype(np.float32)


def _at(values: FloatArray, rows: Rows) -> FloatArray:
    """``values[rows]``, 0 for row −1."""
    return np.where(rows == NO_ROW, np.float32(0.0), values[rows])


def weighted(columns: Columns, weights: dict[str, float]) -> FloatArray:
    """The weighted sum of columns: ``float32 [n]``."""
    total = np.zeros(len(next(iter(columns.values()))), dtype=np.float32)
    for name, weight in weights.items():
        total += np.float32(weight) * columns[name]
    return total
