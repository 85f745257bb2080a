from __future__ import annotations

import subprocess
import sys

import pytest

from shared_core.mcp_server.configuration import HttpConfiguration

TOKEN = "correct-horse-battery"


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.1", "::1", "localhost"])
def test_this_machine_alone_needs_no_token(host: str) -> None:
    assert HttpConfiguration(host).is_loopback


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "localhost.evil.example", "memory"])
def test_any_other_host_needs_a_token(host: str) -> None:
    with pytest.raises(ValueError, match="give a token"):
        HttpConfiguration(host)
    assert not HttpConfiguration(host, token=TOKEN).is_loopback


@pytest.mark.parametrize("token", ["", "short", "with a space in it", "ünïcödé-and-long-enough", "a\nb" * 9])
def test_a_token_that_a_header_cannot_bear_or_that_is_guessed_is_refused(token: str) -> None:
    with pytest.raises(ValueError, match="token") as refused:
        HttpConfiguration(token=token)
    assert not token or token not in str(refused.value)


def test_the_token_is_not_shown() -> None:
    assert TOKEN not in repr(HttpConfiguration(token=TOKEN))


def test_hosts_are_checked_wherever_their_names_can_be_known() -> None:
    assert "127.0.0.1:*" in (HttpConfiguration().known_hosts or ())
    assert "[::1]:*" in (HttpConfiguration("::1").known_hosts or ())
    assert "192.168.1.5:*" in (HttpConfiguration("192.168.1.5", token=TOKEN).known_hosts or ())
    assert HttpConfiguration("0.0.0.0", token=TOKEN).known_hosts is None
    named = HttpConfiguration("0.0.0.0", token=TOKEN, allowed_hosts=("memory.example:443",)).known_hosts
    assert named is not None
    assert "memory.example:443" in named
    assert "0.0.0.0" not in named


def test_without_the_extra_the_error_names_it() -> None:
    program = """
import sys
for name in ("mcp", "mcp_types"):
    sys.modules[name] = None
import shared_core.mcp_server
from shared_core.errors import MissingExtraError
try:
    shared_core.mcp_server.serve_stdio(None)
except MissingExtraError as error:
    print(error)
"""
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout == "'mcp' is not installed: pip install 'contextmemory-chroma[mcp]'\n"
