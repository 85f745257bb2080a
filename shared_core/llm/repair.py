"""From what a model wrote to an instance of a schema. Model output is never trusted.

=============================  ======================================================================
what the model wrote           what becomes of it
=============================  ======================================================================
prose, fences, thoughts        left out; the JSON in them is read (``find_json``)
cut-off or broken JSON         its complete items are kept, the one that is cut off is dropped
the object in a wrapper        unwrapped: ``{"result": {…}}``, ``[{…}]``
several objects                read as one
a list in place of the object  each item goes to the list of the schema that shares most keys with it
one item in place of a list    a list of that item; of a mapping to items, its items
an item that does not fit      dropped
a field that does not fit      its default where it has one; else the whole answer is refused
unknown keys                   left out
``{}``, ``[]``                 an answer that holds nothing
no JSON, no known key          refused, as is every refusal in words
=============================  ======================================================================

What a value of a field may look like is up to the schema: its validators repair importances, dates and the
like. An item counts as repaired if the schema holds something else than what the model wrote.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Generic, TypeVar, get_args, get_origin

from pydantic import AliasChoices, BaseModel, ValidationError
from pydantic.fields import FieldInfo

from shared_core.llm.lenient_json import find_json
from shared_core.messages import quoted

__all__ = ["Reading", "read_answer"]

T = TypeVar("T", bound=BaseModel)

#: Objects that one answer may consist of, and how deep a wrapper is looked into.
_MAX_PARTS = 500
_MAX_WRAPPERS = 3


@dataclass(frozen=True)
class Reading(Generic[T]):
    """An answer that could be read.

    Attributes:
        value: What it says.
        repaired: Items that had to be put right, and 1 if the answer as a whole had to be.
        dropped: Items that no rule could save.
    """

    value: T
    repaired: int
    dropped: int


def read_answer(text: str, schema: type[T]) -> Reading[T]:
    """Read what a model wrote; see the table above.

    Args:
        text: All of its answer.
        schema: A model with fields that are lists of models, others, or both.

    Raises:
        ValueError: Nothing in it fits ``schema``; the message quotes the answer.
    """
    answer = _Answer(schema)
    is_empty = False
    for found in islice(find_json(text), _MAX_PARTS):
        answer.lost += found.lost
        answer.is_repaired = answer.is_repaired or not found.is_exact
        is_empty = is_empty or not found.value
        answer.take(found.value)
    if not answer.is_known and not is_empty:
        raise ValueError(f"the model's answer has no {' or '.join(answer.names)}: {quoted(text)}")
    return answer.reading(text)


class _Answer(Generic[T]):
    """What the parts of an answer give together."""

    def __init__(self, schema: type[T]) -> None:
        self._schema = schema
        self._lists = dict(_item_models(schema))
        self._keys = {key: name for name, field in schema.model_fields.items() for key in _keys(name, field)}
        self._items: dict[str, list[BaseModel]] = {}
        self._plain: dict[str, Any] = {}
        self._repaired = 0
        self.names = list(schema.model_fields)
        self.lost = 0
        self.is_known = False
        self.is_repaired = False

    def take(self, value: Any, depth: int = 0) -> None:
        """Add what ``value`` says."""
        if isinstance(value, list):
            self.is_repaired = True
            for inner in value:
                self._take_part(inner, depth)
        elif isinstance(value, Mapping):
            self._take_part(value, depth)

    def _take_part(self, value: Any, depth: int) -> None:
        """An object of the whole schema, a wrapper around one, or an item without its list."""
        mapping = value if isinstance(value, Mapping) else {}
        known = {key: inner for key, inner in mapping.items() if _plain_key(key) in self._keys}
        if known:
            self._take_fields(known, is_whole=len(known) == len(mapping))
            return
        name = self._list_of(value)
        if name is not None:
            self.is_known = self.is_repaired = True
            self._take_item(name, value)
        elif mapping and depth < _MAX_WRAPPERS:
            self.is_repaired = True
            for inner in mapping.values():
                if isinstance(inner, (Mapping, list)):
                    self.take(inner, depth + 1)

    def _take_fields(self, known: Mapping[str, Any], *, is_whole: bool) -> None:
        self.is_known = True
        self.is_repaired = self.is_repaired or not is_whole
        for key, inner in known.items():
            name = self._keys[_plain_key(key)]
            self.is_repaired = self.is_repaired or name != key
            if name not in self._lists:
                self._plain[name] = inner
                continue
            if not isinstance(inner, list):
                self.is_repaired = True
                inner = _as_items(inner, self._lists[name])
            for item in inner:
                self._take_item(name, item)

    def _take_item(self, name: str, item: Any) -> None:
        try:
            made = self._lists[name].model_validate(item)
        except ValidationError:
            self.lost += 1
            return
        self._repaired += made.model_dump(mode="json") != item
        self._items.setdefault(name, []).append(made)

    def _list_of(self, item: Any) -> str | None:
        """The list whose items share most keys with ``item``; for a text, the first that takes one."""
        if isinstance(item, str):
            return next((name for name, model in self._lists.items() if _takes(model, item)), None)
        if not isinstance(item, Mapping):
            return None
        keys = {_plain_key(key) for key in item}
        shared = {
            name: len(keys & {key for f, field in model.model_fields.items() for key in _keys(f, field)})
            for name, model in self._lists.items()
        }
        best = max(shared, key=lambda name: shared[name], default=None)
        return best if best is not None and shared[best] and _takes(self._lists[best], item) else None

    def reading(self, text: str) -> Reading[T]:
        """All of it as an instance.

        Raises:
            ValueError: A field that has no default is missing or does not fit.
        """
        values: dict[str, Any] = {**self._plain, **self._items}
        try:
            made = self._made(values)
        except ValidationError as error:
            bad = {str(problem["loc"][0]) for problem in error.errors() if problem["loc"]}
            self.is_repaired = True
            try:
                made = self._made({name: value for name, value in values.items() if name not in bad})
            except ValidationError:
                first = error.errors()[0]
                where = ".".join(map(str, first["loc"]))
                raise ValueError(f"the model's answer: {where}: {first['msg']}: {quoted(text)}") from None
        repaired = self._repaired + self.is_repaired
        return Reading(made, repaired=repaired, dropped=self.lost)

    def _made(self, values: Mapping[str, Any]) -> T:
        given = {_alias(name, self._schema.model_fields[name]): value for name, value in values.items()}
        empty: dict[str, Any] = {
            _alias(name, self._schema.model_fields[name]): [] for name in self._lists if name not in values
        }
        return self._schema.model_validate({**empty, **given})


def _item_models(schema: type[BaseModel]) -> Iterator[tuple[str, type[BaseModel]]]:
    """The fields that are lists or tuples of models, each with its model."""
    for name, field in schema.model_fields.items():
        for form in _alternatives(field.annotation):
            if get_origin(form) not in (list, tuple, Sequence):
                continue
            for item in get_args(form)[:1]:
                if isinstance(item, type) and issubclass(item, BaseModel):
                    yield name, item


def _alternatives(annotation: Any) -> tuple[Any, ...]:
    is_union = get_origin(annotation) in (typing.Union, types.UnionType)
    return get_args(annotation) if is_union else (annotation,)


def _alias(name: str, field: FieldInfo) -> str:
    """The key under which pydantic takes a field."""
    alias = field.validation_alias
    if isinstance(alias, AliasChoices):
        return str(alias.choices[0])
    return alias if isinstance(alias, str) else name


def _keys(name: str, field: FieldInfo) -> Iterator[str]:
    """Every key that a field goes by."""
    yield _plain_key(name)
    alias = field.validation_alias
    choices = alias.choices if isinstance(alias, AliasChoices) else [alias]
    yield from (_plain_key(choice) for choice in choices if isinstance(choice, str))


def _plain_key(key: str) -> str:
    return "_".join(key.casefold().replace("-", " ").replace("_", " ").split())


def _as_items(value: Any, model: type[BaseModel]) -> list[Any]:
    """The items that stand in place of a list: one, or a mapping to several."""
    if value is None:
        return []
    if isinstance(value, Mapping) and not _takes(model, value):
        return [inner for part in value.values() for inner in (part if isinstance(part, list) else [part])]
    return [value]


def _takes(model: type[BaseModel], item: Any) -> bool:
    try:
        model.model_validate(item)
    except ValidationError:
        return False
    return True
