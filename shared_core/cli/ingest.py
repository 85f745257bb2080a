"""``contextmemory ingest``: a file of conversations into a memory."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from shared_core.cli.options import (
    DEFAULT_NAMESPACE,
    DEFAULT_PATH,
    NamespaceOption,
    PathOption,
    RedactOption,
    writing,
)
from shared_core.cli.output import Advance, counted, progress_bar, write_line

if TYPE_CHECKING:
    from shared_core.memory import ContextMemory
    from shared_core.records import Usage
    from shared_core.transfer.chat_logs import Format, LoggedConversation

#: Messages added at a time: often enough for the bar to move, seldom enough to cost no time.
BATCH_MESSAGES = 100


def ingest(
    file: Annotated[Path, typer.Argument(help="OpenAI messages as JSON or JSON lines, or LoCoMo.")],
    conversation: Annotated[
        str | None, typer.Option("--conversation", help="Only this one: its id, or its position from 0.")
    ] = None,
    format: Annotated[str, typer.Option("--format", help="auto, openai or locomo.")] = "auto",  # noqa: A002
    redact: RedactOption = False,
    path: PathOption = DEFAULT_PATH,
    namespace: NamespaceOption = DEFAULT_NAMESPACE,
) -> None:
    """Remember the conversations of a file, and learn from them; doing it again adds nothing twice."""
    from shared_core.transfer.chat_logs import read_chat_log, select_conversation

    layout = cast("Format", format)
    chosen = None if conversation is None else select_conversation(file, conversation, format=layout)
    total, ids = 0, set()
    for part in read_chat_log(file, format=layout):  # the whole file is checked before anything is written
        if chosen in (None, part.id):
            total += len(part.messages)
            ids.add(part.id)
    parts = (part for part in read_chat_log(file, format=layout) if chosen in (None, part.id))
    with writing(path, namespace, redact=redact) as memory, progress_bar(f"Ingesting {file.name}") as advance:
        usage, facts, moments = _add(memory, parts, total, advance)
    known = f", {usage.skipped_messages} known already" if usage.skipped_messages else ""
    write_line(
        f"{counted(total, 'message')} of {counted(len(ids), 'conversation')}{known}: "
        f"{counted(facts, 'new fact')}, {counted(moments, 'new moment')}"
    )


def _add(
    memory: ContextMemory, parts: Iterable[LoggedConversation], total: int, advance: Advance
) -> tuple[Usage, int, int]:
    """Add everything in batches; returns what it took, and how many facts and moments were learnt."""
    from shared_core.records import Usage

    usage, done = Usage(), 0
    learnt: dict[str, set[str]] = {"fact": set(), "bubble": set()}
    for part in parts:
        for start in range(0, len(part.messages), BATCH_MESSAGES):
            batch: list[dict[str, Any]] = list(part.messages[start : start + BATCH_MESSAGES])
            result = memory.add(batch, conversation_id=part.id)
            usage += result.usage
            for found in result.memories:
                if found.mention_count == 1:
                    learnt.setdefault(found.kind, set()).add(found.id)
            done += len(batch)
            advance(done, total)
    return usage, len(learnt["fact"]), len(learnt["bubble"])
