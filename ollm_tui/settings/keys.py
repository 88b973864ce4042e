"""The schema as a tree of keys: types, defaults, other spellings, and hints for unknown names."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

import msgspec
from msgspec import NODEFAULT
from msgspec.inspect import (
    BoolType,
    DictType,
    Field,
    FloatType,
    IntType,
    LiteralType,
    Metadata,
    NoneType,
    StrType,
    StructType,
    Type,
    UnionType,
    VarTupleType,
    type_info,
)

from ollm_tui.settings.loaded import KeyPath
from ollm_tui.settings.schema import Settings
from ollm_tui.settings.warning import dotted, holds_secret

PREFIX = "OLLM_"
"""The beginning of every environment variable of a setting."""

ALIASES: Mapping[KeyPath, KeyPath] = {
    ("services", "session"): ("sessions",),
    ("services", "sessions"): ("sessions",),
    ("services", "snapshots"): ("snapshots",),
    ("services", "compression"): ("compression",),
    ("services", "loopDetection"): ("loopDetection",),
    ("services", "fileDiscovery"): ("fileDiscovery",),
    ("services", "environment"): ("environment",),
    ("chat", "retention"): ("retention",),
    ("retention", "maxSessions"): ("sessions", "maxSessions"),
    ("tools", "allowedTools"): ("tools", "allowed"),
    ("tools", "sandbox", "networkAccess"): ("tools", "network"),
    ("tools", "sandbox", "fileSystemScope"): ("tools", "scope"),
}
"""Other spellings of keys and groups, and what they are called here."""

ALIAS_GROUPS: frozenset[KeyPath] = frozenset(
    path[:length] for path in ALIASES for length in range(1, len(path))
) - {("retention",), ("tools",)}
"""Groups that exist only in other spellings, not in the schema."""


def shape(path: KeyPath) -> Type | None:
    """Return the type of a key, group or table; None if there is none of that name."""
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
    """Return the names that may stand below a group, or in a table with fixed names."""
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
    """Return the default of a key; NODEFAULT for an entry of a table."""
    parent = shape(path[:-1])
    field = _field(parent, path[-1]) if isinstance(parent, StructType) else None
    return NODEFAULT if field is None else field.default


def fixed_keys(below: KeyPath = ()) -> Iterator[KeyPath]:
    """Yield every key that holds a value itself and is not in a table."""
    for name in names_below(below):
        path = (*below, name)
        if not is_branch(path):
            yield path
        elif not is_table(path):
            yield from fixed_keys(path)


def accepts(path: KeyPath, value: object) -> bool:
    """Whether the schema accepts a value for a key."""
    try:
        msgspec.convert(nested({path: value}), Settings)
    except (msgspec.ValidationError, UnicodeEncodeError):  # the latter for a lone surrogate
        return False
    return True


def nested(values: dict[KeyPath, object]) -> dict[str, Any]:
    """Put single keys together into a tree."""
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


def resolved(group: KeyPath, name: str) -> KeyPath:
    """Return the key that `name` means inside a group; an unknown name stays as it is."""
    # The names in a table are the user's own and keep their spelling.
    path = (*group, name if is_table(group) else camel(name))
    return ALIASES.get(path, path)


def camel(name: str) -> str:
    """Convert a snake_case name to the spelling of the schema."""
    first, *rest = name.split("_")
    return first + "".join(part[:1].upper() + part[1:] for part in rest)


def snake(name: str) -> str:
    """Convert a name of the schema to snake_case."""
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", name).lower()


def expectation(kind: Type | None) -> str:
    """Describe the values a type takes: "a number above 0 and at most 1"."""
    match kind:
        case Metadata(extra_json_schema={"description": str() as words}):
            return words
        case BoolType():
            return "true or false"
        case NoneType():
            return "null"
        case LiteralType(values=values):
            words = [str(value) for value in values]
            return words[0] if len(words) == 1 else f"one of {', '.join(words)}"
        case IntType():
            return "a whole number" + _bounds(kind)
        case FloatType():
            return "a number" + _bounds(kind)
        case VarTupleType(item_type=item):
            return f"a list, each item {expectation(item)}"
        case UnionType(types=types):
            return " or ".join(expectation(choice) for choice in types)
        case _:
            return "text"


def unknown_key(path: KeyPath) -> str:
    """Describe the problem with an unknown key and name the most similar known one."""
    group, name = path[:-1], path[-1]
    if group[:1] == ("providers",) and holds_secret((name,)):
        return "keys are not kept in this file; use keyEnv, keyring or keyCommand"
    near = nearest(name, names_below(group))
    if near is not None:
        return _unknown(dotted((*group, near)))
    # The key may be meant for another group; that takes a greater likeness.
    elsewhere = {key[-1]: key for key in fixed_keys()}
    near = nearest(name, elsewhere, likeness=0.8)
    return _unknown(None if near is None else dotted(elsewhere[near]))


def unknown_variable(name: str, known: Iterable[str]) -> str:
    """Describe the problem with an unknown variable and name the most similar known one."""
    # Compared without the prefix, which would make all of them alike.
    near = nearest(name.removeprefix(PREFIX), (one.removeprefix(PREFIX) for one in known))
    return _unknown(None if near is None else PREFIX + near)


def nearest(name: str, known: Iterable[str], likeness: float = 0.6) -> str | None:
    """Return the known name most similar to this one; None if none is similar enough."""
    by_lower = {one.lower(): one for one in known}
    word = name[:100].lower()
    found = difflib.get_close_matches(word, by_lower, n=3, cutoff=likeness)
    # Swapped letters are the most common slip, and difflib does not rank them first.
    found.sort(key=lambda one: sorted(one) != sorted(word))
    return by_lower[found[0]] if found else None


@cache
def _root() -> Type:
    return type_info(Settings)


def _field(group: StructType, name: str) -> Field | None:
    return next((field for field in group.fields if field.encode_name == name), None)


def _bare(kind: Type) -> Type:
    """Return a group or table without the description around it; other types stay as they are."""
    inner = kind.type if isinstance(kind, Metadata) else kind
    return inner if isinstance(inner, StructType | DictType) else kind


def _bounds(kind: IntType | FloatType) -> str:
    limits = (
        ("above", kind.gt),
        ("at least", kind.ge),
        ("below", kind.lt),
        ("at most", kind.le),
    )
    words = " and ".join(f"{word} {limit}" for word, limit in limits if limit is not None)
    return f" {words}" if words else ""


def _unknown(near: str | None) -> str:
    return "unknown key" + (f"; did you mean {near}?" if near else "; it is ignored")
