"""All systems side by side: each step is done by one after the other, round by round."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from tests.benchmarks.peers import Peer
from tests.benchmarks.processes import Skipped, Worker, stand_by

P = ParamSpec("P")
R = TypeVar("R")


class Bench:
    """The systems that are still in the race, and why the others are not.

    Args:
        keys: The systems, as in ``SYSTEMS``.
        root: A folder; each system gets one of its own below it.
        budget_seconds: The longest that one step of one system may take.
    """

    def __init__(self, keys: Sequence[str], root: Path, budget_seconds: float) -> None:
        self.root, self.budget_seconds = root, budget_seconds
        self.reasons: dict[str, str] = {}
        self._workers: dict[str, Worker] = {}
        for key in keys:
            self.folder(key).mkdir()
            try:
                self._workers[key] = Worker(key, self.folder(key))
            except Skipped as reason:
                self.reasons[key] = str(reason)
        self.each(stand_by)  # all start at once, and none is measured while another starts

    def folder(self, key: str) -> Path:
        """Where a system keeps its files."""
        return self.root / key

    def each(
        self, operation: Callable[Concatenate[Peer, P], R], /, *args: P.args, **kwargs: P.kwargs
    ) -> dict[str, R]:
        """What an operation makes of each system; one that fails, or takes too long, leaves the race."""
        results = {}
        for key, worker in list(self._workers.items()):
            try:
                results[key] = worker.call(self.budget_seconds, operation, *args, **kwargs)
            except Skipped as reason:
                self.reasons[key] = str(reason)
                self._workers.pop(key).stop()
        return results

    def cells(self, results: dict[str, Any]) -> dict[str, Any]:
        """A row of a table: a result, or the reason why there is none."""
        return {**results, **{key: {"skipped": reason} for key, reason in self.reasons.items()}}

    def stop(self) -> None:
        """End all processes; the folders stay."""
        while self._workers:
            self._workers.popitem()[1].stop()


@contextmanager
def bench(keys: Sequence[str], budget_seconds: float) -> Iterator[Bench]:
    """Systems at work in a temporary folder; both end with the block."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as root:
        opened = Bench(keys, Path(root), budget_seconds)
        try:
            yield opened
        finally:
            opened.stop()
