"""What is left out of a text before it is stored: a hook, and a default that knows what secrets look like.

==============  ====================================================================  ================
what            how it is known                                                       what stands there
==============  ====================================================================  ================
keys            the prefixes of well-known services, JSON web tokens, private keys    ``[key]``
                in PEM, what follows ``password:``, ``api_key=`` or ``Bearer``, the
                password in an address
card numbers    13 to 19 digits that begin with 2 to 6 and pass Luhn's check          ``[card number]``
phone numbers   with a country code; three, three and four digits; or a leading 0     ``[phone number]``
e-mails         a name, an at sign, a domain                                          ``[e-mail]``
==============  ====================================================================  ================

Patterns find what looks like a secret; they cannot know what is one. Names and addresses of people stay.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from shared_core.messages import quoted, storable
from shared_core.records import Memory, Message, text_digest

__all__ = [
    "Redactor",
    "checked_redactor",
    "redact_memory",
    "redact_messages",
    "redact_secrets",
    "redact_text",
    "redact_values",
]

#: Gives a text without what must not be stored. Applied to its own result, it is to change nothing.
Redactor = Callable[[str], str]

KEY, CARD, PHONE, EMAIL = "[key]", "[card number]", "[phone number]", "[e-mail]"

# What well-known services begin their keys with; each is followed by what no word of a language looks like.
_PREFIXED = re.compile(
    r"""(?<![A-Za-z0-9])(?:
      sk-[\w-]{16,} | (?:sk|rk|pk|whsec)_(?:live_|test_)?[A-Za-z0-9]{16,} | (?:AKIA|ASIA)[A-Z0-9]{16}
    | gh[oprsu]_[A-Za-z0-9]{30,} | github_pat_\w{30,} | glpat-[\w-]{18,} | xox[abeoprs]-[\w-]{10,}
    | AIza[\w-]{30,} | ya29\.[\w-]{20,} | hf_[A-Za-z0-9]{25,} | npm_[A-Za-z0-9]{30,} | pypi-[\w-]{40,}
    | SG\.[\w-]{16,}\.[\w-]{16,} | eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{8,}
    )""",
    re.VERBOSE,
)
_PEM = re.compile(
    r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----.*?(?:-----END (?:[A-Z]+ )*PRIVATE KEY-----|\Z)", re.DOTALL
)
_NAMED = re.compile(
    r"""(?<![A-Za-z])(
      (?:pass(?:word|wd|phrase)|pwd|(?:api|secret|access|private)[ _-]?key
         |(?:access|auth|api|refresh)[ _-]?token|client[ _-]?secret)
      ["']?\s{0,3}(?:[:=]\s{0,3}|\s(?:is|was)\s(?=[^\s\d]{0,100}\d))["']? | bearer\s(?=[^\s\d]{0,100}\d)
    )(?!\[key\])[^\s"'<>,;]{6,}""",
    re.VERBOSE | re.IGNORECASE,
)
_USERINFO = re.compile(r"(?<=://)([^\s/:@]{1,200}:)(?!\[key\]@)[^\s/@]{1,200}(?=@)")
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]+@(?:[^\W_][\w-]*\.)+[^\W\d_]{2,}")
_CARD = re.compile(r"(?<![\w.+-])[2-6](?:[ -]?\d){12,18}(?![\w-])")
_PHONE = re.compile(
    r"""(?<![\w.+-])(?:
      (?:\+|00)[ ]?[1-9](?:[ ./()-]{0,3}\d){6,14}
    | \(?[2-9]\d\d\)?[ .-]{1,2}\d{3}[ .-]\d{4}
    | \(?0[1-9]\d{0,4}\)?[ /-]{1,2}\d(?:[ -]?\d){4,9}
    )(?![\w-])""",
    re.VERBOSE,
)


def redact_secrets(text: str) -> str:
    """``text`` with keys, card numbers, phone numbers and e-mail addresses replaced; see the table above.

    Example:
        >>> redact_secrets("Write to ada@example.com, or call +49 30 901820.")
        'Write to [e-mail], or call [phone number].'
    """
    while (redacted := _once(text)) != text:  # what is left beside a mark may be one more
        text = redacted
    return text


def redact_keys(text: str) -> str:
    """``text`` with keys and passwords replaced, and nothing else."""
    text = _PREFIXED.sub(KEY, _PEM.sub(KEY, text))
    return _NAMED.sub(rf"\1{KEY}", _USERINFO.sub(rf"\1{KEY}", text))


def _once(text: str) -> str:
    text = _EMAIL.sub(EMAIL, redact_keys(text))
    text = _CARD.sub(_card, text)
    return _PHONE.sub(PHONE, text)


def _card(match: re.Match[str]) -> str:
    digits = [int(character) for character in match[0] if character.isdigit()]
    doubled = (digit * 2 - 9 * (digit > 4) for digit in digits[-2::-2])
    return CARD if (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0 else match[0]


def checked_redactor(redact: object) -> Redactor | None:
    """``redact``, if it can be called with a text.

    Raises:
        ValueError: If it is neither None nor a function.
    """
    if redact is None or callable(redact):
        return redact
    raise ValueError(
        f"redact {quoted(redact)} cannot be called with a text: pass redact_secrets, or your own"
    )


def redact_text(redact: Redactor | None, text: str, label: str) -> str:
    """``text`` as it may be stored; itself without a redactor.

    Raises:
        ValueError: If the redactor gives no text, or nothing of one. The text is not quoted: it may hold
            what must not be shown.
    """
    if redact is None:
        return text
    redacted = redact(text)
    if not isinstance(redacted, str) or (text.strip() and not redacted.strip()):
        raise ValueError(
            f"redact made {type(redacted).__name__} of {label}, not a text that says something: "
            "let a mark stand in place of what it leaves out"
        )
    return storable(redacted, label)


def redact_values(redact: Redactor | None, value: Any, label: str) -> Any:
    """JSON with every string in it as it may be stored; keys and numbers stay."""
    if redact is None:
        return value
    if isinstance(value, str):
        return redact_text(redact, value, label)
    if isinstance(value, dict):
        return {key: redact_values(redact, inner, label) for key, inner in value.items()}
    if isinstance(value, list):
        return [redact_values(redact, inner, label) for inner in value]
    return value


def redact_messages(redact: Redactor | None, messages: Sequence[Message]) -> tuple[Message, ...]:
    """Messages as they may be stored: their content, speaker and metadata; ids stay, since they name them."""
    if redact is None:
        return tuple(messages)
    return tuple(
        message.model_copy(
            update={
                "content": redact_text(redact, message.content, "content"),
                "name": redact_text(redact, message.name, "name") if message.name else message.name,
                "metadata": redact_values(redact, message.metadata, "metadata"),
            }
        )
        for message in messages
    )


def redact_memory(redact: Redactor | None, memory: Memory) -> Memory:
    """A whole record as it may be stored: what it says, of whom, and its metadata; itself if nothing changes.

    Ids and the names of blocks stay, since others refer to them. A block that ``maintain`` wrote still counts
    as written by it.
    """
    if redact is None:
        return memory
    said = {
        field: redact_text(redact, value, field)
        for field in ("text", "speaker", "subject", "predicate", "object")
        if (value := getattr(memory, field))
    }
    changes: dict[str, Any] = {
        **said,
        "metadata": redact_values(redact, memory.metadata, "metadata"),
        "generated": text_digest(said["text"]) if memory.is_generated else memory.generated,
    }
    redacted = memory.model_copy(update=changes)
    return memory if redacted == memory else redacted
