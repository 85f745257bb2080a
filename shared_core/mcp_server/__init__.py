"""A memory for assistants that speak MCP, over standard input and output or HTTP (seed 004).

Needs the extra ``mcp``. The server knows one namespace, which its configuration names: no tool can reach
another. Nothing here ranks, budgets or stores; each tool calls one method of ``ContextMemory``.
"""

from __future__ import annotations

from shared_core.mcp_server.configuration import HttpConfiguration
from shared_core.mcp_server.running import serve_http, serve_stdio

__all__ = ["HttpConfiguration", "serve_http", "serve_stdio"]
