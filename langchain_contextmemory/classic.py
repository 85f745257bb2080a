"""``ClassicContextMemory``: the memory of a classic chain, for existing code on ``langchain-classic``."""

# No postponed annotations: pydantic reads those of the fields when the class is made.
import logging
from collections.abc import Mapping
from typing import Any

from langchain_classic.base_memory import BaseMemory
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage
from pydantic import ConfigDict, PrivateAttr, field_validator

from langchain_contextmemory.messages import text_of, to_core
from shared_core.arguments import at_least, conversation_of
from shared_core.context.assembly import TITLES, Context
from shared_core.context.rendering import CLOSING, LAYOUTS, OPENING
from shared_core.errors import ContextMemoryError
from shared_core.memory import DEFAULT_CONVERSATION, ContextMemory
from shared_core.messages import quoted
from shared_core.tokens import counter_for

__all__ = ["ClassicContextMemory"]

logger = logging.getLogger(__name__)

#: What a chain takes as input beside the prompt's variables.
_NOT_AN_INPUT = "stop"
_HUMAN, _AI = "Human", "AI"
_USUAL_OUTPUT = "output"
_RECENT = TITLES["recent"]
_LAYOUT = LAYOUTS["markdown"]
_LANGCHAIN: dict[str | None, type[BaseMessage]] = {"user": HumanMessage, "assistant": AIMessage}


