"""Search by meaning: which fields are embedded, by what, and how items are ranked."""

from __future__ import annotations

import asyncio
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from langgraph.store.base import PutOp

from langchain_contextmemory import ContextMemoryStore, LangChainEmbedder
from shared_core import ContextMemory
from shared_core.errors import EmbedderMismatchError, EmbeddingError
from tests.langchain_contextmemory.store_building import LetterEmbeddings, TableEmbeddings


def by_letters(memory: ContextMemory, **options: Any) -> ContextMemoryStore:
    embeddings = LetterEmbeddings()
    index: Any = {"dims": embeddings.size, "embed": embeddings, **options}
    return ContextMemoryStore(memory, index=index)


def cosine(one: list[float], other: list[float]) -> float:
    return float(np.dot(one, other) / (np.linalg.norm(one) * np.linalg.norm(other)))


def scores(store: ContextMemoryStore, query: str) -> dict[str, float]:
    return {item.key: item.score for item in store.search((), query=query) if item.score is not None}


def test_without_configuration_the_memorys_own_embedder_finds_whole_values(memory: ContextMemory) -> None:
    store = ContextMemoryStore(memory)
    store.put(("n",), "food", {"likes": "spicy noodle soup"})
    store.put(("n",), "work", {"job": "bridge engineer"})
    assert store.search(("n",), query="what does she eat?")[0].key == "food"
    assert store.search(("n",), query="her profession", limit=1)[0].key == "work"
    assert store.embeddings is None
    assert store.index_config is None


def test_the_configuration_can_be_read_and_is_a_copy(memory: ContextMemory) -> None:
    embeddings = LetterEmbeddings()
    index: Any = {"dims": embeddings.size, "embed": embeddings, "text_fields": ["a", "b"]}
    store = ContextMemoryStore(memory, index=index)
    assert store.embeddings is embeddings
    assert store.index_config == index
    index.clear()
    assert store.index_config is not None
    assert store.index_config["dims"] == embeddings.size
    assert embeddings.asked == []  # the dimension was told, so nothing was embedded to find it


def test_an_item_follows_its_new_text(memory: ContextMemory) -> None:
    store = by_letters(memory)
    store.put(("n",), "1", {"text": "zany zebra Xerxes"})
    store.put(("n",), "2", {"text": "something about dogs"})
    before = scores(store, "Zany Xerxes")
    assert max(before, key=lambda key: before[key]) == "1"
    store.put(("n",), "1", {"text": "new text about dogs"})
    assert scores(store, "Zany Xerxes")["1"] < before["1"]
    assert scores(store, "new text about dogs")["1"] > scores(store, "Zany Xerxes")["1"]
    store.put(("n",), "3", {"text": "new text about dogs"}, index=False)
    assert [item.key for item in store.search(("n",), query="new text about dogs", limit=2)] == ["1", "2"]


def test_items_without_vectors_come_last_unscored_and_once_in_all_pages(memory: ContextMemory) -> None:
    store = by_letters(memory)
    for key in "abcde":
        store.put(("n",), key, {"text": key * 3}, index=False if key in "bd" else None)
    found = store.search(("n",), query="eee")
    assert found[0].key == "e"
    assert [item.key for item in found][3:] == ["b", "d"]
    assert [item.score is None for item in found] == [False] * 3 + [True] * 2
    pages = [store.search(("n",), query="eee", limit=2, offset=offset) for offset in (0, 2, 4, 6)]
    assert [item.key for page in pages for item in page] == [item.key for item in found]


def test_filters_hold_for_ranked_searches_too(memory: ContextMemory) -> None:
    store = by_letters(memory)
    docs = {
        "1": {"text": "red apple", "color": "red", "score": 4.5},
        "2": {"text": "red car", "color": "red", "score": 3.0},
        "3": {"text": "green apple", "color": "green", "score": 4.0},
        "4": {"text": "blue car", "color": "blue", "score": 3.5},
    }
    store.batch([PutOp(("n",), key, value, index=["text"]) for key, value in docs.items()])

    def found(query: str, **wanted: Any) -> list[str]:
        return [item.key for item in store.search(("n",), query=query, filter=wanted)]

    assert found("apple", color="red") == ["1", "2"]
    assert found("car", color="red") == ["2", "1"]
    assert found("bbbbluuu", score={"$gt": 3.2})[0] == "4"
    assert sorted(found("bbbbluuu", score={"$gt": 3.2})) == ["1", "3", "4"]
    assert found("apple", score={"$gte": 4.0}, color="green") == ["3"]


