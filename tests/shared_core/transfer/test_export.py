from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared_core import ContextMemory
from shared_core.embedding.base import FloatArray, unit_rows
from shared_core.records import CATEGORIES, Connection, Memory
from shared_core.transfer.export import FORMAT, ImportReport, export_records, import_records, parse_export
from tests.shared_core.building import EMBEDDER, NOW, message_record, opened_namespace, record, said, write

TALK = [
    said("I moved to Berlin last week, and I love sour cherries.", "m1", name="Ada"),
    said("How do you like the city?", "m2", role="assistant"),
    said(
        "The canals are lovely,\u2028but my bicycle\nwas stolen \U0001f6b2 \x1b[31m.",
        "m3",
        metadata={"mood": [1.5, None]},
    ),
]


class Letters:
    """An embedder that counts letters: fast, and unlike the default one."""

    name = "test/letters"
    dimension = 26
    connection_threshold = 0.9

    def embed(self, texts: Any) -> FloatArray:
        counts = [[text.casefold().count(chr(97 + place)) for place in range(26)] for text in texts]
        return unit_rows(np.asarray(counts, dtype=np.float32).reshape(-1, 26))

    def embed_query(self, text: str) -> FloatArray:
        vector: FloatArray = self.embed([text])[0]
        return vector


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ContextMemory]:
    with ContextMemory(tmp_path_factory.mktemp("store")) as opened:
        yield opened


@pytest.fixture
def fresh(store: ContextMemory) -> Iterator[ContextMemory]:
    """An empty namespace."""
    with store.for_namespace(uuid4().hex) as opened:
        yield opened


@pytest.fixture(scope="module")
def exported(store: ContextMemory) -> list[str]:
    """An export that holds records of every stage of life."""
    with store.for_namespace("told") as memory:
        memory.add(TALK, "c1", now=NOW)
        fact = memory.list(kind="fact")[0]
        memory.update(fact.id, "Ada lives in Potsdam")
        memory.add([said(f"note {number} of many", f"n{number}") for number in range(60)], "c2", now=NOW)
        return list(export_records(memory))