class ClassicContextMemory(BaseMemory):
    """Gives a classic chain what the memory holds on its input, and learns from what was said.

    For ``ConversationChain``, ``LLMChain``, ``ConversationalRetrievalChain``, ``AgentExecutor`` and every
    other ``Chain``. LangChain removes those in 2.0.0: new code takes ``ContextMemoryMiddleware``.

    Example:
        >>> from shared_core import ContextMemory
        >>> classic = ClassicContextMemory(memory=ContextMemory("./memory"))  # doctest: +SKIP
        >>> chain = ConversationChain(llm=llm, memory=classic)  # doctest: +SKIP

    Attributes:
        memory: What remembers.
        memory_key: The variable of the prompt that gets it.
        input_key: Which input was said by the user; needed only where there are several.
        output_key: Which output was answered; needed only where there are several and none is ``output``.
        return_messages: False gives one text; True, for a ``MessagesPlaceholder``, gives messages: a system
            message with what is known, then the latest of what user and assistant said in the conversation.
        token_budget: Most tokens of what is given, at least 1.
        conversation_id: The conversation that is added to; what was learnt in others is found too.
        human_prefix, ai_prefix: The names of the two speakers, stored with what they say; the usual ``Human``
            and ``AI`` are no names.
        model: The model to count tokens for; that of the memory's settings if left out.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, extra="forbid")

    memory: ContextMemory
    memory_key: str = "history"
    input_key: str | None = None
    output_key: str | None = None
    return_messages: bool = False
    token_budget: int = 2_000
    conversation_id: str = DEFAULT_CONVERSATION
    human_prefix: str = _HUMAN
    ai_prefix: str = _AI
    model: str | None = None

    _failures: int = PrivateAttr(default=0)

    @field_validator("token_budget", mode="before")
    @classmethod
    def _at_least_one(cls, value: Any) -> int:
        return at_least(1, "token_budget", value)

    @field_validator("conversation_id", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> str:
        return conversation_of(value) or DEFAULT_CONVERSATION

    @property
    def memory_variables(self) -> list[str]:
        """The one variable that it fills."""
        return [self.memory_key]

    @property
    def failures(self) -> int:
        """How often what was said could not be remembered; each time was logged."""
        return self._failures

    def load_memory_variables(self, inputs: dict[str, Any]) -> dict[str, Any]:
        """What the memory holds on the input, under ``memory_key``, within the token budget.

        Without an input, only what needs no question: core memory, the conversation's summary and its latest
        messages.

        Raises:
            ValueError: If there are several inputs and no ``input_key``, or none of that name: here, before
                the model is asked, rather than after its answer.
        """
        said = self._input_of(inputs) if self._candidates(inputs) else ""
        question = text_of(HumanMessage(content=said)) if said.strip() else None
        context = self.memory.context(question, self.token_budget, self.conversation_id, model=self.model)
        return {self.memory_key: self._messages_of(context) if self.return_messages else context.text}

    def save_context(self, inputs: dict[str, Any], outputs: dict[str, Any]) -> None:
        """Remember the input and the output of one run, and nothing else of it.

        A failure to write is logged and counted in ``failures``: raised, it would cost the chain its answer.

        Raises:
            ValueError: If it cannot tell which input or output to remember.
        """
        asked, answered = self._input_of(inputs), self._output_of(outputs)
        exchange = [
            HumanMessage(content=asked, name=_name_or_none(self.human_prefix, _HUMAN)),
            AIMessage(content=answered, name=_name_or_none(self.ai_prefix, _AI)),
        ]
        try:
            spoken = [to_core(message) for message in exchange if str(message.content).strip()]
            self.memory.add(spoken, self.conversation_id)
        except (ContextMemoryError, ValueError):  # the answer matters more than that it is remembered
            self._failures += 1
            logger.exception("conversation %s: an exchange was not remembered", quoted(self.conversation_id))

    def clear(self) -> None:
        """Erase the conversation and what was learnt from it alone; other conversations stay."""
        self.memory.erase(conversation_id=self.conversation_id)

    def _candidates(self, inputs: Mapping[str, Any]) -> list[str]:
        """The inputs that may be what the user said."""
        return sorted(set(inputs) - {self.memory_key, _NOT_AN_INPUT})

    def _input_of(self, inputs: Mapping[str, Any]) -> str:
        names = self._candidates(inputs)
        if self.input_key is not None:
            if self.input_key not in inputs:
                raise ValueError(f"input_key {quoted(self.input_key)} is none of the inputs {quoted(names)}")
            return _text_of(inputs[self.input_key])
        if len(names) != 1:
            raise ValueError(f"the inputs are {quoted(names)}: say with input_key=… which the user said")
        return _text_of(inputs[names[0]])

    def _output_of(self, outputs: Mapping[str, Any]) -> str:
        key = self.output_key
        if key is None:
            key = next(iter(outputs)) if len(outputs) == 1 else _USUAL_OUTPUT
        if key not in outputs:
            raise ValueError(
                f"output_key {quoted(self.output_key)} names none of the outputs {quoted(sorted(outputs))}: "
                "say with output_key=… which of them is the answer"
            )
        return _text_of(outputs[key])

    def _messages_of(self, context: Context) -> list[BaseMessage]:
        """A context as messages: what is known as one of the system, then the latest as themselves."""
        recent = next((block for block in context.blocks if block.title == _RECENT), None)
        text, latest = context.text, list[BaseMessage]()
        if recent is not None:
            others = [block.text for block in context.blocks if block is not recent]
            text = f"{OPENING}\n{_LAYOUT.gap.join(others)}\n{CLOSING}" if others else ""
            latest = self._latest(frozenset(recent.source_ids))
        known: list[BaseMessage] = [SystemMessage(content=text)] if text else []
        # A message as it was said may be longer than its line in the context.
        counter = counter_for(self.model or self.memory.settings.model)
        while latest and counter.count(_joined([*known, *latest])) > self.token_budget:
            del latest[0]
        return [*known, *latest]

    def _latest(self, message_ids: frozenset[str]) -> list[BaseMessage]:
        held = self.memory.messages(self.conversation_id, last=self.memory.settings.buffer_messages)
        said = [record for record in held if record.message_id in message_ids]
        return [_LANGCHAIN[record.role](content=record.text) for record in said if record.role in _LANGCHAIN]


def _joined(messages: list[BaseMessage]) -> str:
    return "\n".join(str(message.content) for message in messages)


def _name_or_none(prefix: str, usual: str) -> str | None:
    return prefix if prefix.strip() and prefix != usual else None


def _text_of(value: Any) -> str:
    """What a chain calls an input or output, as text: of messages the last one's."""
    if isinstance(value, BaseMessage):
        return str(value.text)
    if isinstance(value, list) and value and all(isinstance(one, BaseMessage) for one in value):
        return str(value[-1].text)
    return value if isinstance(value, str) else str(value)
