from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from shared_core.index.columns import NO_ROW
from shared_core.index.conversations import Conversation


def test_a_conversation_begins_at_turn_0() -> None:
    empty = Conversation()
    assert (empty.next_turn, empty.last_row, list(empty.newest_first())) == (0, NO_ROW, [])


def test_messages_stand_in_the_order_of_their_turns() -> None:
    conversation = Conversation()
    assert conversation.add(5, 10) == (NO_ROW, NO_ROW)
    assert conversation.add(1, 11) == (NO_ROW, 10)
    assert conversation.add(3, 12) == (11, 10)
    assert list(conversation.newest_first()) == [10, 12, 11]
    assert (conversation.next_turn, conversation.last_row) == (6, 10)


def test_taking_one_out_joins_its_neighbours() -> None:
    conversation = Conversation()
    for turn in range(3):
        conversation.add(turn, turn + 100)
    assert conversation.remove(1, 101) == (100, 102)
    assert conversation.remove(2, 102) == (100, NO_ROW)
    assert conversation.next_turn == 1


@given(st.lists(st.integers(0, 50), unique=True))
def test_the_order_of_adding_does_not_matter(turns: list[int]) -> None:
    conversation = Conversation()
    for turn in turns:
        conversation.add(turn, turn)
    assert [turn for turn, _ in conversation.turns] == sorted(turns)
