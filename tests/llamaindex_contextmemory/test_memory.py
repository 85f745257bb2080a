from __future__ import annotations

import asyncio
import copy
import gc
import json
import pickle
import subprocess
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from llama_index.core.base.llms.types import ChatMessage

from llamaindex_contextmemory import ContextChatMemory
from llamaindex_contextmemory.memory import LEAD
from shared_core import ContextMemory
from shared_core.errors import ExtractionError, StoreError
from shared_core.extraction.schema import Extraction, ExtractionRequest
from shared_core.settings import Settings
from shared_core.stores.parts import PART
from shared_core.tokens import counter_for
from tests.llamaindex_contextmemory.scripted import assistant, calling, texts
from tests.llamaindex_contextmemory.test_window import result, user
from tests.shared_core.building import chroma_client
from tests.shared_core.stores.chroma_calls import failing

ROOT = Path(__file__).parents[2]
COUNTER = counter_for(None, allow_download=False)


@pytest.fixture
def chat(memory: ContextMemory) -> ContextChatMemory:
    return ContextChatMemory.from_defaults(memory=memory, conversation_id="c1")


def contents(messages: list[ChatMessage]) -> list[str | None]:
    return [message.content for message in messages]


def test_the_history_comes_back_as_it_was_put(chat: ContextChatMemory) -> None:
    said = [user("What time is it?"), calling("clock"), result("noon"), assistant("Noon.")]
    chat.put(said[0])
    chat.put_messages(said[1:])
    assert chat.get_all() == said
    assert chat.get()[-4:] == said


def test_what_is_known_stands_first_as_a_system_message(memory: ContextMemory) -> None:
    memory.add([{"role": "user", "content": "My sister Clara is a vet."}], "earlier")
    chat = ContextChatMemory.from_defaults(memory=memory, conversation_id="c1")
    chat.put(user("What does my sister Clara do?"))
    system, question = chat.get()
    assert system.role == "system"
    assert "Clara is a vet" in (system.content or "")
    assert question == user("What does my sister Clara do?")


def test_an_empty_memory_gives_only_the_history(chat: ContextChatMemory) -> None:
    assert chat.get() == []
    assert chat.get_all() == []
    chat.put(user("Hello."))
    assert chat.get() == [user("Hello.")]


def test_an_empty_memory_is_not_falsy(chat: ContextChatMemory) -> None:
    assert chat


def test_the_question_may_be_given(memory: ContextMemory) -> None:
    memory.add(
        [
            {"role": "user", "content": f"My {thing} is in the {place}."}
            for thing, place in [("bicycle", "cellar"), ("passport", "drawer"), ("violin", "attic")]
        ],
        "old",
    )
    chat = ContextChatMemory.from_defaults(memory=memory, conversation_id="c1", token_budget=80)
    chat.put(user("Hello."))
    assert "drawer" in texts(chat.get("Where is my passport?"))
    assert "attic" in texts(chat.get(user("Where is my violin?")))  # a message will do


def test_nothing_stands_twice(chat: ContextChatMemory) -> None:
    for number in range(12):
        chat.put(user(f"Today I planted {number + 3} rows of carrots behind shed {number}."))
    for budget in (120, 300, 3_000):
        shorter = chat.model_copy(update={"token_budget": budget})
        text = texts(shorter.get("Where did I plant carrots?"))
        for number in range(12):
            assert text.count(f"{number + 3} rows of carrots behind shed {number}.") <= 1


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(budget=st.integers(1, 600), used=st.integers(0, 100), share=st.floats(0, 1))
def test_the_budget_is_never_exceeded(chat: ContextChatMemory, budget: int, used: int, share: float) -> None:
    if not chat.get_all():
        for number in range(10):
            chat.put(user(f"Item {number}: " + "I bought a lamp in Porto. " * (number % 4 + 1)))
            chat.put_messages([calling("shop", item=number), result("sold " * 20), assistant("Done.")])
    limited = chat.model_copy(update={"token_budget": budget, "history_share": share})
    if used >= budget:
        with pytest.raises(ValueError, match="initial_token_count"):
            limited.get(initial_token_count=used)
        return
    for messages in (
        limited.get(initial_token_count=used),
        asyncio.run(limited.aget("Where is the lamp from?", initial_token_count=used)),
    ):
        assert sum(COUNTER.count(message.content or "") for message in messages) <= budget - used


def test_engines_may_count_with_its_tokenizer(chat: ContextChatMemory) -> None:
    assert len(chat.tokenizer_fn("My name is Alice.")) == COUNTER.count("My name is Alice.")


