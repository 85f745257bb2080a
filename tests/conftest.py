"""What the whole suite shares: no network beyond this machine, and a memory of one's own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from pytest_socket import socket_allow_hosts

from shared_core import ContextMemory

LOOPBACK = ["127.0.0.1", "::1"]

# No deadlines: a busy machine is no failure. HYPOTHESIS_PROFILE=thorough takes many more examples.
settings.register_profile("suite", deadline=None, max_examples=15, stateful_step_count=15)
settings.register_profile("thorough", deadline=None, max_examples=100, stateful_step_count=50)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Before any fixture of a test: connections to other machines raise."""
    socket_allow_hosts(LOOPBACK, allow_unix_socket=True)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[ContextMemory]:
    """An empty memory in a folder of its own."""
    with ContextMemory(tmp_path / "memory") as opened:
        yield opened
