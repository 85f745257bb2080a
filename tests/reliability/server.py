"""A Chroma server on loopback that can be killed and started again on the same port and folder."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from pathlib import Path
from types import TracebackType

import chromadb
import httpx
from chromadb.api import ClientAPI
from chromadb.config import Settings as ChromaSettings
from typing_extensions import Self

CHROMA = Path(sys.executable).with_name("chroma")
SECONDS_TO_START = 60.0


class RunningServer:
    """``chroma run`` on a folder, within a ``with`` block."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = int(free.getsockname()[1])
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.kill()

    def launch(self) -> None:
        """Start it without waiting until it answers."""
        place = ["--path", str(self.folder), "--host", "127.0.0.1", "--port", str(self.port)]
        self._process = subprocess.Popen(
            [str(CHROMA), "run", *place],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.folder,
        )

    def start(self) -> None:
        self.launch()
        latest = time.monotonic() + SECONDS_TO_START
        while time.monotonic() < latest:
            assert self._process is not None
            assert self._process.poll() is None, "the Chroma server ended at once"
            try:
                if httpx.get(f"http://127.0.0.1:{self.port}/api/v2/heartbeat", timeout=2).is_success:
                    return
            except httpx.HTTPError:
                time.sleep(0.05)
        raise AssertionError("the Chroma server did not start")

    @property
    def process_id(self) -> int:
        assert self._process is not None
        return self._process.pid

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait(timeout=20)
            self._process = None

    def repair_and_start(self) -> None:
        """What an operator does after a crash: mend the folder while nobody uses it, then serve it again."""
        command = [sys.executable, "-m", "shared_core.cli", "repair", "--path", str(self.folder)]
        subprocess.run(
            command,
            check=True,
            timeout=SECONDS_TO_START,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.start()

    def client(self) -> ClientAPI:
        settings = ChromaSettings(anonymized_telemetry=False)
        return chromadb.HttpClient("127.0.0.1", self.port, settings=settings)
