"""Where and with what a measurement was made, and the file that it is kept in."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Any

from tests.benchmarks.peers import SYSTEMS

BUILD = Path("build/benchmarks")
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def circumstances(keys: Iterable[str]) -> dict[str, Any]:
    """Cores, threads, Python, the day, and the versions of all packages that were measured."""
    versions = {
        package: number
        for key in keys
        for package, number in SYSTEMS[key].versions().items()
        if number != "missing"
    }
    threads = {name: os.environ[name] for name in _THREADS if name in os.environ}
    return {
        "cores": os.cpu_count(),
        "threads": threads or "as they come: one for each core",
        "python": platform.python_version(),
        "date": date.today().isoformat(),
        "versions": dict(sorted(versions.items())),
    }


def write(name: str, results: dict[str, Any]) -> Path:
    """Keep results as ``build/benchmarks/<name>.json``."""
    BUILD.mkdir(parents=True, exist_ok=True)
    path = BUILD / f"{name}.json"
    path.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    return path


def read(name: str) -> dict[str, Any] | None:
    """Results that were kept; None if there are none."""
    path = BUILD / f"{name}.json"
    if not path.exists():
        return None
    results: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return results
