"""The scalar columns of one namespace: what filters and scores need of each row, as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

NO_ROW: Final = -1

#: Column by name; rows point at each other by number, ``NO_ROW`` for none.
_COLUMNS: dict[str, tuple[Any, Any]] = {
    "alive": (np.bool_, False),  # not replaced and not deleted
    "kind": (np.int8, 0),  # position in KINDS
    "conversation": (np.int32, NO_ROW),  # code of the conversation id
    "session": (np.int32, NO_ROW),  # code of the session id
    "speaker": (np.int32, NO_ROW),  # code of the speaker's name
    "category": (np.int8, NO_ROW),  # position in CATEGORIES
    "turn": (np.int32, NO_ROW),
    "source": (np.int32, NO_ROW),  # row of the first source message; of a message, its own
    "before": (np.int32, NO_ROW),  # row of the message before this one in its session
    "after": (np.int32, NO_ROW),
    "dated": (np.float64, 0.0),  # POSIX seconds that age counts from
    "created": (np.float64, 0.0),
    "importance": (np.float64, 0.5),
    "mentions": (np.int32, 1),
    "decays": (np.bool_, True),
    "active": (np.bool_, True),  # not archived
    "current": (np.bool_, True),  # not superseded
    "expires": (np.float64, np.inf),
    "updated": (np.float64, 0.0),
    "pinned": (np.bool_, False),
    "confidence": (np.float64, 1.0),
    "tier": (np.int8, 0),  # position in TIERS
    "accesses": (np.int32, 0),
    "accessed": (np.float64, -np.inf),  # POSIX seconds of the last reading
    "working_until": (np.float64, -np.inf),
    "working_reason": (np.int8, NO_ROW),  # position in WORKING_REASONS
    "log_words": (np.float32, 0.0),  # this and the following: see `traits_of`
    "asks": (np.float32, 0.0),
    "question_share": (np.float32, 0.0),
    "has_time": (np.float32, 0.0),
    "has_number": (np.float32, 0.0),
    "log_capitalised": (np.float32, 0.0),
}
FIRST_CAPACITY = 256


class Columns:
    """Growing arrays of equal length by name: ``columns["turn"]`` is a view ``[n]`` until the next row."""

    def __init__(self) -> None:
        self._capacity = FIRST_CAPACITY
        self._rows = 0
        self._arrays: dict[str, NDArray[Any]] = {
            name: np.full(self._capacity, default, dtype=dtype) for name, (dtype, default) in _COLUMNS.items()
        }

    def __len__(self) -> int:
        return self._rows

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._arrays[name][: self._rows]

    def append(self) -> int:
        """Add a row of defaults; returns its number."""
        return self.extend(1)

    def extend(self, count: int) -> int:
        """Add rows of defaults; returns the number of the first."""
        first, self._rows = self._rows, self._rows + count
        if self._rows > self._capacity:
            while self._rows > self._capacity:
                self._capacity += self._capacity // 4  # twice as many would lie idle in memory
            for name, (dtype, default) in _COLUMNS.items():
                grown = np.full(self._capacity, default, dtype=dtype)
                grown[:first] = self._arrays[name][:first]
                self._arrays[name] = grown
        return first

    def set_all(self, rows: NDArray[np.intp], **values: Any) -> None:
        """Set columns of several rows by name, each to a list as long as ``rows``, or to one value."""
        for name, value in values.items():
            self._arrays[name][rows] = value

    def set(self, row: int, **values: Any) -> None:
        """Set columns of one row by name."""
        for name, value in values.items():
            self._arrays[name][row] = value


class Codes:
    """Numbers for strings, counted from 0 in the order in which they were first seen."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._names: list[str] = []

    def of(self, name: str | None) -> int:
        """The code of ``name``, a new one if it is new; ``NO_ROW`` for None."""
        if name is None:
            return NO_ROW
        code = self._codes.setdefault(name, len(self._names))
        if code == len(self._names):
            self._names.append(name)
        return code

    def of_all(self, names: Sequence[str | None]) -> list[int]:
        """The code of each name: see ``of``."""
        codes = {name: self.of(name) for name in dict.fromkeys(names)}
        return [codes[name] for name in names]

    def find(self, name: str) -> int | None:
        """The code of ``name``, or None if it was never seen."""
        return self._codes.get(name)

    def name(self, code: int) -> str | None:
        """The string of a code; None for ``NO_ROW``."""
        return None if code == NO_ROW else self._names[code]

    def __iter__(self) -> Any:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)
