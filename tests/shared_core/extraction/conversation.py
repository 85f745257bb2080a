"""Builds requests for the extractor."""

from __future__ import annotations

from datetime import datetime

from shared_core.extraction.rules import RuleExtractor
from shared_core.extraction.schema import Extraction, ExtractionRequest
from shared_core.records import Message, Role
from tests.shared_core.extraction.labelled import SAID_AT


def message(text: str, role: Role = "user", name: str | None = None, said_at: datetime = SAID_AT) -> Message:
    return Message(id="m", role=role, content=text, name=name, timestamp=said_at)


def extract(*messages: Message, recent: tuple[Message, ...] = ()) -> Extraction:
    return RuleExtractor().extract(ExtractionRequest(messages=messages, recent=recent, now=SAID_AT))


def said(text: str, name: str | None = None) -> Extraction:
    return extract(message(text, name=name))