def test_what_is_returned_may_be_changed(chat: ContextChatMemory) -> None:
    chat.put(user("Hello there."))
    chat.get()[-1].blocks[0].text = "changed"  # type: ignore[union-attr]
    chat.get_all()[0].additional_kwargs["changed"] = True
    assert chat.get_all() == [user("Hello there.")]


def test_what_was_put_may_be_changed(chat: ContextChatMemory) -> None:
    message = user("Hello there.")
    chat.put(message)
    message.blocks.clear()
    assert chat.get_all() == [user("Hello there.")]


def test_the_same_words_may_be_said_again(chat: ContextChatMemory) -> None:
    for _ in range(3):
        chat.put(user("yes"))
    assert contents(chat.get_all()) == ["yes"] * 3


# -- reset ---------------------------------------------------------------------------------------------------


def test_a_reset_clears_the_history_and_forgets_nothing(chat: ContextChatMemory) -> None:
    chat.put(user("My sister Clara is a vet."))
    chat.reset()
    chat.reset()
    assert chat.get_all() == []
    chat.put(user("Who is Clara?"))
    assert chat.get_all() == [user("Who is Clara?")]
    got = chat.get()
    assert got[1:] == [user("Who is Clara?")]
    assert "Clara is a vet" in (got[0].content or "")
    assert "Recent" not in (got[0].content or "")


def test_a_reset_takes_no_other_conversation(chat: ContextChatMemory, memory: ContextMemory) -> None:
    other = ContextChatMemory.from_defaults(memory=memory, conversation_id="c1#2")
    other.put(user("Something else."))
    chat.put(user("My sister Clara is a vet."))
    chat.reset()
    assert chat.get_all() == []
    chat.put(user("Hello."))
    chat.reset(forget=True)
    assert contents(other.get_all()) == ["Something else."]


def test_a_reset_forgets_when_asked_to(chat: ContextChatMemory, memory: ContextMemory) -> None:
    memory.add([{"role": "user", "content": "My brother Tom is a nurse."}], "other")
    chat.put(user("My sister Clara is a vet."))
    chat.reset()
    chat.put(user("Clara lives in Graz."))
    chat.reset(forget=True)
    assert chat.get_all() == []
    remembered = "\n".join(record.text for record in memory.list(limit=100, include_archived=True))
    assert "Clara" not in remembered
    assert "Tom" in remembered


def test_an_engines_reset_may_forget_too(memory: ContextMemory) -> None:
    chat = ContextChatMemory.from_defaults(memory=memory, conversation_id="c1", forget_on_reset=True)
    chat.put(user("My sister Clara is a vet."))
    chat.reset()
    assert len(memory.list(limit=10)) == 0


def test_a_reset_holds_in_another_process(tmp_path: Path) -> None:
    with ContextMemory(tmp_path / "m", "ann") as memory:
        chat = ContextChatMemory.from_defaults(memory=memory, conversation_id="c1")
        chat.put(user("My sister Clara is a vet."))
        chat.reset()
    program = (
        "import sys; from shared_core import ContextMemory; from llamaindex_contextmemory import *\n"
        "memory = ContextMemory(sys.argv[1], 'ann')\n"
        "chat = ContextChatMemory.from_defaults(memory=memory, conversation_id='c1')\n"
        "print(len(chat.get_all()), 'Clara' in chat.get('What does my sister do?')[0].content)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "m")], cwd=ROOT, capture_output=True, text=True
    )
    assert done.stdout.split() == ["0", "True"], done.stderr


# -- set -----------------------------------------------------------------------------------------------------


def test_set_replaces_the_history(chat: ContextChatMemory) -> None:
    chat.put(user("Old words of mine."))
    chat.set([user("Hello."), assistant("Hello to you.")])
    chat.put(user("More."))
    assert contents(chat.get_all()) == ["Hello.", "Hello to you.", "More."]
    chat.set([])
    assert chat.get_all() == []


def test_a_client_that_sends_its_history_each_time_adds_only_what_is_new(
    chat: ContextChatMemory, memory: ContextMemory
) -> None:
    history: list[ChatMessage] = []
    for number in range(5):
        chat.set(history)
        assert chat.get_all() == history
        chat.put_messages([user(f"Question {number}"), assistant("yes")])
        history = [*history, user(f"Question {number}"), assistant("yes")]
    assert chat.get_all() == history
    assert len(memory.list(kind="message", limit=100)) == 10


