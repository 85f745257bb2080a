"""No name, id, adapter, export or error of one namespace shows what another holds."""

from __future__ import annotations

import asyncio
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage, SystemMessage
from langchain_core.runnables import RunnableConfig
from llama_index.core.base.llms.types import ChatMessage

from langchain_contextmemory import (
    ContextMemoryChatHistory,
    ContextMemoryMiddleware,
    ContextMemoryRetriever,
    ContextMemoryStore,
)
from langchain_contextmemory.tools import memory_tools
from llamaindex_contextmemory import ContextChatMemory, ContextMemoryBlock, ContextMemoryToolSpec
from llamaindex_contextmemory import ContextMemoryRetriever as LlamaIndexRetriever
from shared_core import ContextMemory
from shared_core.errors import ContextMemoryError
from shared_core.stores.chroma import NAMESPACE_LENGTH, collection_name
from shared_core.transfer.export import export_records
from tests.shared_core.building import NotesExtractor, said
from tests.test_two_frameworks import PromptReader

LOOK_ALIKES = [
    *("a/b", "a_b", "a.b", "a b", "a\\b", "A/B", "ab", "a", "A", "Ａ", "а", " a", "a ", "a\u200b", "\ufeffa"),
    *(
        unicodedata.normalize("NFC", "é"),
        unicodedata.normalize("NFD", "é"),
        "ﬁ",
        "fi",
        "ı",
        "i",
        "I",
        "ß",
        "ss",
    ),
    *("..", "../a", "%61", "a\x00", "a\n", "a;drop", "*", "$ne", '{"$ne": ""}', "null", "None", "0", "00"),
    *("\u202ea", "default", "x" * NAMESPACE_LENGTH, "x" * (NAMESPACE_LENGTH - 1) + "y"),
    *("contextmemory-" + "0" * 48, "👩\u200d👩\u200d👧", "👩👩👧"),
]
#: Those that are written and read in turn: whatever differs only in case, form, space or an invisible sign.
MET = LOOK_ALIKES[:24:3] + LOOK_ALIKES[15:17] + ["a\x00", "\u202ea", "x" * NAMESPACE_LENGTH]
REFUSED = ["", " ", "\t\n", "\u3000", "x" * (NAMESPACE_LENGTH + 1), "a\ud800", None, 7, b"a", ["a"]]

names = st.one_of(
    st.sampled_from(LOOK_ALIKES), st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
).filter(lambda name: bool(name.strip()))


def secret_of(number: int) -> str:
    """A word that only one namespace holds."""
    return f"zebra{number}quartz"


@contextmanager
def filled(memory: ContextMemory, wanted: Sequence[str]) -> Iterator[list[ContextMemory]]:
    """A memory for each name, each with a word of its own, under the same ids."""
    with ExitStack() as stack:
        opened = [stack.enter_context(memory.for_namespace(name)) for name in wanted]
        for number, one in enumerate(opened):
            word = secret_of(number)
            one.add(said(f"fact: My word is {word}", "m1", name=f"Ada {word}", metadata={"w": word}), "c")
            one.relate(f"Ada {word}", "owns", word)
        yield opened


def everything(memory: ContextMemory) -> str:
    """All that a namespace's own API gives."""
    shown: list[Any] = [memory, memory.list(limit=1_000), memory.messages("c"), list(export_records(memory))]
    shown += [memory.search("What is my word?", limit=50), memory.context("word", 2_000, "c").text]
    shown += [memory.get("m1"), memory.history("m1"), memory.working_memory(), memory.maintain()]
    shown += [str(memory.graph())]
    return "\n".join(map(repr, shown))


def foreign(text: str, own: int, count: int) -> list[str]:
    """The words of others that stand in ``text``."""
    return [secret_of(other) for other in range(count) if other != own and secret_of(other) in text]


# -- names -----------------------------------------------------------------------------------------------


def test_look_alikes_are_collections_of_their_own() -> None:
    assert len({collection_name(name) for name in LOOK_ALIKES}) == len(LOOK_ALIKES)


@given(names, names)
def test_two_names_share_a_collection_only_if_they_are_the_same(one: str, other: str) -> None:
    assert (collection_name(one) == collection_name(other)) == (one == other)
    assert collection_name(one) != collection_name(other, "items")


