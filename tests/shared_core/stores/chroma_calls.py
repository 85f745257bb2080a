"""What is asked of Chroma: noted, and made to fail."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pytest
from chromadb.api.models.Collection import Collection

__all__ = ["failing"]

When = Callable[[int], BaseException | None]


@contextmanager
def failing(*calls: str, when: When = lambda _: None) -> Iterator[list[int]]:
    """Chroma fails in those calls for which ``when`` gives an error, by their number; never if left out.

    Gives how many ids each call has had so far.
    """
    sizes: list[int] = []
    with pytest.MonkeyPatch.context() as patch:
        for call in calls:
            patch.setattr(Collection, call, _noted(getattr(Collection, call), sizes, when))
        yield sizes


def _noted(call: Any, sizes: list[int], when: When) -> Any:
    def noted(self: Collection, ids: Sequence[str], **named: Any) -> None:
        sizes.append(len(ids))
        error = when(len(sizes))
        if error is not None:
            raise error
        call(self, ids=ids, **named)

    return noted
