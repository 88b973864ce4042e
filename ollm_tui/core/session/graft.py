"""Messages brought in from another branch or session.

They are attachments while a prompt or a draft carries them, and retrievals once it is sent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence

from msgspec.structs import replace

from ollm_tui.core.session.message import (
    Attachment,
    Message,
    Retrieval,
    ToolCallPart,
    ToolResultPart,
)

GRAFTED = "text/x-ollm-message"
"""The media type of a message that is brought in; its path is SESSION/MESSAGE."""
PASSAGE = "text/x-ollm-passage"
"""The media type of a passage of a file that is brought in; its path is FILE:LINES."""
WORDLESS = "[a message without words]"
_NUMBER = re.compile(r"earlier message (\d+)")


def grafted(
    messages: Iterable[Message], session_id: str, beside: Sequence[Attachment] = ()
) -> list[Attachment]:
    """Turn messages into attachments of the next prompt, numbered after those already there.

    Each message becomes one text with everything in it that is text, and its pictures.
    """
    named = (_NUMBER.match(part.name) for part in beside)
    last = max((int(found[1]) for found in named if found), default=0)
    return [
        part
        for number, message in enumerate(messages, last + 1)
        for part in _brought(number, message, session_id)
    ]


def as_sent(attachment: Attachment) -> Attachment | Retrieval:
    """Return what an attachment becomes in the message that is sent."""
    if attachment.media_type == PASSAGE:
        return Retrieval(text=attachment.content, session_id="", source=attachment.path)
    if attachment.media_type != GRAFTED:
        return attachment
    session_id, _, message_id = (attachment.path or "").partition("/")
    return Retrieval(text=attachment.content, session_id=session_id, message_id=message_id or None)


def as_written(message: Message) -> list[Attachment]:
    """Return what a message was sent with as attachments again, to edit it."""
    found = _attachments(message)
    brought = [part for part in message.parts if isinstance(part, Retrieval)]
    for number, part in enumerate(brought, 1):
        if part.source:
            found.append(passage_of_file(part.source, part.text))
            continue
        found.append(_carried(number, part.text, f"{part.session_id}/{part.message_id or ''}"))
    return found


def passage_of_file(source: str, text: str) -> Attachment:
    """Return a passage of a file, to be sent along."""
    return Attachment(name=source, media_type=PASSAGE, content=text, path=source)


def _carried(number: int, text: str, path: str) -> Attachment:
    """Make the attachment of a message.

    Its name has only the number: a text that refers to it stays true when it is edited again.
    """
    return Attachment(name=f"earlier message {number}", media_type=GRAFTED, content=text, path=path)


def _brought(number: int, message: Message, session_id: str) -> Iterator[Attachment]:
    pictures = [part for part in _attachments(message) if _is_picture(part)]
    text = "\n\n".join(_texts(message))
    if text or not any(part.content for part in pictures):
        yield _carried(number, text or WORDLESS, f"{session_id}/{message.id}")
    for index, part in enumerate(pictures, 1):
        if part.content:
            which = f" {index}" if len(pictures) > 1 else ""
            name = f"earlier message {number}, picture{which}: {part.name}"
            # What is brought in is data, whatever it was in its own conversation.
            yield replace(part, name=name, path=part.path or part.name, trusted=False)


def _texts(message: Message) -> Iterator[str]:
    """Yield the message's text, its text attachments and tool results, or else its tool calls."""
    pieces = [message.text] if message.text.strip() else []
    for part in message.parts:
        match part:
            case Attachment() if _is_picture(part):
                if not part.content:
                    pieces.append(f"[the picture {part.name} is left out]")
            case Attachment():
                pieces.append(f"{part.name}:\n{part.content}" if pieces else part.content)
            case Retrieval():
                pieces.append(part.text)
            case ToolResultPart():
                how = " with an error" if part.is_error else ""
                pieces.append(f"{part.name} answered{how}:\n{part.content}")
            case _:
                pass
    return iter(pieces or [_asked(call) for call in message.tool_calls])


def _asked(call: ToolCallPart) -> str:
    words = call.raw_arguments or json.dumps(call.args, ensure_ascii=False)
    return f"{call.name} was called with {words}"


def _attachments(message: Message) -> list[Attachment]:
    return [part for part in message.parts if isinstance(part, Attachment)]


def _is_picture(part: Attachment) -> bool:
    return part.media_type.startswith("image/")
