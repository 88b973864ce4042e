"""What a key expects, in words for the user."""

from __future__ import annotations

from msgspec.inspect import (
    BoolType,
    FloatType,
    IntType,
    LiteralType,
    Metadata,
    NoneType,
    Type,
    UnionType,
    VarTupleType,
)


def expectation(kind: Type | None) -> str:
    """The values a type takes: "a number above 0 and at most 1"."""
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


def _bounds(kind: IntType | FloatType) -> str:
    limits = (
        ("above", kind.gt),
        ("at least", kind.ge),
        ("below", kind.lt),
        ("at most", kind.le),
    )
    words = " and ".join(f"{word} {limit}" for word, limit in limits if limit is not None)
    return f" {words}" if words else ""