def records_of(lines: list[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines[1:]]


def test_the_first_line_says_what_follows(exported: list[str]) -> None:
    assert json.loads(exported[0]) == {
        "contextmemory": 1,
        "schema_version": 1,
        "namespace": "told",
        "embedder": EMBEDDER.name,
        "dimension": EMBEDDER.dimension,
        "records": len(exported) - 1,
    }
    kinds = {fields["kind"] for fields in records_of(exported)}
    assert {"message", "fact", "summary"} <= kinds
    assert any("superseded_by" in fields for fields in records_of(exported))


def test_no_line_holds_what_a_reader_could_take_for_the_end_of_a_line(exported: list[str]) -> None:
    assert "\n".join(exported).splitlines() == exported
    assert not any("\x1b" in line or "\x9b" in line for line in exported)


def test_an_import_into_another_folder_exports_the_same_lines(exported: list[str], tmp_path: Path) -> None:
    with ContextMemory(tmp_path / "other", "elsewhere") as memory:
        report = import_records(memory, exported)
        again = list(export_records(memory))
    assert report == ImportReport(added=len(exported) - 1)
    assert again[1:] == exported[1:]
    assert json.loads(again[0]) == {**json.loads(exported[0]), "namespace": "elsewhere"}
    with ContextMemory(tmp_path / "other", "elsewhere") as memory:
        reopened = parse_export(export_records(memory))
    assert reopened.memories == parse_export(exported).memories
    before, after = (np.stack(parse_export(one).vectors) for one in (exported, again))  # type: ignore[arg-type]
    assert np.array_equal(before, after)
    assert np.allclose(np.stack(reopened.vectors), before, atol=1e-6)  # type: ignore[arg-type]


def test_what_was_imported_answers_as_the_original_does(exported: list[str], store: ContextMemory) -> None:
    with store.for_namespace("told") as original, store.for_namespace("copy") as copy:
        import_records(copy, exported)
        for query in ("bicycle", "Where does Ada live?", "note 17"):
            found = [memory.search(query, now=NOW).results for memory in (original, copy)]
            assert [hit.memory_id for hit in found[0]] == [hit.memory_id for hit in found[1]]
        fact = next(fact for fact in copy.list(kind="fact") if "Potsdam" in fact.text)
        assert [version.id for version in copy.history(fact.id)] == [
            version.id for version in original.history(fact.id)
        ]


def test_importing_twice_changes_nothing(exported: list[str], fresh: ContextMemory) -> None:
    import_records(fresh, exported)
    once = list(export_records(fresh))
    assert import_records(fresh, exported) == ImportReport(unchanged=len(exported) - 1)
    assert list(export_records(fresh)) == once


def test_adding_the_same_messages_after_an_import_adds_nothing(
    exported: list[str], fresh: ContextMemory
) -> None:
    import_records(fresh, exported)
    assert fresh.add(TALK, "c1").usage.skipped_messages == len(TALK)
    assert len(list(export_records(fresh))) == len(exported)


def test_an_export_joins_what_is_there(exported: list[str], fresh: ContextMemory) -> None:
    fresh.add([said("I play the oboe.", "m9")], "other")
    before = {memory.id for memory in fresh.list(limit=1_000)}
    import_records(fresh, exported)
    after = {fields["id"] for fields in records_of(list(export_records(fresh)))}
    assert after == before | {fields["id"] for fields in records_of(exported)}


def test_other_content_under_an_id_is_refused_unless_it_may_be_overwritten(
    exported: list[str], fresh: ContextMemory
) -> None:
    import_records(fresh, exported)
    changed = next(fact for fact in fresh.list(kind="fact") if "Potsdam" in fact.text)
    fresh.update(changed.id, "Ada lives in Bremen")
    before = list(export_records(fresh))
    with pytest.raises(ValueError, match=f"1 of the records stand.*{changed.id}"):
        import_records(fresh, exported)
    assert list(export_records(fresh)) == before
    report = import_records(fresh, exported, overwrite=True)
    assert (report.overwritten, report.added, report.unchanged) == (1, 0, len(exported) - 2)
    found = fresh.get(changed.id)
    assert found is not None
    assert found.text == "Ada lives in Potsdam"


def test_vectors_may_be_left_out_and_are_computed_on_import(
    store: ContextMemory, fresh: ContextMemory
) -> None:
    with store.for_namespace("bare") as memory:
        memory.add(TALK, "c1", now=NOW)
        bare, full = list(export_records(memory, vectors=False)), list(export_records(memory))
    assert not any("vector" in fields for fields in records_of(bare))
    report = import_records(fresh, bare)
    assert report.embedded == report.added == len(bare) - 1
    assert list(export_records(fresh))[1:] == full[1:]


def test_another_embedder_computes_its_own_vectors(exported: list[str], tmp_path: Path) -> None:
    with ContextMemory(tmp_path, embedder=Letters()) as memory:
        report = import_records(memory, exported)
        assert report.embedded == len(exported) - 1
        again = list(export_records(memory))
        assert json.loads(again[0])["embedder"] == "test/letters"
        assert parse_export(again).memories == parse_export(exported).memories
        assert memory.search("bicycle").results


def test_progress_is_told_up_to_the_last_record(exported: list[str], fresh: ContextMemory) -> None:
    told: list[tuple[int, int]] = []
    import_records(fresh, exported, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (len(exported) - 1,) * 2
    told.clear()
    list(export_records(fresh, progress=lambda done, total: told.append((done, total))))
    assert told == [(done, len(exported) - 1) for done in range(1, len(exported))]


def test_an_export_is_of_one_moment(fresh: ContextMemory) -> None:
    fresh.add(TALK, "c1", now=NOW)
    expected = list(export_records(fresh))
    lines = export_records(fresh)
    first = next(lines)
    fresh.add([said("I play the oboe.", "m9")], "c1")
    fresh.erase(message_id="m1")
    assert [first, *lines] == expected


def test_an_empty_namespace_is_exported_as_its_header(fresh: ContextMemory) -> None:
    lines = list(export_records(fresh))
    assert len(lines) == 1
    assert import_records(fresh, lines) == ImportReport()


HEADER = json.dumps(
    {"contextmemory": 1, "schema_version": 1, "namespace": "n", "embedder": "e", "dimension": 2, "records": 1}
)
FACT = {
    "id": "fact-1",
    "kind": "fact",
    "text": "Ada sings",
    "created_at": NOW.isoformat(),
    "updated_at": NOW.isoformat(),
}


def edited(line: str | dict[str, Any], **changes: Any) -> str:
    return json.dumps({**(json.loads(line) if isinstance(line, str) else line), **changes})


def packed(*numbers: float) -> str:
    return base64.b64encode(np.asarray(numbers, dtype="<f4").tobytes()).decode()


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        ([], "is empty"),
        (["", " \r\n"], "is empty"),
        (["[1, 2]"], "line 1: expected the header of an export"),
        ([edited(FACT)], "line 1: expected the header"),
        ([edited(HEADER, contextmemory=FORMAT + 1)], f"contextmemory {FORMAT + 1} is newer than {FORMAT}"),
        ([edited(HEADER, schema_version=9, more=1)], "schema_version 9 is newer than 1"),
        ([edited(HEADER, contextmemory="1")], "contextmemory: Input should be a valid integer"),
        ([edited(HEADER, dimension=0)], "dimension: Input should be greater"),
        ([HEADER], "announces 1 records and holds 0: it was cut short"),
        (
            [HEADER, edited(FACT), edited(FACT, id="fact-2")],
            "announces 1 records and holds 2: something was added",
        ),
        ([HEADER, edited(FACT)[:-9]], "line 2, column"),
        ([HEADER, "7"], "line 2: '7' is not a record"),
        ([HEADER, HEADER], "line 2: a second header"),
        ([HEADER, edited(FACT), edited(FACT)], "line 3: id 'fact-1' stands there a second time"),
        ([HEADER, edited(FACT, kind="rumour")], "line 2: kind: Input should be"),
        ([HEADER, edited(FACT, colour="red")], "colour: Extra inputs are not permitted, in '{"),
        ([HEADER, edited(FACT, importance=7)], "importance: Input should be less than or equal to 1"),
        ([HEADER, edited(FACT, text=" ")], "it needs a text"),
        ([HEADER, edited(FACT, id="contextmemory:head")], "an id of its own"),
        ([HEADER, edited(FACT, text="\ud800")], "holds a lone surrogate"),
        ([HEADER, edited(FACT, metadata={"\ud800": 1})], "holds a lone surrogate"),
        ([HEADER, edited(FACT, metadata={"a": 1}).replace("1}", "1e999}")], "Out of range float"),
        ([HEADER, edited(FACT, metadata={"a": float("nan")})], "NaN is no JSON number"),
        ([HEADER, edited(FACT, kind="message")], "a message needs conversation_id"),
        (
            [HEADER, edited(FACT, kind="message", conversation_id="c", message_id="m", role="user", turn=0)],
            "id 'fact-1' is not that of message_id 'm'",
        ),
        ([HEADER, edited(FACT, vector="AAA")], "is not base64"),
        ([HEADER, edited(FACT, vector=[1.0, 0.0])], "is not base64"),
        ([HEADER, edited(FACT, vector=packed(1.0))], "vector of 4 bytes, not of 2 float32"),
        ([HEADER, edited(FACT, vector=packed(1.0, float("inf")))], "not finite"),
    ],
)
def test_a_bad_export_is_refused_as_a_whole(fresh: ContextMemory, lines: list[str], told: str) -> None:
    with pytest.raises(ValueError, match=r"^the export") as caught:
        import_records(fresh, lines)
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)
    assert fresh.list() == []


