"""``python -m shared_core.cli``: the command, where its script is not on the path."""

from __future__ import annotations

from shared_core.cli.app import main

main()
