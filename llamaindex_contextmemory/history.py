"""The history of a conversation as an engine sees it, kept in the store.

An engine may clear its history or replace it, and what was said must stay known all the same. So the
messages stay, and a record says which of them are the history: one archived core block for a conversation,
which no search and no context ever shows. Where the history was never cleared or replaced, there is none.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from llama_index.core.base.llms.types import ChatMessage
from pydantic import BaseModel, ConfigDict

from llamaindex_contextmemory.messages import core_message, identity
from shared_core import ContextMemory
from shared_core.errors import ExtractionError
from shared_core.ids import message_record_id, record_id
from shared_core.records import Memory
from shared_core.stores.base import Change
from shared_core.times import utc_now

TITLE = "llama-index history"


class View(BaseModel):
    """Which messages of a conversation are its history.

    Attributes:
        conversation_id: Where they stand in the core; None for under the conversation's own name. A history
            that begins anew gets another one, so that buffer and summary begin anew too.
        earlier: Where those stand that were cleared.
        kept: Record ids of messages that stand first, in their order.
        after: The turn after which all messages follow.
        hidden: Ids of messages that were replaced: not shown, and not recalled in this conversation.
    """

    model_config = ConfigDict(frozen=True)

    conversation_id: str | None = None
    earlier: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()
    after: int = -1
    hidden: tuple[str, ...] = ()


@dataclass(frozen=True)
class ConversationHistory:
    """The messages of one conversation of ``memory``, oldest first, without those that were cleared."""

    memory: ContextMemory
    name: str

    def view(self) -> View:
        """Which messages are the history now."""
        record = self.memory.get(self._record_id)
        return View() if record is None else View.model_validate(record.metadata)

    def conversation_id(self, view: View) -> str:
        """The conversation of the core that holds them."""
        return view.conversation_id or self.name

    def records(self, view: View, *, last: int | None = None) -> Sequence[Memory]:
        """The newest ``last`` messages, or all."""
        said = self.memory.messages(self.conversation_id(view), last=last)
        following = [record for record in said if (record.turn or 0) > view.after]
        if len(following) < len(said) or last is None or len(said) < last:
            kept = (self.memory.get(memory_id) for memory_id in view.kept)
            following = [*(record for record in kept if record is not None), *following]
        return following if last is None else following[-last:]

    def append(self, messages: Sequence[ChatMessage]) -> None:
        """Add messages at the end, and learn from them.

        Raises:
            ExtractionError: If the extractor failed; the messages are stored, and learnt from later.
        """
        converted = [core_message(message) for message in messages]
        if converted:
            self.memory.add(converted, self.conversation_id(self.view()))

    def clear(self, *, forget: bool) -> None:
        """Begin anew.

        Args:
            forget: Whether to erase the messages too, and what was learnt only from them.
        """
        namespace = self.memory.opened()
        with namespace.alone():  # another process may put, clear and replace at the same time
            view = self.view()
            current = self.conversation_id(view)
            if forget:
                for conversation in (*view.earlier, current):
                    self.memory.erase(conversation_id=conversation)
                self.memory.delete(self._record_id)
            elif self.memory.messages(current, last=1):
                self._write(View(conversation_id=self._unused(), earlier=(*view.earlier, current)), over=view)

    def _unused(self) -> str:
        """A name for the next conversation, which nobody has taken."""
        names = (f"{self.name}#{number}" for number in count(2))
        return next(name for name in names if not self.memory.messages(name, last=1))

    def replace(self, messages: Sequence[ChatMessage]) -> None:
        """Make ``messages`` the history; those that are stored already are not stored again.

        A client that sends the whole history, or its newest part, with each request adds only what is new.

        Raises:
            ExtractionError: If the extractor failed; the messages are stored, and learnt from later.
        """
        converted = [core_message(message) for message in messages]
        failures: list[ExtractionError] = []
        while not self._replaced(converted, failures):
            pass  # somebody was quicker: this one comes after them
        if failures:
            raise failures[0]

    def _replaced(self, converted: Sequence[dict[str, Any]], failures: list[ExtractionError]) -> bool:
        """As ``replace``; False if another one cleared or replaced meanwhile what was to be kept."""
        view = self.view()
        visible = list(self.records(view))
        unused: dict[tuple[str, str, str | None], list[Memory]] = {}
        for record in visible:
            unused.setdefault(identity(record), []).append(record)
        found = [
            matches.pop(0) if (matches := unused.get(identity(message))) else None for message in converted
        ]
        if visible and not any(found):
            self.clear(forget=False)
            view, visible = self.view(), []
        fresh = [message for message, record in zip(converted, found, strict=True) if record is None]
        conversation = self.conversation_id(view)
        failure = self._add(self._named(fresh, conversation), conversation)
        if failure:
            failures.append(failure)
        added = (message_record_id(conversation, message["id"]) for message in fresh)
        order = [record.id if record else next(added) for record in found]
        keeps = [record.id for record in visible]
        if order[: len(keeps)] != keeps or any(found[len(keeps) :]):
            return self._write(self._view_of(order, visible, view), over=view)
        return True  # whoever cleared it meanwhile came after this one

    def _add(self, messages: Sequence[dict[str, Any]], conversation: str) -> ExtractionError | None:
        """Store messages; an extractor's failure is returned, for they are stored all the same."""
        try:
            if messages:
                self.memory.add(messages, conversation)
        except ExtractionError as error:
            return error
        return None

    def _named(self, messages: Sequence[dict[str, Any]], conversation: str) -> list[dict[str, Any]]:
        """``messages`` with ids that follow from what they say, so that a repeated ``set`` adds nothing."""
        if not messages:
            return []
        said = Counter(identity(record) for record in self.memory.messages(conversation))
        for message in messages:
            key = identity(message)
            digest = hashlib.blake2b(repr((*key, said[key])).encode(), digest_size=12).hexdigest()
            message["id"] = f"li-{digest}"
            said[key] += 1
        return list(messages)

    def _view_of(self, order: Sequence[str], visible: Sequence[Memory], view: View) -> View:
        """The view that shows ``order`` and all that comes later; what was replaced is hidden."""
        shown = set(order)
        stored = self.memory.messages(self.conversation_id(view))
        begins = min((record.turn or 0 for record in stored if record.id in shown), default=0)
        replaced = [
            record.message_id or record.id
            for record in visible
            if record.id not in shown and (record.turn or 0) > begins
        ]
        return view.model_copy(
            update={
                "kept": tuple(order),
                "after": max((record.turn or 0 for record in stored), default=-1),
                "hidden": (*view.hidden, *replaced),
            }
        )

    @property
    def _record_id(self) -> str:
        return record_id("block", TITLE, self.name)

    def _write(self, view: View, *, over: View) -> bool:
        """Write a view over the one that it was made from; False if another one stands there by now."""
        now = utc_now()
        record = Memory(
            id=self._record_id,
            kind="block",
            text=f"Which messages of a conversation are its history: {self.name}",
            title=TITLE,
            is_active=False,
            created_at=now,
            updated_at=now,
            metadata=view.model_dump(mode="json"),
        )
        vectors = self.memory.embedder.embed([record.text])
        namespace = self.memory.opened()
        with namespace.alone():
            if self.view() != over:
                return False
            namespace.apply(Change(puts=(record,), vectors=vectors))
        return True
