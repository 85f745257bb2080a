"""Whose memory it is: the user id of a run, from its context or its configuration."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any
from uuid import UUID

from shared_core.messages import quoted

__all__ = ["checked_default", "checked_field", "namespace_of"]

#: What an error adds where LangGraph may have kept the configuration to itself.
OLD_PYTHON = (
    ""
    if sys.version_info >= (3, 11)
    else ". On Python 3.10 LangGraph does not tell asynchronous middleware its config"
)


def namespace_of(
    context: object,
    config: Mapping[str, Any] | None,
    *,
    field: str,
    default: str | None = None,
) -> str:
    """The namespace that a run names in ``field``; numbers and UUIDs become text.

    Args:
        context: What the run was given as ``context``: a mapping, or any object with attributes (a dataclass,
            a pydantic model); None if nothing.
        config: The run's configuration, whose ``configurable`` is asked where the context says nothing.
        field: The name of the user id.
        default: The namespace of a run that names none.

    Raises:
        ValueError: If the run names none, or an empty one, and there is no default: memories must never be
            shared by accident. Also if it is anything but text, a whole number or a UUID.
    """
    configurable = (config or {}).get("configurable") or {}
    for found in (_named(context, field), configurable.get(field)):
        if found is None or (isinstance(found, str) and not found.strip()):
            continue
        if isinstance(found, bool) or not isinstance(found, (str, int, UUID)):
            raise ValueError(
                f"{field} {quoted(found)} is not a user id: pass a string, a whole number or a UUID"
            )
        return str(found)
    if default is None:
        raise ValueError(
            f"no memory without a user: {field!r} is missing or empty in the run's context "
            f"({type(context).__name__}) and in config['configurable']. "
            f"Pass context={{{field!r}: …}} to invoke, or set default_namespace"
            f"{'' if config else OLD_PYTHON}"
        )
    return default


def checked_field(field: object) -> str:
    """``field``, if it can be the name of a user id.

    Raises:
        ValueError: If it is not a non-empty string.
    """
    if not isinstance(field, str) or not field.strip():
        raise ValueError(f"namespace_field {quoted(field)} is not the name of a field, such as 'user_id'")
    return field


def checked_default(default: object) -> str | None:
    """``default``, if it can be a namespace.

    Raises:
        ValueError: If it is neither None nor a non-empty string.
    """
    if default is not None and (not isinstance(default, str) or not default.strip()):
        raise ValueError(
            f"default_namespace {quoted(default)} is not a non-empty string: leave it out for none"
        )
    return default


def _named(context: object, field: str) -> object:
    if isinstance(context, Mapping):
        return context.get(field)
    return getattr(context, field, None)
