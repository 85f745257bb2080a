"""Kill a child process at random moments, again and again, and count what was lost: nothing may be.

``python -m tests.reliability.kills --kills 200`` does so over an embedded folder and over a Chroma server,
which is killed as well, and prints the table of ``docs/reliability.md``.
"""

from __future__ import annotations

import argparse
import multiprocessing
import random
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shared_core.stores.redo import REDO
from shared_core.stores.repair import QUARANTINE
from tests.reliability.server import RunningServer
from tests.reliability.worker import work

#: Longest time that a child may take to open its memory and check it, in seconds.
SECONDS_TO_CHECK = 60.0
#: Kills after which a new store is begun, so that small and larger ones are tried.
KILLS_PER_STORE = 25
#: A child lives for up to so long after its check, in seconds.
LONGEST_LIFE = 1.5
#: Of how many kills one waits, for up to so many seconds, for Chroma to begin writing its index files.
AIMED, LONGEST_AIM = 0.4, 5.0
#: Of how many kills one hits the child before it has checked anything.
EARLY = 0.1
#: A server finishes what a dead client has asked of it within so many seconds.
SECONDS_TO_LAND = 0.5
#: Of how many rounds over a server its process is killed too.
SERVER_KILLED = 0.4


@dataclass
class Tally:
    """What a series of kills came to.

    Attributes:
        kills: Children that were killed.
        server_kills: Servers that were.
        steps: Changes that had returned.
        torn: Changes that a kill interrupted.
        pending: Messages found pending, and finished.
        redone: Changes that a kill had interrupted between two of their parts, and which were finished.
        repairs: Collections whose index files a kill had broken, and which were repaired.
        largest: Most records in one store.
        wrongs: What was lost or torn.
    """

    kills: int = 0
    server_kills: int = 0
    steps: int = 0
    torn: int = 0
    pending: int = 0
    redone: int = 0
    repairs: int = 0
    largest: int = 0
    wrongs: list[str] = field(default_factory=list)


class Child:
    """A process that runs ``tests.reliability.worker``, forked from one that has loaded all it needs."""

    def __init__(self, place: str, journal: Path, seed: int, steps: int | None = None) -> None:
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["tests.reliability.worker", "shared_core.stores.chroma"])
        self._ours, theirs = context.Pipe(duplex=False)
        self._process = context.Process(target=work, args=(place, journal, seed, steps, theirs))
        self._process.start()
        theirs.close()

    def check(self, tally: Tally) -> bool:
        """Wait until it has checked what its predecessor left; False if something was wrong."""
        told = self._told()
        if told[0] == "ready":
            tally.pending += told[1]
            tally.largest = max(tally.largest, told[2])
            return True
        self.kill()
        tally.wrongs.append(f"exit {self._process.exitcode}: {told[1]}")
        return False

    def finish(self, tally: Tally) -> None:
        """Wait for the last word of a child that was given a number of steps."""
        told = self._told()
        if told[0] != "done":
            tally.wrongs.append(f"at last: {told[1]}")
        self.kill()

    def _told(self) -> tuple[Any, ...]:
        if not self._ours.poll(SECONDS_TO_CHECK):
            return ("silent", f"no word in {SECONDS_TO_CHECK} s")
        try:
            told: tuple[Any, ...] = self._ours.recv()
        except EOFError:
            self._process.join(SECONDS_TO_CHECK)
            return ("dead", "it ended without a word")
        return told

    def kill(self) -> None:
        self._process.kill()
        self._process.join(SECONDS_TO_CHECK)
        self._ours.close()


def count_steps(journal: Path, tally: Tally) -> None:
    lines = journal.read_bytes() if journal.exists() else b""
    ended = lines.count(b'{"end"')
    tally.steps += ended
    tally.torn += lines.count(b'{"begin"') - ended


def set_aside(folder: Path) -> int:
    """How many index folders were found broken, and set aside."""
    quarantine = folder / QUARANTINE
    return sum(entry.is_dir() for entry in quarantine.iterdir()) if quarantine.is_dir() else 0


