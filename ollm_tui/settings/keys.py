"""The schema seen as a tree of keys: which there are, of what shape, with which default."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import msgspec
from msgspec import NODEFAULT
from msgspec.inspect import (
    DictType,
    Field,
    LiteralType,
    Metadata,
    StrType,
    StructType,
    Type,
    UnionType,
    VarTupleType,
    type_info,
)

from ollm_tui.settings.loaded import KeyPath
from ollm_tui.settings.schema import Settings


@cache
def _root() -> Type:
    return type_info(Settings)


def shape(path: KeyPath) -> Type | None:
    """The type of a key, group or table; None if there is none of that name."""
    current = _root()
    for name in path:
        match current:
            case StructType():
                field = _field(current, name)
                if field is None:
                    return None
                current = _bare(field.type)
            case DictType():
                current = _bare(current.value_type)
            case _:
                return None
    return current


def is_branch(path: KeyPath) -> bool:
    """Whether further keys stand below this one."""
    return isinstance(shape(path), StructType | DictType)


def is_table(path: KeyPath) -> bool:
    """Whether the names below are the user's own, not the schema's."""
    return isinstance(shape(path), DictType)


def takes_list(path: KeyPath) -> bool:
    """Whether the value of a key is a list."""
    found = shape(path)
    kinds = found.types if isinstance(found, UnionType) else (found,)
    return any(isinstance(kind, VarTupleType) for kind in kinds)


def names_below(path: KeyPath) -> tuple[str, ...]:
    """The names that may stand below a group, or a table that knows its names."""
    match shape(path):
        case StructType(fields=fields):
            return tuple(field.encode_name for field in fields)
        case DictType(key_type=LiteralType(values=values)):
            return tuple(map(str, values))
        case _:
            return ()


def accepts_name(table: KeyPath, name: str) -> bool:
    """Whether an entry of a table may have this name."""
    match shape(table):
        case DictType(key_type=LiteralType(values=values)):
            return name in values
        case DictType(key_type=Metadata(type=StrType(pattern=str() as pattern))):
            return re.search(pattern, name) is not None
        case _:
            return False


def default(path: KeyPath) -> Any:
    """What a key is when nobody sets it; NODEFAULT for an entry of a table."""
    parent = shape(path[:-1])
    field = _field(parent, path[-1]) if isinstance(parent, StructType) else None
    return NODEFAULT if field is None else field.default


def fixed_keys(below: KeyPath = ()) -> Iterator[KeyPath]:
    """Every key that holds a value itself and does not lie in a table."""
    for name in names_below(below):
        path = (*below, name)
        if not is_branch(path):
            yield path
        elif not is_table(path):
            yield from fixed_keys(path)


def accepts(path: KeyPath, value: object) -> bool:
    """Whether the schema takes this value for this key."""
    try:
        msgspec.convert(nested({path: value}), Settings)
    except (msgspec.ValidationError, UnicodeEncodeError):  # the latter for a lone surrogate
        return False
    return True


def nested(values: dict[KeyPath, object]) -> dict[str, Any]:
    """Single keys put together to the tree they come from."""
    tree: dict[str, Any] = {}
    for path, value in values.items():
        branch = tree
        for name in path[:-1]:
            branch = branch.setdefault(name, {})
        if value == {}:  # an entry of a table, filled by keys that may have come before it
            branch.setdefault(path[-1], {})
        else:
            branch[path[-1]] = value
    return tree


def camel(name: str) -> str:
    """A snake_case name in the spelling of the schema."""
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def snake(name: str) -> str:
    """A name of the schema in snake_case."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def _field(group: StructType, name: str) -> Field | None:
    return next((field for field in group.fields if field.encode_name == name), None)


def _bare(kind: Type) -> Type:
    """A type without the description around it, unless it is a plain value's."""
    inner = kind.type if isinstance(kind, Metadata) else kind
    return inner if isinstance(inner, StructType | DictType) else kind
