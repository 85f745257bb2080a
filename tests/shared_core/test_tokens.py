from __future__ import annotations

import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared_core.tokens import TokenCounter, counter_for, encoding_name
from shared_core.tokens.bound import count_bound, count_bytes, well_formed
from shared_core.tokens.counters import ExactCounter, _parts
from shared_core.tokens.encodings import local_encoding

if TYPE_CHECKING:
    from tiktoken import Encoding

NAMES = ("o200k_base", "cl100k_base")

WORDS = (
    "the quick brown fox jumped, didn't it? I'm sure WE'RE HERE'S camelCase HTTPServer snake_case don't "
    "antidisestablishmentarianism Deborah xqzvk Zürich Straße naïve façade ñandú привет дорогой Γειά "
    "你好世界 日本語のテキスト 한국어 สวัสดีครับ مرحبا हिन्दी भाषा עברית 😂 👋🏽 👨‍👩 🇩🇪 ①½ "
    "²³ ١٢٣ 1234567 3.14159 "
    "def f(x): return x**2 // if(a&&b){ </memory> <|endoftext|> <|im_start|> https://a.b/c?d=e#f a@b.co "
    "ſharp don’t ‘quoted’ — … \u200d \u0301 e\u0301 \ufffd \x00 \x1c \x85 \u2028 \u1e9e ǅ ʰ ꟑ \U00031350"
).split(" ")
SEPARATORS = (
    "",
    " ",
    "  ",
    "\n",
    "\r\n",
    "\n\n",
    " \n ",
    "\t",
    "    ",
    "\u3000",
    "\u00a0",
    ", ",
    "/",
    "'",
    "...",
)

mixed_text = st.one_of(
    st.text(),
    st.lists(st.one_of(st.sampled_from(WORDS), st.sampled_from(SEPARATORS)), max_size=40).map("".join),
    st.text(alphabet="abcdefghijklmnopqrstuvwxyzABC' \n"),
    st.text(alphabet="".join(WORDS)),
    st.text(alphabet=st.characters(min_codepoint=0x80, max_codepoint=0x1FFFF)),
    st.text(alphabet="0123456789.,-+ \n/\\{}()[]<>=#*_'\"|&!?:;`~$%^@\r\t"),
)


@pytest.fixture(scope="session")
def encodings() -> list[Encoding]:
    """The real encodings, where their files are on this machine."""
    try:
        return [local_encoding(name) for name in NAMES]
    except OSError:
        pytest.skip("no tokenizer file on this machine: install llama-index-core, which brings two")


def exact(encoding: Encoding, text: str) -> int:
    return len(encoding.encode_ordinary(text))


@settings(max_examples=600, deadline=None)
@given(text=mixed_text)
def test_the_bound_is_never_below_either_encoding(encodings: list[Encoding], text: str) -> None:
    assert count_bound(text) >= max(exact(encoding, text) for encoding in encodings)


def test_the_bound_is_never_below_for_any_single_character(encodings: list[Encoding]) -> None:
    for code in range(0x3100):
        character = chr(code)
        for text in (character, f"a{character}b", f" {character}", f"{character}{character} {character}'s"):
            assert count_bound(text) >= max(exact(encoding, text) for encoding in encodings), hex(code)


def test_the_bound_is_never_below_for_any_token_or_two_neighbours(encodings: list[Encoding]) -> None:
    for encoding in encodings:
        tokens = [encoding.decode([number]) for number in range(0, 90_000, 23)]
        for one, other in pairwise(tokens):
            for text in (one, one + other):
                assert count_bound(text) >= max(exact(each, text) for each in encodings), repr(text)


@pytest.mark.parametrize(
    "text",
    [
        "I went to the LGBTQ support group yesterday and it was so powerful. The transgender stories were so "
        "inspiring! I was so happy and thankful for all the support. It's been a great week, hasn't it?",
        "Hey, I'm having trouble with JWT authentication in my FastAPI app: the token expires after an hour, "
        "although I've set it to 24. Could you have a look at what I've done so far?",
    ],
)
def test_the_bound_is_close_on_english_prose(encodings: list[Encoding], text: str) -> None:
    assert count_bound(text) <= 1.15 * min(exact(encoding, text) for encoding in encodings)


@given(text=mixed_text)
def test_bytes_are_never_fewer_than_tokens(encodings: list[Encoding], text: str) -> None:
    assert count_bytes(text) >= max(exact(encoding, text) for encoding in encodings)


@settings(max_examples=300, deadline=None)
@given(text=mixed_text.map(well_formed), longest=st.integers(1, 20))
def test_a_long_text_is_cut_where_no_encoding_joins(
    encodings: list[Encoding], text: str, longest: int
) -> None:
    parts = list(_parts(text, longest))
    assert "".join(parts) == text
    for encoding in encodings:
        assert sum(exact(encoding, part) for part in parts) == exact(encoding, text)


