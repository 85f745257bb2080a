from __future__ import annotations

from itertools import count
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from llama_index.core.base.llms.types import ChatMessage

from llamaindex_contextmemory import ContextChatMemory
from shared_core import ContextMemory
from tests.llamaindex_contextmemory.scripted import assistant
from tests.llamaindex_contextmemory.test_window import user

WORDS = st.sampled_from(["yes", "no", "the shed is green", "the van is sold"])
SAID = st.builds(lambda text, speaker: speaker(text), WORDS, st.sampled_from([user, assistant]))
STEPS = st.one_of(
    st.tuples(st.just("put"), SAID),
    st.tuples(st.just("set"), st.lists(SAID, max_size=4)),
    st.tuples(st.just("keep"), st.tuples(st.integers(0, 4), st.integers(0, 4), st.lists(SAID, max_size=2))),
    st.tuples(st.just("reset"), st.booleans()),
)
NUMBERS = count()


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEPS, max_size=8))
def test_the_history_is_what_a_list_would_be(steps: list[tuple[str, Any]], memory: ContextMemory) -> None:
    conversation = f"c{next(NUMBERS)}"
    chat = ContextChatMemory.from_defaults(memory=memory, conversation_id=conversation)
    expected: list[ChatMessage] = []
    for step, value in steps:
        if step == "put":
            chat.put(value)
            expected = [*expected, value]
        elif step == "reset":
            chat.reset(forget=value)
            expected = []
        else:  # a whole new history, or a part of the present one with something added
            expected = value if step == "set" else [*expected[value[0] : value[0] + value[1]], *value[2]]
            chat.set(expected)
        assert chat.get_all() == expected
        shown = [message for message in chat.get() if message.role != "system"]
        assert shown == expected[len(expected) - len(shown) :]
    again = ContextChatMemory.from_defaults(memory=memory, conversation_id=conversation)
    assert again.get_all() == expected
