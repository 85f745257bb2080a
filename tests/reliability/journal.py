"""What a child process says it will do, and says it has done: on the disk before the next step.

Each line of the file is one JSON object: ``{"begin": n, "op": …}`` before a change, ``{"end": n}`` once the
call has returned, ``{"found": …}`` after a check, from which the next check starts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

from typing_extensions import Self


class Journal:
    """Appends lines to a file and waits until they are durable."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._count = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._file)

    def write(self, line: Mapping[str, Any]) -> None:
        os.write(self._file, json.dumps(line).encode() + b"\n")
        os.fsync(self._file)

    def begin(self, op: str, **what: Any) -> int:
        """Say what comes next; returns its number."""
        self._count += 1
        self.write({"begin": self._count, "op": op, **what})
        return self._count

    def end(self, number: int) -> None:
        """Say that the call has returned."""
        self.write({"end": number})


@dataclass
class Step:
    """One change, and whether its call had returned."""

    op: str
    what: dict[str, Any]
    returned: bool = False


@dataclass
class Told:
    """What a journal tells since the last check.

    Attributes:
        messages: Ids of the messages that the check found.
        facts: Text of each current fact that it found, by id.
        steps: What was begun since then, in order.
    """

    messages: set[str] = field(default_factory=set)
    facts: dict[str, str] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)


def read_journal(path: Path, *, may_be_late: bool = False) -> Told:
    """What stands in a journal; a last line that was cut off does not count.

    Args:
        path: The journal.
        may_be_late: Whether a change that had not returned may also happen after the next check, as a server
            may finish the request of a client that is dead.
    """
    told, begun = Told(), dict[int, Step]()
    for raw in path.read_bytes().split(b"\n")[:-1] if path.exists() else ():
        line = json.loads(raw)
        if "found" in line:
            late = [step for step in begun.values() if not step.returned] if may_be_late else []
            told, begun = Told(set(line["found"]["messages"]), dict(line["found"]["facts"]), late), {}
        elif "begin" in line:
            step = Step(line["op"], {key: line[key] for key in line if key not in ("begin", "op")})
            begun[line["begin"]] = step
            told.steps.append(step)
        else:
            begun[line["end"]].returned = True
    return told
