"""What a later version writes survives this one, in whichever value it stands."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, Literal, get_args, get_origin

import msgspec

from ollm_tui.core.session.encoding import (
    decode_message,
    decode_record,
    decode_session,
    decode_tool_call,
    encode,
    metadata_from_tree,
    parse_json,
    to_tree,
)
from ollm_tui.core.session.message import (
    EXTRA_KEY,
    Message,
    Part,
    UnknownPart,
    Value,
)
from ollm_tui.core.session.record import AnyRecord, Record, UnknownRecord
from ollm_tui.core.session.session import Metadata, Session, ToolCall
from ollm_tui.core.snapshot import ContextSnapshot
from ollm_tui.core.snapshot_encoding import decode_snapshot
from tests.cases import every

Kind = type[Value] | type[Record]
Decode = Callable[[bytes], Value | AnyRecord]

DECODERS: dict[Kind, Decode] = {
    Session: decode_session,
    Message: decode_message,
    ToolCall: decode_tool_call,
    Metadata: lambda data: metadata_from_tree(parse_json(data)),
    ContextSnapshot: decode_snapshot,
    **{kind: decode_record for kind in get_args(AnyRecord) if kind is not UnknownRecord},
}
"""Everything that is read from a file."""
SIMPLE: dict[object, tuple[Any, Any]] = {
    str: ("a", "b"),
    int: (7, 8),
    float: (0.5, 1.5),
    bool: (True, False),
    Any: ("a", "b"),
}
"""Two samples of each: one of them is not the default."""
LATER = {"n": [1, {EXTRA_KEY: 2}]}
"""What a later version may say; our mark in it is none."""


class Sampler:
    """Makes values as JSON in which every field is set, with one value in every list of values.

    The values are counted; the one with the number `odd` gets a field of a later version.
    """

    def __init__(self, odd: int | None = None) -> None:
        self.odd = odd
        self.count = 0

    def value(self, kind: Kind) -> dict[str, Any]:
        config = kind.__struct_config__
        tree: dict[str, Any] = {config.tag_field: config.tag} if config.tag_field else {}
        if issubclass(kind, Value):  # a record keeps no unknown fields of its own
            if self.count == self.odd:
                tree["later"] = LATER
            self.count += 1
        for field in msgspec.structs.fields(kind):
            if field.encode_name != EXTRA_KEY:
                tree[field.encode_name] = self.any_of(field.type, field.default)
        return tree

    def any_of(self, annotation: Any, default: object = None) -> Any:
        """Anything of a type but its default, which may not be written."""
        origin, inner = get_origin(annotation), get_args(annotation)
        if annotation in SIMPLE:
            return next(each for each in SIMPLE[annotation] if each != default)
        if inner and inner[0] == Part:
            return [self.value(each) for each in get_args(Part) if each is not UnknownPart]
        if origin is Literal:
            return next(each for each in inner if each != default)
        if origin is tuple:
            return [self.any_of(each) for each in inner if each is not ...]
        if origin is dict:
            return {"a": self.any_of(inner[1])}
        if inner:
            return self.any_of(next(each for each in inner if each is not type(None)), default)
        return self.value(annotation)


@every("kind", DECODERS)
def test_an_unknown_field_survives_in_any_value(kind: Kind) -> None:
    sampler = Sampler()
    trees = [sampler.value(kind)]
    # One at a time: a value that is forgotten must not hide behind the others.
    trees += [Sampler(number).value(kind) for number in range(sampler.count)]
    for tree in trees:
        value = DECODERS[kind](json.dumps(tree).encode())
        assert json.loads(encode(value)) == tree
        assert json.loads(json.dumps(to_tree(value))) == tree
