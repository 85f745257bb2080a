"""What the whole suite shares: no network beyond this machine, and a memory of one's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from pytest_socket import socket_allow_hosts

from shared_core import ContextMemory

LOOPBACK = ["127.0.0.1", "::1"]

settings.register_profile("suite", deadline=None)  # a busy machine is no failure
settings.load_profile("suite")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Before any fixture of a test: connections to other machines raise."""
    socket_allow_hosts(LOOPBACK, allow_unix_socket=True)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[ContextMemory]:
    """An empty memory in a folder of its own."""
    with ContextMemory(tmp_path / "memory") as opened:
        yield opened
