"""A model behind OpenAI's protocol for the documents' examples: it answers from its prompt, and streams."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.openai_server import OpenAIServer, Reply, Request, completion, serving

#: What the extractor's prompt is answered with: nothing was found.
NOTHING_LEARNT = json.dumps({"facts": [], "bubbles": [], "triplets": []})


@contextmanager
def model_server() -> Iterator[OpenAIServer]:
    """A running server whose chat model answers every question in one sentence."""
    with serving() as server:
        server.chat = answered
        plain = server.answer

        def answer(request: Request) -> Reply:
            if request.path == "/v1/chat/completions" and request.body.get("stream"):
                return Reply(streamed(completion(request.body, answered(request.body))))
            return plain(request)

        server.answer = answer  # type: ignore[method-assign]
        yield server


def answered(body: dict[str, Any]) -> str:
    """The answer to a request: JSON where it asks for that, else what the prompt says on the city."""
    if body.get("response_format"):
        return NOTHING_LEARNT
    prompt = json.dumps(body["messages"])
    return "You live in Berlin." if "Berlin" in prompt else "I do not know yet."


def streamed(answer: dict[str, Any]) -> str:
    """The same answer as server-sent events."""
    choice = answer["choices"][0]
    chunk = {**answer, "object": "chat.completion.chunk"}
    chunk["choices"] = [{"index": 0, "delta": choice["message"], "finish_reason": None}]
    last = {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    return "".join(f"data: {json.dumps(one)}\n\n" for one in (chunk, last)) + "data: [DONE]\n\n"
