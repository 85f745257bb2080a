"""Each system in a process of its own: none slows another, and one that takes too long can be ended."""

from __future__ import annotations

import gc
import logging
import multiprocessing
import os
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from tests.benchmarks.peers import SYSTEMS, Peer, Turn, embedder_named
from tests.benchmarks.texts import question, turns

P = ParamSpec("P")
R = TypeVar("R")

SECONDS_TO_START = 120.0


class Skipped(Exception):
    """A system could not do something, or not in time; its text is the reason."""


class Worker:
    """A system at work in another process.

    Args:
        key: Which, as in ``SYSTEMS``.
        folder: Where it keeps its files.
        embedder: ``wordllama`` or ``minilm``.

    Raises:
        Skipped: If it cannot be had here.
    """

    def __init__(self, key: str, folder: str | Path, embedder: str = "wordllama") -> None:
        self.key = key
        reason = SYSTEMS[key].missing()
        if reason:
            raise Skipped(reason)
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, key, str(folder), embedder), daemon=True)
        self._process.start()
        theirs.close()
        self._started = False

    def ready(self) -> None:
        """Wait until it has opened the system.

        Raises:
            Skipped: If the system cannot be opened.
        """
        if not self._started:
            self._answer(SECONDS_TO_START)
            self._started = True

    def call(
        self,
        seconds: float,
        operation: Callable[Concatenate[Peer, P], R],
        /,
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> R:
        """What ``operation`` of a module makes of the peer and the arguments, over there.

        Raises:
            Skipped: If it failed, or took more than ``seconds``: the process is ended then.
        """
        self.ready()
        try:
            self._pipe.send((operation, args, kwargs))
        except OSError as error:
            raise Skipped("its process has ended") from error
        result: R = self._answer(seconds)
        return result

    def stop(self) -> None:
        """End the process: in good order if it answers within a few seconds."""
        if self._process.is_alive():
            try:
                self._pipe.send(None)
                self._process.join(5)
            except OSError:
                pass
        if self._process.is_alive():
            self._process.kill()
            self._process.join()

    def _answer(self, seconds: float) -> Any:
        if not self._pipe.poll(seconds):
            self._process.kill()
            raise Skipped(f"> {seconds:.0f} s, not run")
        try:
            good, value = self._pipe.recv()
        except EOFError as error:
            raise Skipped("its process has ended") from error
        if not good:
            raise Skipped(value)
        return value


def _serve(pipe: Connection, key: str, folder: str, embedder: str) -> None:
    """The life of a worker: open the peer, then do as the pipe says."""
    quieten()
    peer = _attempt(pipe, lambda: SYSTEMS[key].open(folder, embedder_named(embedder)), answer=lambda _: None)
    while peer is not None and (task := pipe.recv()) is not None:
        operation, args, kwargs = task
        _attempt(pipe, lambda: operation(peer, *args, **kwargs), answer=lambda value: value)  # noqa: B023
    if peer is not None:
        peer.close()


def _attempt(pipe: Connection, work: Callable[[], R], answer: Callable[[R], Any]) -> R | None:
    try:
        result = work()
    except Exception as error:  # noqa: BLE001 - whatever a peer raises, it goes into the table as the reason
        pipe.send((False, f"{type(error).__name__}: {error}".splitlines()[0][:160]))
        return None
    pipe.send((True, answer(result)))
    return result


def quieten() -> None:
    """Let no peer print, warn or log into the report."""
    sys.stdout = open(os.devnull, "w")  # noqa: SIM115 - open as long as the process
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")


# -- what a worker is asked to do; the times are taken over there --------------------------------------------


def stand_by(peer: Peer) -> None:
    """Nothing."""


def load(peer: Peer, namespace: str, spoken: Sequence[Turn]) -> None:
    """Store turns."""
    peer.load(namespace, spoken)


def load_synthetic(peer: Peer, namespace: str, number: int, start: int, count: int) -> None:
    """Store turns of the generator."""
    peer.load(namespace, turns(start, count, number))


def load_others(peer: Peer, namespaces: int, count: int) -> None:
    """Store turns of the generator in each of so many namespaces."""
    for number in range(1, namespaces + 1):
        peer.load(f"other-{number}", turns(0, count, number))


def bulk_synthetic(peer: Peer, namespace: str, count: int) -> tuple[float, int]:
    """Seconds of storing many turns by the public way, and the records that this made."""
    spoken = turns(0, count)
    peer.load("warm-up", turns(0, 2))
    start = time.perf_counter()
    peer.bulk(namespace, spoken)
    return time.perf_counter() - start, peer.records(namespace) or count


def record_count(peer: Peer, namespace: str) -> int | None:
    """Records of a namespace, if they differ from its turns."""
    return peer.records(namespace)


def overhead(peer: Peer) -> float | None:
    """Milliseconds of each search that come from how it is measured here."""
    return peer.overhead()


def searches(peer: Peer, namespace: str, queries: Sequence[str], limit: int) -> list[list[str]]:
    """The turns that each query finds."""
    return [peer.search(namespace, query, limit) for query in queries]


def contexts(
    peer: Peer, namespace: str, queries: Sequence[str], budgets: Sequence[int]
) -> list[list[list[str]]] | None:
    """The turns in each query's context of each size; None if the peer builds none."""
    found = [peer.contexts(namespace, query, budgets) for query in queries]
    return [one for one in found if one is not None] if None not in found else None


def timed_searches(
    peer: Peer, namespace: str, first: int, repeats: int, count: int, seconds: float
) -> tuple[list[float], int]:
    """Seconds of each search for 5 turns, and how many found their answer; stops after ``seconds``."""
    gc.collect()
    taken: list[float] = []
    right = 0
    for number in range(first, first + repeats):
        text, answer = question(number, count)
        start = time.perf_counter()
        found = peer.search(namespace, text, 5)
        taken.append(time.perf_counter() - start)
        right += answer in found
        if sum(taken) > seconds:
            break
    return taken, right


def timed_adds(peer: Peer, namespace: str, first: int, repeats: int, seconds: float) -> list[float]:
    """Seconds of adding each pair, numbered from ``first``; stops after ``seconds``."""
    gc.collect()
    taken: list[float] = []
    for number in range(first, first + 2 * repeats, 2):
        pair = turns(number, 2)
        start = time.perf_counter()
        peer.add(namespace, pair)
        taken.append(time.perf_counter() - start)
        if sum(taken) > seconds:
            break
    return taken
