"""Serving a memory: over standard input and output, or over HTTP."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

from shared_core.errors import MissingExtraError

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from shared_core.mcp_server.configuration import HttpConfiguration
    from shared_core.mcp_server.server import MemoryServer
    from shared_core.memory import ContextMemory

__all__ = ["serve_http", "serve_stdio"]

#: Seconds that requests under way get to end when the server is told to stop.
GRACE_SECONDS = 5


def serve_stdio(memory: ContextMemory) -> None:
    """Serve a memory on standard input and output until the client closes them.

    Standard output carries the protocol and nothing else: what is printed meanwhile goes to standard error.

    Raises:
        MissingExtraError: If the package ``mcp`` is not installed.
    """
    server = _server_of(memory)
    asyncio.run(server.run_stdio_async())


def serve_http(
    memory: ContextMemory,
    configuration: HttpConfiguration,
    *,
    ready: Callable[[str], None] = lambda url: None,
) -> None:
    """Serve a memory over streamable HTTP until the process is told to stop.

    Args:
        memory: What to serve.
        configuration: Where to listen, and whom to answer.
        ready: Told the URL once connections are accepted.

    Raises:
        MissingExtraError: If the package ``mcp`` is not installed.
        OSError: If the address cannot be listened on.
    """
    server = _server_of(memory)
    from uvicorn import Config, Server

    application = http_application(server, configuration)
    with _listening(configuration) as listener:
        host, port = listener.getsockname()[:2]
        config = Config(
            application,
            log_config=None,  # the default one would write to standard output
            access_log=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
            ws="none",
        )
        ready(f"http://{f'[{host}]' if ':' in host else host}:{port}/mcp")
        Server(config).run(sockets=[listener])


def http_application(server: MemoryServer, configuration: HttpConfiguration) -> ASGIApp:
    """The ASGI application that serves ``server``, with the checks of ``configuration``."""
    from mcp.server.transport_security import TransportSecuritySettings

    from shared_core.mcp_server.authentication import BearerToken

    known = configuration.known_hosts
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=known is not None,
        allowed_hosts=list(known or ()),
        allowed_origins=[f"{scheme}://{host}" for host in known or () for scheme in ("http", "https")],
    )
    application = server.streamable_http_app(host=configuration.host, transport_security=security)
    return application if configuration.token is None else BearerToken(application, configuration.token)


def _server_of(memory: ContextMemory) -> MemoryServer:
    if not logging.getLogger().handlers:  # else the SDK would set up one of its own
        logging.basicConfig(level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s")
    try:
        from shared_core.mcp_server.server import MemoryServer
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types"):
            raise
        raise MissingExtraError.of("mcp", "mcp") from error
    return MemoryServer(memory)


def _listening(configuration: HttpConfiguration) -> socket.socket:
    """A socket on the address of ``configuration``."""
    family, kind, protocol, _, address = socket.getaddrinfo(
        configuration.host, configuration.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )[0]
    listener = socket.socket(family, kind, protocol)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise OSError(error.errno, error.strerror, f"{configuration.host}:{configuration.port}") from error
    return listener