@pytest.mark.parametrize("name", REFUSED, ids=lambda name: repr(name)[:20])
def test_a_name_that_cannot_be_one_is_refused(tmp_path: Path, name: Any) -> None:
    with ContextMemory(tmp_path) as memory, pytest.raises(ValueError, match="namespace"):
        memory.for_namespace(name)


def test_look_alikes_never_meet(tmp_path: Path) -> None:
    with ContextMemory(tmp_path, "root", extractor=NotesExtractor()) as memory:
        wanted = list(dict.fromkeys(MET))
        with filled(memory, wanted) as opened:
            for number, one in enumerate(opened):
                text = everything(one)
                assert secret_of(number) in text
                assert foreign(text, number, len(opened)) == []
        assert everything(memory).count("zebra") == 0
        assert set(memory.namespaces()) == set(wanted)


@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(names, min_size=2, max_size=3, unique=True), st.data())
def test_hostile_names_and_ids_never_meet(tmp_path: Path, wanted: list[str], data: st.DataObject) -> None:
    ids = st.one_of(st.sampled_from(LOOK_ALIKES[:36]), st.text(min_size=1, max_size=20))
    with (
        ContextMemory(tmp_path, "root", extractor=NotesExtractor()) as memory,
        filled(memory, wanted) as opened,
    ):
        for number, one in enumerate(opened):
            asked = data.draw(ids)
            actions: list[Callable[[str], object]]
            actions = [one.get, one.history, one.messages, one.delete, one.release]
            for action in actions:
                try:
                    answer = repr(action(asked))
                except ValueError as error:
                    answer = str(error)
                assert foreign(answer, number, len(opened)) == []
            with suppress(ValueError):
                one.erase(message_id=asked, conversation_id=data.draw(ids))
            assert foreign(everything(one), number, len(opened)) == []
        for one in opened:
            one.erase(everything=True)


def test_deleting_and_erasing_one_leaves_the_rest(tmp_path: Path) -> None:
    wanted = ["a/b", "a_b", "A/B", "é", "e\u0301"]
    with (
        ContextMemory(tmp_path, "root", extractor=NotesExtractor()) as memory,
        filled(memory, wanted) as opened,
    ):
        before = [list(export_records(one)) for one in opened]
        assert opened[0].delete("m1")
        opened[1].erase(conversation_id="c")
        opened[2].erase(everything=True)
        for one, lines in zip(opened[3:], before[3:], strict=True):
            one.opened().drop_index()
            assert list(export_records(one)) == lines
        assert opened[2].list() == []


def test_an_error_of_one_shows_no_text_of_another(tmp_path: Path) -> None:
    with (
        ContextMemory(tmp_path, extractor=NotesExtractor()) as memory,
        filled(memory, ["one", "two"]) as opened,
    ):
        errors = []
        wrongs: list[Callable[[ContextMemory], object]] = [
            lambda m: m.add(said("another text", "m1"), "c"),
            lambda m: m.update("fact-unknown", "x"),
            lambda m: m.update("m1", "x"),
            lambda m: m.focus("unknown"),
            lambda m: m.search(""),
            lambda m: m.list(kind="nonsense"),  # type: ignore[arg-type]
        ]
        for wrong in wrongs:
            for number, one in enumerate(opened):
                with pytest.raises((ValueError, ContextMemoryError)) as raised:
                    wrong(one)
                errors.append(str(raised.value))
                assert foreign(errors[-1], number, 2) == []
        assert len(errors) == 12


# -- adapters --------------------------------------------------------------------------------------------

USERS = [f"user {number}" for number in range(4)]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[ContextMemory]:
    with ContextMemory(tmp_path, "root", extractor=NotesExtractor()) as opened:
        yield opened


def at_once(work: Any) -> list[str]:
    """What ``work`` gives for each user, all at the same time."""
    with ThreadPoolExecutor(len(USERS)) as pool:
        return list(pool.map(work, range(len(USERS))))


