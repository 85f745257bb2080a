from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import (
    AgentMiddleware,
    HumanInTheLoopMiddleware,
    PIIMiddleware,
    SummarizationMiddleware,
)
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage, SystemMessage
from langchain_core.tools import tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, interrupt

from langchain_contextmemory.messages import from_core
from langchain_contextmemory.middleware import ContextMemoryMiddleware
from shared_core import ContextMemory, Settings
from shared_core.context.rendering import OPENING
from shared_core.errors import ExtractionError, StoreError
from shared_core.extraction.schema import Extraction, ExtractionRequest
from tests.langchain_contextmemory.chat_models import ScriptedChatModel, StreamingChatModel, call, text_in

#: Before, a task that LangGraph starts has no context of its caller: no interrupts, and no streamed models.
needs_contexts = pytest.mark.skipif(
    sys.version_info < (3, 11),
    reason="LangGraph's async nodes have interrupts and streams from Python 3.11 on",
)


@dataclass
class Who:
    user_id: Any = None


@tool
def weather(city: str) -> str:
    """The weather of a city."""
    return f"Sunny in {city}"


@tool
def ask(question: str) -> str:
    """Ask a person."""
    return str(interrupt(question))


def agent_of(
    memory: ContextMemory,
    model: ScriptedChatModel,
    *others: AgentMiddleware[Any, Any, Any],
    checkpointer: Any = None,
    system_prompt: Any = None,
    **options: Any,
) -> Any:
    return create_agent(
        model,
        [weather, ask],
        system_prompt=system_prompt,
        middleware=[*others, ContextMemoryMiddleware(memory, **options)],
        checkpointer=checkpointer,
        context_schema=Who,
    )


def thread(name: str) -> Any:
    return {"configurable": {"thread_id": name}}


def says(text: str | Sequence[BaseMessage]) -> Any:
    return {"messages": [HumanMessage(text)] if isinstance(text, str) else list(text)}


def learnt(memory: ContextMemory, conversation: str = "t", user: str = "alice") -> list[str]:
    with memory.for_namespace(user) as own:
        return [record.text for record in own.messages(conversation)]


def system_of(prompt: Sequence[BaseMessage]) -> str:
    return prompt[0].text if isinstance(prompt[0], SystemMessage) else ""


ALICE = Who("alice")


def test_what_was_told_in_one_thread_is_known_in_another(memory: ContextMemory) -> None:
    model = ScriptedChatModel()
    agent = agent_of(memory, model, checkpointer=InMemorySaver(), system_prompt="Be brief.")
    agent.invoke(says("My sister Carla lives in Porto."), thread("a"), context=ALICE)
    result = agent.invoke(says("Where does my sister live?"), thread("b"), context=ALICE)
    assert system_of(model.prompts[0]) == "Be brief."
    assert system_of(model.prompts[1]).startswith(f"Be brief.\n\n{OPENING}")
    assert "Carla lives in Porto" in system_of(model.prompts[1])
    assert OPENING not in text_in(result["messages"])  # never in the state


async def test_the_same_asynchronously(memory: ContextMemory) -> None:
    model = ScriptedChatModel()
    agent = agent_of(memory, model, checkpointer=InMemorySaver())
    await agent.ainvoke(says("My sister Carla lives in Porto."), thread("a"), context=ALICE)
    result = await agent.ainvoke(says("Where does my sister live?"), thread("b"), context=ALICE)
    assert "Carla lives in Porto" in system_of(model.prompts[1])
    assert OPENING not in text_in(result["messages"])
    assert learnt(memory, "a") == ["My sister Carla lives in Porto.", "Fine."]


