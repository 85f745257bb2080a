from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from shared_core.ids import fact_id, message_record_id, record_id, triplet_id
from shared_core.records import KINDS

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


def test_an_id_says_its_kind() -> None:
    ids = [record_id(kind, "x") for kind in KINDS]
    assert all(re.fullmatch(r"[a-z]{3,4}-[0-9a-f]{20}", made) for made in ids)
    assert len({made.split("-")[0] for made in ids}) == len(KINDS)


@given(st.lists(TEXT, max_size=4), st.lists(TEXT, max_size=4))
def test_ids_are_equal_just_when_their_parts_are(one: list[str], other: list[str]) -> None:
    assert (record_id("fact", *one) == record_id("fact", *other)) == (one == other)


@given(TEXT, TEXT, TEXT, TEXT)
def test_a_message_id_belongs_to_its_conversation(c1: str, m1: str, c2: str, m2: str) -> None:
    assert (message_record_id(c1, m1) == message_record_id(c2, m2)) == ((c1, m1) == (c2, m2))


def test_the_same_sentence_is_the_same_fact_whatever_its_case_and_spacing() -> None:
    assert fact_id("User lives in  Berlin ") == fact_id("user LIVES in\nBerlin")
    assert fact_id("User lives in Berlin") != fact_id("User lives in Bern")
    assert fact_id("Straße") == fact_id("STRASSE")


def test_the_same_relation_is_the_same_triplet_whatever_the_case_of_its_ends() -> None:
    assert triplet_id("Alice", "works_at", "ACME") == triplet_id("alice", "works_at", "Acme")
    assert triplet_id("Alice", "works_at", "Acme") != triplet_id("Acme", "works_at", "Alice")