def test_line_ends_and_a_byte_order_mark_do_not_matter(exported: list[str], fresh: ContextMemory) -> None:
    import_records(
        fresh, ["\ufeff" + exported[0] + "\r\n", "\n", *(line + "\r\n" for line in exported[1:]), ""]
    )
    assert list(export_records(fresh))[1:] == exported[1:]


def test_every_field_of_a_record_survives(tmp_path: Path, fresh: ContextMemory) -> None:
    full = record(
        "fact-full",
        conversation_id="c",
        session_id="c:0",
        turn=3,
        speaker="Ada",
        category="skill",
        importance=0.1 + 0.2,
        confidence=1 / 3,
        occurred_at=datetime(1, 1, 1, tzinfo=timezone.utc),
        expires_at=datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=timezone.utc),
        mention_count=7,
        access_count=2,
        last_accessed_at=NOW,
        source_ids=("m1", "m2"),
        sources=("r1", "r2"),
        connections=(Connection(memory_id="fact-2", score=0.6123),),
        subject="Ada",
        predicate="can",
        object="sing",
        superseded_by="fact-3",
        is_active=False,
        pinned=True,
        title="talent",
        tier="ltm",
        working_until=NOW,
        working_reason="held",
        made_of=("fact-9",),
        generated="0a",
        metadata={"deep": [{"a": None}, True, 2**70, 1e-300]},
    )
    assert {name for name in Memory.model_fields if getattr(full, name) == getattr(record("x"), name)} <= {
        "kind", "role", "message_id", "pending", "created_at", "updated_at",
    }  # fmt: skip
    waiting = message_record("m1", 0, pending=True)
    with opened_namespace(tmp_path) as namespace:
        write(namespace, full, waiting)
        with ContextMemory(tmp_path) as memory:
            lines = list(export_records(memory))
    import_records(fresh, lines)
    with fresh.opened().use() as index:
        assert index.stored("fact-full") == full
        assert index.stored(waiting.id) == waiting


