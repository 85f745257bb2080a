from __future__ import annotations

import pytest

from shared_core.extraction.third_person import in_third_person
from tests.shared_core.extraction.conversation import said


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I'm tired and I've lost my keys.", "User is tired and User has lost their keys."),
        ("I have a cold, so I don't go out.", "User has a cold, so User doesn't go out."),
        ("I was home when my boss called me.", "User was home when their boss called them."),
        ("My sister and I love tea.", "User's sister and User love tea."),
        ("I usually go by bike and I never worry.", "User usually goes by bike and User never worries."),
        ("We took our kids to the zoo.", "User and others took their kids to the zoo."),
        ("I'd better go; I'd like tea.", "User had better go; User would like tea."),
        ("I need you to read 'War and Peace'.", "User needs you to read 'War and Peace'."),
        ("It hurt me.", "It hurt User."),
        ("I took some me-time.", "User took some me-time."),
        ('I told her "I am here".', 'User told her "I am here".'),
        ("I get up and walk.", "User gets up and walks."),
        ("I'm tired and need my bed.", "User is tired and needs their bed."),
        ("I love cats and dogs.", "User loves cats and dogs."),
        ("I want to get up and walk.", "User wants to get up and walk."),
        ("World War I began in 1914.", "World War I began in 1914."),
    ],
)
def test_the_first_person_becomes_the_third(text: str, expected: str) -> None:
    assert in_third_person(text, "User") == expected


def test_a_bubble_keeps_the_words_of_its_sentence() -> None:
    bubble = said("I went to a chess club yesterday and it was so inspiring", "Caroline").bubbles[0]
    assert bubble.text == "Caroline went to a chess club yesterday and it was so inspiring"
    assert bubble.occurred_at is not None
    assert bubble.occurred_at.date().isoformat() == "2024-06-14"


def test_what_is_happening_now_is_a_bubble_without_a_date() -> None:
    bubble = said("I'm debugging this JWT validation bug in FastAPI").bubbles[0]
    assert bubble.text == "User is debugging this JWT validation bug in FastAPI"
    assert bubble.occurred_at is None


def test_a_sentence_that_goes_on_about_a_moment_joins_it() -> None:
    bubbles = said("I ran a marathon last Sunday. It was exhausting!").bubbles
    assert [bubble.text for bubble in bubbles] == ["User ran a marathon last Sunday. It was exhausting!"]


@pytest.mark.parametrize(
    "text",
    [
        "Thanks so much!",
        "What did I do yesterday?",
        "If I had gone, I would have won.",
        "I wish I were there.",
        "Good morning!",
        "Let me know what you found.",
        "I have never liked horror films.",
        "I haven't lived in Spain for years.",
        "As a kid I loved dinosaurs.",
        "I hate crowded places.",
    ],
)
def test_thanks_questions_suppositions_and_states_are_no_moments(text: str) -> None:
    assert not said(text).bubbles


@pytest.mark.parametrize(
    "text",
    [
        "I haven't slept, but I fixed the bug.",
        "As a kid I broke my arm.",
        "When I was little I'd visit her and we baked.",
    ],
)
def test_events_beside_a_state_are_moments(text: str) -> None:
    assert said(text).bubbles


def test_life_events_matter_more_than_errands() -> None:
    wedding, errand = (
        said("We got married last year.").bubbles[0],
        said("I bought some milk on the way.").bubbles[0],
    )
    assert wedding.importance > errand.importance


def test_a_moment_without_its_subject_gets_the_speaker() -> None:
    assert said("Just finished my thesis draft.").bubbles[0].text == "User just finished their thesis draft."
