"""Write the store that the tests of upgrades open: ``python scripts/schema_fixture.py FOLDER``.

Run it once per schema version, with the release that writes it, and never again: the point is that it is old.
"""

from __future__ import annotations

import sys
import zipfile
from datetime import datetime, timedelta, timezone
from pathlib import Path
from tempfile import TemporaryDirectory

from shared_core import ContextMemory
from shared_core.stores.base import SCHEMA_VERSION

NOW = datetime(2026, 1, 5, 9, 0, tzinfo=timezone.utc)
MESSAGES = [
    "I moved to Berlin last week.",
    "I work as a nurse at the Charité.",
    "Yesterday I rode my bicycle to the lake with Ben.",
    "I love pears.",
    "Today I rode my bicycle to the lake again.",
    "I moved to Hamburg yesterday.",
]


def main(folder: Path) -> None:
    """Fill a memory, and pack its database."""
    with TemporaryDirectory() as made:
        with ContextMemory(made, "alice") as memory:
            for turn, text in enumerate(MESSAGES):
                moment = NOW + timedelta(days=turn)
                message = {"role": "user", "content": text, "id": f"m{turn}", "timestamp": moment}
                memory.add(message, "c1", metadata={"turn": turn}, now=moment)
            memory.relate("Alice", "works at", "Charité", now=NOW)
            memory.maintain(now=NOW + timedelta(days=7))
        target = folder / f"schema-{SCHEMA_VERSION}.zip"
        with zipfile.ZipFile(target, "x", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
            archive.write(Path(made) / "chroma.sqlite3", "chroma.sqlite3")
    print(f"{target}: {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