def test_one_middleware_keeps_its_users_apart(memory: ContextMemory) -> None:
    prompts: list[tuple[int, str]] = []

    class Recorder(PromptReader):
        def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
            system = "\n".join(str(m.content) for m in messages if isinstance(m, SystemMessage))
            number = next(n for n in range(len(USERS)) if f"I am {n}" in str(messages[-1].content))
            prompts.append((number, system))
            return super()._generate(messages, *args, **kwargs)

    with filled(memory, USERS):
        middleware: Any = ContextMemoryMiddleware(memory, raise_errors=True)
        agent: Any = create_agent(Recorder(), middleware=[middleware])

        def ask(number: int) -> str:
            config = {"configurable": {"user_id": USERS[number], "thread_id": "same"}}
            question = HumanMessage(f"I am {number}, what is my word?", id="same")
            for _ in range(3):
                agent.invoke({"messages": [question]}, config=config)
            return ""

        at_once(ask)
    assert len(prompts) == 3 * len(USERS)
    for number, prompt in prompts:
        assert secret_of(number) in prompt
        assert foreign(prompt, number, len(USERS)) == []
    with pytest.raises(ValueError, match="no memory without a user"):
        agent.invoke({"messages": [HumanMessage("word")]}, config={"configurable": {"thread_id": "same"}})


def test_the_tools_of_langchain_keep_their_users_apart(memory: ContextMemory) -> None:
    with filled(memory, USERS):
        tools = {tool.name: tool for tool in memory_tools(memory)}

        def use(number: int) -> str:
            config: RunnableConfig = {"configurable": {"user_id": USERS[number]}}
            said_ = [tools["recall"].invoke({"query": "What is my word?"}, config=config)]
            said_ += [tools["forget"].invoke({"memory_ids": ["m1", "unknown"]}, config=config)]
            said_ += [tools["recall"].invoke({"query": "word"}, config=config)]
            return "\n".join(map(str, said_))

        answers = at_once(use)
        for number, answer in enumerate(answers):
            assert secret_of(number) in answer
            assert foreign(answer, number, len(USERS)) == []
        with pytest.raises(ValueError, match="no memory without a user"):
            tools["recall"].invoke({"query": "word"})


def test_what_is_bound_to_one_namespace_shows_no_other(memory: ContextMemory) -> None:
    with filled(memory, USERS) as opened:

        def use(number: int) -> str:
            own = opened[number]
            spec = ContextMemoryToolSpec(own)
            shown: list[Any] = [spec.recall("What is my word?"), spec.forget("unknown")]
            shown += [ContextMemoryRetriever(memory=own, k=20).invoke("What is my word?")]
            shown += [LlamaIndexRetriever(own, similarity_top_k=20).retrieve("What is my word?")]
            history = ContextMemoryChatHistory(own, conversation_id="c")
            shown += [history.messages]
            chat = ContextChatMemory.from_defaults(
                memory=memory, namespace=USERS[number], conversation_id="c"
            )
            shown += [chat.get("What is my word?"), chat.get_all(), chat.model_dump_json(), repr(chat)]
            return repr(shown)

        for number, shown in enumerate(at_once(use)):
            assert secret_of(number) in shown
            assert foreign(shown, number, len(USERS)) == []


async def test_one_block_of_llama_index_keeps_its_users_apart(memory: ContextMemory) -> None:
    with filled(memory, USERS):
        block = ContextMemoryBlock(memory=memory, namespace_from=lambda session: session.split(":")[0])

        async def use(number: int) -> str:
            session = f"{USERS[number]}:s1"
            message = ChatMessage(role="user", content=f"fact: I, too, say {secret_of(number)}")
            await block.aput([message], session_id=session)
            return str(await block.aget([ChatMessage(role="user", content="my word?")], session_id=session))

        for _ in range(3):
            shown = await asyncio.gather(*(use(number) for number in range(len(USERS))))
            for number, text in enumerate(shown):
                assert secret_of(number) in text
                assert foreign(text, number, len(USERS)) == []


def test_the_stores_of_two_memories_and_their_users_never_meet(memory: ContextMemory) -> None:
    with memory.for_namespace("one") as one, memory.for_namespace("two") as two:
        stores = [ContextMemoryStore(one), ContextMemoryStore(two)]
        for number, store in enumerate(stores):
            for user in ("ada", "adam", "ad"):
                store.put(("users", user), "word", {"text": f"{user} says {secret_of(number)} to {user}"})
        for number, store in enumerate(stores):
            shown = repr([store.search(()), store.search(("users",), query="word"), store.list_namespaces()])
            assert foreign(shown, number, 2) == []
            for user in ("ada", "adam", "ad"):
                found = store.search(("users", user), query="word")
                assert [item.namespace for item in found] == [("users", user)]
            assert store.search(("users", "a")) == []
        assert not one.search("word")