def test_a_client_that_sends_its_newest_messages_adds_only_what_is_new(
    chat: ContextChatMemory, memory: ContextMemory
) -> None:
    said = [user(f"Question {number}") for number in range(8)]
    for number, message in enumerate(said):
        chat.set(said[max(0, number - 3) : number])
        chat.put(message)
    assert chat.get_all() == said[4:]
    assert len(memory.list(kind="message", limit=100)) == 8


def test_an_answer_that_was_replaced_is_not_recalled_here(chat: ContextChatMemory) -> None:
    question = user("Which colour has the shed?")
    chat.put_messages([question, assistant("The shed is orange, I believe.")])
    chat.set([question])
    chat.put(assistant("The shed is green."))
    assert contents(chat.get_all()) == [question.content, "The shed is green."]
    assert "orange" not in texts(chat.get("Which colour has the shed?"))


def test_messages_may_be_put_in_another_order(chat: ContextChatMemory, memory: ContextMemory) -> None:
    first, second = user("First words."), user("Second words.")
    chat.put_messages([first, second])
    chat.set([second, first])
    assert chat.get_all() == [second, first]
    assert len(memory.messages("c1")) == 2


def test_setting_the_same_again_changes_nothing(chat: ContextChatMemory, memory: ContextMemory) -> None:
    said = [user("yes"), assistant("no"), user("yes")]
    for _ in range(3):
        chat.set(said)
    assert chat.get_all() == said
    assert len(memory.messages("c1")) == 3


def test_a_history_may_be_given_at_the_beginning(memory: ContextMemory) -> None:
    chat = ContextChatMemory.from_defaults(memory=memory, conversation_id="c1", chat_history=[user("Hello.")])
    assert chat.get_all() == [user("Hello.")]


def test_records_of_the_history_are_seen_by_no_search_and_no_context(
    chat: ContextChatMemory, memory: ContextMemory
) -> None:
    chat.put(user("Hello."))
    chat.reset()
    assert "history" not in memory.context("messages of a conversation history").text
    assert all(hit.type == "message" for hit in memory.search("messages of a conversation history"))


# -- writing down --------------------------------------------------------------------------------------------


def test_it_goes_on_with_the_same_store_after_it_was_written_down(tmp_path: Path) -> None:
    with ContextMemory(tmp_path / "m", "ann", settings=Settings(buffer_messages=40)) as memory:
        chat = ContextChatMemory.from_defaults(memory=memory, conversation_id="c1", token_budget=500)
        chat.put(user("Hello."))
        written = json.dumps(chat.to_dict())
        assert ContextChatMemory.from_dict(json.loads(written)).memory is memory
    again = ContextChatMemory.from_dict(json.loads(written))
    assert again.get_all() == [user("Hello.")]
    assert again.token_budget == 500
    assert again.memory.namespace == "ann"
    assert again.memory.settings.buffer_messages == 40
    again.memory.close()


def test_a_sibling_goes_on_after_it_was_written_down(memory: ContextMemory) -> None:
    chat = ContextChatMemory.from_defaults(memory=memory, namespace="ann", conversation_id="c1")
    chat.put(user("Hello."))
    again = ContextChatMemory.from_dict(chat.to_dict())
    assert again.get_all() == [user("Hello.")]
    assert again.memory.namespace == "ann"


def test_a_client_must_be_attached_again() -> None:
    with chroma_client() as client:
        with ContextMemory(client, "attached") as memory:
            chat = ContextChatMemory.from_defaults(memory=memory, conversation_id="c1")
            chat.put(user("Hello."))
            written = chat.to_dict()
        again = ContextChatMemory.from_dict(json.loads(json.dumps(written)))
        with pytest.raises(StoreError, match=r"Chroma client cannot be written down.*attach\(memory\)"):
            again.get_all()
        with ContextMemory(client, "someone else") as other, pytest.raises(ValueError, match="someone else"):
            again.attach(other)
        with ContextMemory(client, "attached") as memory:
            again.attach(memory)
            assert again.get_all() == [user("Hello.")]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, lambda chat: pickle.loads(pickle.dumps(chat))])
def test_a_copy_is_on_the_same_store(copied: object, chat: ContextChatMemory) -> None:
    chat.put(user("Hello."))
    other: ContextChatMemory = copied(chat)  # type: ignore[operator]
    other.put(user("More."))
    assert contents(chat.get_all()) == ["Hello.", "More."]


