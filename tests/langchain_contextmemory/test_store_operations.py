"""The store's operations: batches, gets, puts, listings, filters and namespaces, as LangGraph means them."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

import pytest
from langgraph.store.base import (
    GetOp,
    InvalidNamespaceError,
    Item,
    ListNamespacesOp,
    MatchCondition,
    PutOp,
    SearchItem,
    SearchOp,
)

from langchain_contextmemory import ContextMemoryStore
from shared_core import ContextMemory
from shared_core.errors import StoreError


@pytest.fixture
def store(memory: ContextMemory) -> ContextMemoryStore:
    return ContextMemoryStore(memory)


def fill(store: ContextMemoryStore, namespaces: Iterable[tuple[str, ...]]) -> None:
    store.batch([PutOp(namespace, "k", {"in": "/".join(namespace)}) for namespace in namespaces])


def keys(found: Iterable[Item]) -> list[str]:
    return [item.key for item in found]


# -- batches ---------------------------------------------------------------------------------------------


def test_results_stand_in_the_order_of_the_operations(store: ContextMemoryStore) -> None:
    store.put(("t", "one"), "a", {"data": 1})
    store.put(("t", "two"), "b", {"data": 2})
    got, put, found, listed, missing = store.batch(
        [
            GetOp(("t", "one"), "a"),
            PutOp(("t", "two"), "b", {"data": 3}),
            SearchOp(("t",), filter={"data": 1}),
            ListNamespacesOp(limit=10),
            GetOp(("t",), "c"),
        ]
    )
    assert isinstance(got, Item)
    assert (got.namespace, got.key, got.value) == (("t", "one"), "a", {"data": 1})
    assert put is None
    assert [item.key for item in cast("list[Item]", found)] == ["a"]
    assert listed == [("t", "one"), ("t", "two")]
    assert missing is None


def test_reads_of_a_batch_see_what_was_there_before_it(store: ContextMemoryStore) -> None:
    results = store.batch(
        [PutOp(("n",), "a", {"v": 1}), GetOp(("n",), "a"), SearchOp(("n",)), ListNamespacesOp()]
    )
    assert results == [None, None, [], []]
    put_first = store.batch([PutOp(("n",), "a", None), GetOp(("n",), "a")])[1]
    assert isinstance(put_first, Item)
    assert put_first.value == {"v": 1}
    assert store.get(("n",), "a") is None


def test_the_last_put_of_a_key_wins(store: ContextMemoryStore) -> None:
    store.batch([PutOp(("n",), "a", {"v": 1}), PutOp(("n",), "a", None), PutOp(("n",), "a", {"v": 3})])
    store.batch([PutOp(("n",), "b", {"v": 1}), PutOp(("n",), "b", None)])
    assert [item.value for item in store.search(("n",))] == [{"v": 3}]


def test_a_batch_may_hold_one_text_twice_and_both_items_are_found_by_it(store: ContextMemoryStore) -> None:
    store.batch([PutOp(("n",), "a", {"text": "same"}), PutOp(("n",), "b", {"text": "same"})])
    scores = [item.score for item in store.search(("n",), query="same")]
    assert len(scores) == 2
    assert scores[0] == scores[1] is not None


def test_an_operation_that_is_not_valid_stops_the_whole_batch(store: ContextMemoryStore) -> None:
    for wrong in (
        PutOp(("n",), "b", {"v": object()}),
        SearchOp(("n",), filter={"v": {"$in": [1]}}),
        SearchOp(("n",), limit=-1),
        PutOp(("n",), "b", {}, ttl=-1),
        PutOp(("a.b",), "b", {}),
    ):
        with pytest.raises(ValueError, match=r"."):
            store.batch([PutOp(("n",), "a", {"v": 1}), wrong])
    with pytest.raises(ValueError, match="no operation of a store"):
        store.batch([PutOp(("n",), "a", {"v": 1}), ("get", "a")])  # type: ignore[list-item]
    assert store.search(()) == []


def test_an_empty_batch_does_nothing(store: ContextMemoryStore) -> None:
    assert store.batch([]) == []
    assert store.batch(op for op in [GetOp(("n",), "a")]) == [None]


def test_a_batch_beyond_the_limit_of_one_write_arrives_whole(store: ContextMemoryStore) -> None:
    count = 6_000
    store.batch([PutOp(("n",), str(i), {"i": i}, index=False) for i in range(count)])
    assert [item.value["i"] for item in store.search(("n",), limit=count)] == list(range(count))


# -- put, get, delete ------------------------------------------------------------------------------------


def test_what_was_put_is_got_until_it_is_deleted(store: ContextMemoryStore) -> None:
    store.put(("docs", "x"), "d", {"title": "One"})
    item = store.get(("docs", "x"), "d")
    assert item is not None
    assert type(item) is Item
    assert (item.namespace, item.key, item.value) == (("docs", "x"), "d", {"title": "One"})
    assert item.created_at.tzinfo is not None
    assert item.created_at == item.updated_at
    assert store.get(("docs", "y"), "d") is None
    store.delete(("docs", "x"), "d")
    store.delete(("docs", "x"), "d")
    assert store.get(("docs", "x"), "d") is None
    assert store.list_namespaces() == []


def test_an_update_keeps_the_time_of_creation_and_renews_the_other(store: ContextMemoryStore) -> None:
    store.put(("n",), "a", {"v": 1})
    first = store.get(("n",), "a")
    time.sleep(0.002)
    store.put(("n",), "a", {"v": 2})
    second = store.get(("n",), "a")
    assert first is not None
    assert second is not None
    assert second.value == {"v": 2}
    assert second.created_at == first.created_at
    assert second.updated_at > first.updated_at


def test_a_value_changed_by_its_reader_or_writer_stays_as_it_was_put(store: ContextMemoryStore) -> None:
    value: dict[str, Any] = {"tags": ["a"]}
    store.put(("n",), "a", value)
    value["tags"].append("b")
    item = store.get(("n",), "a")
    assert item is not None
    item.value["tags"].append("c")
    (found,) = store.search(("n",), filter={"tags": ["a"]})
    found.value.clear()
    again = store.get(("n",), "a")
    assert again is not None
    assert again.value == {"tags": ["a"]}


VALUES: list[Mapping[str, Any]] = [
    {},
    {"": "", " ": [[], {}, None, True, 0, -1.5, 10**30, 1e-9]},
    {"z": 1, "a": {"y": {"这是中文": "🦊 \u0000 \n \u2028"}}},
    {"lone": "\ud83d", "key \udc00": [1]},
    {"tuple": (1, ("a",))},
    MappingProxyType({"read": "only"}),
    OrderedDict(second=2, first=1),
]


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_json_comes_back_exactly_also_from_disk(tmp_path: Path, value: Mapping[str, Any]) -> None:
    def plain(part: Any) -> Any:
        return [plain(inner) for inner in part] if isinstance(part, (tuple, list)) else part

    wanted = {key: plain(part) for key, part in value.items()}
    with ContextMemory(tmp_path) as memory:
        ContextMemoryStore(memory).put(("n",), "a", value)
    with ContextMemory(tmp_path) as memory:
        item = ContextMemoryStore(memory).get(("n",), "a")
        assert item is not None
        assert item.value == wanted
        assert list(item.value) == list(wanted)


def test_a_value_of_megabytes_comes_back(store: ContextMemoryStore) -> None:
    big = {"text": "word " * 400_000, "list": list(range(50_000))}
    store.put(("n",), "big", big)
    item = store.get(("n",), "big")
    assert item is not None
    assert item.value == big


CYCLE: dict[str, Any] = {}
CYCLE["self"] = CYCLE
DEEP: dict[str, Any] = {}
for _ in range(500):
    DEEP = {"in": DEEP}


@pytest.mark.parametrize(
    ("value", "quoted"),
    [
        ({"when": datetime(2026, 1, 1)}, "2026"),
        ({"number": math.nan}, "nan"),
        ({"number": math.inf}, "inf"),
        ({1: "int key"}, "int key"),
        ({"inner": [{None: 1}]}, "None"),
        ({"bytes": b"x"}, "b'x'"),
        (["list"], "list"),
        ("text", "text"),
        (CYCLE, "self"),
        (DEEP, "deep"),
    ],
    ids=lambda value: "" if isinstance(value, str) else type(value).__name__,
)
def test_what_is_not_json_is_refused_and_quoted(store: ContextMemoryStore, value: Any, quoted: str) -> None:
    with pytest.raises(ValueError, match=quoted) as caught:
        store.put(("n",), "a", value)
    assert str(caught.value).startswith("value ")
    assert len(str(caught.value)) < 400
    assert store.search(()) == []


def test_a_key_is_any_text_and_a_number_its_digits(store: ContextMemoryStore) -> None:
    names = ["", " ", "a.b", "a/b", "\n", "🦊", "x" * 5_000, "\x00"]
    for place, name in enumerate(names):
        store.put(("n",), name, {"place": place})
    store.put(("n",), 7, {"place": 7})  # type: ignore[arg-type]
    for place, name in enumerate(names):
        item = store.get(("n",), name)
        assert item is not None
        assert (item.key, item.value) == (name, {"place": place})
    assert store.get(("n",), "7") is not None
    with pytest.raises(ValueError, match="lone surrogate"):
        store.put(("n",), "\ud800", {})


# -- namespaces ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("namespace", [("foo.bar",), ("foo", ""), ("foo", 1), ("nul\x00",), "foo", None])
@pytest.mark.parametrize("kind", ["get", "put", "delete", "search", "prefix", "suffix"])
def test_a_namespace_that_is_no_labels_is_refused_in_batches_too(
    store: ContextMemoryStore, namespace: Any, kind: str
) -> None:
    operation: Any = {
        "get": GetOp(namespace, "k"),
        "put": PutOp(namespace, "k", {"changed": True}),
        "delete": PutOp(namespace, "k", None),
        "search": SearchOp(namespace),
        "prefix": ListNamespacesOp((MatchCondition("prefix", namespace),)),
        "suffix": ListNamespacesOp((MatchCondition("suffix", namespace),)),
    }[kind]
    store.put(("foo", "bar"), "k", {"original": True})
    with pytest.raises(InvalidNamespaceError):
        store.batch([PutOp(("valid",), "k", {}), operation])
    item = store.get(("foo", "bar"), "k")
    assert item is not None
    assert item.value == {"original": True}
    assert store.get(("valid",), "k") is None


def test_public_methods_refuse_reserved_and_empty_namespaces(store: ContextMemoryStore) -> None:
    for namespace in ((), ("a", "b.c"), ("a", ""), ("langgraph", "a")):
        with pytest.raises(InvalidNamespaceError):
            store.put(namespace, "k", {})
    store.put(("a", "langgraph"), "k", {"v": 1})
    assert keys(store.search(("a", "langgraph"))) == ["k"]
    store.batch([PutOp(("langgraph", "own"), "k", {"v": 2})])
    assert keys(store.search(("langgraph", "own"))) == ["k"]
    store.delete(("langgraph", "own"), "k")
    assert store.get(("langgraph", "own"), "k") is None


def test_a_prefix_matches_whole_labels_only(store: ContextMemoryStore) -> None:
    labels = ["foo", "foobar", "foo2", "Foo", "user_1", "userX1", "a%b", "axxb", "star*", "starX", "foo\n"]
    fill(store, [(label,) for label in labels])
    fill(store, [(label, "child", "deep") for label in labels])
    for label in labels:
        assert [item.namespace for item in store.search((label,))] == [(label,), (label, "child", "deep")]
        assert store.list_namespaces(prefix=(label,)) == [(label,), (label, "child", "deep")]
        assert store.list_namespaces(prefix=(label, "child")) == [(label, "child", "deep")]
    assert store.search(("fo",)) == []
    assert store.search(("child",)) == []
    assert {item.namespace[0] for item in store.search((), limit=100)} == set(labels)


NAMESPACES = [
    ("a", "b", "c"),
    ("a", "b", "d", "e"),
    ("a", "b", "d", "i"),
    ("a", "b", "f"),
    ("a", "c", "f"),
    ("b", "a", "f"),
    ("users", "1"),
    ("users", "2", "settings"),
    ("admin", "users", "3"),
]


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"prefix": ("a", "b")}, NAMESPACES[:4]),
        ({"suffix": ("f",)}, NAMESPACES[3:6]),
        ({"prefix": ("a",), "suffix": ("f",)}, NAMESPACES[3:5]),
        ({"prefix": ("a", "b"), "max_depth": 3}, [("a", "b", "c"), ("a", "b", "d"), ("a", "b", "f")]),
        ({"prefix": ("a", "b"), "limit": 2}, NAMESPACES[:2]),
        ({"prefix": ("a", "b"), "offset": 2}, NAMESPACES[2:4]),
        ({"prefix": ("a", "*", "f")}, NAMESPACES[3:5]),
        ({"suffix": ("*", "f")}, NAMESPACES[3:6]),
        ({"prefix": ("users", "*")}, NAMESPACES[6:8]),
        ({"prefix": ("*", "users"), "suffix": ("*", "settings")}, []),
        ({"suffix": ("settings",)}, [("users", "2", "settings")]),
        ({"prefix": ("nobody",)}, []),
        ({"prefix": ("users", "1")}, [("users", "1")]),
        ({"prefix": ["users", "1"]}, [("users", "1")]),
        ({"prefix": ("users", "1", "2")}, []),
        ({"max_depth": 1}, [("a",), ("admin",), ("b",), ("users",)]),
        ({}, sorted(NAMESPACES)),
        ({"limit": 0}, []),
    ],
)
def test_namespaces_are_listed_by_ends_and_depth(
    store: ContextMemoryStore, options: dict[str, Any], wanted: list[tuple[str, ...]]
) -> None:
    assert store.list_namespaces() == []
    fill(store, NAMESPACES)
    assert store.list_namespaces(**options) == wanted


def test_namespaces_are_listed_page_by_page(store: ContextMemoryStore) -> None:
    fill(store, [("n", f"{i:02d}") for i in reversed(range(20))])
    for offset in (0, 5, 15):
        page = store.list_namespaces(prefix=("n",), limit=5, offset=offset)
        assert page == [("n", f"{i:02d}") for i in range(offset, offset + 5)]
    with pytest.raises(ValueError, match="match_type 'middle'"):
        store.batch([ListNamespacesOp((MatchCondition("middle", ("n",)),))])  # type: ignore[arg-type]


# -- search without a query ------------------------------------------------------------------------------


def test_without_a_query_the_oldest_come_first_and_an_update_keeps_its_place(
    store: ContextMemoryStore,
) -> None:
    store.batch([PutOp(("b",), "1", {}), PutOp(("a",), "2", {}), PutOp(("b",), "3", {})])
    store.put(("a",), "0", {})
    store.put(("b",), "1", {"new": True})
    assert keys(store.search(())) == ["1", "3", "2", "0"]
    assert keys(store.search((), limit=2)) == ["1", "3"]
    assert keys(store.search((), limit=2, offset=2)) == ["2", "0"]
    assert keys(store.search((), offset=3)) == ["0"]
    assert store.search((), offset=9) == []
    assert all(type(item) is SearchItem and item.score is None for item in store.search(()))


ITEMS: dict[str, dict[str, Any]] = {
    "apple": {
        "color": "red",
        "price": 10,
        "tags": ["a", "b"],
        "eaten": True,
        "size": {"cm": 7, "of": {"x": 1}},
    },
    "car": {"color": "red", "price": 20.5, "tags": ["a"], "eaten": False, "made": "2024-05-01"},
    "sky": {"color": "blue", "price": "30", "access-level": "public", "user": {"access-level": "own"}},
    "void": {"color": None, "user.name": "literal", "user": {"name": "nested"}, "123abc": "ok"},
}


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"color": "red"}, ["apple", "car"]),
        ({"color": "red", "price": 10}, ["apple"]),
        ({"color": {"$eq": "red"}}, ["apple", "car"]),
        ({"color": {"$ne": "red"}}, ["sky", "void"]),
        ({"price": {"$gt": 10}}, ["car", "sky"]),
        ({"price": {"$gte": 10, "$lt": 20.5}}, ["apple"]),
        ({"price": {"$lte": 20.5}}, ["apple", "car"]),
        ({"price": {"$lt": math.inf}}, ["apple", "car", "sky"]),
        ({"price": {"$gt": -math.inf}}, ["apple", "car", "sky"]),
        ({"price": {"$eq": math.nan}}, []),
        ({"price": {"$lt": 10**400}}, ["apple", "car", "sky"]),
        ({"made": {"$gte": "2024-01-01"}}, ["car"]),
        ({"color": {"$gt": "b"}}, ["apple", "car", "sky"]),
        ({"tags": ["a"]}, ["car"]),
        ({"tags": ("a", "b")}, ["apple"]),
        ({"tags": {"$eq": ["a", "b"]}}, ["apple"]),
        ({"eaten": True}, ["apple"]),
        ({"eaten": False}, ["car"]),
        ({"eaten": 1}, []),
        ({"color": None}, ["void"]),
        ({"size": {"cm": 7}}, ["apple"]),
        ({"size": {"cm": {"$gt": 6}, "of": {"x": 1}}}, ["apple"]),
        ({"size.cm": 7}, ["apple"]),
        ({"size.of.x": {"$lte": 1}}, ["apple"]),
        ({"size.cm.deeper": 7}, []),
        ({"access-level": "public"}, ["sky"]),
        ({"user.access-level": "own"}, ["sky"]),
        ({"user.name": "literal"}, ["void"]),
        ({"123abc": "ok"}, ["void"]),
        ({"color": "red' OR '1'='1"}, []),
        ({"color') = 'red' OR '1'='1": "x"}, []),
        ({}, ["apple", "car", "sky", "void"]),
    ],
    ids=str,
)
def test_filters_choose_by_value(store: ContextMemoryStore, wanted: dict[str, Any], found: list[str]) -> None:
    store.batch([PutOp(("n",), key, value) for key, value in ITEMS.items()])
    assert keys(store.search(("n",), filter=wanted)) == found
    assert sorted(keys(store.search(("n",), filter=wanted, query="red"))) == sorted(found)
    assert keys(store.search(("n",), filter=wanted, limit=1, offset=1)) == found[1:2]


@pytest.mark.parametrize(
    "wanted",
    [{"a": {"$in": [1]}}, {"a": {"$gt": 1, "b": 2}}, {"a": {"b": {"$or": 1}}}, {1: 2}, ["a"]],
    ids=str,
)
def test_a_filter_that_nothing_is_known_of_is_refused(store: ContextMemoryStore, wanted: Any) -> None:
    with pytest.raises(ValueError, match=r"filter|operator"):
        store.search(("n",), filter=wanted)


# -- the memory behind -----------------------------------------------------------------------------------


def test_items_and_memories_never_meet(memory: ContextMemory) -> None:
    store = ContextMemoryStore(memory)
    memory.add({"role": "user", "content": "I ride a tandem"})
    store.put(("n",), "a", {"text": "she rides a tandem"})
    assert all("she rides" not in hit.memory for hit in memory.search("tandem"))
    assert "she rides" not in memory.context("tandem").text
    assert all(record.kind != "item" for record in memory.list(limit=100))
    assert keys(store.search((), query="tandem")) == ["a"]
    assert memory.namespaces() == ["default"]
    with pytest.raises(ValueError, match="kind 'item'"):
        memory.list(kind="item")
    memory.erase(everything=True)
    assert keys(store.search(())) == ["a"]


def test_each_namespace_of_the_memory_has_items_of_its_own(memory: ContextMemory) -> None:
    with memory.for_namespace("bob") as bobs, memory.for_namespace("default-items") as other:
        ContextMemoryStore(memory).put(("n",), "a", {"of": "default"})
        assert ContextMemoryStore(bobs).search(()) == []
        assert ContextMemoryStore(other).search(()) == []
        assert keys(ContextMemoryStore(memory).search(())) == ["a"]


def test_a_closed_memory_is_named(tmp_path: Path) -> None:
    memory = ContextMemory(tmp_path)
    store = ContextMemoryStore(memory)
    memory.close()
    with pytest.raises(StoreError, match="closed"):
        store.get(("n",), "a")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"index": {"dim": 3}}, "'dim'"),
        ({"index": {"dims": 3}}, "dims 3"),
        ({"index": {"dims": "3"}}, "'3'"),
        ({"index": {"embed": 3}}, "embed 3"),
        ({"index": {"fields": "text"}}, "'text'"),
        ({"index": {"fields": [""]}}, "field ''"),
        ({"index": {"distance_type": "l2"}}, "'l2'"),
        ({"index": ["$"]}, "not a mapping"),
        ({"ttl": {"default": 3}}, "'default'"),
    ],
    ids=str,
)
def test_options_that_are_not_known_or_bad_are_refused(
    memory: ContextMemory, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        ContextMemoryStore(memory, **options)


def test_a_store_needs_a_memory() -> None:
    with pytest.raises(ValueError, match="not a ContextMemory"):
        ContextMemoryStore("./memory")  # type: ignore[arg-type]