json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
memories = st.builds(
    record,
    st.text(min_size=1).filter(str.strip),
    text=st.text(min_size=1).filter(str.strip),
    created_at=st.datetimes(timezones=st.just(timezone.utc)),
    category=st.sampled_from(CATEGORIES),
    importance=st.floats(0, 1),
    speaker=st.none() | st.text(),
    metadata=st.dictionaries(st.text(), json_values, max_size=3),
)


@settings(max_examples=25)
@given(st.lists(memories, min_size=1, max_size=4, unique_by=lambda memory: memory.id))
def test_any_record_survives_the_round_trip(store: ContextMemory, told: list[Memory]) -> None:
    names = [uuid4().hex, uuid4().hex]
    vectors = EMBEDDER.embed([memory.text for memory in told])
    header = edited(HEADER, embedder=EMBEDDER.name, dimension=EMBEDDER.dimension, records=len(told))
    lines = [header]
    for memory, vector in zip(told, vectors, strict=True):
        lines.append(edited(memory.model_dump(mode="json"), vector=packed(*vector)))
    copies: list[list[str]] = []
    for name in names:
        with store.for_namespace(name) as memory_of_name:
            import_records(memory_of_name, copies[-1] if copies else lines)
            copies.append(list(export_records(memory_of_name)))
            with memory_of_name.opened().use() as index:
                assert [index.stored(memory.id) for memory in told] == told
            memory_of_name.erase(everything=True)
    assert copies[0][1:] == copies[1][1:]


def test_a_failed_check_does_not_ask_the_embedder(fresh: ContextMemory, exported: list[str]) -> None:
    asked: list[int] = []
    with pytest.raises(ValueError, match="cut short"):
        import_records(fresh, exported[:-1], progress=lambda done, total: asked.append(done))
    assert asked == []


def _cut(line: str) -> str:
    return line[: len(line) // 2]


@pytest.mark.parametrize("damage", [_cut, str.upper, lambda line: ""])
def test_a_damaged_last_line_is_noticed(
    fresh: ContextMemory, exported: list[str], damage: Callable[[str], str]
) -> None:
    with pytest.raises(ValueError, match=r"line \d+|cut short"):
        import_records(fresh, [*exported[:-1], damage(exported[-1])])
    assert fresh.list() == []
