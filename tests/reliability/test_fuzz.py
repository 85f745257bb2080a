"""What parses raises nothing but the error that it documents; the long form is ``fuzz.py``."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared_core.extraction.answer import Answer
from shared_core.llm.repair import read_answer
from shared_core.messages import parse_messages
from shared_core.transfer.export import parse_export
from tests.reliability.fuzz import TARGETS, fuzz
from tests.shared_core.building import NOW


@pytest.mark.parametrize("name", TARGETS)
def test_a_parser_raises_only_what_it_documents(name: str) -> None:
    report = fuzz(name, 400, seed=1)
    assert report.faults == {}
    assert report.read > 0
    assert report.slowest_ms < 5_000


@pytest.mark.slow
@pytest.mark.parametrize("name", TARGETS)
def test_a_parser_raises_only_what_it_documents_for_long(name: str) -> None:
    assert fuzz(name, 15_000).faults == {}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=15,
)


@settings(max_examples=60)
@given(st.text(max_size=300))
def test_any_text_is_read_as_an_answer_or_refused(text: str) -> None:
    for parse in (lambda: read_answer(text, Answer), lambda: parse_export(text.splitlines())):
        try:
            parse()
        except ValueError:
            continue


@settings(max_examples=60)
@given(JSON)
def test_any_value_is_read_as_messages_or_refused(value: object) -> None:
    for given_ in (value, [value], [{"role": "user", "content": value}], [{"role": value, "content": "x"}]):
        try:
            for message in parse_messages(given_, now=NOW):  # type: ignore[arg-type]
                assert message.content.strip()
        except ValueError:
            continue