@pytest.mark.parametrize(
    "text", ["a" * 1_000_000, " " * 300_000, "中" * 300_000, "=" * 300_000, "\n " * 99_999]
)
def test_a_long_run_is_counted_fast_and_never_too_low(encodings: list[Encoding], text: str) -> None:
    started = time.monotonic()
    for name, encoding in zip(NAMES, encodings, strict=True):
        assert ExactCounter(name, encoding).count(text) >= len(text) // 130
    count_bound(text)
    assert time.monotonic() - started < 20


def test_lone_surrogates_count_like_replacement_characters(encodings: list[Encoding]) -> None:
    for text in ("\ud800", "a\udc00b", "\ud83d\ude02", "x" * 3_000 + "\ud800 y"):
        assert ExactCounter("o200k_base", encodings[0]).count(text) >= 1
        assert count_bound(text) >= exact(encodings[0], text)


def test_special_tokens_are_text(encodings: list[Encoding]) -> None:
    assert ExactCounter("o200k_base", encodings[0]).count("<|endoftext|>") > 1
    assert counter_for(allow_download=False).count("<|endoftext|>") > 1


def test_nothing_has_no_tokens() -> None:
    assert counter_for(allow_download=False).count("") == count_bound("") == count_bytes("") == 0


@pytest.mark.parametrize(
    ("model", "name"),
    [
        (None, "o200k_base"),
        ("gpt-4o-mini", "o200k_base"),
        ("gpt-4", "cl100k_base"),
        ("text-embedding-3-small", "cl100k_base"),
        ("gpt-oss-120b", "o200k_base"),
        ("text-davinci-003", "p50k_base"),
        ("gpt2", "r50k_base"),
        ("claude-sonnet-4", "o200k_base"),
        ("", "o200k_base"),
    ],
)
def test_each_model_has_its_encoding(model: str | None, name: str) -> None:
    assert encoding_name(model) == name


def test_a_file_on_this_machine_makes_the_count_exact(encodings: list[Encoding]) -> None:
    counter = counter_for("gpt-4o", allow_download=False)
    assert (counter.name, counter.exact) == ("o200k_base", True)
    assert counter.count("hello world") == exact(encodings[0], "hello world") == 2


def test_what_has_no_file_is_bounded_by_bytes() -> None:
    counter = counter_for("text-davinci-003", allow_download=False)
    if counter.exact:
        pytest.skip("the file of p50k_base is on this machine")
    assert counter.count("hello") == 5


class SilentProxy(BaseHTTPRequestHandler):
    """Accepts a request, and never answers."""

    def handle_one_request(self) -> None:
        time.sleep(30)


@pytest.fixture
def silent_proxy() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), SilentProxy)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.server_close()


FRESH_PROCESS = """
import logging, os, sys, time
before, handlers = dict(os.environ), list(logging.getLogger().handlers)
import shared_core.context.assembly, shared_core.tokens
assert "tiktoken" not in sys.modules and "regex" not in sys.modules, "importing loads the tokenizer"
from shared_core.tokens import counter_for, encodings
encodings.importlib.util.find_spec = lambda name: None
started = time.monotonic()
offline = counter_for(allow_download=False)
assert not offline.exact and time.monotonic() - started < 2, "the network was asked for"
logging.getLogger("shared_core").setLevel(logging.INFO)
seen = []
class Keep(logging.Handler):
    def emit(self, record): seen.append(record.levelname)
logging.getLogger("shared_core.tokens").addHandler(Keep())
started = time.monotonic()
counters = [counter_for(), counter_for("gpt-4"), counter_for()]
assert time.monotonic() - started < 6, "waited more than once"
assert not any(counter.exact for counter in counters)
assert seen == ["INFO"], seen
assert dict(os.environ) == before and logging.getLogger().handlers == handlers
print(counters[0].count("The count goes on."))
"""


def run_fresh(tmp_path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", FRESH_PROCESS],
        env={**os.environ, "TIKTOKEN_CACHE_DIR": str(tmp_path), **environment},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_a_silent_proxy_costs_one_short_wait(tmp_path: Path, silent_proxy: str) -> None:
    done = run_fresh(tmp_path, HTTPS_PROXY=silent_proxy, https_proxy=silent_proxy, NO_PROXY="", no_proxy="")
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) >= 5


def test_a_refused_connection_costs_no_wait(tmp_path: Path) -> None:
    proxy = "http://127.0.0.1:9"
    done = run_fresh(tmp_path, HTTPS_PROXY=proxy, https_proxy=proxy, NO_PROXY="", no_proxy="")
    assert done.returncode == 0, done.stderr


def test_a_damaged_file_is_not_used(tmp_path: Path) -> None:
    proxy = "http://127.0.0.1:9"
    (tmp_path / "fb374d419588a4632f3f557e76b4b70aebbca790").write_bytes(b"IQ== 0\n")
    done = run_fresh(tmp_path, HTTPS_PROXY=proxy, https_proxy=proxy, NO_PROXY="", no_proxy="")
    assert done.returncode == 0, done.stderr


def test_counters_are_token_counters() -> None:
    counter: TokenCounter = counter_for(allow_download=False)
    assert logging.getLogger("shared_core.tokens").handlers == []
    assert counter.name.startswith("o200k_base")
