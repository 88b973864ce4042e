"""The values of a session as JSON and back: strict and fast, and nothing unknown is lost.

The fast way is one call into msgspec. Where it refuses (unknown fields or part types, lone
surrogates, numbers it cannot hold) the tolerant way takes over: the standard library's JSON
and a walk over the tree that sets unknown fields aside or puts them back.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from itertools import chain
from typing import Any, TypeVar, cast, get_args

import msgspec

from ollm_tui.core.loop import LoopRecord
from ollm_tui.core.session.compression import (
    Checkpoint,
    CompressedContext,
    Compression,
    Fact,
    Ledger,
)
from ollm_tui.core.session.context_entry import ContextEntry
from ollm_tui.core.session.goals import Decision, Goal, Milestone, Subtask
from ollm_tui.core.session.message import EXTRA_KEY, Message, Part, UnknownPart, Usage, Value
from ollm_tui.core.session.record import (
    AnyRecord,
    Compressed,
    Created,
    MessageAdded,
    MessageFinished,
    ToolCallAdded,
    UnknownRecord,
)
from ollm_tui.core.session.session import (
    Metadata,
    ModeChange,
    Restore,
    Session,
    ToolCall,
    ToolResult,
)

T = TypeVar("T")
Tree = dict[str, Any]

_PART_TYPES = {kind.__struct_config__.tag: kind for kind in get_args(Part)}
_RECORD_KINDS = {kind.__struct_config__.tag: kind for kind in get_args(AnyRecord)}
_UNKNOWN_PART = UnknownPart.__struct_config__.tag
_UNKNOWN_RECORD = UnknownRecord.__struct_config__.tag

_INSIDE: dict[type[Value], dict[str, type[Value]]] = {
    Metadata: {
        "modeHistory": ModeChange,
        "goals": Goal,
        "contextEntries": ContextEntry,
        "compressed": CompressedContext,
        "compressionHistory": Compression,
        "restores": Restore,
        "loops": LoopRecord,
    },
    Goal: {"subtasks": Subtask, "milestones": Milestone, "decisions": Decision},
    Compression: {
        "before": CompressedContext,
        "after": CompressedContext,
        "created": Checkpoint,
    },
    Checkpoint: {"ledger": Ledger},
    Ledger: {"facts": Fact},
}
"""Fields that hold values or lists of values, which may have unknown fields of their own."""

_encoder = msgspec.json.Encoder()


class CannotDecode(ValueError):
    """Bytes that are not JSON, or not JSON of the expected shape."""


def decode_session(data: bytes) -> Session:
    """Decode a session file. CannotDecode if the bytes are none."""
    return _decode(data, Session, _absorb_session)


def decode_tool_call(data: bytes) -> ToolCall:
    """Decode one tool call. CannotDecode if the bytes are none."""
    return _decode(data, ToolCall, _absorb_tool_call)


def decode_message(data: bytes) -> Message:
    """Decode one message. CannotDecode if the bytes are none."""
    return _decode(data, Message, _absorb_message)


def decode_record(data: bytes) -> AnyRecord:
    """Decode one journal record. CannotDecode if the bytes are none."""
    return _decode(data, cast(type[AnyRecord], AnyRecord), _absorb_record)


def session_from_tree(tree: Tree) -> Session:
    """Make a session from parsed JSON. CannotDecode if it is none."""
    return _convert(tree, Session, _absorb_session)


def metadata_from_tree(tree: Tree) -> Metadata:
    """Make the metadata of a session from parsed JSON. CannotDecode if it is none."""
    return _convert(tree, Metadata, _absorb_metadata)


def encode(value: Value | AnyRecord) -> bytes:
    """Encode a value as compact JSON; what was unknown when it was read is put back."""
    if _is_plain(value):
        try:
            return _encoder.encode(value)
        except UnicodeEncodeError:
            pass  # a lone surrogate: only an escape can hold it
    return json.dumps(to_tree(value), separators=(",", ":")).encode("ascii")


def to_tree(value: Value | AnyRecord) -> Tree:
    """Convert a value to plain dicts and lists, exactly as it is written."""
    tree = cast(Tree, msgspec.to_builtins(value))
    return _release(type(value), tree)


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


def _decode(
    data: bytes,
    kind: type[T],
    absorb: Callable[[Tree], Tree],
) -> T:
    try:
        return cast(T, _decoder(kind).decode(data))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return _convert(parse_json(data), kind, absorb)


def _convert(tree: Any, kind: type[T], absorb: Callable[[Tree], Tree]) -> T:
    if not isinstance(tree, dict):
        raise CannotDecode(f"expected an object, found {type(tree).__name__}")
    try:
        return msgspec.convert(absorb(cast(Tree, tree)), kind)
    except (msgspec.ValidationError, TypeError, AttributeError, KeyError) as error:
        raise CannotDecode(str(error)) from error


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


# Setting unknown fields aside, one function per kind that has fields of its own.


def _absorb(kind: type[Value], tree: Tree) -> Tree:
    known = _known_names(kind)
    extra = {key: item for key, item in tree.items() if key not in known}
    if not extra:
        return dict(tree)
    kept = {key: item for key, item in tree.items() if key in known}
    kept[EXTRA_KEY] = extra
    return kept


@cache
def _known_names(kind: type[Value]) -> frozenset[str]:
    """Cached: msgspec reads the annotations of a class anew each time it is asked."""
    names = {field.encode_name for field in msgspec.structs.fields(kind)}
    tag_field = kind.__struct_config__.tag_field
    return frozenset(names | {tag_field} if tag_field else names)


def _absorb_part(tree: Tree) -> Tree:
    kind = _PART_TYPES.get(tree.get("type"))
    if kind is None or kind is UnknownPart:
        return {"type": _UNKNOWN_PART, "raw": tree}
    absorbed = _absorb(kind, tree)
    # A known type with another shape is kept as it came, so that it costs only itself.
    try:
        msgspec.convert(absorbed, kind)
    except msgspec.ValidationError:
        return {"type": _UNKNOWN_PART, "raw": tree}
    return absorbed


def _absorb_message(tree: Tree) -> Tree:
    tree = _absorb(Message, tree)
    tree["parts"] = [_absorb_part(part) for part in tree["parts"]]
    if isinstance(tree.get("usage"), dict):
        tree["usage"] = _absorb(Usage, tree["usage"])
    return tree


def _absorb_tool_call(tree: Tree) -> Tree:
    tree = _absorb(ToolCall, tree)
    if isinstance(tree.get("result"), dict):
        tree["result"] = _absorb(ToolResult, tree["result"])
    return tree


def _absorb_metadata(tree: Tree) -> Tree:
    return _absorb_deep(Metadata, tree)


def _absorb_deep(kind: type[Value], tree: Tree) -> Tree:
    """Set the unknown fields of a value and of the values inside it aside."""
    tree = _absorb(kind, tree)
    for name, inner in _INSIDE.get(kind, {}).items():
        if name in tree:
            tree[name] = _each(tree[name], inner, _absorb_deep)
    return tree


def _each(item: Any, kind: type[Value], walk: Callable[[type[Value], Tree], Tree]) -> Any:
    if isinstance(item, list | tuple):
        return [walk(kind, each) for each in cast(list[Tree], item)]
    return walk(kind, item)


def _absorb_session(tree: Tree) -> Tree:
    tree = _absorb(Session, tree)
    tree["messages"] = [_absorb_message(message) for message in tree.get("messages", [])]
    tree["toolCalls"] = [_absorb_tool_call(call) for call in tree.get("toolCalls", [])]
    tree["metadata"] = _absorb_metadata(tree.get("metadata", {}))
    return tree


def _absorb_record(tree: Tree) -> Tree:
    kind = _RECORD_KINDS.get(tree.get("kind"))
    if kind is None or kind is UnknownRecord:
        return {"kind": _UNKNOWN_RECORD, "at": str(tree.get("at", "")), "raw": tree}
    tree = dict(tree)
    if kind is Created:
        tree["session"] = _absorb_session(tree["session"])
    elif kind is MessageAdded:
        tree["message"] = _absorb_message(tree["message"])
    elif kind is ToolCallAdded:
        tree["toolCall"] = _absorb_tool_call(tree["toolCall"])
    elif kind is MessageFinished:
        tree["parts"] = [_absorb_part(part) for part in tree.get("parts", [])]
    elif kind is Compressed:
        tree["compression"] = _absorb_deep(Compression, tree["compression"])
    return tree


# Putting them back. The walk follows the shape of the values, never foreign data inside
# them, so that nothing a tool or a model said can be taken for one of our marks.


def _release_fields(tree: Tree) -> Tree:
    extra = tree.pop(EXTRA_KEY, None)
    if extra:
        tree.update(extra)
    return tree


def _release_part(tree: Tree) -> Tree:
    return tree["raw"] if tree["type"] == _UNKNOWN_PART else _release_fields(tree)


def _release_message(tree: Tree) -> Tree:
    tree["parts"] = [_release_part(part) for part in tree["parts"]]
    if tree.get("usage"):
        tree["usage"] = _release_fields(tree["usage"])
    return _release_fields(tree)


def _release_tool_call(tree: Tree) -> Tree:
    tree["result"] = _release_fields(tree["result"])
    return _release_fields(tree)


def _release_session(tree: Tree) -> Tree:
    tree["messages"] = [_release_message(message) for message in tree["messages"]]
    tree["toolCalls"] = [_release_tool_call(call) for call in tree["toolCalls"]]
    tree["metadata"] = _release_deep(Metadata, tree["metadata"])
    return _release_fields(tree)


def _release_deep(kind: type[Value], tree: Tree) -> Tree:
    for name, inner in _INSIDE.get(kind, {}).items():
        if name in tree:
            tree[name] = _each(tree[name], inner, _release_deep)
    return _release_fields(tree)


def _release(kind: type, tree: Tree) -> Tree:
    if kind is Session:
        return _release_session(tree)
    if kind is Message:
        return _release_message(tree)
    if kind is ToolCall:
        return _release_tool_call(tree)
    if kind in _INSIDE:
        return _release_deep(kind, tree)
    if kind is Created:
        tree["session"] = _release_session(tree["session"])
    elif kind is MessageAdded:
        tree["message"] = _release_message(tree["message"])
    elif kind is ToolCallAdded:
        tree["toolCall"] = _release_tool_call(tree["toolCall"])
    elif kind is MessageFinished:
        tree["parts"] = [_release_part(part) for part in tree.get("parts", ())]
    elif kind is Compressed:
        tree["compression"] = _release_deep(Compression, tree["compression"])
    elif kind is UnknownRecord:
        return tree["raw"]
    else:
        return _release_fields(tree)
    return tree


def _is_plain(value: object) -> bool:
    """Whether msgspec alone writes this value correctly: nothing unknown is inside."""
    match value:
        case Message():
            if value.extra is not msgspec.UNSET:
                return False
            if value.usage is not None and value.usage.extra is not msgspec.UNSET:
                return False
            for part in value.parts:
                if part.extra is not msgspec.UNSET or type(part) is UnknownPart:
                    return False
            return True
        case UnknownPart() | UnknownRecord():
            return False
        case Session():
            return (
                value.extra is msgspec.UNSET
                and _is_plain(value.metadata)
                and all(_is_plain(call) for call in value.tool_calls)
                and all(_is_plain(message) for message in value.messages)
            )
        case Metadata():
            lists = (value.mode_history, value.goals, value.context_entries)
            return (
                value.extra is msgspec.UNSET
                and _is_plain(value.compressed)
                and all(map(_is_plain, chain(*lists, value.compression_history, value.restores)))
            )
        case Goal():
            lists = (value.subtasks, value.milestones, value.decisions)
            return value.extra is msgspec.UNSET and all(map(_is_plain, chain(*lists)))
        case Compression():
            inside = (value.before, value.after, *value.created)
            return value.extra is msgspec.UNSET and all(map(_is_plain, inside))
        case Checkpoint():
            facts = value.ledger.facts
            inside = value.extra is msgspec.UNSET and value.ledger.extra is msgspec.UNSET
            return inside and all(map(_is_plain, facts))
        case ToolCall():
            return value.extra is msgspec.UNSET and value.result.extra is msgspec.UNSET
        case Created():
            return _is_plain(value.session)
        case MessageAdded():
            return _is_plain(value.message)
        case ToolCallAdded():
            return _is_plain(value.tool_call)
        case MessageFinished():
            return all(map(_is_plain, value.parts))
        case Compressed():
            return _is_plain(value.compression)
        case Value():
            return value.extra is msgspec.UNSET
        case _:
            return True
