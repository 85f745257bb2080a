"""``contextmemory mcp``: a memory for assistants that speak the Model Context Protocol."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shared_core.cli.options import (
    DEFAULT_NAMESPACE,
    DEFAULT_PATH,
    NamespaceOption,
    RedactOption,
    writing,
)
from shared_core.cli.output import note

if TYPE_CHECKING:
    from shared_core.memory import ContextMemory

TRANSPORTS = ("stdio", "streamable-http")


def mcp(
    folder: Annotated[
        Path, typer.Argument(envvar="CONTEXTMEMORY_PATH", help="Folder of the memory.")
    ] = DEFAULT_PATH,
    namespace: NamespaceOption = DEFAULT_NAMESPACE,
    transport: Annotated[str, typer.Option("--transport", help="stdio or streamable-http.")] = "stdio",
    host: Annotated[str, typer.Option("--host", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="0 takes any that is free.")] = 8765,
    token: Annotated[
        str | None,
        typer.Option(
            "--token",
            envvar="CONTEXTMEMORY_MCP_TOKEN",
            help="What requests bear; needed where others can reach the host.",
        ),
    ] = None,
    allowed_hosts: Annotated[
        list[str] | None,
        typer.Option("--allowed-host", help="A name by which others call the server, as host:port."),
    ] = None,
    idle_minutes: Annotated[
        float, typer.Option("--idle-minutes", help="Maintain after so long without a message; 0 for never.")
    ] = 60.0,
    redact: RedactOption = False,
) -> None:
    """Serve one namespace to assistants that speak the Model Context Protocol."""
    if transport not in TRANSPORTS:
        raise ValueError(f"transport {transport!r} is none of {', '.join(TRANSPORTS)}")
    from shared_core.mcp_server import HttpConfiguration, serve_http, serve_stdio

    over_http = transport != "stdio"  # checked before anything is opened
    configuration = (
        HttpConfiguration(host, port, token or None, tuple(allowed_hosts or ())) if over_http else None
    )
    with writing(folder, namespace, redact=redact) as memory, _maintained(memory, idle_minutes):
        if configuration is None:
            serve_stdio(memory)
        else:
            serve_http(memory, configuration, ready=lambda url: note(f"serving {namespace!r} at {url}"))


def _maintained(memory: ContextMemory, idle_minutes: float) -> AbstractContextManager[object]:
    """Maintenance of what is served, while nobody talks."""
    if idle_minutes == 0:
        return nullcontext()
    from shared_core.scheduler import MaintenanceScheduler

    return MaintenanceScheduler(memory, idle_minutes=idle_minutes)
