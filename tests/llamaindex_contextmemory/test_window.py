from __future__ import annotations

from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock

from llamaindex_contextmemory.window import newest_that_fit, tokens_of
from shared_core.tokens import counter_for
from tests.llamaindex_contextmemory.scripted import assistant, calling

COUNTER = counter_for(None, allow_download=False)


def user(text: str) -> ChatMessage:
    return ChatMessage(role="user", content=text)


def result(text: str, call_id: str = "call-1") -> ChatMessage:
    return ChatMessage(role="tool", content=text, additional_kwargs={"tool_call_id": call_id})


def fitting(messages: list[ChatMessage], budget: int, at_most: int | None = None) -> list[ChatMessage]:
    return newest_that_fit(
        messages, token_budget=budget, at_most=budget if at_most is None else at_most, counter=COUNTER
    )


def test_the_newest_messages_stay() -> None:
    messages = [user(f"message {number}") for number in range(20)]
    budget = 3 * tokens_of(messages[-1], COUNTER)
    assert fitting(messages, budget) == messages[-3:]
    assert fitting(messages, 10_000) == messages


def test_a_result_never_comes_without_its_call() -> None:
    messages = [
        user("what time is it"),
        calling("clock"),
        result("noon"),
        result("still noon"),
        assistant("Noon."),
        user("thanks"),
    ]
    for budget in range(1, sum(tokens_of(message, COUNTER) for message in messages) + 1):
        kept = fitting(messages, budget)
        roles = [message.role.value for message in kept]
        assert roles.count("tool") in (0, 2)
        assert ("tool" in roles) == any(message.blocks[0].block_type == "tool_call" for message in kept)
        assert not kept or roles[0] == "user"
        assert sum(tokens_of(message, COUNTER) for message in kept) <= budget


def test_results_whose_call_was_not_read_are_left_out() -> None:
    assert fitting([result("noon"), user("thanks")], 1_000) == [user("thanks")]
    assert fitting([result("noon")], 1_000) == []


def test_a_message_that_is_too_long_is_cut_and_the_original_left_alone() -> None:
    long = user("word " * 5_000)
    (kept,) = fitting([user("before"), long], 50, at_most=100)
    assert tokens_of(kept, COUNTER) <= 100
    assert (kept.content or "").startswith("word word")
    assert (kept.content or "").endswith("…")
    assert len(long.content or "") == 25_000


def test_the_newest_may_use_more_than_the_share_of_the_history() -> None:
    newest = user("word " * 50)
    assert fitting([user("before"), newest], 10, at_most=200) == [newest]


def test_a_long_result_is_cut_rather_than_its_call() -> None:
    group = [calling("read"), result("page " * 5_000)]
    kept = fitting(group, 200)
    assert kept[0] == group[0]
    assert 0 < len(kept[1].content or "") < 2_000


def test_what_cannot_be_cut_is_left_out() -> None:
    image = ChatMessage(role="user", blocks=[ImageBlock(url="https://example.org/a.png")])
    assert fitting([image], 20) == []


def test_a_system_message_of_the_caller_stays_first() -> None:
    messages = [ChatMessage(role="system", content="Be brief."), user("hello")]
    assert fitting(messages, 1_000) == messages


def test_what_the_user_did_not_say_first_is_left_out() -> None:
    assert fitting([assistant("Welcome."), user("hello")], 1_000) == [user("hello")]
    assert fitting([assistant("Welcome.")], 1_000) == [assistant("Welcome.")]


def test_parts_are_counted() -> None:
    text = ChatMessage(role="user", blocks=[TextBlock(text="hello")])
    both = ChatMessage(role="user", blocks=[TextBlock(text="hello"), ImageBlock(url="https://a.org/a.png")])
    assert tokens_of(both, COUNTER) > tokens_of(text, COUNTER) + 200