def test_a_copy_outlives_the_original_of_another_namespace(memory: ContextMemory) -> None:
    chat = ContextChatMemory.from_defaults(memory=memory, namespace="ann", conversation_id="c1")
    chat.put(user("Hello."))
    copies = [chat.model_copy(), copy.deepcopy(chat)]
    del chat
    gc.collect()
    time.sleep(0.1)
    assert [contents(other.get_all()) for other in copies] == [["Hello."], ["Hello."]]


def test_what_it_opened_itself_is_closed_with_it(tmp_path: Path) -> None:
    with ContextMemory(tmp_path / "m", "ann") as memory:
        written = ContextChatMemory.from_defaults(memory=memory).to_dict()
    again = ContextChatMemory.from_dict(written)
    opened = again.memory
    del again
    gc.collect()
    for _ in range(100):
        try:
            opened.opened()
        except StoreError:
            return
        time.sleep(0.02)
    pytest.fail("it stayed open")


# -- failing and waiting -------------------------------------------------------------------------------------


class Failing:
    """An extractor that fails."""

    name = "failing"
    is_slow = True

    def extract(self, request: ExtractionRequest) -> Extraction:
        raise ExtractionError("the model is down")


class Slow(Failing):
    """An extractor that takes half a second."""

    name = "slow"

    def extract(self, request: ExtractionRequest) -> Extraction:
        time.sleep(0.5)
        return Extraction()


def test_an_extractor_that_fails_loses_no_message(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with ContextMemory(tmp_path, extractor=Failing()) as memory:
        chat = ContextChatMemory.from_defaults(memory=memory, conversation_id="c1")
        chat.put(user("Hello."))
        chat.set([user("Hello."), assistant("Hi.")])
        assert contents(chat.get_all()) == ["Hello.", "Hi."]
    assert "the model is down" in caplog.text


async def test_the_event_loop_goes_on_meanwhile(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, extractor=Slow()) as memory:
        chat = ContextChatMemory.from_defaults(memory=memory, conversation_id="c1")
        gaps = [time.monotonic()]

        async def tick() -> None:
            while True:
                await asyncio.sleep(0.01)
                gaps.append(time.monotonic())

        ticking = asyncio.create_task(tick())
        await chat.aput(user("Hello."))
        await chat.aput_messages([assistant("Hi.")])
        await chat.aset([user("Hello.")])
        assert contents(await chat.aget()) == ["Hello."]
        assert contents(await chat.aget_all()) == ["Hello."]
        await chat.areset(forget=True)
        ticking.cancel()
    assert max(after - before for before, after in pairwise(gaps)) < 0.4


def test_many_threads_may_put(chat: ContextChatMemory) -> None:
    def put(number: int) -> None:
        for turn in range(5):
            chat.put(user(f"Thread {number} says {turn}."))

    threads = [threading.Thread(target=put, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(contents(chat.get_all()))) == 20


async def test_a_long_history_is_written_in_parts_for_a_loop(memory: ContextMemory) -> None:
    chat = ContextChatMemory.from_defaults(memory=memory)
    said = [ChatMessage(role="user", content=f"I rode tandem {n}.") for n in range(3 * PART)]
    with failing("upsert") as sizes:
        await chat.aput_messages(said)
        await chat.aput(ChatMessage(role="user", content="I swim."))
        await chat.aset([*said, ChatMessage(role="user", content="I row.")])
    assert max(sizes) <= PART
    assert len(await chat.aget_all()) == 3 * PART + 1


async def test_agents_get_a_line_before_what_is_known(memory: ContextMemory) -> None:
    memory.add([{"role": "user", "content": "My sister Clara is a vet."}], "earlier")
    chat = ContextChatMemory.from_defaults(memory=memory, conversation_id="c1")
    lead, known = await chat.aget("What does Clara do?")
    assert lead.content == LEAD
    assert [known] == chat.get("What does Clara do?")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"memory": "./memory"}, "is not a ContextMemory"),
        ({"token_budget": 0}, "token_budget"),
        ({"history_share": 1.5}, "history_share"),
        ({"conversation_id": " "}, "conversation_id"),
    ],
)
def test_bad_arguments_are_refused(arguments: dict[str, object], message: str, memory: ContextMemory) -> None:
    with pytest.raises(ValueError, match=message):
        ContextChatMemory.from_defaults(**{"memory": memory, **arguments})  # type: ignore[arg-type]


def test_a_very_long_message_is_stored_whole_and_shown_in_part(chat: ContextChatMemory) -> None:
    long = "The report says that all is well. " * 20_000
    chat.put(user(long))
    assert contents(chat.get_all()) == [long]
    assert COUNTER.count(texts(chat.get())) <= chat.token_budget
