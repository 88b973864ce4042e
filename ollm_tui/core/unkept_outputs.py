"""What is stored where the outputs of tools and commands are not: all but these outputs.

A line with the size and hash of an output stands in its place, and how the command ended.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import Any

from msgspec.structs import replace

from ollm_tui.core.counts import counted
from ollm_tui.core.session.compression import Checkpoint, Compression
from ollm_tui.core.session.encoding import message_from_tree, metadata_from_tree, to_tree
from ollm_tui.core.session.message import Attachment, Message, Part, Text, ToolResultPart
from ollm_tui.core.session.record import (
    AnyRecord,
    Compressed,
    Created,
    MessageAdded,
    MessageFinished,
    MetadataChanged,
    SessionChanged,
    ToolCallAdded,
)
from ollm_tui.core.session.session import Metadata, Session, ToolCall
from ollm_tui.core.snapshot import ContextSnapshot

_HASH_DIGITS = 12
"""Digits of the hash that are shown: enough to tell two outputs apart."""
_END = r"\[(exit -?\d+|killed|timeout|failed)((?: · [\d.]+ (?:ms|s|min|h))?)"
_ENDING = re.compile(rf"{_END}[^\n]*\]")
"""The last line of the result of a command."""
_NOTE = re.compile(
    rf"(?:\[output not kept: [\d.,]+ (?:bytes?|kB|MB), sha256:[0-9a-f]{{{_HASH_DIGITS}}}…\]\n?)?"
    rf"(?:{_END}\])?"
)
"""What stands in place of an output; a session is stored again and again."""
_QUOTED_RESULT = re.compile(r'the same (answer|error), ".*",', re.DOTALL)
"""How the evidence of a loop quotes what a tool answered."""


def session_without_outputs(session: Session) -> Session:
    """Return a session as it is stored where outputs are not kept."""
    return replace(
        session,
        messages=tuple(map(message_without_outputs, session.messages)),
        tool_calls=tuple(map(_call, session.tool_calls)),
        metadata=_metadata(session.metadata),
    )


def message_without_outputs(message: Message) -> Message:
    """Return a message with a note in place of each output; the same object if it has none."""
    is_of_tool = message.role == "tool"
    if not is_of_tool and not any(isinstance(part, ToolResultPart) for part in message.parts):
        return message
    parts = tuple(_part(part, is_of_tool=is_of_tool) for part in message.parts)
    return message if parts == message.parts else replace(message, parts=parts)


def record_without_outputs(record: AnyRecord) -> AnyRecord:
    """Return a record as it is stored where outputs are not kept."""
    match record:
        case Created():
            return replace(record, session=session_without_outputs(record.session))
        case MessageAdded():
            return replace(record, message=message_without_outputs(record.message))
        case MessageFinished():
            return replace(record, parts=tuple(_part(part) for part in record.parts))
        case ToolCallAdded():
            return replace(record, tool_call=_call(record.tool_call))
        case SessionChanged():
            return replace(record, fields=_session_fields(record.fields))
        case MetadataChanged():
            return replace(record, fields=_metadata_fields(record.fields))
        case Compressed():
            return replace(record, compression=_compression(record.compression))
        case _:
            return record


def snapshot_without_outputs(snapshot: ContextSnapshot) -> ContextSnapshot:
    """Return a snapshot as it is stored where outputs are not kept."""
    return replace(
        snapshot,
        messages=tuple(map(message_without_outputs, snapshot.messages)),
        checkpoints=tuple(map(_checkpoint, snapshot.checkpoints)),
        elisions=dict.fromkeys(snapshot.elisions, ""),
    )


def note_of(output: str) -> str:
    """Return what stands in place of an output: its size and hash, and how a command ended."""
    if _NOTE.fullmatch(output):
        return output
    printed, ending = output.rstrip("\n"), ""
    before, _, last = printed.rpartition("\n")
    if ended := _ENDING.fullmatch(last):
        printed, ending = before, f"[{ended[1]}{ended[2]}]"
    if not printed.strip():
        return ending
    data = _bytes(printed)
    digest = sha256(data).hexdigest()[:_HASH_DIGITS]
    note = f"[output not kept: {_size(len(data))}, sha256:{digest}…]"
    return "\n".join(filter(None, (note, ending)))


def _part(part: Part, *, is_of_tool: bool = False) -> Part:
    match part:
        case ToolResultPart() if not part.trusted:
            return replace(part, content=note_of(part.content))
        case Attachment() if is_of_tool:
            return Text(f"{part.name} {note_of(part.content)}".strip(), trusted=False)
        case _:
            return part


def _call(call: ToolCall) -> ToolCall:
    """Return a call with the size and hash of all that it printed, not only of what was given."""
    result = call.result
    is_noted = result.return_display is None and _NOTE.fullmatch(result.llm_content)
    if result.trusted or is_noted:
        return call
    whole = _bytes(result.llm_content if result.return_display is None else result.return_display)
    kept = replace(
        result,
        llm_content=note_of(result.llm_content),
        return_display=None,
        size=len(whole),
        sha256=sha256(whole).hexdigest(),
    )
    return replace(call, result=kept)


def _metadata(metadata: Metadata) -> Metadata:
    if not (metadata.compression_history or metadata.loops):
        return metadata
    return replace(
        metadata,
        compression_history=tuple(map(_compression, metadata.compression_history)),
        loops=tuple(
            replace(loop, evidence=_QUOTED_RESULT.sub(r"the same \1", loop.evidence))
            for loop in metadata.loops
        ),
    )


def _compression(compression: Compression) -> Compression:
    """Return a compression without the excerpts of outputs that were cut short.

    Its ledgers hold none: where outputs are not kept, they are made without them.
    """
    return replace(
        compression,
        created=tuple(map(_checkpoint, compression.created)),
        elisions=dict.fromkeys(compression.elisions, ""),
    )


def _checkpoint(checkpoint: Checkpoint) -> Checkpoint:
    """Return a checkpoint without the server's form of the messages, outputs included."""
    return checkpoint if checkpoint.compacted is None else replace(checkpoint, compacted=None)


def _session_fields(fields: dict[str, Any]) -> dict[str, Any]:
    fields = dict(fields)
    if messages := fields.get("messages"):
        kept = [message_without_outputs(message_from_tree(each)) for each in messages]
        fields["messages"] = [to_tree(message) for message in kept]
    if metadata := fields.get("metadata"):
        fields["metadata"] = _metadata_fields(metadata)
    return fields


def _metadata_fields(fields: dict[str, Any]) -> dict[str, Any]:
    kept = to_tree(_metadata(metadata_from_tree(fields)))
    return {name: kept[name] for name in fields}


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _size(count: int) -> str:
    if count < 1000:
        return counted(count, "byte")
    return f"{count / 1e3:,.1f} kB" if count < 1_000_000 else f"{count / 1e6:,.1f} MB"
