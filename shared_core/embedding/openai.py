"""Embeddings from OpenAI, or from any server that speaks its protocol (vLLM, Ollama, LiteLLM)."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from shared_core.embedding.base import FloatArray
from shared_core.embedding.batching import batches, checked_vectors, embed_unique
from shared_core.errors import EmbeddingError
from shared_core.openai_client import openai_client, without_key

if TYPE_CHECKING:
    from openai import OpenAI
    from openai.types import CreateEmbeddingResponse

#: Seed 000, which measured it with text-embedding-3-small.
CONNECTION_THRESHOLD = 0.6

#: Limits of OpenAI's endpoint, per request and per input.
MAX_TEXTS_PER_REQUEST = 2_048
MAX_TOKENS_PER_REQUEST = 300_000
MAX_TOKENS_PER_TEXT = 8_191

#: The full length of a vector of each model of OpenAI's.
DIMENSIONS = {"text-embedding-3-small": 1536, "text-embedding-3-large": 3072, "text-embedding-ada-002": 1536}

#: The models that can shorten their vectors on request.
_SHORTENABLE = ("text-embedding-3-small", "text-embedding-3-large")


@dataclass(frozen=True)
class EmbeddingUsage:
    """What an embedder asked of its server so far.

    Attributes:
        requests: Requests that were answered; a retried one counts once.
        prompt_tokens: As the server counted them.
        texts: Texts that were sent; equal texts of one call count once.
    """

    requests: int = 0
    prompt_tokens: int = 0
    texts: int = 0


class OpenAIEmbedder:
    """Embeds through the ``openai`` package; safe to use from many threads.

    Rate limits (429), server errors and lost connections are retried with growing pauses, or after the
    pause that the server's ``Retry-After`` names. Blank texts become zero vectors without a request.

    Example:
        >>> embedder = OpenAIEmbedder(base_url="http://localhost:11434/v1", model="all-minilm", dimension=384)
        >>> embedder.name
        'openai/all-minilm-384'
    """

    def __init__(
        self,
        model: str = "text-embedding-3-small",
        *,
        dimension: int | None = None,
        base_url: str | None = None,
        api_key: str | None = None,
        batch_size: int = 512,
        timeout_seconds: float = 60.0,
        max_retries: int = 4,
        max_tokens: int = MAX_TOKENS_PER_TEXT,
        client: OpenAI | None = None,
    ) -> None:
        """An embedder for one model; nothing is sent before the first text.

        Args:
            model: Its name on the server.
            dimension: Length of a vector; by default the full length of OpenAI's models, and needed for
                any other model. The text-embedding-3 models shorten their vectors to it.
            base_url: Of another server; by default ``OPENAI_BASE_URL``, else OpenAI's.
            api_key: By default ``OPENAI_API_KEY``; not needed with a ``base_url``.
            batch_size: Texts per request, 1 to 2,048.
            timeout_seconds: How long to wait for the server before a retry.
            max_retries: Further attempts of one request.
            max_tokens: The longest text that the model takes. Texts are cut to as many bytes of UTF-8,
                which are never fewer than tokens.
            client: An ``openai.OpenAI`` of your own, in place of the address, key, timeout and retries.

        Raises:
            ValueError: An argument is out of range, or there is no key for OpenAI.
            MissingExtraError: The ``openai`` package is not installed.
        """
        if not isinstance(model, str) or not model.strip():
            raise ValueError(f"model must be a name, not {model!r}")
        if client is not None and (base_url is not None or api_key is not None):
            raise ValueError("pass a client, or a base_url and api_key, not both")
        if client is not None and inspect.iscoroutinefunction(client.embeddings.create):
            raise ValueError(f"client must be an openai.OpenAI, not the asynchronous {type(client).__name__}")
        self._model = model
        self._dimension = _dimension_of(model, dimension)
        self._batch_size = _within("batch_size", batch_size, MAX_TEXTS_PER_REQUEST)
        self._max_tokens = _within("max_tokens", max_tokens, MAX_TOKENS_PER_REQUEST)
        self._client = client or openai_client(
            base_url, api_key, timeout_seconds=timeout_seconds, max_retries=max_retries
        )
        self._usage = EmbeddingUsage()
        self._counting = threading.Lock()

    @property
    def name(self) -> str:
        """``openai/<model>-<dimension>``."""
        return f"openai/{self._model}-{self._dimension}"

    @property
    def dimension(self) -> int:
        """Length of a vector."""
        return self._dimension

    @property
    def connection_threshold(self) -> float:
        """0.6, as in seed 000."""
        return CONNECTION_THRESHOLD

    @property
    def usage(self) -> EmbeddingUsage:
        """What this embedder asked of its server so far."""
        with self._counting:
            return self._usage

    def embed(self, texts: Sequence[str]) -> FloatArray:
        """Embed ``texts``: ``float32 [n, dimension]``, rows of length 1 (or 0 for a blank text).

        Raises:
            ValueError: ``texts`` is one string, or holds something else than strings.
            EmbeddingError: The server failed after the last retry, or sent something other than these
                vectors.
        """
        return embed_unique(
            texts, dimension=self._dimension, compute=self._compute, max_characters=self._max_tokens
        )

    def embed_query(self, text: str) -> FloatArray:
        """Embed a question: ``float32 [dimension]``, of length 1 (or 0)."""
        vector: FloatArray = self.embed([text])[0]
        return vector

    def __repr__(self) -> str:
        return f"OpenAIEmbedder({self._model!r}, dimension={self._dimension})"

    def _compute(self, texts: list[str]) -> FloatArray:
        limit = self._max_tokens
        cut = [text.encode()[:limit].decode(errors="ignore") for text in texts]
        parts = batches(cut, max_texts=self._batch_size, max_bytes=MAX_TOKENS_PER_REQUEST)
        return np.concatenate([self._vectors(part) for part in parts])

    def _vectors(self, texts: list[str]) -> FloatArray:
        """The vectors of one request, in the order of ``texts``."""
        response = self._ask(texts)
        source = self._source
        indices = [getattr(item, "index", None) for item in response.data]
        by_index = dict(zip(indices, response.data, strict=True))
        if len(indices) != len(texts) or set(by_index) != set(range(len(texts))):
            raise EmbeddingError(
                f"{source} was asked for {len(texts)} vectors and sent {len(indices)}, "
                f"of the indices {indices!s:.80}"
            )
        vectors = checked_vectors(
            [by_index[index].embedding for index in range(len(texts))],
            count=len(texts),
            dimension=self._dimension,
            source=source,
        )
        self._count(response, len(texts))
        return vectors

    def _ask(self, texts: list[str]) -> CreateEmbeddingResponse:
        """The server's answer to one request."""
        from openai import OpenAIError

        shortened: dict[str, Any] = {}
        if self._model in _SHORTENABLE and self._dimension != DIMENSIONS[self._model]:
            shortened["dimensions"] = self._dimension
        try:
            return self._client.embeddings.create(model=self._model, input=texts, **shortened)
        # Besides its own errors, the client lets those of an unreadable answer through, and since 3.0
        # that it was closed.
        except (OpenAIError, ValueError, TypeError, AttributeError, RuntimeError) as error:
            failure = self._failure(error, len(texts))
        raise failure

    def _failure(self, error: Exception, count: int) -> EmbeddingError:
        """The error to raise; it does not chain a cause that shows the key, as some servers' answers do."""
        reason, cause = without_key(error, self._client.api_key)
        failure = EmbeddingError(
            f"{self._source} did not embed {count} texts: {type(error).__name__}: {reason:.500}"
        )
        failure.__cause__ = cause
        return failure

    @property
    def _source(self) -> str:
        return f"{self._model} at {self._client.base_url.copy_with(userinfo=b'')}"

    def _count(self, response: CreateEmbeddingResponse, texts: int) -> None:
        tokens = getattr(response.usage, "prompt_tokens", 0) or 0  # not every server sends its usage
        with self._counting:
            self._usage = EmbeddingUsage(
                requests=self._usage.requests + 1,
                prompt_tokens=self._usage.prompt_tokens + tokens,
                texts=self._usage.texts + texts,
            )


def _within(label: str, value: int, highest: int) -> int:
    """``value``, once it is 1 to ``highest``."""
    if not 1 <= value <= highest:
        raise ValueError(f"{label} must be 1 to {highest}, not {value!r}")
    return value


def _dimension_of(model: str, dimension: int | None) -> int:
    """The length of a vector of ``model``; ``dimension`` where the caller names one that it can have."""
    full = DIMENSIONS.get(model)
    if dimension is None:
        if full is None:
            raise ValueError(f"the dimension of {model!r} is not known: pass dimension=…")
        return full
    if dimension < 1 or (full is not None and dimension > full):
        raise ValueError(f"dimension must be 1 to {full or '…'} for {model!r}, not {dimension!r}")
    if model in DIMENSIONS and model not in _SHORTENABLE and dimension != full:
        raise ValueError(f"{model!r} has vectors of dimension {full} only, not {dimension!r}")
    return dimension