@pytest.mark.parametrize("query", ["", None, "test " * 5_000, "test!@#$%^&*()", " ", "\ud800"])
def test_odd_queries_still_answer(memory: ContextMemory, query: str | None) -> None:
    store = ContextMemoryStore(memory)
    store.put(("n",), "1", {"text": "test document"})
    assert len(store.search(("n",), query=query)) == 1


def test_texts_in_many_scripts_find_themselves(memory: ContextMemory) -> None:
    store = by_letters(memory)
    texts = ["这是中文", "これは日本語です", "이건 한국어야", "Это русский", "यह रूसी है"]
    for text in texts:
        store.put(("user_1", "m"), text, {"text": text})
    for text in texts:
        assert store.search(("user_1", "m"), query=text)[0].key == text


@pytest.mark.parametrize("query", ["aaa", "bbb", "abcd", "poisson"])
def test_the_score_is_the_cosine_of_the_best_field(memory: ContextMemory, query: str) -> None:
    store = by_letters(memory, fields=["one", "two", "missing"])
    store.put(("n",), "1", {"one": "aaa", "two": "xyz", "other": query})
    letters = LetterEmbeddings()
    asked = letters.embed_query(query)
    best = max(cosine(asked, letters.embed_query(text)) for text in ("aaa", "xyz"))
    assert scores(store, query)["1"] == pytest.approx(best, abs=1e-5)


def test_fields_of_the_configuration_are_what_is_searched(memory: ContextMemory) -> None:
    store = by_letters(memory, fields=["key0", "key1", "key3"])
    store.put(("n",), "1", {"key1": "xxx", "key2": "yyy", "key3": "zzz"})
    store.put(("n",), "2", {"key0": "uuu", "key1": "vvv", "key2": "www", "key3": "xxx"})
    both = scores(store, "xxx")
    assert min(both.values()) > 0.999
    assert scores(store, "uuu")["2"] > 0.999 > scores(store, "uuu")["1"]
    assert scores(store, "zzz")["1"] > 0.999 > scores(store, "zzz")["2"]
    assert max(scores(store, "www").values()) < 0.9


def test_fields_of_a_put_go_before_those_of_the_configuration(memory: ContextMemory) -> None:
    store = by_letters(memory, fields=["key17"])
    store.put(("n",), "3", {"key0": "aaa", "key1": "bbb", "key2": "ccc"}, index=["key0", "key1"])
    store.put(("n",), "4", {"key0": "eee", "key1": "bbb", "key3": "ggg"}, index=["key1", "key3"])
    store.put(("n",), "5", {"key0": "hhh"}, index=False)
    store.put(("n",), "6", {"key0": "no such field"})
    assert scores(store, "aaa")["3"] > scores(store, "aaa")["4"]
    assert scores(store, "ggg")["4"] > scores(store, "ggg")["3"]
    assert scores(store, "bbb") == pytest.approx({"3": 1.0, "4": 1.0}, abs=1e-5)
    assert max(scores(store, "ccc").values()) < 0.9
    assert len(store.search(("n",))) == 4


BOOK = {
    "metadata": {"title": "tttt"},
    "chapters": [{"text": "cccc"}, {"text": "dddd"}],
    "authors": [{"name": "nnnn"}, {"name": "mmmm"}],
    "pages": 1234,
}


@pytest.mark.parametrize(
    ("field", "query", "is_found"),
    [
        ("metadata.title", "tttt", True),
        ("chapters[*].text", "cccc", True),
        ("chapters[*].text", "dddd", True),
        ("authors[0].name", "nnnn", True),
        ("authors[0].name", "mmmm", False),
        ("authors[-1].name", "mmmm", True),
        ("pages", "1234", True),
        ("{pages,metadata.title}", "tttt", True),
        ("chapters[9].text", "cccc", False),
    ],
)
def test_a_field_is_a_way_into_the_value(
    memory: ContextMemory, field: str, query: str, is_found: bool
) -> None:
    store = by_letters(memory)
    store.put(("n",), "book", BOOK, index=[field])
    assert (scores(store, query).get("book", 0.0) > 0.999) is is_found


def test_cosine_ranks_whatever_the_length_of_vectors(memory: ContextMemory) -> None:
    store = ContextMemoryStore(memory, index={"dims": 3, "embed": TableEmbeddings(), "fields": ["text"]})
    for key in ("across", "beside", "near"):
        store.put(("n",), key, {"text": key})
    found = store.search((), query="near")
    assert [item.key for item in found] == ["near", "beside", "across"]
    assert [item.score for item in found] == pytest.approx([1.0, 2.0 / math.sqrt(4.01), 0.0], abs=1e-6)


class Alike:
    """Has the methods of ``Embeddings`` and is none."""

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return vector_of(texts)

    def embed_query(self, text: str) -> list[float]:
        return vector_of([text])[0]


