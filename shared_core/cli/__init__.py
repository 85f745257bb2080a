"""The command ``contextmemory``: a memory in a folder, from the shell."""

from __future__ import annotations

from shared_core.cli.app import main

__all__ = ["main"]
