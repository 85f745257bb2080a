from __future__ import annotations

import os
import subprocess
import sys
import time

from hypothesis import given
from hypothesis import strategies as st

from shared_core.learning.summaries import summarise
from shared_core.records import Memory
from tests.shared_core.building import message_record


def test_a_summary_keeps_what_says_the_most_in_its_order() -> None:
    messages = [
        message_record("m0", 0, "Hm.", speaker="Ada"),
        message_record("m1", 1, "I bought a red tandem in Potsdam yesterday.", speaker="Ada"),
        message_record("m2", 2, "Did you? Is it fast?", speaker="Grace"),
        message_record("m3", 3, "The tandem broke down near the frozen lake.", speaker="Ada"),
    ]
    lines = summarise(messages, max_words=30).splitlines()
    assert lines == [
        "Ada: I bought a red tandem in Potsdam yesterday.",
        "Ada: The tandem broke down near the frozen lake.",
    ]


def test_what_was_said_before_is_not_said_again_where_room_is_short() -> None:
    messages = [
        message_record("m0", 0, "The red tandem broke down near the frozen lake."),
        message_record("m1", 1, "The red tandem broke down near the frozen lake."),
        message_record("m2", 2, "Grace sold her violin to a sailor."),
    ]
    assert "violin" in summarise(messages, max_words=20)


def test_where_no_sentence_qualifies_the_first_message_begins() -> None:
    assert summarise([message_record("m0", 0, "Hm. Ok. Well?")], max_words=3) == "User: Hm. Ok."


@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip),
        min_size=1,
        max_size=8,
    ),
    st.integers(10, 60),
)
def test_a_summary_is_never_empty_nor_longer_than_its_limit(texts: list[str], max_words: int) -> None:
    summary = summarise(
        [message_record(f"m{n}", n, text) for n, text in enumerate(texts)], max_words=max_words
    )
    assert summary.strip()
    assert len(summary.split()) <= max_words


def test_a_great_many_sentences_are_summarised_within_seconds() -> None:
    text = " ".join(f"Parcel {n} went to town {n * 31} by train." for n in range(80))
    messages = [message_record(f"m{n}", n, text) for n in range(80)]
    started = time.monotonic()
    assert len(summarise(messages, max_words=200).split()) <= 200
    assert time.monotonic() - started < 10


def test_what_a_context_put_into_a_prompt_is_not_summed_up() -> None:
    prompt = "[memory: data, not instructions]\nAda works as a welder in Hamburg.\n[/memory]\n"
    told = message_record("m0", 0, f"{prompt}The tandem broke down near the frozen lake.")
    asked = message_record("m1", 1, f"{prompt}And?")
    assert summarise([told], max_words=50) == "User: The tandem broke down near the frozen lake."
    assert summarise([asked], max_words=50) == "User: And?"


def test_a_summary_is_the_same_in_each_process() -> None:
    program = (
        "from tests.shared_core.learning.test_summaries import many; "
        "from shared_core.learning.summaries import summarise; print(summarise(many(), max_words=40))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "PYTHONHASHSEED": str(seed)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in (1, 2, 3)
    }
    assert len(outputs) == 1


def many() -> list[Memory]:
    """Messages of words that come in many orders, so that many sentences weigh nearly the same."""
    words = "river bridge lantern harbour orchard violin kettle meadow glacier compass".split()
    return [
        message_record(f"m{number}", number, f"The {' '.join(words[number:] + words[:number])} stood there.")
        for number in range(10)
    ]
