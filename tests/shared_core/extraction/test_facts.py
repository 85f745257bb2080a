from __future__ import annotations

import pytest

from tests.shared_core.extraction.conversation import extract, message, said

Triple = tuple[str | None, str | None, str | None]


def triples(text: str) -> set[Triple]:
    return {(fact.subject, fact.predicate, fact.object) for fact in said(text).facts}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm a florist based in Ghent.", {("User", "works_as", "florist"), ("User", "lives_in", "Ghent")}),
        (
            "Being lactose intolerant, I drink oat milk.",
            {("User", "intolerant_to", "lactose"), ("User", "drinks", "oat milk")},
        ),
        ("As a nurse, I sleep badly.", {("User", "works_as", "nurse")}),
        ("I'd prefer metric units.", {("User", "prefers", "metric units")}),
        ("I prefer to travel light.", {("User", "prefers", "to travel light")}),
        ("I take my tea with milk.", {("User", "likes", "tea with milk")}),
        ("I live with my parents in Ulm.", {("User", "lives_in", "Ulm")}),
        ("My car is a red Skoda.", {("User", "owns", "red Skoda")}),
        ("Our team uses Kafka.", {("User's team", "uses", "Kafka")}),
        ("I speak Dutch, Emil speaks none.", {("User", "speaks", "Dutch")}),
        ("I like tea, remember that.", {("User", "likes", "tea")}),
        ("I like tea, please note it!", {("User", "likes", "tea")}),
        (
            "I used to live in Oslo, now I live in Bergen.",
            {("User", "no_longer_lives_in", "Oslo"), ("User", "lives_in", "Bergen")},
        ),
        ("I don't like books that are long.", {("User", "dislikes", "books that are long")}),
    ],
)
def test_ordinary_phrasings_are_understood(text: str, expected: set[Triple]) -> None:
    assert triples(text) == expected


@pytest.mark.parametrize(
    "text", ["As a student, I lived in Rome.", "As a team, we won.", "As a rule, I walk."]
)
def test_a_role_of_the_past_or_of_nobody_is_no_fact(text: str) -> None:
    assert not triples(text)


@pytest.mark.parametrize("text", ["I'm Alice.", "Hi, it's Alice here", "This is Alice.", "Alice here!"])
def test_names_are_given_in_many_ways(text: str) -> None:
    assert triples(text) == {("User", "name", "Alice")}


@pytest.mark.parametrize(
    "text", ["I'm happy.", "I'm Belgian!", "It's Friday here.", "I'm Done.", "Same here."]
)
def test_what_only_looks_like_a_name_is_none(text: str) -> None:
    assert "name" not in {fact.predicate for fact in said(f"Well, well. And then? {text}").facts}


def test_a_habit_is_kept_in_the_third_person() -> None:
    assert [fact.text for fact in said("I swim and stretch every morning.").facts] == [
        "User swims and stretches every morning"
    ]


@pytest.mark.parametrize("text", ["I love it every day.", "I feel bad every morning.", "I swam every day."])
def test_feelings_and_the_past_are_no_habits(text: str) -> None:
    assert not said(text).facts


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("Remember that the demo is on Friday.", "The demo is on Friday"),
        ("Please note that we freeze releases in May", "User and others freeze releases in May"),
        ("Keep in mind that my boss hates surprises.", "User's boss dislikes surprises"),
        ("Don't forget: the door code is 4711.", "The door code is 4711"),
        ("Can you remember that I'm vegan?", "User is vegan"),
    ],
)
def test_what_is_to_be_remembered_is_kept(text: str, kept: str) -> None:
    assert [fact.text for fact in said(text).facts] == [kept]


@pytest.mark.parametrize(
    "text",
    ["Remember to call Bob.", "Remember when we met?", "Remember that book I lent you?", "Note the error."],
)
def test_reminders_and_memories_are_no_notes(text: str) -> None:
    assert not said(text).facts


def test_notes_are_for_assistants_only() -> None:
    note = message("Remember that the demo is on Friday.", name="Ann")
    assert not extract(note, message("ok", "assistant", "Mel")).facts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("My sister Anna is a nurse. She lives in Oslo.", ("Anna", "lives_in", "Oslo")),
        ("My sister Anna visited us. She's a nurse.", ("Anna", "works_as", "nurse")),
        ("My brother is fun. He lives in Ulm.", ("User's brother", "lives_in", "Ulm")),
        ("Ben is a lawyer. He likes jazz. He lives in Lyon.", ("Ben", "lives_in", "Lyon")),
    ],
)
def test_a_pronoun_means_the_one_person_before_it(text: str, expected: Triple) -> None:
    assert expected in triples(text)


@pytest.mark.parametrize(
    "text",
    [
        "My sister Anna met Eva. She lives in Oslo.",
        "My brother Tom is fun. She lives in Oslo.",
        "My sister and my aunt are fun. She lives in Oslo.",
        "She lives in Oslo.",
        "Anna and Eva came. She lives in Oslo.",
    ],
)
def test_a_pronoun_that_is_not_plain_states_nothing(text: str) -> None:
    assert all(fact.predicate != "lives_in" for fact in said(text).facts)


def test_sentences_without_words_are_read_without_error() -> None:
    assert said("Hi! 😀😀😀😀 !!!! She lives in Oslo.").facts == ()
