"""A fresh environment with one variant of the project in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Environment"]

#: The resolver of this release takes a quarter of the time of that which comes with Python 3.11.
PIP = "pip>=25"
#: What tests read beside the packages: these are left out, so that what is tested is what was installed.
BESIDE = ("tests", "docs", "notebooks", "scripts", "README.md", "CHANGELOG.md", "pyproject.toml")
#: Longest that an installation, and the tests of a variant, may take.
INSTALL_SECONDS, TEST_SECONDS = 1_200, 3_600


@dataclass(frozen=True)
class Environment:
    """A folder with an interpreter of its own.

    Attributes:
        folder: Where it is.
        log: Where everything goes that is printed in it.
    """

    folder: Path
    log: Path

    @property
    def python(self) -> str:
        """Its interpreter."""
        return str(self.folder / "bin" / "python")

    def make(self, interpreter: str) -> None:
        """Make it anew, with a pip of today.

        Raises:
            subprocess.CalledProcessError: If it cannot be made; the log says why.
        """
        self._run([interpreter, "-m", "venv", "--clear", str(self.folder)], INSTALL_SECONDS)
        self.install([PIP])

    def install(self, requirements: Sequence[str], constraints: Sequence[str] = ()) -> None:
        """Install, with versions held where they are constrained.

        Raises:
            subprocess.CalledProcessError: If they do not go together; the log says why.
        """
        held = self.folder / "constraints.txt"
        held.write_text("".join(f"{line}\n" for line in constraints), encoding="utf-8")
        command = [self.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        self._run([*command, "--constraint", str(held), *requirements], INSTALL_SECONDS)

    def versions(self) -> dict[str, str]:
        """What is installed: versions by name."""
        command = [self.python, "-m", "pip", "freeze", "--disable-pip-version-check"]
        lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
        pairs = (line.partition("==") for line in lines if "==" in line)
        return {name: version for name, _, version in pairs}

    def test(self, root: Path, arguments: Sequence[str], **variables: str) -> int:
        """Run pytest on a copy of the tests of ``root``, with the installed packages; returns its exit code.

        Raises:
            subprocess.TimeoutExpired: If the tests take longer than an hour.
        """
        checkout = self.folder / "checkout"
        for name in BESIDE:
            copy = shutil.copytree if (root / name).is_dir() else shutil.copy
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            copy(root / name, checkout / name)
        environ = {**os.environ, "PYTHONHASHSEED": "0", **variables}
        environ.pop("VIRTUAL_ENV", None)
        command = [self.python, "-m", "pytest", *arguments]
        with self.log.open("a", encoding="utf-8") as log:
            done = subprocess.run(
                command, cwd=checkout, env=environ, stdout=log, stderr=subprocess.STDOUT, timeout=TEST_SECONDS
            )
        return done.returncode

    def _run(self, command: Sequence[str], seconds: int) -> None:
        with self.log.open("a", encoding="utf-8") as log:
            print("$", *command, file=log, flush=True)
            subprocess.run(command, check=True, stdout=log, stderr=subprocess.STDOUT, timeout=seconds)


def default_interpreter() -> str:
    """The interpreter that runs this, not the environment it runs in."""
    return getattr(sys, "_base_executable", sys.executable)
