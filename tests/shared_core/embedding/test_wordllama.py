from __future__ import annotations

import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core.embedding import Embedder, EmbeddingError, WordLlamaEmbedder
from shared_core.embedding import wordllama as module

embedder = WordLlamaEmbedder()

#: Embeds in a fresh process, from many threads at once, and tells what that changed.
SIDE_EFFECTS = """
import logging, os, sys, threading
root = logging.getLogger()
before = (root.level, list(root.handlers), dict(os.environ), logging.root.manager.disable)
from shared_core.embedding import WordLlamaEmbedder
assert not {"wordllama", "openai", "tokenizers", "safetensors", "chromadb"} & set(sys.modules), "heavy import"
threads = [threading.Thread(target=WordLlamaEmbedder().embed, args=(["a text"] * 9,)) for _ in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert before == (root.level, list(root.handlers), dict(os.environ), logging.root.manager.disable)
pid = os.fork() if hasattr(os, "fork") else 0
if hasattr(os, "fork") and pid == 0:
    os._exit(0 if WordLlamaEmbedder().embed_query("in a fork").any() else 1)
assert not pid or os.waitpid(pid, 0)[1] == 0
"""

#: Compares with the package's own class, in a process of its own, since its import changes the root logger.
PARITY = """
import numpy as np, wordllama
from pathlib import Path
from shared_core.embedding import WordLlamaEmbedder
folder = Path(wordllama.__file__).parent
own = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
texts = ["JWT token validation", "été 😀 \\0", "x", ("a longer text about a journey to Japan " * 40).strip()]
np.testing.assert_allclose(WordLlamaEmbedder().embed(texts), own.embed(texts, norm=True), atol=2e-6)
"""


def test_it_is_an_embedder_of_the_stated_name_and_dimension() -> None:
    assert isinstance(embedder, Embedder)
    assert embedder.name == "wordllama/l2_supercat-256"
    assert embedder.embed(["a text"]).shape == (1, embedder.dimension) == (1, 256)
    assert embedder.embed_query("a text").shape == (256,)


def test_embedding_leaves_logging_and_environment_as_they_were_and_survives_a_fork() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", SIDE_EFFECTS],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_vectors_are_those_of_the_wordllama_package() -> None:
    done = subprocess.run([sys.executable, "-c", PARITY], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@given(st.text(st.characters(), max_size=200))
def test_any_text_embeds_to_a_finite_vector_of_length_one_or_zero(text: str) -> None:
    vector = embedder.embed_query(text)
    assert vector.dtype == np.float32
    assert np.isfinite(vector).all()
    expected = 1.0 if text.strip() else 0.0
    assert np.linalg.norm(vector) == pytest.approx(expected, abs=1e-5)


@given(st.lists(st.text(max_size=20), min_size=1, max_size=6))
def test_the_same_text_always_has_the_same_vector(texts: list[str]) -> None:
    for row, text in zip(embedder.embed(texts), texts, strict=True):
        np.testing.assert_array_equal(row, WordLlamaEmbedder().embed_query(text))


def test_related_texts_are_nearer_than_unrelated_ones() -> None:
    question, related, unrelated = embedder.embed(
        [
            "Where did they travel in Japan?",
            "We took the train from Tokyo to Kyoto",
            "The pods ran out of memory",
        ]
    )
    assert question @ related > question @ unrelated


@pytest.mark.parametrize(
    "text", ["lorem ipsum " * 90_000, "a" * 1_000_000, " " * 1_000_000, "😀" * 1_000_000]
)
def test_a_text_of_megabytes_takes_less_than_a_second(text: str) -> None:
    embedder.embed_query("warm up")
    start = time.perf_counter()
    assert embedder.embed_query(text).shape == (256,)
    assert time.perf_counter() - start < 1.0


def test_only_the_first_characters_of_a_long_text_count() -> None:
    text = "a word " * module.MAX_CHARACTERS
    np.testing.assert_array_equal(
        embedder.embed_query(text), embedder.embed_query(text[: module.MAX_CHARACTERS] + " and an end")
    )


def test_threads_get_the_vectors_that_one_thread_gets() -> None:
    texts = [f"note {number} about a garden" for number in range(200)]
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(embedder.embed, [texts] * 16))
    for answer in answers:
        np.testing.assert_array_equal(answer, answers[0])


def test_a_wheel_without_the_weights_is_a_clear_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_WEIGHTS", Path("weights", "absent.safetensors"))
    with pytest.raises(EmbeddingError, match=r"cannot be read from .*wordllama"):
        module._load()


@pytest.mark.slow
def test_a_hundred_thousand_texts_take_little_more_memory_than_their_vectors() -> None:
    measure = (
        "import resource; from shared_core.embedding import WordLlamaEmbedder as W; W().embed(['warm'])\n"
        "texts = [f'message {i} about the weather in the city of Rome' for i in range(100_000)]\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "W().embed(texts); print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)"
    )
    done = subprocess.run([sys.executable, "-c", measure], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 600  # MiB; the vectors alone are 98