def test_parts_of_the_system_message_stay_as_they_are(memory: ContextMemory) -> None:
    with memory.for_namespace("alice") as own:
        own.add([{"role": "user", "content": "My sister Carla lives in Porto."}])
    model = ScriptedChatModel()
    part = {"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}
    agent = agent_of(memory, model, system_prompt=SystemMessage([part], name="rules"))
    agent.invoke(says("Where does my sister live?"), thread("a"), context=ALICE)
    prompt = model.prompts[0][0]
    assert prompt.content[0] == part
    assert OPENING in prompt.content[1]["text"]  # type: ignore[index]
    assert prompt.name == "rules"


def test_a_tool_loop_is_learnt_once_with_its_calls(memory: ContextMemory) -> None:
    model = ScriptedChatModel(script=[call("weather", city="Paris"), "Sunny, then."])
    agent = agent_of(memory, model, checkpointer=InMemorySaver())
    for _ in range(2):
        agent.invoke(says("Weather in Paris?"), thread("t"), context=ALICE)
    assert learnt(memory) == [
        "Weather in Paris?",
        "[calls weather(city='Paris')]",
        "Sunny in Paris",
        "Sunny, then.",
        "Weather in Paris?",
        "Fine.",
    ]
    with memory.for_namespace("alice") as own:
        stored = [from_core(record) for record in own.messages("t")]
    assert stored == agent.get_state(thread("t")).values["messages"]


def test_the_context_stays_the_same_within_a_tool_loop(memory: ContextMemory) -> None:
    with memory.for_namespace("alice") as own:
        own.add([{"role": "user", "content": "I planned the weather trip to Paris."}])
    model = ScriptedChatModel(
        script=[call("weather", city="Paris"), call("weather", "2", city="Rome"), "Sunny."]
    )
    agent_of(memory, model).invoke(says("Weather of my trip?"), thread("t"), context=ALICE)
    first, second, third = map(system_of, model.prompts)
    assert OPENING in first
    assert first == second == third


def test_what_the_prompt_holds_is_not_repeated(memory: ContextMemory) -> None:
    model = ScriptedChatModel()
    agent = agent_of(memory, model, checkpointer=InMemorySaver())
    agent.invoke(says("Yesterday we saw seventeen herons by the canal."), thread("t"), context=ALICE)
    agent.invoke(says("How many herons did we see by the canal?"), thread("t"), context=ALICE)
    assert text_in(model.prompts[1]).count("seventeen herons") == 1
    agent.invoke(says("How many herons did we see by the canal?"), thread("other"), context=ALICE)
    assert "seventeen herons" in system_of(model.prompts[2])


def test_a_history_that_is_handed_in_again_is_neither_learnt_twice_nor_repeated(
    memory: ContextMemory,
) -> None:
    """Without a checkpointer each message gets a new id each time."""
    model = ScriptedChatModel()
    agent = agent_of(memory, model)
    history: list[BaseMessage] = []
    for text in (
        "We saw seventeen herons.",
        "Yes.",
        "How many herons?",
        "Yes.",
        "How many herons did we see?",
    ):
        history.append(HumanMessage(text))
        agent.invoke(says([m.model_copy() for m in history]), thread("t"), context=ALICE)
        history.append(AIMessage("Fine."))
    assert learnt(memory) == [m.text for m in history]
    assert text_in(model.prompts[-1]).count("seventeen herons") == 1


def test_an_agent_without_checkpointer_still_knows_the_thread(memory: ContextMemory) -> None:
    model = ScriptedChatModel()
    agent = agent_of(memory, model)
    agent.invoke(says("We saw seventeen herons."), thread("t"), context=ALICE)
    agent.invoke(says("And then?"), thread("t"), context=ALICE)
    assert "seventeen herons" in system_of(model.prompts[1])


def test_without_a_thread_a_namespace_is_one_conversation(memory: ContextMemory) -> None:
    agent_of(memory, ScriptedChatModel()).invoke(says("Hello there, I am new."), context=ALICE)
    assert learnt(memory, "default") == ["Hello there, I am new.", "Fine."]


@pytest.mark.parametrize("context", [None, Who(None), Who("  ")])
async def test_a_run_without_a_user_is_an_error(memory: ContextMemory, context: Any) -> None:
    agent = agent_of(memory, model := ScriptedChatModel())
    with pytest.raises(ValueError, match="'user_id' is missing or empty"):
        agent.invoke(says("Hi"), thread("t"), context=context)
    with pytest.raises(ValueError, match="'user_id' is missing or empty"):
        await agent.ainvoke(says("Hi"), thread("t"), context=context)
    assert not model.prompts
    assert list(memory.namespaces()) in ([], ["default"])


def test_a_default_namespace_and_the_configuration_are_ways_out(memory: ContextMemory) -> None:
    agent = agent_of(memory, ScriptedChatModel(), default_namespace="guests")
    agent.invoke(says("I am a guest here."), thread("t"))
    agent.invoke(says("I am Bob, hello."), {"configurable": {"thread_id": "t", "user_id": "bob"}})
    assert learnt(memory, user="guests") == ["I am a guest here.", "Fine."]
    assert learnt(memory, user="bob") == ["I am Bob, hello.", "Fine."]


def test_the_question_outlives_a_model_that_fails(memory: ContextMemory) -> None:
    model = ScriptedChatModel(script=[ConnectionError("down")])
    agent = agent_of(memory, model)
    with pytest.raises(ConnectionError):
        agent.invoke(says("I am allergic to peanuts."), thread("t"), context=ALICE)
    assert learnt(memory) == ["I am allergic to peanuts."]
    model.script.extend([call("weather", city="Paris"), ConnectionError("down")])
    with pytest.raises(ConnectionError):
        agent.invoke(says("Weather?"), thread("u"), context=ALICE)
    assert learnt(memory, "u") == ["Weather?", "[calls weather(city='Paris')]", "Sunny in Paris"]


async def test_the_question_outlives_a_run_that_is_cancelled(memory: ContextMemory) -> None:
    agent = agent_of(memory, ScriptedChatModel(delay_seconds=30))
    with pytest.raises(asyncio.TimeoutError):
        await asyncio.wait_for(agent.ainvoke(says("I am allergic to nuts."), thread("t"), context=ALICE), 1.0)
    assert learnt(memory) == ["I am allergic to nuts."]


@pytest.mark.parametrize("resume", [True, False])
def test_an_interrupt_loses_nothing(memory: ContextMemory, resume: bool) -> None:
    model = ScriptedChatModel(script=[call("ask", question="Which day?"), "Booked."])
    agent = agent_of(memory, model, checkpointer=InMemorySaver())
    assert "__interrupt__" in agent.invoke(says("Book a table, I eat no nuts."), thread("t"), context=ALICE)
    assert learnt(memory) == ["Book a table, I eat no nuts."]
    if resume:
        agent.invoke(Command(resume="Friday"), thread("t"), context=ALICE)
        assert learnt(memory)[1:] == ["[calls ask(question='Which day?')]", "Friday", "Booked."]


@needs_contexts
async def test_a_call_that_a_person_edits_is_learnt_as_the_thread_tells_it(memory: ContextMemory) -> None:
    model = ScriptedChatModel(script=[call("weather", city="Paris"), "Sunny."])
    approval = HumanInTheLoopMiddleware(interrupt_on={"weather": True})
    agent = agent_of(memory, model, approval, checkpointer=InMemorySaver())
    await agent.ainvoke(says("Weather?"), thread("t"), context=ALICE)
    edit = {"type": "edit", "edited_action": {"name": "weather", "args": {"city": "Rome"}}}
    await agent.ainvoke(Command(resume={"decisions": [edit]}), thread("t"), context=ALICE)
    with memory.for_namespace("alice") as own:
        stored = [from_core(record) for record in own.messages("t")]
    assert stored == agent.get_state(thread("t")).values["messages"]
    assert "Sunny in Rome" in stored[2].text


@pytest.mark.parametrize("first", [True, False])
def test_what_another_middleware_redacts_never_reaches_the_memory(memory: ContextMemory, first: bool) -> None:
    ours, redacting = ContextMemoryMiddleware(memory), PIIMiddleware("email", strategy="redact")
    agent = create_agent(
        ScriptedChatModel(),
        middleware=[ours, redacting] if first else [redacting, ours],
        context_schema=Who,
    )
    agent.invoke(says("Write to carla@example.com please."), thread("t"), context=ALICE)
    assert learnt(memory) == ["Write to [REDACTED_EMAIL] please.", "Fine."]


def test_a_message_edited_after_it_was_learnt_stays_as_it_was(memory: ContextMemory) -> None:
    agent = agent_of(memory, ScriptedChatModel(), checkpointer=InMemorySaver(), raise_errors=True)
    agent.invoke(says([HumanMessage("I live in Berlin.", id="h")]), thread("t"), context=ALICE)
    agent.invoke(
        says([HumanMessage("I live in Rome.", id="h"), HumanMessage("Hm?")]), thread("t"), context=ALICE
    )
    assert learnt(memory) == ["I live in Berlin.", "Fine.", "Hm?", "Fine."]


def test_summaries_of_another_middleware_are_not_learnt_and_lose_nothing(memory: ContextMemory) -> None:
    model = ScriptedChatModel()
    shortening = SummarizationMiddleware(
        ScriptedChatModel(answer="They talked."), trigger=("messages", 4), keep=("messages", 2)
    )
    agent = agent_of(memory, model, shortening, checkpointer=InMemorySaver())
    texts = [f"Fact number {number}: heron {number} flew." for number in range(6)]
    for text in texts:
        agent.invoke(says(text), thread("t"), context=ALICE)
    assert [text for text in learnt(memory) if text != "Fine."] == texts
    assert "heron 0 flew" not in text_in(model.prompts[-1][1:])
    assert "heron 0 flew" in system_of(model.prompts[-1])  # no longer in the thread, so the memory tells


def test_a_system_message_in_the_state_and_our_own_context_are_not_learnt(memory: ContextMemory) -> None:
    agent = agent_of(memory, ScriptedChatModel())
    pasted = f"{OPENING}\n- [2026-01-01] User: I own a boat.\n[/memory]"
    said = [SystemMessage("Be brief."), HumanMessage(pasted), HumanMessage(f"{pasted}\nWhat is this?")]
    agent.invoke(says(said), thread("t"), context=ALICE)
    assert learnt(memory) == ["What is this?", "Fine."]


def test_a_message_without_text_asks_nothing_and_is_learnt(memory: ContextMemory) -> None:
    agent = agent_of(memory, ScriptedChatModel(), raise_errors=True)
    image = {"type": "image", "base64": "aGk=", "mime_type": "image/png"}
    agent.invoke(says([HumanMessage([image])]), thread("t"), context=ALICE)
    assert learnt(memory) == ["[image]", "Fine."]


def test_streaming(memory: ContextMemory) -> None:
    model = StreamingChatModel(script=[call("weather", city="Paris"), "Sunny it is."])
    agent = agent_of(memory, model, checkpointer=InMemorySaver())
    streamed = list(agent.stream(says("Weather?"), thread("t"), context=ALICE, stream_mode="messages"))
    assert OPENING not in "".join(message.text for message, _ in streamed)
    assert learnt(memory) == ["Weather?", "[calls weather(city='Paris')]", "Sunny in Paris", "Sunny it is. "]


@needs_contexts
async def test_streaming_asynchronously(memory: ContextMemory) -> None:
    agent = agent_of(memory, StreamingChatModel(), checkpointer=InMemorySaver())
    modes = ["values", "messages", "updates"]
    events = [e async for e in agent.astream(says("Weather?"), thread("t"), context=ALICE, stream_mode=modes)]
    assert OPENING not in repr(events)
    assert learnt(memory) == ["Weather?", "Fine. "]


def test_two_of_them_with_names(memory: ContextMemory) -> None:
    shared = ContextMemoryMiddleware(memory, "team", name="team-memory", default_namespace="team")
    model = ScriptedChatModel()
    with memory.for_namespace("team") as team:
        team.add([{"role": "user", "content": "The office plant is called Fred."}])
    agent = agent_of(memory, model, shared, checkpointer=InMemorySaver())
    agent.invoke(says("My own plant is called Ginger."), thread("a"), context=ALICE)
    agent.invoke(says("What are the plants called?"), thread("b"), context=ALICE)
    assert "Fred" in system_of(model.prompts[1])
    assert "Ginger" in system_of(model.prompts[1])


def test_two_without_names_are_refused_by_langchain(memory: ContextMemory) -> None:
    with pytest.raises(AssertionError, match="duplicate"):
        agent_of(memory, ScriptedChatModel(), ContextMemoryMiddleware(memory))


class FailingExtractor:
    name = "failing"
    is_slow = True

    def extract(self, request: ExtractionRequest) -> Extraction:
        raise ExtractionError("no model today")


@pytest.mark.parametrize("is_async", [True, False])
async def test_a_failure_to_remember_breaks_no_answer(
    tmp_path: Any, caplog: pytest.LogCaptureFixture, is_async: bool
) -> None:
    with ContextMemory(tmp_path, extractor=FailingExtractor(), settings=Settings()) as memory:
        ours = ContextMemoryMiddleware(memory)
        agent = create_agent(ScriptedChatModel(), middleware=[ours], context_schema=Who)
        with caplog.at_level(logging.WARNING):
            if is_async:
                result = await agent.ainvoke(says("I live in Berlin."), thread("t"), context=ALICE)
            else:
                result = agent.invoke(says("I live in Berlin."), thread("t"), context=ALICE)
        assert result["messages"][-1].text == "Fine."
        assert (ours.failures.recalling, ours.failures.learning, ours.failures.total) == (0, 2, 2)
        assert isinstance(ours.failures.last_error, ExtractionError)
        assert "no model today" in caplog.text
        assert learnt(memory) == ["I live in Berlin.", "Fine."]


def test_a_failure_to_recall_breaks_no_answer(memory: ContextMemory) -> None:
    ours = ContextMemoryMiddleware(memory)
    agent = create_agent(ScriptedChatModel(), middleware=[ours], context_schema=Who)
    memory.close()
    assert agent.invoke(says("Hi there."), thread("t"), context=ALICE)["messages"][-1].text == "Fine."
    assert (ours.failures.recalling, ours.failures.learning) == (1, 2)


async def test_failures_are_raised_on_request(memory: ContextMemory) -> None:
    agent = agent_of(memory, ScriptedChatModel(), raise_errors=True)
    memory.close()
    with pytest.raises(StoreError, match="closed"):
        agent.invoke(says("Hi there."), thread("t"), context=ALICE)
    with pytest.raises(StoreError, match="closed"):
        await agent.ainvoke(says("Hi there."), thread("t"), context=ALICE)


async def test_fifty_users_at_once_never_see_each_other(memory: ContextMemory) -> None:
    model = ScriptedChatModel(delay_seconds=0.01)
    agent = agent_of(memory, model, checkpointer=InMemorySaver())
    users = [f"user{number}" for number in range(50)]
    for text in ("My secret word is secret-{}.", "What is my secret word?"):
        await asyncio.gather(
            *(
                agent.ainvoke(says(text.format(f"{user}-end")), thread(f"{text} {user}"), context=Who(user))
                for user in users
            )
        )
    recalled = [prompt for prompt in model.prompts if "What is my" in text_in(prompt)]
    seen = [{user for user in users if f"{user}-end" in text_in(prompt)} for prompt in recalled]
    assert sorted(map(sorted, seen)) == sorted([user] for user in users)


class SlowExtractor:
    name = "slow"
    is_slow = True

    def extract(self, request: ExtractionRequest) -> Extraction:
        time.sleep(1.0)
        return Extraction()


async def test_the_event_loop_goes_on_meanwhile(tmp_path: Any) -> None:
    slowest, done = 0.0, asyncio.Event()

    async def watch() -> None:
        nonlocal slowest
        while not done.is_set():
            start = time.perf_counter()
            await asyncio.sleep(0.001)
            slowest = max(slowest, time.perf_counter() - start)

    with ContextMemory(tmp_path, extractor=SlowExtractor()) as memory:
        agent = agent_of(memory, ScriptedChatModel())
        watcher, start = asyncio.create_task(watch()), time.perf_counter()
        await agent.ainvoke(says("A heron landed in the park."), thread("t"), context=ALICE)
        took = time.perf_counter() - start
        done.set()
        await watcher
        assert len(learnt(memory)) == 2
    assert took > 2.0  # the question, then the answer
    assert slowest < 0.9  # neither of them on the event loop


def test_tools_of_the_middleware_work_on_the_user_of_the_run(memory: ContextMemory) -> None:
    model = ScriptedChatModel(
        script=[call("remember", text="User is allergic to nuts", category="health"), "Noted."]
    )
    agent = agent_of(memory, model, tools=True, checkpointer=InMemorySaver())
    agent.invoke(says("Mind the nuts."), thread("t"), context=ALICE)
    with memory.for_namespace("alice") as own:
        assert [fact.text for fact in own.list(kind="fact")] == ["User is allergic to nuts"]
    assert learnt(memory) == ["Mind the nuts.", "Noted."]
    assert "allergic" not in system_of(model.prompts[0])
    assert "allergic" in system_of(model.prompts[1])  # a changed memory is read again


def test_what_is_forgotten_leaves_the_prompt_at_once(memory: ContextMemory) -> None:
    with memory.for_namespace("alice") as own:
        fact = own.remember("User is allergic to nuts")
    model = ScriptedChatModel(script=[call("forget", memory_ids=[fact.id]), "Gone."])
    agent_of(memory, model, tools=True).invoke(says("Am I allergic? Forget it."), thread("t"), context=ALICE)
    assert ["allergic to nuts" in system_of(prompt) for prompt in model.prompts] == [True, False]


def test_a_call_of_our_tools_with_wrong_arguments_is_not_learnt(memory: ContextMemory) -> None:
    model = ScriptedChatModel(script=[call("remember", statement="x"), "Hm."])
    agent_of(memory, model, tools=True).invoke(says("Remember my dog."), thread("t"), context=ALICE)
    assert "That did not work: text: Field required" in text_in(model.prompts[1])
    assert learnt(memory) == ["Remember my dog.", "Hm."]


def test_messages_removed_from_the_state_stay_in_the_memory(memory: ContextMemory) -> None:
    agent = agent_of(memory, ScriptedChatModel(), checkpointer=InMemorySaver())
    agent.invoke(says([HumanMessage("We saw herons.", id="h")]), thread("t"), context=ALICE)
    agent.update_state(thread("t"), {"messages": [RemoveMessage("h")]})
    agent.invoke(says("Yes."), thread("t"), context=ALICE)
    agent.invoke(says("Yes."), thread("t"), context=ALICE)
    assert learnt(memory) == ["We saw herons.", "Fine.", "Yes.", "Fine.", "Yes.", "Fine."]


@pytest.mark.parametrize(
    "wrong",
    [
        {"memory": "./memory"},
        {"namespace_field": ""},
        {"token_budget": 0},
        {"token_budget": True},
        {"token_budget": "many"},
        {"default_namespace": ""},
        {"rendering": "html"},
    ],
)
def test_wrong_arguments_are_quoted(memory: ContextMemory, wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        ContextMemoryMiddleware(**{"memory": memory, **wrong})
