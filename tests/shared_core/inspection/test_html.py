from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest

from shared_core import ContextMemory
from shared_core.inspection.html import visible
from shared_core.records import Record, Usage
from tests.shared_core.inspection.told import HOSTILE, NOW, tell

KNOWN_TAGS = set("b details div pre span summary table tbody td th thead tr".split())


class Reader(HTMLParser):
    """Collects the tags, the attributes and the text of a piece of HTML; unclosed tags are an error."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes.update(name for name, _ in attrs)
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def shown(value: Any) -> Reader:
    html = value._repr_html_()
    assert isinstance(html, str)
    reader = Reader(html)
    assert not reader.open
    return reader


def views(memory: ContextMemory) -> list[Any]:
    result = memory.search("Where do I live?", now=NOW)
    added = memory.add({"role": "user", "content": "I have a <b>dog</b> called Tom."}, "c", now=NOW)
    fact = memory.list(kind="fact")[0]
    return [
        result, result.results[0], result.results[0].record, memory.context("Where do I live?", 300, now=NOW),
        added, memory.history(fact.id), memory.list(), memory.messages("c"), memory.working_memory(now=NOW),
        memory.maintain(now=NOW), memory.maintain(now=NOW), memory.inspect(now=NOW), memory.graph(now=NOW),
    ]  # fmt: skip


def test_every_view_is_well_formed_and_says_what_it_shows(memory: ContextMemory) -> None:
    tell(memory)
    told = [shown(view).text for view in views(memory)]
    assert "Where do I live?" in told[0]
    assert all(told)


def test_hostile_text_stays_text_in_every_view(memory: ContextMemory) -> None:
    memory.add([{"role": "user", "id": text[:9], "content": text} for text in HOSTILE], "<img>", now=NOW)
    memory.remember("<img src=x onerror=\"1\"> likes 'quotes'", metadata={"<b>": 1}, now=NOW)
    memory.relate("<img src=x>", "<b>is</b>", '"><script>x</script>', now=NOW)
    for view in views(memory):
        reader = shown(view)
        assert reader.tags <= KNOWN_TAGS
        assert reader.attributes <= {"style", "title", "open"}
    assert "</script><script>" in shown(memory.list()).text


def test_no_view_sets_the_colour_of_text_but_that_of_a_dot(memory: ContextMemory) -> None:
    tell(memory)
    for view in views(memory):
        without_dots = re.sub(r"<span style='color:#\w{6}'>●</span>", "", view._repr_html_())
        assert not re.search(r"[; ']color:(?!inherit)", without_dots)


def test_views_stay_small(memory: ContextMemory) -> None:
    memory.add(
        [{"role": "user", "content": f"I own bicycle {number}. " * 200} for number in range(80)], now=NOW
    )
    listed = memory.list(limit=200)
    assert len(listed) > 80
    assert len(listed._repr_html_()) < 60_000  # type: ignore[attr-defined]
    assert "more" in listed._repr_html_()  # type: ignore[attr-defined]


def test_a_graph_shows_the_relations_said_most_often_and_how_many_there_are(memory: ContextMemory) -> None:
    for number in range(60):
        memory.relate("Ann", "knows", f"Person {number}", now=NOW)
    memory.relate("Ann", "lives in", "Rome", now=NOW)
    memory.relate("Ann", "lives in", "Rome", now=NOW)
    seen = shown(memory.graph(now=NOW)).text
    assert "62 things and 61 relations" in seen
    assert seen.index("Rome") < seen.index("Person")
    assert "and 11 more" in seen


def test_a_list_of_memories_is_a_list(memory: ContextMemory) -> None:
    tell(memory)
    listed = memory.messages("spring")
    assert isinstance(listed, list)
    assert listed == [*listed]


@pytest.mark.parametrize("value", [Usage(), Record()])
def test_what_has_no_view_shows_itself_as_text(value: Record) -> None:
    assert value._repr_html_() is None


def test_marks_of_direction_and_controls_are_not_shown() -> None:
    assert visible("a\u202eb\x1b[31mc\u200dd\n e") == "ab[31mc\u200dd e"
