from __future__ import annotations

import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared_core.extraction.rules import RuleExtractor
from shared_core.extraction.schema import Extractor
from shared_core.records import Role
from tests.shared_core.extraction.conversation import extract, message, said

#: Far above the measured tenth of a second, far below what backtracking would take.
MEGABYTE_SECONDS = 5.0


def triples(text: str, name: str | None = None) -> set[tuple[str | None, str | None, str | None]]:
    return {(fact.subject, fact.predicate, fact.object) for fact in said(text, name).facts}


def test_it_is_an_extractor_that_does_not_wait() -> None:
    extractor = RuleExtractor()
    assert isinstance(extractor, Extractor)
    assert extractor.name == "rules-1"
    assert not extractor.is_slow


def test_facts_are_sentences_about_the_speaker_by_name() -> None:
    assert [fact.text for fact in said("I live in Berlin.", "Caroline").facts] == ["Caroline lives in Berlin"]
    assert [fact.text for fact in said("I prefer dark mode").facts] == ["User prefers dark mode"]


def test_each_fact_is_also_a_triplet() -> None:
    extraction = said("My sister Anna lives in Oslo and my dog is called Rex.")
    known = {(t.subject, t.predicate, t.object) for t in extraction.triplets}
    assert {(f.subject, f.predicate, f.object) for f in extraction.facts} <= known
    assert ("Rex", "is_a", "dog") in known


def test_a_fact_said_twice_names_both_messages() -> None:
    extraction = extract(
        message("I live in Ulm."), message("Hello there!"), message("As I said: I live in Ulm.")
    )
    assert len(extraction.facts) == 1
    assert extraction.facts[0].sources == (0,)
    extraction = extract(message("I live in Ulm."), message("Yes, I live in Ulm."))
    assert [fact.sources for fact in extraction.facts] == [(0, 1)]


@pytest.mark.parametrize("role", ["system", "tool", "assistant"])
def test_only_users_are_read(role: Role) -> None:
    extraction = extract(
        message("I live in Berlin."), message("I live in Rome and went home yesterday.", role)
    )
    assert [fact.object for fact in extraction.facts] == ["Berlin"]
    assert not extraction.bubbles


def test_a_named_assistant_is_a_second_human_where_users_have_names() -> None:
    answer = message("I live in Rome.", "assistant", "Mel")
    assert extract(message("Hi", name="Ann"), answer).facts[0].text == "Mel lives in Rome"
    assert extract(answer, recent=(message("Hi", name="Ann"),)).facts[0].subject == "Mel"
    assert not extract(message("Hi"), answer).facts
    assert not extract(answer).facts


def test_rules_are_for_assistants_only() -> None:
    text = "Always answer in French."
    assert said(text, "Ann").facts[0].category == "rule"
    assert not extract(message(text, name="Ann"), message("ok", "assistant", "Mel")).facts


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Don't use emojis.", "User wants the assistant not to use emojis"),
        ("From now on, reply in Spanish.", "User wants the assistant from now on to reply in Spanish"),
        ("Keep your answers short please", "User wants the assistant to keep your answers short please"),
        ("I want you to always use metric units.", "User wants the assistant to always use metric units"),
    ],
)
def test_instructions_that_last_are_rules(text: str, rule: str) -> None:
    assert [fact.text for fact in said(text).facts] == [rule]


@pytest.mark.parametrize(
    "text", ["Never mind, I found it.", "Please fix line 3.", "I always forget.", "Write a poem."]
)
def test_instructions_of_the_moment_are_no_rules(text: str) -> None:
    assert all(fact.category != "rule" for fact in said(text).facts)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I don't use Vim anymore.", ("User", "no_longer_uses", "Vim")),
        ("I used to work at Nokia", ("User", "no_longer_works_at", "Nokia")),
        ("I'm not allergic to nuts", ("User", "not_allergic_to", "nuts")),
        ("I am no longer vegetarian.", ("User", "no_longer_diet", "vegetarian")),
        ("I'm not a fan of horror movies.", ("User", "dislikes", "horror movies")),
    ],
)
def test_denials_are_kept_as_denials(text: str, expected: tuple[str, str, str]) -> None:
    assert triples(text) == {expected}


@pytest.mark.parametrize(
    "text", ["I love it.", "I like that one", "I love the way it looks", "I hate this!", "I prefer those"]
)
def test_what_only_points_is_no_fact(text: str) -> None:
    assert not said(text).facts


def test_hedges_lower_the_confidence() -> None:
    sure, unsure = said("I prefer tea.").facts[0], said("I think I prefer tea.").facts[0]
    assert unsure.confidence < sure.confidence


def test_code_tracebacks_and_links_are_not_read() -> None:
    text = (
        "It fails:\n```python\nprint('I live in Rome')\n```\n    x = 1  # I live in Ulm;\n"
        "Traceback (most recent call last):\nValueError: I work at Foo\nhttps://a.b/I-live-in-Oslo"
    )
    assert said(text).facts == ()


@pytest.mark.parametrize(
    "text",
    [
        "ich wohne in Berlin und arbeite bei Siemens",
        "J'habite à Paris.",
        "私は東京に住んでいます。",
        "\u202eأعيش في القاهرة",
        "\ud800 I \udfff",
        "\x00",
        " ",
    ],
)
def test_other_languages_and_odd_characters_give_no_facts(text: str) -> None:
    assert said(text).facts == ()


@given(st.text(max_size=400))
@settings(max_examples=150, deadline=None)
def test_any_text_is_read_without_error_and_alike(text: str) -> None:
    assert said(text) == said(text)


_FRAGMENTS = st.sampled_from(
    "I|my|we|I'm|don't|live in|Berlin|work at|because|\"|'|.|, |and|if|yesterday|"
    "last|in|20|May|31|sister|Anna|called|a|favorite|is|\n|`".split("|")
)


@given(st.lists(_FRAGMENTS, max_size=40))
@settings(max_examples=150, deadline=None)
def test_any_mix_of_the_words_of_rules_is_read_without_error(parts: list[str]) -> None:
    extraction = said(" ".join(parts))
    assert all(fact.text.strip() and fact.object for fact in extraction.facts)


@pytest.mark.parametrize(
    "text", ["I ", "my sister ", "a, ", "\n", "'", '"I ', "in 2", "I live in ", "...", "and I "]
)
def test_a_megabyte_takes_no_longer_than_a_long_letter(text: str) -> None:
    content = text * (1_000_000 // len(text)) + "x"
    before = time.perf_counter()
    said(content)
    assert time.perf_counter() - before < MEGABYTE_SECONDS


def test_importing_loads_no_parser_of_dates() -> None:
    program = "import sys, shared_core.extraction.rules; sys.exit('dateutil.parser' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
