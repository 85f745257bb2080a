"""The client of the ``openai`` package, for embeddings and chat: how it is made, what its errors show."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from shared_core.errors import MissingExtraError
from shared_core.redaction import redact_keys

if TYPE_CHECKING:
    from openai import OpenAI

__all__ = ["openai_client", "without_key"]

#: For servers that ask for no key, since the client insists on one.
_PLACEHOLDER_KEY = "no-key-needed"
#: Looks like a key, in whosever message it stands.
_KEY = re.compile(r"\bsk-[\w-]{8,}")


def openai_client(
    base_url: str | None, api_key: str | None, *, timeout_seconds: float, max_retries: int
) -> OpenAI:
    """A client that retries 429, 5xx and lost connections, after the pause that ``Retry-After`` names if any.

    Args:
        base_url: Of another server; by default ``OPENAI_BASE_URL``, else OpenAI's.
        api_key: By default ``OPENAI_API_KEY``; not needed with a ``base_url``.
        timeout_seconds: How long to wait for the server before a retry.
        max_retries: Further attempts of one request.

    Raises:
        ValueError: An argument is out of range, or there is no key for OpenAI.
        MissingExtraError: The ``openai`` package is not installed.
    """
    if not timeout_seconds > 0:
        raise ValueError(f"timeout_seconds must be above 0, not {timeout_seconds!r}")
    if max_retries < 0:
        raise ValueError(f"max_retries must be 0 or more, not {max_retries!r}")
    try:
        from openai import OpenAI
    except ImportError as error:
        raise MissingExtraError.of("openai", "openai") from error
    key = api_key or os.environ.get("OPENAI_API_KEY")
    if not key and not (base_url or os.environ.get("OPENAI_BASE_URL")):
        raise ValueError("OpenAI needs a key: pass api_key, set OPENAI_API_KEY, or name another base_url")
    return OpenAI(
        base_url=base_url,
        api_key=key or _PLACEHOLDER_KEY,
        timeout=timeout_seconds,
        max_retries=max_retries,
    )


def without_key(error: Exception, key: str | None = None) -> tuple[str, Exception | None]:
    """What ``error`` says, and itself as a cause to chain: None if it shows a key, as some servers' do.

    Args:
        error: Of the client, or of a framework that uses it.
        key: The key where it is known; what looks like one is hidden as well.
    """
    reason = str(error)
    hidden = reason.replace(key, "[api key]") if key else reason
    hidden = redact_keys(_KEY.sub("[api key]", hidden))
    return hidden, error if hidden == reason else None
