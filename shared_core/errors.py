"""The errors that a caller handles differently; bad arguments raise ``ValueError``."""


class ContextMemoryError(Exception):
    """Base of every error that this library raises on its own account."""


class StoreError(ContextMemoryError):
    """The store cannot be read or written; the message names the folder or server and the way out."""


class StoreLockedError(StoreError):
    """Another process holds the embedded store; run a Chroma server to share one between processes."""


class EmbedderMismatchError(StoreError):
    """A namespace was written with another embedder; open it with that one, or export and import it."""


class EmbeddingError(ContextMemoryError):
    """An embedder failed, or answered with something other than the vectors that it was asked for."""


class ExtractionError(ContextMemoryError):
    """An extractor failed; the messages that it was given are stored all the same."""


class MissingExtraError(ContextMemoryError, ImportError):
    """An optional dependency is not installed; the message names the extra that brings it."""

    @classmethod
    def of(cls, package: str, extra: str) -> "MissingExtraError":
        """The error for ``package``, which the extra ``extra`` installs."""
        return cls(f"{package!r} is not installed: pip install 'contextmemory-chroma[{extra}]'")
