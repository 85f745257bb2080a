from __future__ import annotations

import logging
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import openai
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared_core.embedding import Embedder, EmbeddingError, OpenAIEmbedder
from shared_core.embedding.base import FloatArray, unit_rows
from shared_core.errors import MissingExtraError
from tests import openai_server
from tests.openai_server import OpenAIServer, Reply, Request, serving

KEY = "sk-test-0123456789abcdef"

#: How long a scripted failure asks the client to wait.
SOON = {"retry-after-ms": "10"}


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with serving() as running:
        yield running


def embedder_for(server: OpenAIServer, **options: Any) -> OpenAIEmbedder:
    settings: dict[str, Any] = {"dimension": 8, "base_url": server.url, "api_key": KEY}
    return OpenAIEmbedder("tiny", **(settings | options))


def expected(*texts: str, dimension: int = 8) -> FloatArray:
    return unit_rows(np.array([openai_server.vector(t, dimension) for t in texts], dtype=np.float32))


def altered(**changes: Any) -> openai_server.Answer:
    """A good answer with ``changes``."""
    return lambda request: Reply(openai_server.embeddings(request.body) | changes)


def test_vectors_come_back_in_order_and_of_length_one(server: OpenAIServer) -> None:
    embedder = embedder_for(server)
    assert isinstance(embedder, Embedder)
    assert (embedder.name, embedder.dimension, embedder.connection_threshold) == ("openai/tiny-8", 8, 0.6)
    np.testing.assert_allclose(embedder.embed(["a", "b", "a"]), expected("a", "b", "a"), atol=1e-6)
    np.testing.assert_allclose(embedder.embed_query("b"), expected("b")[0], atol=1e-6)
    (first, second) = server.requests
    assert first.headers["authorization"] == f"Bearer {KEY}"
    assert (first.body["input"], second.body["input"]) == (["a", "b"], ["b"])
    assert "dimensions" not in first.body


def test_blank_texts_are_zero_and_ask_nothing(server: OpenAIServer) -> None:
    embedder = embedder_for(server)
    assert not embedder.embed(["", "  \n"]).any()
    assert embedder.embed([]).shape == (0, 8)
    assert server.requests == []
    assert embedder.embed(["", "a"]).any(axis=1).tolist() == [False, True]


def test_requests_keep_to_the_number_of_texts_and_of_tokens(server: OpenAIServer) -> None:
    embedder = embedder_for(server, batch_size=100)
    texts = [f"{number:03d}" for number in range(250)]
    np.testing.assert_allclose(embedder.embed(texts), expected(*texts), atol=1e-6)
    assert [len(request.body["input"]) for request in server.requests] == [100, 100, 50]
    server.requests.clear()
    embedder.embed([f"{number:03d} " + "x" * 20_000 for number in range(80)])
    for request in server.requests:
        assert sum(len(text) for text in request.body["input"]) <= 300_000
        assert max(len(text) for text in request.body["input"]) == 8_191


def test_a_text_is_cut_between_characters(server: OpenAIServer) -> None:
    embedder_for(server, max_tokens=10).embed(["éééééééé", "😀😀😀😀", "\ud83d cut"])
    assert server.requests[0].body["input"] == ["ééééé", "😀😀", "\ufffd cut"]


def test_usage_counts_what_was_asked(server: OpenAIServer) -> None:
    embedder = embedder_for(server, batch_size=2)
    assert embedder.usage.requests == 0
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(embedder.embed, [["one two", "three", "four"]] * 8))
    assert (embedder.usage.requests, embedder.usage.prompt_tokens, embedder.usage.texts) == (16, 32, 24)


def test_a_server_that_sends_no_usage_is_counted_as_zero_tokens(server: OpenAIServer) -> None:
    server.script.append(altered(usage=None))
    embedder = embedder_for(server)
    embedder.embed(["a"])
    assert (embedder.usage.requests, embedder.usage.prompt_tokens) == (1, 0)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30, deadline=None)
@given(st.text(st.characters(), max_size=30))
def test_any_text_embeds_to_length_one_or_zero(server: OpenAIServer, text: str) -> None:
    length = np.linalg.norm(embedder_for(server).embed_query(text))
    assert length == pytest.approx(1.0 if text.strip() else 0.0, abs=1e-5)


