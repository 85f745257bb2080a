"""A tool whose failures an assistant can read, and which takes no argument that it does not know."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from mcp.server.mcpserver.context import Context
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations
from pydantic import ConfigDict, ValidationError

from shared_core.errors import ContextMemoryError
from shared_core.messages import quoted

if TYPE_CHECKING:
    from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase

__all__ = ["MemoryTool"]


class MemoryTool(Tool):
    """A tool of the SDK with strict arguments and readable errors."""

    @classmethod
    def of(cls, function: Callable[..., Any], annotations: ToolAnnotations) -> Tool:
        """The tool that calls ``function``, with its name and docstring."""
        made = cls.from_function(function, annotations=annotations)
        known = made.fn_metadata.arg_model
        # An argument such as "namespace" must not be dropped silently: its sender would take it for heeded.
        strict = cast(
            "type[ArgModelBase]",
            type(known.__name__, (known,), {"model_config": ConfigDict(extra="forbid")}),
        )
        made.fn_metadata.arg_model = strict
        made.parameters = strict.model_json_schema(by_alias=True)
        return made

    async def run(
        self, arguments: dict[str, Any], context: Context[Any, Any], convert_result: bool = False
    ) -> Any:
        """Call it.

        Raises:
            ToolError: For wrong arguments and for what the memory refuses, in one readable text.
            UnexpectedToolError: For anything else; the log has the traceback, the client only the name.
        """
        try:
            return await super().run(arguments, context, convert_result)
        except ToolError as error:
            cause = error.__cause__
            if isinstance(cause, ValidationError) and not isinstance(error, UnexpectedToolError):
                raise ToolError(_readable(cause)) from None
            if isinstance(cause, (ValueError, ContextMemoryError)):
                raise ToolError(str(cause)) from None
            raise


def _readable(error: ValidationError) -> str:
    """Each wrong argument with its value, and what is wrong with it."""
    return "; ".join(
        f"{'.'.join(map(str, wrong['loc'])) or 'arguments'}: {wrong['msg']}"
        + ("" if wrong["type"] == "missing" else f", not {quoted(wrong['input'])}")
        for wrong in error.errors(include_url=False)
    )
