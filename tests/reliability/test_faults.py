"""Chroma fails at any call, before or after it has done its work: each change is whole or absent."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from chromadb.api.models.Collection import Collection
from chromadb.errors import InternalError

from shared_core import ContextMemory
from shared_core.errors import StoreError
from tests.shared_core.building import said

NAMES, CONVERSATIONS = ("a", "b"), ("x", "y", "z")


class Faults:
    """Lets some of Chroma's calls fail.

    Attributes:
        share: Of how many calls one fails before it has done anything; of a third as many, after it.
    """

    def __init__(self, chance: random.Random) -> None:
        self.share = 0.0
        self._chance = chance

    @contextmanager
    def installed(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            for name in ("upsert", "update", "delete", "get", "count"):
                patch.setattr(Collection, name, self._failing(getattr(Collection, name)))
            yield

    def _failing(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def failing(*args: Any, **named: Any) -> Any:
            if self._chance.random() < self.share:
                raise InternalError("before")
            result = call(*args, **named)
            if self._chance.random() < self.share / 3:
                raise InternalError("after")
            return result

        return failing


def change(memory: ContextMemory, step: int, chance: random.Random, added: list[str]) -> None:
    """One random change, for a loop or for none; the ids of messages that it adds are put into ``added``."""
    conversation, is_awaited = chance.choice(CONVERSATIONS), chance.random() < 0.6
    messages = memory.list(kind="message", limit=9_999)
    kind = chance.choice(["add", "add", "add", "erase", "erase one", "maintain", "erase all"])
    if kind == "add":
        count = chance.choice([1, 4, 12])
        added += [f"{step}-{n}" for n in range(count)]
        batch = [said(f"I like tea {one}.", one) for one in added]
        asyncio.run(memory.aadd(batch, conversation)) if is_awaited else memory.add(batch, conversation)
    elif kind == "erase":
        asyncio.run(memory.aerase(conversation_id=conversation))
    elif kind == "erase one" and messages:
        message_id = chance.choice(messages).message_id
        asyncio.run(memory.aerase(message_id=message_id)) if is_awaited else memory.erase(
            message_id=message_id
        )
    elif kind == "maintain":
        asyncio.run(memory.amaintain()) if is_awaited else memory.maintain()
    elif kind == "erase all" and chance.random() < 0.2:
        memory.erase(everything=True)


def records(memory: ContextMemory) -> dict[str, str]:
    return {one.id: one.model_dump_json() for one in memory.list(limit=99_999)}


def check(memory: ContextMemory) -> None:
    """What is in memory is what is stored, and nothing is torn from what it was learnt from."""
    held = records(memory)
    memory.opened().drop_index()
    assert records(memory) == held
    for one in memory.list(limit=99_999):
        assert set(one.sources) <= held.keys(), one


def run(folder: Path, seed: int, steps: int) -> int:
    """Make so many changes, some of which fail; how many did."""
    chance, failures = random.Random(seed), 0
    faults = Faults(chance)
    with faults.installed():
        memories = {name: ContextMemory(folder, name) for name in NAMES}
        for step in range(steps):
            name, added, is_done = chance.choice(NAMES), list[str](), False
            faults.share = chance.choice([0.0, 0.0, 0.15, 0.4])
            try:
                if chance.random() < 0.1:
                    for memory in memories.values():
                        with suppress(StoreError):
                            memory.close()
                    faults.share = 0.0
                    memories = {name: ContextMemory(folder, name) for name in NAMES}
                else:
                    change(memories[name], step, chance, added)
                    is_done = True
            except StoreError:
                failures += 1
            faults.share = 0.0
            for memory in memories.values():
                check(memory)
            there = {one.message_id for one in memories[name].list(kind="message", limit=9_999)}
            assert len(there.intersection(added)) in ((len(added),) if is_done else (0, len(added)))
        for memory in memories.values():
            memory.close()
    return failures


@pytest.mark.parametrize("seed", [1, 2])
def test_faults_at_any_call_leave_each_change_whole_or_absent(
    tmp_path: Path, seed: int, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL)
    assert run(tmp_path, seed, 40) > 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3, 13))
def test_faults_at_any_call_for_long(tmp_path: Path, seed: int) -> None:
    assert run(tmp_path, seed, 600) > 0
