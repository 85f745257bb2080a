"""A second opinion on the hits of a search: any callable that reads a question and texts."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from shared_core.messages import quoted
from shared_core.retrieval.search import SearchHit

#: What a reranker is: from a question and ``n`` texts to ``n`` numbers, higher for what answers it better.
Reranker = Callable[[str, Sequence[str]], Sequence[float]]

#: Hits that are reranked, at least; more where more are wanted.
RERANKED = 50


def rerank(query: str, hits: Sequence[SearchHit], reranker: Reranker, *, limit: int) -> list[SearchHit]:
    """The ``limit`` hits that ``reranker`` rates highest.

    A hit's score is then its rating. Its components keep every factor of the score that it had, and that
    score as ``first_score``; ``rating`` is the new one.

    Args:
        query: The question as asked.
        hits: Best first, by their own scores; equal ratings keep this order.
        reranker: Rates their texts.
        limit: Most hits.

    Raises:
        ValueError: If it does not give one finite number for each text.
    """
    if not hits:
        return []
    ratings = [_number(rating) for rating in reranker(query, [hit.memory for hit in hits])]
    if len(ratings) != len(hits):
        raise ValueError(f"the reranker gave {len(ratings)} ratings for {len(hits)} texts: one for each")
    rated = [
        hit.model_copy(
            update={
                "score": rating,
                "components": {**hit.components, "first_score": hit.score, "rating": rating},
            }
        )
        for hit, rating in zip(hits, ratings, strict=True)
    ]
    return sorted(rated, key=lambda hit: -hit.score)[:limit]


def _number(rating: object) -> float:
    try:
        number = float(rating)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"the reranker gave {quoted(rating)}: a finite number for each text")
    return number