@pytest.mark.parametrize(
    ("model", "dimension", "asked", "name"),
    [
        ("text-embedding-3-small", None, None, "openai/text-embedding-3-small-1536"),
        ("text-embedding-3-large", None, None, "openai/text-embedding-3-large-3072"),
        ("text-embedding-3-small", 256, 256, "openai/text-embedding-3-small-256"),
    ],
)
def test_openai_models_know_their_dimension_and_shorten_it_on_request(
    server: OpenAIServer, model: str, dimension: int | None, asked: int | None, name: str
) -> None:
    embedder = OpenAIEmbedder(model, dimension=dimension, base_url=server.url, api_key=KEY)
    assert embedder.name == name
    assert embedder.embed(["a"]).shape == (1, embedder.dimension)
    assert server.requests[0].body.get("dimensions") == asked


def test_a_rate_limit_is_retried_after_the_pause_that_the_server_names(server: OpenAIServer) -> None:
    server.script.append(Reply({"error": {"message": "slow down"}}, 429, {"retry-after": "0.6"}))
    start = time.perf_counter()
    np.testing.assert_allclose(embedder_for(server).embed(["a"]), expected("a"), atol=1e-6)
    assert time.perf_counter() - start >= 0.6  # without the header, the first pause is half a second at most
    assert len(server.requests) == 2


def test_server_errors_and_lost_connections_are_retried(server: OpenAIServer) -> None:
    server.script += [Reply({}, 500, SOON), Reply("<html>busy</html>", 503, SOON), Reply(drop=True)]
    embedder = embedder_for(server)
    np.testing.assert_allclose(embedder.embed(["a"]), expected("a"), atol=1e-6)
    assert len(server.requests) == 4
    assert embedder.usage.requests == 1


def test_after_the_last_retry_the_failure_is_raised_with_its_cause(server: OpenAIServer) -> None:
    server.script += [Reply({"error": {"message": "out of order"}}, 500, SOON)] * 3
    with pytest.raises(
        EmbeddingError, match=r"did not embed 1 texts: InternalServerError.*out of order"
    ) as caught:
        embedder_for(server, max_retries=2).embed(["a"])
    assert isinstance(caught.value.__cause__, openai.InternalServerError)
    assert len(server.requests) == 3


def test_a_server_that_hangs_is_given_up_after_the_timeout(server: OpenAIServer) -> None:
    server.script.append(Reply(delay_seconds=30))
    start = time.perf_counter()
    with pytest.raises(EmbeddingError, match="APITimeoutError"):
        embedder_for(server, timeout_seconds=0.2, max_retries=0).embed(["a"])
    assert time.perf_counter() - start < 2


def test_a_server_that_is_not_there_is_a_clear_error() -> None:
    with serving() as gone:
        pass
    with pytest.raises(EmbeddingError, match=f"tiny at {gone.url}/ did not embed .* APIConnectionError"):
        embedder_for(gone, max_retries=0).embed(["a"])


def test_a_refused_key_is_not_retried_and_shows_nowhere(
    server: OpenAIServer, caplog: pytest.LogCaptureFixture
) -> None:
    refusal = {"error": {"message": f"Incorrect API key provided: {KEY}", "code": "invalid_api_key"}}
    server.script.append(Reply(refusal, 401))
    embedder = embedder_for(server)
    with caplog.at_level(logging.DEBUG), pytest.raises(EmbeddingError, match="AuthenticationError") as caught:
        embedder.embed(["a"])
    assert len(server.requests) == 1
    shown = [*traceback.format_exception(caught.value), caplog.text, repr(embedder), repr(vars(embedder))]
    assert not [text for text in shown if KEY in text]
    assert caught.value.__context__ is None


def short(request: Request) -> Reply:
    answer = openai_server.embeddings(request.body)
    return Reply(answer | {"data": answer["data"][:1]})


def same_index(request: Request) -> Reply:
    answer = openai_server.embeddings(request.body)
    return Reply(answer | {"data": [item | {"index": 0} for item in answer["data"]]})


def other_length(request: Request) -> Reply:
    return Reply(openai_server.embeddings({**request.body, "dimensions": 5}))


def of_nans(request: Request) -> Reply:
    row = [float("nan")] * 8
    return Reply({"data": [{"index": i, "embedding": row} for i in range(len(request.body["input"]))]})