def test_an_object_with_the_methods_of_embeddings_will_do(memory: ContextMemory) -> None:
    alike: Any = Alike()
    store = ContextMemoryStore(memory, index={"dims": 2, "embed": alike, "fields": ["text"]})
    store.put(("n",), "a", {"text": "a"})
    assert store.search((), query="b")[0].score == pytest.approx(1.0)
    assert store.embeddings is alike


def test_vectors_of_another_length_by_the_same_name_are_told_apart(memory: ContextMemory) -> None:
    ContextMemoryStore(memory, index={"dims": 8, "embed": LetterEmbeddings(8)})
    with pytest.raises(EmbedderMismatchError, match="8 dimensions"):
        ContextMemoryStore(memory, index={"dims": 9, "embed": LetterEmbeddings(9)})


def vector_of(texts: Any) -> list[list[float]]:
    return [[float(len(text)), 1.0] for text in texts]


async def awaited_vector_of(texts: Any) -> list[list[float]]:
    await asyncio.sleep(0)
    return vector_of(texts)


@pytest.mark.parametrize("embed", [vector_of, awaited_vector_of, lambda texts: vector_of(texts)])
def test_a_function_will_do_async_or_not(memory: ContextMemory, embed: Any) -> None:
    store = ContextMemoryStore(memory, index={"dims": 2, "embed": embed, "fields": ["text"]})
    store.put(("n",), "short", {"text": "a"})
    store.put(("n",), "long", {"text": "a" * 50})
    assert store.search((), query="b" * 50)[0].key == "long"


async def test_an_async_function_runs_on_the_loop_that_asks(memory: ContextMemory) -> None:
    loops = set()

    async def embed(texts: Any) -> list[list[float]]:
        loops.add(asyncio.get_running_loop())
        return await awaited_vector_of(texts)

    store = ContextMemoryStore(memory, index={"dims": 2, "embed": embed, "fields": ["text"]})
    await store.aput(("n",), "short", {"text": "a"})
    assert (await store.asearch((), query="b"))[0].score == pytest.approx(1.0)
    assert loops == {asyncio.get_running_loop()}


def test_another_embedder_for_the_same_items_is_refused(tmp_path: Path) -> None:
    with ContextMemory(tmp_path) as memory:
        store = by_letters(memory)
        store.put(("n",), "1", {"text": "a"})
        with pytest.raises(EmbedderMismatchError):
            ContextMemoryStore(memory)
    with ContextMemory(tmp_path) as memory:
        with pytest.raises(EmbedderMismatchError, match="LetterEmbeddings"):
            ContextMemoryStore(memory)
        assert by_letters(memory).get(("n",), "1") is not None


def test_the_memory_may_use_the_same_embeddings(tmp_path: Path) -> None:
    embeddings = LetterEmbeddings(8)
    with ContextMemory(tmp_path, embedder=LangChainEmbedder(embeddings)) as memory:
        ContextMemoryStore(memory, index={"dims": 8, "embed": embeddings}).put(("n",), "1", {"text": "a"})
        assert len(ContextMemoryStore(memory).search((), query="a")) == 1
        own: Any = {"embed": memory.embedder}
        assert len(ContextMemoryStore(memory, index=own).search((), query="a")) == 1


def test_vectors_of_another_length_than_said_are_refused(memory: ContextMemory) -> None:
    store = ContextMemoryStore(memory, index={"dims": 7, "embed": LetterEmbeddings(8)})
    with pytest.raises(EmbeddingError, match="7"):
        store.put(("n",), "1", {"text": "a"})
    assert store.search(()) == []


def test_a_failing_embedder_stops_a_batch_and_nothing_is_written(memory: ContextMemory) -> None:
    store = ContextMemoryStore(memory, index={"dims": 3, "embed": TableEmbeddings(), "fields": ["text"]})
    with pytest.raises(EmbeddingError, match="unknown"):
        store.batch([PutOp(("n",), "1", {"text": "near"}), PutOp(("n",), "2", {"text": "unknown"})])
    assert store.search(()) == []


def test_vectors_of_several_fields_survive_the_process(tmp_path: Path) -> None:
    with ContextMemory(tmp_path) as memory:
        store = by_letters(memory, fields=["a", "b", "c"])
        store.put(("n",), "1", {"a": "one", "b": "two", "c": "three"})
        store.put(("n",), "2", {"a": "four"}, index=False)
        before = [scores(store, query) for query in ("one", "two", "three")]
    with ContextMemory(tmp_path) as memory:
        store = by_letters(memory, fields=["a", "b", "c"])
        assert [scores(store, query) for query in ("one", "two", "three")] == before
        assert [item.key for item in store.search((), query="one")] == ["1", "2"]
