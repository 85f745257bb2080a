"""What a memory is worth keeping at hand: how important it is, how often and how lately it was used."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from shared_core.decay import WEBMCP_RATE_PER_DAY, Values, exponential_recency, logarithmic_frequency
from shared_core.index.columns import NO_ROW
from shared_core.index.resident import ResidentIndex

Rows = NDArray[np.intp]
Moments = NDArray[np.float64]

#: Seed 004's score, with importance in the place of what a question would say.
IMPORTANCE_WEIGHT, RECENCY_WEIGHT, FREQUENCY_WEIGHT, WORKING_WEIGHT = 0.4, 0.3, 0.2, 0.1


def worth(importance: Values, uses: Values, idle_days: Values) -> Values:
    """0.4·importance + 0.3·recency + 0.2·frequency, 0 to 0.9; in working memory it is worth 0.1 more.

    Args:
        importance: 0 to 1.
        uses: How often it was said or read.
        idle_days: Days since it was; 0 for what does not fade.
    """
    recency = exponential_recency(idle_days, rate_per_day=WEBMCP_RATE_PER_DAY)
    frequency = logarithmic_frequency(uses)
    return IMPORTANCE_WEIGHT * importance + RECENCY_WEIGHT * recency + FREQUENCY_WEIGHT * frequency


def last_used(index: ResidentIndex, rows: Rows) -> Moments:
    """When each of these was last said or read, in POSIX seconds: ``float64 [n]``.

    What came from messages was said when they were; what was stated outright, when it was last written.
    """
    columns = index.columns
    used = np.maximum(columns["created"][rows], columns["accessed"][rows])
    created = columns["created"]
    for place, row in enumerate(rows):
        origins = index.origins_at(int(row))
        if len(origins) == 1:
            source = int(columns["source"][row])
            said = float(created[source]) if source != NO_ROW else -np.inf
        elif origins:
            known = [found for origin in origins if (found := index.row(origin)) is not None]
            said = float(created[known].max()) if known else -np.inf
        else:
            said = float(columns["updated"][row])
        used[place] = max(float(used[place]), said)
    return cast(Moments, used)


def uses(index: ResidentIndex, rows: Rows) -> NDArray[np.float64]:
    """How often each of these was said or read: ``float64 [n]``."""
    columns = index.columns
    said = columns["mentions"][rows].astype(np.float64)
    return cast("NDArray[np.float64]", said + columns["accesses"][rows])
