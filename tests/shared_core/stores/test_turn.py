"""Turns at an embedded Chroma: one at a time, and none waits for a call that hangs."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from shared_core.stores.chroma import ChromaStore, collection_name
from shared_core.stores.rebuilding import BATCH_RECORDS, rebuild
from shared_core.stores.turn import Turn
from tests.shared_core.building import opened_namespace, record, write


def taken(turn: Turn) -> bool:
    """Whether another thread gets the turn; it passes it on."""
    answers: list[bool] = []

    def take() -> None:
        answers.append(turn.take())
        if answers[0]:
            turn.pass_on()

    thread = threading.Thread(target=take)
    thread.start()
    thread.join(30)
    return answers[0]


def test_whoever_has_it_may_take_it_again() -> None:
    turn = Turn(0.1)
    assert turn.take()
    assert turn.take()
    turn.pass_on()
    assert not taken(turn)
    turn.pass_on()
    assert taken(turn)


def test_none_waits_for_a_call_that_does_not_come_back() -> None:
    turn = Turn(0.3)
    assert turn.take()
    started = time.monotonic()
    assert not taken(turn)
    assert 0.3 <= time.monotonic() - started < 5
    turn.pass_on()


def test_a_long_turn_is_waited_for_while_it_goes_on() -> None:
    turn, entered, ended = Turn(1.0), threading.Event(), threading.Event()

    def rebuild_for_long() -> None:
        assert turn.take()
        entered.set()
        for _ in range(20):
            time.sleep(0.1)
            turn.went_on()
        ended.set()
        turn.pass_on()

    thread = threading.Thread(target=rebuild_for_long)
    thread.start()
    assert entered.wait(10)
    assert turn.take()
    assert ended.is_set()
    turn.pass_on()
    thread.join(10)


def test_many_that_are_served_before_are_no_silence() -> None:
    turn, stopping = Turn(0.5), threading.Event()

    def work() -> None:
        for _ in range(40):
            if stopping.is_set() or not turn.take():
                return
            time.sleep(0.05)
            turn.pass_on()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(0.1)
    served = [turn.take() for _ in range(3)]
    for _ in served:
        turn.pass_on()
    stopping.set()
    for thread in threads:
        thread.join(10)
    assert all(served)


def test_a_rebuild_tells_after_each_batch_that_it_goes_on(tmp_path: Path) -> None:
    steps: list[int] = []
    with opened_namespace(tmp_path) as namespace:
        write(namespace, *(record(f"fact-{n}", text=f"Ada rode {n} miles") for n in range(BATCH_RECORDS + 1)))
    store = ChromaStore(tmp_path)
    found = store.find(collection_name("default"))
    assert found is not None
    rebuild(found, store.place, reason="a test", after_each=lambda: steps.append(1))
    assert len(steps) == 2
    store.close()
