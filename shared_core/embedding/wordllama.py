"""The default embedder: static word vectors that come inside a wheel; no key, no network, no GPU."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from shared_core.embedding.base import FloatArray
from shared_core.embedding.batching import embed_unique
from shared_core.errors import EmbeddingError

if TYPE_CHECKING:
    from tokenizers import Tokenizer

NAME = "wordllama/l2_supercat-256"
DIMENSION = 256

#: Best F1 at a precision of at least 0.9; ``tests/shared_core/embedding/test_calibration.py`` measures it.
CONNECTION_THRESHOLD = 0.42

#: Characters of one text that count, about ten pages. The mean of more tokens hardly moves any further, and
#: at four tokens to a character, the most that there can be, pooling still stays under 70 MB.
MAX_CHARACTERS = 16_384

_WEIGHTS = Path("weights", "l2_supercat_256.safetensors")
_TOKENIZER = Path("tokenizers", "l2_supercat_tokenizer_config.json")


class WordLlamaEmbedder:
    """Embeds with WordLlama: the mean of the vectors of a text's tokens.

    The model is loaded on the first use and shared by the whole process. It is read from the installed
    package without importing it, since that import changes the root logger. Safe to use from many threads.

    Example:
        >>> embedder = WordLlamaEmbedder()
        >>> embedder.embed(["JWT token validation", "Debugged auth middleware"]).shape
        (2, 256)
    """

    @property
    def name(self) -> str:
        """``wordllama/l2_supercat-256``."""
        return NAME

    @property
    def dimension(self) -> int:
        """256."""
        return DIMENSION

    @property
    def connection_threshold(self) -> float:
        """The cosine similarity from which two memories belong together, calibrated on pairs of sentences."""
        return CONNECTION_THRESHOLD

    def embed(self, texts: Sequence[str]) -> FloatArray:
        """Embed ``texts``: ``float32 [n, 256]``, rows of length 1 (or 0 for a blank text).

        Of each text, the first ``MAX_CHARACTERS`` characters count.

        Raises:
            ValueError: ``texts`` is one string, or holds something else than strings.
            EmbeddingError: The installed ``wordllama`` has no weights of 256 dimensions.
        """
        return embed_unique(
            texts,
            dimension=DIMENSION,
            compute=lambda unique: _model().mean_vectors(unique),
            max_characters=MAX_CHARACTERS,
        )

    def embed_query(self, text: str) -> FloatArray:
        """Embed a question: ``float32 [256]``, of length 1 (or 0), the same vector as a memory's."""
        vector: FloatArray = self.embed([text])[0]
        return vector

    def __repr__(self) -> str:
        return "WordLlamaEmbedder()"


class _Model:
    """The tokenizer, and the vectors of its tokens: ``float32 [32000, 256]``."""

    def __init__(self, tokenizer: Tokenizer, weights: FloatArray) -> None:
        self._tokenizer = tokenizer
        self._weights = weights

    def mean_vectors(self, texts: list[str]) -> FloatArray:
        """The mean of each text's token vectors: ``float32 [n, 256]``."""
        means = np.zeros((len(texts), DIMENSION), dtype=np.float32)
        for row, text in enumerate(texts):
            # One at a time: the tokenizer's batches start threads, and then warn at each fork of the process.
            tokens = self._tokenizer.encode(text, add_special_tokens=False).ids
            if tokens:
                np.add.reduce(self._weights.take(tokens, axis=0, mode="clip"), axis=0, out=means[row])
                means[row] /= len(tokens)
        return means


_loading = threading.Lock()
_loaded: list[_Model] = []


def _model() -> _Model:
    """The model of this process, loaded by the first caller."""
    if not _loaded:
        with _loading:
            if not _loaded:
                _loaded.append(_load())
    return _loaded[0]


def _load() -> _Model:
    """The model out of the installed wheel."""
    from safetensors.numpy import load_file
    from tokenizers import Tokenizer

    spec = find_spec("wordllama")
    if spec is None or spec.origin is None:
        raise EmbeddingError("'wordllama' is not installed: pip install 'wordllama>=0.4.0'")
    folder = Path(spec.origin).parent
    try:
        weights = load_file(folder / _WEIGHTS)["embedding.weight"].astype(np.float32)
        tokenizer = Tokenizer.from_file(str(folder / _TOKENIZER))
    except Exception as error:  # both libraries raise bare exceptions of their own
        raise EmbeddingError(f"the model of 'wordllama' cannot be read from {folder}: {error}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return _Model(tokenizer, weights)
