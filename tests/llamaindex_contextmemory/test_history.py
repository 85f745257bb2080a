from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from llama_index.core.base.llms.types import ChatMessage

from llamaindex_contextmemory import ContextChatMemory
from shared_core import ContextMemory
from shared_core.extraction.schema import Extraction, ExtractionRequest
from tests.llamaindex_contextmemory.scripted import assistant
from tests.llamaindex_contextmemory.test_window import user
from tests.shared_core.building import NotesExtractor, chroma_client

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


class Interrupted(NotesExtractor):
    """Lets somebody else act once while it extracts, as a model would leave them the time to."""

    def __init__(self) -> None:
        super().__init__(is_slow=True)
        self.meanwhile: Callable[[], object] | None = None

    def extract(self, request: ExtractionRequest) -> Extraction:
        act, self.meanwhile = self.meanwhile, None
        if act is not None:
            act()
        return super().extract(request)


def test_what_another_process_clears_while_this_one_replaces_is_not_undone() -> None:
    with chroma_client() as client:
        extractor = Interrupted()
        one = ContextChatMemory.from_defaults(memory=ContextMemory(client, extractor=extractor))
        two = ContextChatMemory.from_defaults(memory=ContextMemory(client))
        one.put_messages([user("the shed is green"), user("the van is sold")])

        def begin_anew() -> None:
            two.reset(forget=False)
            two.put(user("a secret"))

        extractor.meanwhile = begin_anew
        one.set([user("the van is sold"), user("yes")])
        assert one.get_all() == two.get_all() == [user("the van is sold"), user("yes")]
        two.reset(forget=True)
        assert one.get_all() == two.get_all() == []
        assert two.memory.list(kind="message") == [], "what was said after the reset was forgotten, too"
        for chat in (one, two):
            chat.memory.close()
