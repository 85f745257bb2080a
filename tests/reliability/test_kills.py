"""The short form of ``python -m tests.reliability.kills``, for every run of the suite."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.reliability.kills import kill_embedded, kill_with_server


def test_a_killed_process_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    tally = kill_embedded(3, 11, tmp_path)
    assert tally.wrongs == []
    assert tally.kills == 3


def test_a_killed_client_or_server_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    tally = kill_with_server(3, 4, tmp_path)
    assert tally.wrongs == []
    assert tally.kills == 3


@pytest.mark.slow
@pytest.mark.parametrize("kill", [kill_embedded, kill_with_server])
def test_two_hundred_kills_lose_nothing(kill: object, tmp_path: Path) -> None:
    assert callable(kill)
    assert kill(200, 7, tmp_path).wrongs == []
