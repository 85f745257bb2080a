"""Any Chroma embedding function, or a plain function from texts to vectors, as an embedder."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from shared_core.embedding.base import Embedder, FloatArray
from shared_core.embedding.batching import batches, checked_vectors, embed_unique
from shared_core.errors import EmbeddingError
from shared_core.openai_client import without_key

#: Seed 000's, for a model that nothing is known of: measure your own and pass it.
CONNECTION_THRESHOLD = 0.6

#: Best F1 of all-MiniLM-L6-v2 at a precision of at least 0.9, on the pairs of sentences that the default
#: embedder is calibrated on: precision 0.92 and recall 0.88, against 1.00 and 0.26 at 0.6.
MINILM_CONNECTION_THRESHOLD = 0.3

_MINILM_NAMES = (
    "chroma/default",
    "chroma/onnx_mini_lm_l6_v2",
    "chroma/sentence_transformer/all-MiniLM-L6-v2",
)

#: Texts given to the function at a time, and their bytes: what bounds its memory.
MAX_TEXTS = 256
MAX_BYTES = 1_000_000

#: Characters of one text that count, about ten pages.
MAX_CHARACTERS = 16_384

_ACCEPTED = "an embedder, a Chroma embedding function, or a function from a list of texts to vectors"
_PROBE = "dimension"

EmbeddingFunction = Callable[[list[str]], Any]


class ChromaFunctionEmbedder:
    """Embeds with a Chroma embedding function, for one the MiniLM that comes with Chroma.

    A plain function from a list of texts to as many vectors will do as well. It is called from one thread
    at a time, since few such functions say whether they may be shared.

    Example:
        >>> embedder = ChromaFunctionEmbedder(lambda texts: [[len(t), 1.0] for t in texts], name="length")
        >>> embedder.embed(["one", "three"]).shape
        (2, 2)
    """

    def __init__(
        self,
        function: EmbeddingFunction,
        *,
        name: str | None = None,
        connection_threshold: float | None = None,
    ) -> None:
        """An embedder that asks ``function``.

        Args:
            function: From a list of texts to as many vectors. Where it has an ``embed_query``, as Chroma's
                have, that embeds the questions.
            name: Stored with each namespace; by default made of the function's own name and model.
            connection_threshold: The cosine similarity from which two memories belong together, 0 to 1;
                by default 0.3 for Chroma's MiniLM, and 0.6 for anything else.

        Raises:
            ValueError: ``function`` is not such a function, or has no name of its own and none was given.
        """
        if not callable(function) or isinstance(function, type) or _is_async(function):
            raise ValueError(f"function must be {_ACCEPTED}, not {function!r:.200}")
        if connection_threshold is not None and not 0.0 <= connection_threshold <= 1.0:
            raise ValueError(f"connection_threshold must be 0 to 1, not {connection_threshold!r}")
        self._function = function
        self._name = name or _name_of(function)
        known = MINILM_CONNECTION_THRESHOLD if self._name in _MINILM_NAMES else CONNECTION_THRESHOLD
        self._connection_threshold = known if connection_threshold is None else connection_threshold
        self._dimension: int | None = None
        self._calling = threading.Lock()

    @property
    def name(self) -> str:
        """As given, or ``chroma/<name of the function>/<its model>``."""
        return self._name

    @property
    def dimension(self) -> int:
        """Length of a vector, found by embedding one word when it is first asked for.

        Raises:
            EmbeddingError: The function failed, or sent something other than a vector.
        """
        if self._dimension is None:
            self._dimension = self._ask(self._function, [_PROBE], None).shape[1]
        return self._dimension

    @property
    def connection_threshold(self) -> float:
        """The cosine similarity from which two memories belong together."""
        return self._connection_threshold

    def embed(self, texts: Sequence[str]) -> FloatArray:
        """Embed ``texts``: ``float32 [n, dimension]``, rows of length 1 (or 0 for a blank text).

        Of each text, the first ``MAX_CHARACTERS`` characters count.

        Raises:
            ValueError: ``texts`` is one string, or holds something else than strings.
            EmbeddingError: The function failed, or sent something other than these vectors.
        """
        return self._embed(self._function, texts)

    def embed_query(self, text: str) -> FloatArray:
        """Embed a question: ``float32 [dimension]``, of length 1 (or 0)."""
        function = getattr(self._function, "embed_query", None) or self._function
        vector: FloatArray = self._embed(function, [text])[0]
        return vector

    def __repr__(self) -> str:
        return f"ChromaFunctionEmbedder(name={self._name!r})"

    def _embed(self, function: EmbeddingFunction, texts: Sequence[str]) -> FloatArray:
        dimension = self.dimension

        def compute(unique: list[str]) -> FloatArray:
            vectors = np.empty((len(unique), dimension), dtype=np.float32)
            done = 0
            for part in batches(unique, max_texts=MAX_TEXTS, max_bytes=MAX_BYTES):
                vectors[done : done + len(part)] = self._ask(function, part, dimension)
                done += len(part)
            return vectors

        return embed_unique(texts, dimension=dimension, compute=compute, max_characters=MAX_CHARACTERS)

    def _ask(self, function: EmbeddingFunction, texts: list[str], dimension: int | None) -> FloatArray:
        """The checked answer of ``function`` to one batch."""
        try:
            with self._calling:
                answer = function(texts)
        except Exception as error:  # noqa: BLE001 - the function is the caller's, and may raise anything
            reason, cause = without_key(error)
            failure = EmbeddingError(
                f"{self._name} did not embed {len(texts)} texts: {type(error).__name__}: {reason}"
            )
            failure.__cause__ = cause
        else:
            return checked_vectors(answer, count=len(texts), dimension=dimension, source=self._name)
        try:
            raise failure  # out here, so that it chains no error that shows a key
        finally:
            del failure  # or its traceback and this frame would keep each other alive


def as_embedder(value: object) -> Embedder:
    """``value`` as an embedder: itself if it is one, else a Chroma embedding function adapted.

    Raises:
        ValueError: It is neither, or a class instead of an object of it.
    """
    members = ("name", "dimension", "connection_threshold", "embed", "embed_query")
    # Looked up statically: to ask for a dimension may load a model.
    if not isinstance(value, type) and all(_has(value, member) for member in members):
        return cast(Embedder, value)
    if isinstance(value, type):
        raise ValueError(f"an embedder must be {_ACCEPTED}; {value.__name__} is a class, pass an object")
    if not callable(value) or _is_async(value):
        raise ValueError(f"an embedder must be {_ACCEPTED}, not {value!r:.200}")
    return ChromaFunctionEmbedder(value)


def _has(value: object, member: str) -> bool:
    missing = object()
    return inspect.getattr_static(value, member, missing) is not missing


def _is_async(function: object) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - the method, to see whether it is async
    )


def _name_of(function: EmbeddingFunction) -> str:
    """``chroma/<name>/<model>`` of a Chroma embedding function, ``function/<name>`` of a plain one."""
    name = getattr(function, "name", None)
    own = name() if callable(name) else None
    if isinstance(own, str) and own:
        config = function.get_config() if hasattr(function, "get_config") else None
        models = (config.get(key) for key in ("model_name", "model")) if isinstance(config, dict) else ()
        model = next((model for model in models if isinstance(model, str) and model), None)
        return f"chroma/{own}/{model}" if model else f"chroma/{own}"
    plain = getattr(function, "__name__", None)
    if not plain or plain == "<lambda>":
        raise ValueError(f"the embedding function has no name of its own, pass name=…: {function!r:.200}")
    return f"function/{plain}"