@pytest.mark.parametrize(
    ("answer", "quoted"),
    [
        (short, r"asked for 2 vectors and sent 1, of the indices \[0\]"),
        (same_index, r"indices \[0, 0\]"),
        (other_length, "dimension 5, expected 8"),
        (of_nans, "not finite"),
        (
            altered(data=[]),
            r"No embedding data received|sent 0, of the indices \[\]",
        ),  # the client's words, or ours
        (altered(data=[{"index": 0, "embedding": "AAA"}]), "did not embed 2 texts"),
        (Reply("<html>Welcome</html>"), "did not embed 2 texts"),
        (Reply([]), "did not embed 2 texts"),
        (Reply({"data": [{"embedding": [1.0] * 8}] * 2}), "indices"),
        (Reply({"data": [None, None]}), "did not embed 2 texts"),
    ],
)
def test_an_answer_other_than_the_vectors_asked_for_is_an_error_that_quotes_it(
    server: OpenAIServer, answer: Reply | openai_server.Answer, quoted: str
) -> None:
    server.script.append(answer)
    embedder = embedder_for(server)
    with pytest.raises(EmbeddingError, match=quoted):
        embedder.embed(["a", "b"])
    assert embedder.usage.requests == 0


def test_vectors_are_ordered_by_their_index(server: OpenAIServer) -> None:
    def reversed_data(request: Request) -> Reply:
        answer = openai_server.embeddings(request.body)
        return Reply(answer | {"data": answer["data"][::-1]})

    server.script.append(reversed_data)
    np.testing.assert_allclose(
        embedder_for(server).embed(["a", "b", "c"]), expected("a", "b", "c"), atol=1e-6
    )


def test_a_server_that_ignores_the_encoding_is_understood(server: OpenAIServer) -> None:
    server.script.append(
        lambda request: Reply(openai_server.embeddings({**request.body, "encoding_format": "float"}))
    )
    np.testing.assert_allclose(embedder_for(server).embed(["a"]), expected("a"), atol=1e-6)
    assert server.requests[0].body["encoding_format"] == "base64"


def test_another_server_needs_no_key(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    assert embedder_for(server, api_key=None).embed(["a"]).any()
    with pytest.raises(ValueError, match="OpenAI needs a key"):
        OpenAIEmbedder()


def test_a_client_of_the_callers_own_is_used(server: OpenAIServer) -> None:
    with openai.OpenAI(base_url=server.url, api_key=KEY) as client:
        embedder = OpenAIEmbedder("tiny", dimension=8, client=client)
        np.testing.assert_allclose(embedder.embed(["a"]), expected("a"), atol=1e-6)
        with pytest.raises(ValueError, match="not both"):
            OpenAIEmbedder("tiny", dimension=8, client=client, api_key=KEY)


async def test_an_asynchronous_client_is_refused() -> None:
    async with openai.AsyncOpenAI(api_key=KEY) as client:
        with pytest.raises(ValueError, match="not the asynchronous AsyncOpenAI"):
            OpenAIEmbedder(client=client)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "quoted"),
    [
        ({"model": " "}, "' '"),
        ({"model": "unknown", "dimension": None}, "dimension of 'unknown' is not known"),
        ({"dimension": 0}, "not 0"),
        ({"model": "text-embedding-3-small", "dimension": 1537}, "1 to 1536 .* not 1537"),
        ({"model": "text-embedding-ada-002", "dimension": 256}, "1536 only, not 256"),
        ({"batch_size": 0}, "batch_size must be 1 to 2048, not 0"),
        ({"batch_size": 2049}, "not 2049"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"timeout_seconds": 0}, "timeout_seconds must be above 0"),
        ({"max_retries": -1}, "max_retries must be 0 or more"),
    ],
)
def test_bad_arguments_are_refused_and_quoted(options: dict[str, Any], quoted: str) -> None:
    good: dict[str, Any] = {"model": "tiny", "dimension": 8, "base_url": "http://127.0.0.1:1", "api_key": KEY}
    with pytest.raises(ValueError, match=quoted):
        OpenAIEmbedder(**(good | options))


def test_without_the_package_the_error_names_the_extra() -> None:
    code = (
        "import sys; sys.modules['openai'] = None\n"
        "from shared_core.embedding import OpenAIEmbedder\n"
        "OpenAIEmbedder(api_key='k')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert MissingExtraError.__name__ in done.stderr
    assert "contextmemory-chroma[openai]" in done.stderr
