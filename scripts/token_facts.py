"""Write ``shared_core/tokens/token_facts.gz``, the facts that the offline token count rests on.

Run it where tiktoken can find or fetch its files: ``python scripts/token_facts.py``. The file holds two
sorted lists of byte strings, each string followed by the byte FF, which no token of two bytes or more
contains; FF FF parts the lists:

* ``shared``: the strings of two bytes or more that are one token in ``o200k_base`` and in ``cl100k_base``;
* ``irregular``: those that are one token in either and begin or end within a UTF-8 character, or join an
  apostrophe to something else.
"""

from __future__ import annotations

import gzip
from pathlib import Path

import tiktoken

TARGET = Path(__file__).parent.parent / "shared_core" / "tokens" / "token_facts.gz"


def is_irregular(token: bytes) -> bool:
    """Whether ``token`` begins or ends within a UTF-8 character, or joins an apostrophe to something else."""
    try:
        return "'" in token.decode()
    except UnicodeDecodeError:
        return True


def facts() -> bytes:
    """The content of the file, before compression."""
    vocabularies = [
        {token for token in tiktoken.get_encoding(name).token_byte_values() if len(token) > 1}
        for name in ("o200k_base", "cl100k_base")
    ]
    shared = set.intersection(*vocabularies)
    irregular = {token for token in set.union(*vocabularies) if is_irregular(token)}
    assert not any(b"\xff" in token for token in shared | irregular)
    return b"\xff\xff".join(b"\xff".join(sorted(tokens)) for tokens in (shared, irregular))


if __name__ == "__main__":
    TARGET.write_bytes(gzip.compress(facts(), compresslevel=9, mtime=0))
    print(f"{TARGET}: {TARGET.stat().st_size:,} bytes")
