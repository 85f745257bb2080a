"""Items: JSON values that an application keeps under a path and a key, found by key, condition or meaning."""

from shared_core.items.item import Item, json_value
from shared_core.items.operations import (
    DeleteItem,
    FindItems,
    FoundItem,
    GetItem,
    ListPaths,
    Operation,
    PutItem,
)
from shared_core.items.paths import Path, PathPattern
from shared_core.items.store import ItemStore

__all__ = [
    "DeleteItem",
    "FindItems",
    "FoundItem",
    "GetItem",
    "Item",
    "ItemStore",
    "ListPaths",
    "Operation",
    "Path",
    "PathPattern",
    "PutItem",
    "json_value",
]
