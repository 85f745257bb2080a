"""``ContextChatMemory``: a chat memory for LlamaIndex's engines, agents and workflows."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock
from llama_index.core.bridge.pydantic import BaseModel, Field, PrivateAttr
from llama_index.core.memory.types import BaseMemory

from llamaindex_contextmemory.address import Lease, MemoryAddress
from llamaindex_contextmemory.history import ConversationHistory
from llamaindex_contextmemory.messages import chat_message, last_user_text
from llamaindex_contextmemory.window import TOKENS_PER_MESSAGE, newest_that_fit, tokens_of
from shared_core import ContextMemory
from shared_core.arguments import at_least, conversation_of
from shared_core.asynchronous import run_in_thread
from shared_core.errors import ExtractionError
from shared_core.messages import quoted
from shared_core.tokens import TokenCounter, counter_for

__all__ = ["ContextChatMemory"]

logger = logging.getLogger(__name__)

#: No message costs less, so that more of them than this part of the budget need not be read.
LEAST_TOKENS = TOKENS_PER_MESSAGE
#: Least room in which a context says anything.
LEAST_CONTEXT_TOKENS = 16
#: Stands before what is known where a first system message may be dropped; nothing is lost with it.
LEAD = "What is known from earlier conversations follows."


class ContextChatMemory(BaseMemory):
    """Long-term memory and recent history of one conversation, within a token budget.

    ``get`` returns a system message with what is known, then the newest messages of the conversation. It
    serves any engine or agent that takes ``memory=``. It can be written down, as by ``ctx.to_dict()``, and
    goes on with the same store when it is read again.

    Example:
        >>> memory = ContextMemory("./memory", namespace="alice")
        >>> chat_memory = ContextChatMemory.from_defaults(memory=memory, conversation_id="c1")
        >>> chat_memory.put(ChatMessage(role="user", content="I moved to Berlin last week."))
        >>> chat_memory.get("Where do I live?")[0].role.value
        'system'

    Attributes:
        address: Where the memory lies.
        conversation_id: The conversation that the engine leads.
        token_budget: Most tokens of what ``get`` returns, counted for the model of the memory's settings.
        history_share: How much of it the history may use, 0 to 1; older messages are recalled by the context.
        forget_on_reset: Whether ``reset`` also erases what was said in this conversation.
    """

    address: MemoryAddress
    conversation_id: str
    token_budget: int = Field(default=3_000, ge=1)
    history_share: float = Field(default=0.5, ge=0.0, le=1.0)
    forget_on_reset: bool = False

    _memory: ContextMemory | None = PrivateAttr(default=None)
    _lease: Lease | None = PrivateAttr(default=None)
    _opening: Any = PrivateAttr(default_factory=threading.Lock)

    @classmethod
    def class_name(cls) -> str:
        """The name under which LlamaIndex writes it down."""
        return "ContextChatMemory"

    @classmethod
    def from_defaults(  # type: ignore[override]
        cls,
        *,
        memory: ContextMemory,
        conversation_id: str | int = "default",
        namespace: str | None = None,
        token_budget: int = 3_000,
        history_share: float = 0.5,
        forget_on_reset: bool = False,
        chat_history: Sequence[ChatMessage] | None = None,
    ) -> ContextChatMemory:
        """A chat memory over a core memory.

        Args:
            memory: The core memory, which stays the caller's to close.
            conversation_id: The conversation that the engine leads; a user may have many.
            namespace: The user, where it is another than that of ``memory``.
            token_budget: Most tokens of what ``get`` returns.
            history_share: How much of it the history may use, 0 to 1.
            forget_on_reset: Whether ``reset`` also erases what was said in this conversation.
            chat_history: Makes these messages the history.

        Raises:
            ValueError: If an argument is out of its range; the value is quoted.
        """
        if not isinstance(memory, ContextMemory):
            raise ValueError(
                f"memory {quoted(memory)} is not a ContextMemory: pass ContextMemory('./memory')"
            )
        owned = None if namespace in (None, memory.namespace) else memory.for_namespace(namespace)
        chat = cls(
            address=MemoryAddress.of(memory, namespace=namespace),
            conversation_id=conversation_of(conversation_id) or "default",
            token_budget=at_least(1, "token_budget", token_budget),
            history_share=history_share,
            forget_on_reset=forget_on_reset,
        )
        chat._memory = owned or memory
        chat._lease = Lease(owned) if owned else None
        if chat_history:
            chat.set(list(chat_history))
        return chat

    # -- the memory behind it ------------------------------------------------------------------------------

    @property
    def memory(self) -> ContextMemory:
        """The core memory; opened again if this object was read from where it had been written down.

        Raises:
            StoreError: If it cannot be opened, or had a Chroma client or parts that cannot be written down:
                call ``attach`` then.
        """
        with self._opening:
            if self._memory is None:
                live = self.address.live()
                if live is None or live.namespace != self.address.namespace:
                    live = self.address.open()
                    self._lease = Lease(live)
                self._memory = live
            return self._memory

    def attach(self, memory: ContextMemory) -> None:
        """Give the core memory to an object that was read from where it had been written down.

        Raises:
            ValueError: If it is the memory of another namespace.
        """
        if memory.namespace != self.address.namespace:
            raise ValueError(
                f"memory has namespace {quoted(memory.namespace)}, not {quoted(self.address.namespace)}: "
                "attach that of the same user"
            )
        self._memory, self._lease = memory, None

    def tokenizer_fn(self, text: str) -> range:
        """As many things as ``text`` has tokens; by this the engines count the messages before ours."""
        return range(self._counter().count(text))

    # -- what engines read ---------------------------------------------------------------------------------

    def get(
        self,
        input: str | ChatMessage | None = None,  # noqa: A002 - LlamaIndex's word
        initial_token_count: int = 0,
        **kwargs: Any,
    ) -> list[ChatMessage]:
        """What is known as a system message, then the newest messages, within the budget together.

        Args:
            input: The question; the last message of the user if left out.
            initial_token_count: Tokens that the engine has used already.
            **kwargs: Ignored, as the engines pass what other memories want.

        Raises:
            ValueError: If the engine has used up the budget already.
            StoreError: If the store cannot be read.
        """
        budget = self.token_budget - initial_token_count
        if budget < 1:
            raise ValueError(
                f"initial_token_count {initial_token_count} leaves nothing of the token budget of "
                f"{self.token_budget}: give ContextChatMemory a larger token_budget"
            )
        history = ConversationHistory(self.memory, self.conversation_id)
        view, counter = history.view(), self._counter()
        records = history.records(view, last=budget // LEAST_TOKENS + 1)
        said = [chat_message(record) for record in records]
        recent = newest_that_fit(
            said, token_budget=int(budget * self.history_share), at_most=budget, counter=counter
        )
        ids = [record.message_id for record in records[-len(recent) :]] if recent else []
        left = budget - TOKENS_PER_MESSAGE - sum(tokens_of(message, counter) for message in recent)
        if left < LEAST_CONTEXT_TOKENS:
            return recent
        context = self.memory.context(
            _question(input) or last_user_text(said),
            left,
            history.conversation_id(view),
            shown=[message_id for message_id in (*ids, *view.hidden) if message_id],
        )
        return [_system(context.text), *recent] if context.text else recent

    async def aget(
        self,
        input: str | ChatMessage | None = None,  # noqa: A002 - LlamaIndex's word
        **kwargs: Any,
    ) -> list[ChatMessage]:
        """``get`` in a thread, with a line before the system message: agents await this.

        ``ReActAgent`` drops a system message that stands first, so what is known must not be the first.
        """
        return await run_in_thread(self._get_for_agent, input, **kwargs)

    def _get_for_agent(
        self, asked: str | ChatMessage | None, initial_token_count: int = 0, **kwargs: Any
    ) -> list[ChatMessage]:
        lead = _system(LEAD)
        used = initial_token_count + tokens_of(lead, self._counter())
        messages = self.get(asked, used if used < self.token_budget else initial_token_count, **kwargs)
        is_led = used < self.token_budget and messages and messages[0].role == MessageRole.SYSTEM
        return [lead, *messages] if is_led else messages

    def get_all(self) -> list[ChatMessage]:
        """The whole history, oldest first, as it was put."""
        history = ConversationHistory(self.memory, self.conversation_id)
        return [chat_message(record) for record in history.records(history.view())]

    async def aget_all(self) -> list[ChatMessage]:
        """``get_all`` in a thread."""
        return await run_in_thread(self.get_all)

    # -- what engines write --------------------------------------------------------------------------------

    def put(self, message: ChatMessage) -> None:
        """Add a message to the history, and learn from it.

        Raises:
            ValueError: If it is not a ``ChatMessage``.
            StoreError: If it cannot be written.
        """
        self.put_messages([message])

    async def aput(self, message: ChatMessage) -> None:
        """``put`` in a thread, so that the event loop goes on."""
        await run_in_thread(self.put, message)

    def put_messages(self, messages: list[ChatMessage]) -> None:
        """Add messages to the history in one write, and learn from them."""
        self._learning(lambda history: history.append(messages))

    async def aput_messages(self, messages: list[ChatMessage]) -> None:
        """``put_messages`` in a thread, so that the event loop goes on."""
        await run_in_thread(self.put_messages, messages)

    def set(self, messages: list[ChatMessage]) -> None:
        """Make ``messages`` the history. Those that are stored already are not stored again.

        What left the history stays known; what was replaced in the midst of it is not recalled here.
        """
        self._learning(lambda history: history.replace(messages))

    async def aset(self, messages: list[ChatMessage]) -> None:
        """``set`` in a thread, so that the event loop goes on."""
        await run_in_thread(self.set, messages)

    def reset(self, *, forget: bool | None = None) -> None:
        """Begin the history anew; what was learnt stays known.

        Args:
            forget: Whether to erase what was said in this conversation, and what was learnt only from it;
                ``forget_on_reset`` if left out.
        """
        history = ConversationHistory(self.memory, self.conversation_id)
        history.clear(forget=self.forget_on_reset if forget is None else forget)

    async def areset(self, *, forget: bool | None = None) -> None:
        """``reset`` in a thread."""
        await run_in_thread(self.reset, forget=forget)

    # -- life ----------------------------------------------------------------------------------------------

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> ContextChatMemory:
        """A copy on the same store."""
        copied = type(self)(**{name: getattr(self, name) for name in type(self).model_fields})
        copied._memory, copied._lease = self._memory, self._lease
        return copied

    def __copy__(self) -> ContextChatMemory:
        return self.__deepcopy__()

    def __getstate__(self) -> dict[str, Any]:
        """What can be pickled: the fields, from which the memory is opened again."""
        return {**BaseModel.__getstate__(self), "__pydantic_private__": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        BaseModel.__setstate__(self, state)
        self.model_post_init(None)

    def _learning(self, write: Callable[[ConversationHistory], None]) -> None:
        """Write; an extractor that failed is logged, for the engine's answer must not be lost over it."""
        try:
            write(ConversationHistory(self.memory, self.conversation_id))
        except ExtractionError as error:
            logger.warning(
                "conversation %r: the messages are stored, and learnt from later: %s",
                self.conversation_id,
                error,
            )

    def _counter(self) -> TokenCounter:
        return counter_for(self.memory.settings.model)


def _question(asked: str | ChatMessage | None) -> str | None:
    text = (
        last_user_text([ChatMessage(role="user", blocks=asked.blocks)])
        if isinstance(asked, ChatMessage)
        else asked
    )
    return text if text and text.strip() else None


def _system(text: str) -> ChatMessage:
    return ChatMessage(role=MessageRole.SYSTEM, blocks=[TextBlock(text=text)])
