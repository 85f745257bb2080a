"""Tests on a Chroma server in place of folders: ``CHROMA_URL=… pytest -p tests.reliability.served``.

Each folder becomes a database of its own on the server, the same one whenever it is opened again. What only
an embedded folder has (its lock, its files) is for the tests of folders, which are left out then, or ask
``is_served``.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import chromadb
from chromadb.config import Settings
from chromadb.errors import ChromaError

from shared_core.stores.chroma import ChromaStore

__all__ = ["client_for", "is_served", "pytest_configure", "serve_folders"]

_URL = "CHROMA_URL"
_opened = ChromaStore.__init__


def client_for(folder: Path, url: str) -> Any:
    """A client of the server at ``url``, on a database that stands for ``folder``."""
    address = urlsplit(url)
    options: dict[str, Any] = {
        "host": address.hostname or "127.0.0.1",
        "port": address.port or 8000,
        "ssl": address.scheme == "https",
        "settings": Settings(anonymized_telemetry=False),
    }
    name = f"test-{hashlib.sha256(str(folder).encode()).hexdigest()[:32]}"
    settings = Settings(
        chroma_api_impl="chromadb.api.fastapi.FastAPI",
        chroma_server_host=options["host"],
        chroma_server_http_port=options["port"],
        chroma_server_ssl_enabled=options["ssl"],
        anonymized_telemetry=False,
    )
    try:
        chromadb.AdminClient(settings).create_database(name)
    except ChromaError as error:
        if "already exists" not in str(error):
            raise
    return chromadb.HttpClient(database=name, **options)


def is_served() -> bool:
    """Whether folders stand for databases of a server, in this process."""
    return ChromaStore.__init__ is not _opened


def serve_folders() -> None:
    """Let folders stand for databases of the server that ``CHROMA_URL`` names, if it names one.

    For this process: one that a test starts calls it for itself.
    """
    url = os.environ.get(_URL)
    if not url or is_served():
        return

    def served(self: ChromaStore, target: Any, **options: Any) -> None:
        folder = Path(target).expanduser().resolve() if isinstance(target, (str, Path)) else None
        _opened(self, target if folder is None else client_for(folder, url), **options)

    setattr(ChromaStore, "__init__", served)  # noqa: B010 - an assignment would not type-check


def pytest_configure() -> None:
    """For this run of the tests."""
    serve_folders()
