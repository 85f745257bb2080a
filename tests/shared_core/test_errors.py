from __future__ import annotations

import pickle

import pytest

from shared_core import errors
from shared_core.errors import (
    ContextMemoryError,
    EmbedderMismatchError,
    EmbeddingError,
    ExtractionError,
    MissingExtraError,
    StoreError,
    StoreLockedError,
)


@pytest.mark.parametrize(
    "kind",
    [EmbedderMismatchError, EmbeddingError, ExtractionError, MissingExtraError, StoreError, StoreLockedError],
)
def test_one_base_catches_every_error_of_the_library(kind: type[Exception]) -> None:
    assert issubclass(kind, ContextMemoryError)
    with pytest.raises(ContextMemoryError, match="why"):
        raise kind("why")


def test_trouble_with_the_store_is_caught_by_one_kind() -> None:
    assert issubclass(StoreLockedError, StoreError)
    assert issubclass(EmbedderMismatchError, StoreError)
    assert not issubclass(ExtractionError, StoreError)


def test_a_missing_package_is_an_import_error_that_names_its_extra() -> None:
    error = MissingExtraError.of("openai", "openai")
    assert isinstance(error, ImportError)
    assert str(error) == "'openai' is not installed: pip install 'contextmemory-chroma[openai]'"


def test_no_builtin_is_shadowed() -> None:
    import builtins

    assert not [name for name in vars(errors) if not name.startswith("_") and hasattr(builtins, name)]


def test_errors_cross_process_boundaries() -> None:
    copy = pickle.loads(pickle.dumps(StoreLockedError("held")))
    assert (type(copy), str(copy)) == (StoreLockedError, "held")
