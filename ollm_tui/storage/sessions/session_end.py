"""The end of a session file that is too large to be read: its last messages, and nothing else."""

from __future__ import annotations

import os
from pathlib import Path

from msgspec.structs import replace

from ollm_tui.core.session.encoding import CannotDecode, decode_message, decode_session
from ollm_tui.core.session.message import Message
from ollm_tui.core.session.session import Metadata, Session
from ollm_tui.storage.files.side_files import SideFiles
from ollm_tui.storage.sessions.session_file import whole_message

END_BYTES = 4_000_000
"""Bytes of messages that are read."""
_BLOCK = 1_000_000
_BEGINS = b'"messages":['
_ENDS = b'],\n"toolCalls":['
_GOES_ON = b'],"metadata":{'
"""Where the messages begin and end, and what follows the tool calls. In a JSON string the quotes
would be escaped."""


def read_end(path: Path, side_files: SideFiles) -> Session | None:
    """Read the last messages, without what was known of those before them; None if it has none.

    OSError if the file cannot be read.
    """
    with path.open("rb") as file:
        header = _header(file.fileno())
        end = _find_last(file.fileno(), _ENDS)
        if header is None or end is None:
            return None
        start = max(0, end - END_BYTES)
        lines = os.pread(file.fileno(), end - start, start).split(b"\n")
    # The first line is cut, or is the header.
    found = [message for line in lines[1:] if (message := _message(line, side_files))]
    if not found:
        return None
    messages = _joined(found)
    return replace(header, messages=messages, head=messages[-1].id, metadata=Metadata())


def _header(descriptor: int) -> Session | None:
    """Read what is before the messages, and what is after them and the tool calls."""
    before, found, _ = os.pread(descriptor, _BLOCK, 0).partition(_BEGINS)
    after = _find_last(descriptor, _GOES_ON)
    if not found or after is None:
        return None
    rest = os.pread(descriptor, END_BYTES, after)
    try:
        return decode_session(before + _BEGINS + b'],"toolCalls":[' + rest)
    except CannotDecode:
        return None


def _message(line: bytes, side_files: SideFiles) -> Message | None:
    try:
        message = decode_message(line.removesuffix(b","))
    except CannotDecode:
        return None
    # One that is too large as well is left out.
    if message.file and message.file.size > END_BYTES:
        return None
    return whole_message(message, side_files, [])


def _joined(found: list[Message]) -> tuple[Message, ...]:
    """The branch that the last message ends, as far as it is there; its first has no parent."""
    by_id = {message.id: message for message in found}
    branch = [found[-1]]
    while (parent := by_id.pop(branch[-1].parent_id or "", None)) is not None:
        branch.append(parent)
    branch[-1] = replace(branch[-1], parent_id=None)
    return tuple(reversed(branch))


def _find_last(descriptor: int, sought: bytes) -> int | None:
    """Where a text is in a file for the last time, read block by block from its end."""
    end = os.fstat(descriptor).st_size
    after = b""
    while end > 0:
        start = max(0, end - _BLOCK)
        block = os.pread(descriptor, end - start, start) + after
        at = block.rfind(sought)
        if at != -1:
            return start + at
        end, after = start, block[: len(sought)]
    return None
