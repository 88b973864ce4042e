"""The session file: the full record as one JSON document, with one message per line."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar, cast

import msgspec
from msgspec.structs import replace

from ollm_tui.core.session.encoding import (
    CannotDecode,
    decode_message,
    decode_session,
    decode_tool_call,
    encode,
    parse_json,
)
from ollm_tui.core.session.message import Message
from ollm_tui.core.session.session import Session, ToolCall, ToolResult
from ollm_tui.storage.files.side_files import SIDE_FILE_FROM_BYTES, SideFiles
from ollm_tui.storage.importers.older_sessions import older_session

V = TypeVar("V", Message, ToolCall)

LINES_PER_CHUNK = 100
"""Few enough that other threads get to run, many enough that writing takes few calls."""

_EMPTY_LISTS = b'"messages":[],"toolCalls":[]'
"""Where the lists are put in. In a JSON string the quotes would be escaped, so it is unique."""


class ParsedSession(NamedTuple):
    """A session as its file has it."""

    session: Session
    older: bool
    """Whether the file is in the shape of an earlier program."""
    problems: tuple[str, ...]
    derived: int = 0
    """How many messages stand for tool calls that an earlier program listed elsewhere."""


def session_chunks(session: Session, side_files: SideFiles) -> Iterator[bytes]:
    """Yield the bytes of a session file piece by piece, so that other threads get to run."""
    header = encode(replace(session, messages=(), tool_calls=()))
    before, _, after = header.partition(_EMPTY_LISTS)
    yield before + b'"messages":['
    yield from _lines(session.messages, side_files)
    yield b'],\n"toolCalls":['
    yield from _lines(session.tool_calls, side_files)
    yield b"]" + after + b"\n"


def parse_session(
    data: bytes, session_id: str, modified: str, side_files: SideFiles
) -> ParsedSession:
    """Read a session file of this version or an older one. CannotDecode if it is none."""
    session, older, derived = _decoded(data, session_id, modified)
    problems: list[str] = []
    session = replace(
        session,
        # A copied file is another session: the name decides.
        session_id=session_id,
        messages=tuple(whole_message(m, side_files, problems) for m in session.messages),
        tool_calls=tuple(whole_tool_call(c, side_files, problems) for c in session.tool_calls),
    )
    return ParsedSession(session, older, tuple(problems), derived)


def _decoded(data: bytes, session_id: str, modified: str) -> tuple[Session, bool, int]:
    """Return the session, whether it is of an earlier program, which had no version, and how many
    messages were derived."""
    if b'"schemaVersion"' in data:
        try:
            return decode_session(data), False, 0
        except CannotDecode:
            pass  # in an older file the name may stand in the arguments of a tool
    tree = parse_json(data)
    if not isinstance(tree, dict):
        raise CannotDecode(f"expected an object, found {type(tree).__name__}")
    tree = cast(dict[str, Any], tree)
    if imported := older_session(tree, session_id, modified):
        return imported, True, len(imported.messages) - len(tree["messages"])
    return decode_session(data), False, 0


def whole_message(message: Message, files: SideFiles, problems: list[str]) -> Message:
    """Complete a message from its side file; one that cannot be read is added to `problems`."""
    return _whole(message, decode_message, files, problems)


def whole_tool_call(call: ToolCall, files: SideFiles, problems: list[str]) -> ToolCall:
    """Complete a tool call from its side file; one that cannot be read is added to `problems`."""
    return _whole(call, decode_tool_call, files, problems)


def referenced_files(session: Session) -> set[str]:
    """Return the side files that could not be read with the session: they must be kept."""
    values = (*session.messages, *session.tool_calls)
    return {value.file.sha256 for value in values if value.file}


def _lines(values: tuple[Message, ...] | tuple[ToolCall, ...], files: SideFiles) -> Iterator[bytes]:
    separator = b"\n"
    for start in range(0, len(values), LINES_PER_CHUNK):
        lines: list[bytes] = []
        for value in values[start : start + LINES_PER_CHUNK]:
            data = encode(value)
            if len(data) > SIDE_FILE_FROM_BYTES:
                data = encode(_stub(value, data, files))
            lines.append(data)
        yield separator + b",\n".join(lines)
        separator = b",\n"


def _stub(value: Message | ToolCall, data: bytes, files: SideFiles) -> Message | ToolCall:
    """Put a value into a side file and return what stands for it in the session file."""
    reference = files.put(data)
    if isinstance(value, Message):
        return replace(value, parts=(), extra=msgspec.UNSET, file=reference)
    result = ToolResult(llm_content="")
    return replace(value, args={}, result=result, extra=msgspec.UNSET, file=reference)


def _whole(value: V, decode: Callable[[bytes], V], files: SideFiles, problems: list[str]) -> V:
    if value.file is None:
        return value
    try:
        return decode(files.get(value.file))
    except (OSError, CannotDecode) as error:
        problems.append(f"a large part of {value.id} cannot be read: {error}")
        return value