def wait(folder: Path, chance: random.Random) -> None:
    """Until the moment to kill: any, or the one in which index files are being written."""
    if chance.random() >= AIMED:
        time.sleep(chance.uniform(0.0, LONGEST_LIFE))
        return
    before, latest = _index_times(folder), time.monotonic() + LONGEST_AIM
    while time.monotonic() < latest and _index_times(folder) == before:
        time.sleep(0.0002)
    time.sleep(chance.uniform(0.0, 0.004))


def _index_times(folder: Path) -> list[int]:
    return [file.stat().st_mtime_ns for file in folder.glob("*-*-*-*-*/*.bin")]


def kill_embedded(kills: int, seed: int, place: Path) -> Tally:
    """Kill a process that works on an embedded folder so many times."""
    chance, tally = random.Random(seed), Tally()
    while tally.kills < kills and not tally.wrongs:
        folder = place / f"folder-{tally.kills}"
        journal = place / f"{folder.name}.journal"
        for _ in range(min(KILLS_PER_STORE, kills - tally.kills)):
            child = Child(str(folder), journal, chance.randrange(10**9))
            if chance.random() < EARLY:
                time.sleep(chance.uniform(0.0, 2.0))
            elif child.check(tally):
                wait(folder, chance)
            else:
                break
            child.kill()
            tally.kills += 1
            tally.redone += any((folder / REDO).glob("*.jsonl"))
        last_check(str(folder), journal, tally)
        tally.repairs += set_aside(folder)
        count_steps(journal, tally)
    return tally


def last_check(place: str, journal: Path, tally: Tally) -> None:
    """What the last kill of a store left is checked as well, by a child that lives."""
    if not tally.wrongs:
        child = Child(place, journal, 1, steps=10)
        if child.check(tally):
            child.finish(tally)


def kill_with_server(kills: int, seed: int, place: Path) -> Tally:
    """Kill a client of a Chroma server so many times, and every now and then the server with it."""
    chance, tally = random.Random(seed), Tally()
    while tally.kills < kills and not tally.wrongs:
        folder = place / f"server-{tally.kills}"
        folder.mkdir()
        journal = place / f"{folder.name}.journal"
        with RunningServer(folder) as server:
            for _ in range(min(KILLS_PER_STORE, kills - tally.kills)):
                child = Child(str(server.port), journal, chance.randrange(10**9))
                if not child.check(tally):
                    break
                wait(folder, chance)
                if chance.random() < SERVER_KILLED:
                    server.kill()
                    tally.server_kills += 1
                    child.kill()
                    server.repair_and_start()
                else:
                    child.kill()
                    time.sleep(SECONDS_TO_LAND)
                tally.kills += 1
            last_check(str(server.port), journal, tally)
        tally.repairs += set_aside(folder)
        count_steps(journal, tally)
    return tally


COLUMNS = {
    "kills": "kills",
    "server_kills": "of the server too",
    "steps": "changes that had returned",
    "torn": "changes interrupted",
    "pending": "messages found pending",
    "redone": "finished from the redo log",
    "repairs": "index files repaired",
    "largest": "records, at most",
}


def table(tallies: dict[str, Tally]) -> str:
    """The figures as a Markdown table."""
    lines = [
        "| store | " + " | ".join(COLUMNS.values()) + " | lost, torn or unlike |",
        "|---" * (len(COLUMNS) + 2) + "|",
    ]
    for name, tally in tallies.items():
        figures = " | ".join(f"{getattr(tally, column):,}" for column in COLUMNS)
        lines.append(f"| {name} | {figures} | {len(tally.wrongs)} |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=200, help="over each kind of store")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--only", choices=("embedded", "server"))
    options = parser.parse_args()
    series = {"embedded": kill_embedded, "server": kill_with_server}
    tallies = {}
    for name, run in series.items():
        if options.only in (None, name):
            with tempfile.TemporaryDirectory() as place:
                tallies[name] = run(options.kills, options.seed, Path(place))
            for wrong in tallies[name].wrongs:
                print(wrong, file=sys.stderr)
    print(table(tallies))
    return 1 if any(tally.wrongs for tally in tallies.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
