"""Laws of the store, against a plain dictionary and LangGraph's own store in memory."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langgraph.store.base import GetOp, ListNamespacesOp, MatchCondition, PutOp, SearchOp
from langgraph.store.memory import InMemoryStore

from langchain_contextmemory import ContextMemoryStore
from shared_core import ContextMemory

LABELS = st.one_of(
    st.sampled_from(["a", "ab", "b", "A", "*", "%", "a_", "a\n", "é", "e\u0301"]),
    st.text(st.characters(exclude_characters=".\x00", exclude_categories=["Cs"]), min_size=1, max_size=4),
)
NAMESPACES = st.lists(LABELS, min_size=1, max_size=4).map(tuple)
KEYS = st.sampled_from(["k", "l", "m"])
WRITES = st.lists(st.tuples(NAMESPACES, KEYS, st.one_of(st.none(), st.integers())), max_size=12)
FEW = settings(
    max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@pytest.fixture(scope="module")
def module_memory() -> Iterator[ContextMemory]:
    with tempfile.TemporaryDirectory() as folder, ContextMemory(folder) as memory:
        yield memory


@pytest.fixture
def store(module_memory: ContextMemory) -> ContextMemoryStore:
    return ContextMemoryStore(module_memory)


def clear(store: ContextMemoryStore) -> None:
    found = store.batch([SearchOp((), limit=10_000)])[0]
    assert isinstance(found, list)
    store.batch([PutOp(item.namespace, item.key, None) for item in found])  # type: ignore[union-attr]


def put_all(store: ContextMemoryStore, writes: list[tuple[Any, str, int | None]]) -> dict[Any, int]:
    clear(store)
    store.batch([PutOp(path, key, None if v is None else {"v": v}, index=False) for path, key, v in writes])
    last = {(path, key): v for path, key, v in writes}
    return {place: v for place, v in last.items() if v is not None}


@FEW
@given(writes=WRITES, prefix=st.lists(LABELS, max_size=3).map(tuple))
def test_a_search_finds_the_last_values_under_a_prefix_and_nothing_else(
    store: ContextMemoryStore, writes: list[tuple[Any, str, int | None]], prefix: tuple[str, ...]
) -> None:
    model = put_all(store, writes)
    prefixes = [prefix, (), *(path[:depth] for path, _, _ in writes[:2] for depth in (1, len(path)))]
    for one in prefixes:
        found = {(item.namespace, item.key): item.value["v"] for item in store.search(one, limit=100)}
        assert found == {place: v for place, v in model.items() if place[0][: len(one)] == one}


@FEW
@given(writes=WRITES, path=st.lists(st.one_of(st.just("*"), LABELS), min_size=1, max_size=3).map(tuple))
def test_namespaces_are_listed_by_whole_labels_at_either_end(
    store: ContextMemoryStore, writes: list[tuple[Any, str, int | None]], path: tuple[str, ...]
) -> None:
    model = {place[0] for place in put_all(store, writes)}

    def fits(part: tuple[str, ...]) -> bool:
        return len(part) == len(path) and all(
            want in ("*", have) for want, have in zip(path, part, strict=True)
        )

    for end, wanted in (
        ("prefix", sorted(one for one in model if fits(one[: len(path)]))),
        ("suffix", sorted(one for one in model if fits(one[-len(path) :]))),
    ):
        listed = store.batch([ListNamespacesOp((MatchCondition(end, path),))])  # type: ignore[arg-type]
        assert listed == [wanted]


@FEW
@given(writes=WRITES, size=st.integers(1, 5))
def test_pages_hold_every_item_once(
    store: ContextMemoryStore, writes: list[tuple[Any, str, int | None]], size: int
) -> None:
    model = put_all(store, writes)
    pages = [store.search((), limit=size, offset=offset) for offset in range(0, len(model) + 1, size)]
    paged = [(item.namespace, item.key) for page in pages for item in page]
    assert sorted(paged) == sorted(model)
    assert len(paged) == len(model)


VALUES = st.fixed_dictionaries(
    {},
    optional={"n": st.integers(0, 3), "t": st.sampled_from(["x", "yy"]), "in": st.just({"n": [1, {"m": 2}]})},
)
FILTERS = st.one_of(
    st.none(),
    VALUES,
    st.fixed_dictionaries(
        {"n": st.dictionaries(st.sampled_from(["$eq", "$ne"]), st.integers(0, 3), min_size=1)}
    ),
)
LABEL_PATHS = st.lists(st.sampled_from(["a", "ab", "b"]), min_size=1, max_size=3).map(tuple)
PUTS = st.builds(PutOp, LABEL_PATHS, KEYS, VALUES, index=st.none(), ttl=st.none())
READS = st.lists(
    st.one_of(
        st.builds(
            SearchOp,
            LABEL_PATHS | st.just(()),
            filter=FILTERS,
            query=st.none(),
            limit=st.integers(0, 5),
            offset=st.integers(0, 3),
        ),
        st.builds(GetOp, LABEL_PATHS, KEYS),
        st.builds(
            ListNamespacesOp,
            st.lists(
                st.builds(MatchCondition, st.sampled_from(["prefix", "suffix"]), LABEL_PATHS), max_size=2
            ).map(tuple),
            max_depth=st.none() | st.integers(1, 3),
            limit=st.integers(0, 5),
            offset=st.integers(0, 3),
        ),
    ),
    max_size=6,
)


def plain(result: Any) -> Any:
    """A result without its dates, which no two stores share."""
    if isinstance(result, list):
        return [plain(one) for one in result]
    return (result.namespace, result.key, result.value) if hasattr(result, "value") else result


@FEW
@given(batches=st.lists(st.lists(PUTS, max_size=5), max_size=3), reads=READS)
def test_reads_answer_as_langgraphs_own_store_does_order_included(
    store: ContextMemoryStore, batches: list[list[PutOp]], reads: list[Any]
) -> None:
    clear(store)
    reference = InMemoryStore()
    for batch in batches:
        for one in (store, reference):
            one.batch(batch)
    # A get of the reference makes an empty namespace, which it then lists; so the gets come last.
    reads = sorted(reads, key=lambda read: isinstance(read, GetOp))
    for read in reads:
        assert plain(store.batch([read])) == plain(reference.batch([read]))
