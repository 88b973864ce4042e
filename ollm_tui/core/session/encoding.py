"""The values of a session as JSON and back: strict and fast, and nothing unknown is lost.

The fast way is one call into msgspec. Where it refuses or writes one of our marks (unknown
fields or part types, lone surrogates, numbers it cannot hold) the tolerant way takes over: the
standard library's JSON and a walk over the tree that sets unknown fields aside or puts them back.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any, NamedTuple, TypeVar, cast, get_args

import msgspec

from ollm_tui.core.session.message import EXTRA_KEY, Message, Part, UnknownPart, Value
from ollm_tui.core.session.record import AnyRecord, Record, UnknownRecord
from ollm_tui.core.session.session import Metadata, Session, ToolCall

T = TypeVar("T")
Tree = dict[str, Any]
Walk = Callable[[Any], Any]
_Kind = type[Value] | type[Record]

_PARTS: tuple[type[Value], ...] = get_args(Part)
_PART_TYPES = {kind.__struct_config__.tag: kind for kind in _PARTS if kind is not UnknownPart}
_RECORD_KINDS = {
    kind.__struct_config__.tag: kind for kind in get_args(AnyRecord) if kind is not UnknownRecord
}
_UNKNOWN_PART = UnknownPart.__struct_config__.tag
_UNKNOWN_RECORD = UnknownRecord.__struct_config__.tag
_MARK = EXTRA_KEY[0].encode()
"""All our marks begin with it; without it, the bytes msgspec has written need no correction."""
_RARE = _MARK[:1]
"""In UTF-8 only private-use characters begin with this byte, and a single byte is found fast."""

_encoder = msgspec.json.Encoder()


class CannotDecode(ValueError):
    """Bytes that are not JSON, or not JSON of the expected shape."""


def decode_session(data: bytes) -> Session:
    """Decode a session file. CannotDecode if the bytes are none."""
    return _decode(data, Session, partial(absorb, Session))


def decode_tool_call(data: bytes) -> ToolCall:
    """Decode one tool call. CannotDecode if the bytes are none."""
    return _decode(data, ToolCall, partial(absorb, ToolCall))


def decode_message(data: bytes) -> Message:
    """Decode one message. CannotDecode if the bytes are none."""
    return _decode(data, Message, partial(absorb, Message))


def decode_record(data: bytes) -> AnyRecord:
    """Decode one journal record. CannotDecode if the bytes are none."""
    return _decode(data, cast(type[AnyRecord], AnyRecord), _absorb_record)


def session_from_tree(tree: Tree) -> Session:
    """Make a session from parsed JSON. CannotDecode if it is none."""
    return _convert(tree, Session, partial(absorb, Session))


def message_from_tree(tree: Tree) -> Message:
    """Make a message from parsed JSON. CannotDecode if it is none."""
    return _convert(tree, Message, partial(absorb, Message))


def metadata_from_tree(tree: Tree) -> Metadata:
    """Make the metadata of a session from parsed JSON. CannotDecode if it is none."""
    return _convert(tree, Metadata, partial(absorb, Metadata))


def encode(value: Value | AnyRecord) -> bytes:
    """Encode a value as compact JSON; what was unknown when it was read is put back."""
    if data := encode_plain(value):
        return data
    return json.dumps(to_tree(value), separators=(",", ":")).encode("ascii")


def encode_plain(value: Value | AnyRecord) -> bytes | None:
    """Encode a value by msgspec alone; None where that is not enough."""
    try:
        data = _encoder.encode(value)
    except UnicodeEncodeError:
        return None  # a lone surrogate: only an escape can hold it
    return None if _RARE in data and _MARK in data else data


def to_tree(value: Value | AnyRecord) -> Tree:
    """Convert a value to plain dicts and lists, exactly as it is written."""
    tree = cast(Tree, msgspec.to_builtins(value))
    return tree["raw"] if isinstance(value, UnknownRecord) else release(type(value), tree)


def parse_json(data: bytes) -> Any:
    """Parse any JSON. CannotDecode if it is invalid."""
    # NaN and infinities are no JSON, but json.loads would accept them.
    try:
        return json.loads(data, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise CannotDecode(str(error)) from error


@cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    """Build a decoder when first needed: all take 10 ms, which a list of sessions can save."""
    return msgspec.json.Decoder(kind)


def _decode(data: bytes, kind: type[T], walk: Walk) -> T:
    try:
        return cast(T, _decoder(kind).decode(data))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _convert(parse_json(data), kind, walk)


def _convert(tree: Any, kind: type[T], walk: Walk) -> T:
    if not isinstance(tree, dict):
        raise CannotDecode(f"expected an object, found {type(tree).__name__}")
    try:
        return msgspec.convert(walk(tree), kind)
    except (msgspec.ValidationError, TypeError, AttributeError, KeyError) as error:
        raise CannotDecode(str(error)) from error


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


# The walks follow the types of the values, never foreign data inside them, so that nothing a
# tool or a model said can be taken for one of our marks.


def absorb(kind: _Kind, tree: Any) -> Tree:
    """Set the unknown fields of a value aside, and those of every value inside it."""
    known, inside = _shape(kind)
    kept = {name: item for name, item in tree.items() if name in known}
    for name, (walk, _) in inside.items():
        if name in kept:
            kept[name] = _each(kept[name], walk)
    # Records keep none: they are never written again, what they tell is in the session then.
    if len(kept) < len(tree) and issubclass(kind, Value):
        kept[EXTRA_KEY] = {name: item for name, item in tree.items() if name not in known}
    return kept


def release(kind: _Kind, tree: Tree) -> Tree:
    """Put the unknown fields of a value back, and those of every value inside it."""
    for name, (_, walk) in _shape(kind).inside.items():
        if name in tree:
            tree[name] = _each(tree[name], walk)
    if extra := tree.pop(EXTRA_KEY, None):
        tree.update(extra)
    return tree


class _Shape(NamedTuple):
    """What the walks need to know of a type."""

    known: frozenset[str]
    """The names of its fields on disk."""
    inside: Mapping[str, tuple[Walk, Walk]]
    """The fields that hold values or lists of values: how each is absorbed, and released."""


@cache
def _shape(kind: _Kind) -> _Shape:
    """Cached: msgspec reads the annotations of a class anew each time it is asked."""
    types = {field.encode_name: field.type for field in msgspec.structs.fields(kind)}
    types.pop(EXTRA_KEY, None)
    tag_field = kind.__struct_config__.tag_field
    inside: dict[str, tuple[Walk, Walk]] = {}
    for name, annotation in types.items():
        match _values_in(annotation):
            case []:
                pass
            case [inner]:
                inside[name] = partial(absorb, inner), partial(release, inner)
            case _:  # the only union of values is that of the parts
                inside[name] = _absorb_part, _release_part
    return _Shape(frozenset((*types, tag_field) if tag_field else types), inside)


def _values_in(annotation: Any) -> list[type[Value]]:
    if isinstance(annotation, type) and issubclass(annotation, Value):
        return [annotation]
    return [kind for inner in get_args(annotation) for kind in _values_in(inner)]


def _each(item: Any, walk: Walk) -> Any:
    if isinstance(item, list | tuple):
        return [walk(each) for each in cast(list[Any], item)]
    return item if item is None else walk(item)


def _absorb_part(tree: Any) -> Tree:
    kind = _PART_TYPES.get(tree.get("type"))
    if kind is None:
        return {"type": _UNKNOWN_PART, "raw": tree}
    absorbed = absorb(kind, tree)
    # A known type with another shape is kept as it came, so that it costs only itself.
    try:
        msgspec.convert(absorbed, kind)
    except msgspec.ValidationError:
        return {"type": _UNKNOWN_PART, "raw": tree}
    return absorbed


def _release_part(tree: Tree) -> Tree:
    kind = tree["type"]
    return tree["raw"] if kind == _UNKNOWN_PART else release(_PART_TYPES[kind], tree)


def _absorb_record(tree: Tree) -> Tree:
    kind = _RECORD_KINDS.get(tree.get("kind"))
    if kind is None:
        return {"kind": _UNKNOWN_RECORD, "at": str(tree.get("at", "")), "raw": tree}
    return absorb(kind, tree)
