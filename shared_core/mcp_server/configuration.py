"""Where an HTTP server listens, and whom it answers."""

from __future__ import annotations

from dataclasses import dataclass, field
from ipaddress import ip_address

from shared_core.messages import quoted

__all__ = ["HttpConfiguration"]

#: Names of this machine that a browser on it may send as ``Host``.
LOOPBACK_NAMES = ("127.0.0.1", "localhost", "[::1]")
#: Shortest token: 16 characters of what ``openssl rand -hex 16`` gives are 64 bits, beyond guessing.
TOKEN_LENGTH = 16


@dataclass(frozen=True)
class HttpConfiguration:
    """How a memory is served over HTTP.

    Attributes:
        host: The address to listen on; without a token only one of this machine's own.
        port: 0 to 65535; 0 takes any that is free.
        token: What a request has to bear in ``Authorization: Bearer …``; None lets everybody in.
        allowed_hosts: Names by which others may call the server, with a port if one is sent: ``host:port``,
            or ``host:*``. Those of this machine and ``host`` itself are always allowed.

    Raises:
        ValueError: If the host can be reached from elsewhere and there is no token, or a value is unfit.
    """

    host: str = "127.0.0.1"
    port: int = 8765
    token: str | None = field(default=None, repr=False)
    allowed_hosts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.host.strip():
            raise ValueError(f"host {quoted(self.host)} is empty: name an address such as 127.0.0.1")
        if not 0 <= self.port <= 65_535:
            raise ValueError(f"port {self.port} is not between 0 and 65535")
        if self.token is None:
            if not self.is_loopback:
                raise ValueError(
                    f"host {quoted(self.host)} can be reached from other machines: give a token with --token "
                    "or in CONTEXTMEMORY_MCP_TOKEN"
                )
        elif len(self.token) < TOKEN_LENGTH or not self.token.isascii() or not self.token.isprintable():
            raise ValueError(f"the token is not at least {TOKEN_LENGTH} printable ASCII characters")
        elif " " in self.token:
            raise ValueError("the token holds a space: a header ends there")

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the host."""
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:  # a name: who knows where it leads
            return False

    @property
    def is_any_address(self) -> bool:
        """Whether the host stands for all addresses of this machine."""
        try:
            return ip_address(self.host).is_unspecified
        except ValueError:
            return False

    @property
    def known_hosts(self) -> tuple[str, ...] | None:
        """Values of ``Host`` that are answered, the port left open; None for any.

        Any is answered where the server listens on every address and no name is given: which names lead to
        it cannot be known then, and the token keeps out a page that had its own name rebound.
        """
        if self.is_any_address and not self.allowed_hosts:
            return None
        own = () if self.is_any_address else (f"[{self.host}]" if ":" in self.host else self.host,)
        named = (*LOOPBACK_NAMES, *own)
        return tuple(dict.fromkeys((*named, *(f"{name}:*" for name in named), *self.allowed_hosts)))
