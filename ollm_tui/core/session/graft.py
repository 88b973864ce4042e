"""Messages brought in from another branch or session: on their way they are attachments, so
that prompt and drafts carry them; in the message that is sent they are retrievals."""

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
"""The media type of a message that is brought in; its path is session/message."""
WORDLESS = "[a message without words]"
_NUMBER = re.compile(r"earlier message (\d+)")


def grafted(
    messages: Iterable[Message], session_id: str, beside: Sequence[Attachment] = ()
) -> list[Attachment]:
    """Messages to be sent along with the next prompt, beside what is there already: each as one
    text with all that is text in it, and its pictures as pictures."""
    named = (_NUMBER.match(part.name) for part in beside)
    last = max((int(found[1]) for found in named if found), default=0)
    return [
        part
        for number, message in enumerate(messages, last + 1)
        for part in _brought(number, message, session_id)
    ]


def as_sent(attachment: Attachment) -> Attachment | Retrieval:
    """What stands in the message for something that came along."""
    if attachment.media_type != GRAFTED:
        return attachment
    session_id, _, message_id = (attachment.path or "").partition("/")
    return Retrieval(text=attachment.content, session_id=session_id, message_id=message_id or None)


def as_written(message: Message) -> list[Attachment]:
    """What a message brought along, to be written again."""
    found = _attachments(message)
    brought = [part for part in message.parts if isinstance(part, Retrieval)]
    for number, part in enumerate(brought, 1):
        found.append(_carried(number, part.text, f"{part.session_id}/{part.message_id or ''}"))
    return found


def _carried(number: int, text: str, path: str) -> Attachment:
    """Named by its number, so that the text that names it still does when it is edited."""
    return Attachment(name=f"earlier message {number}", media_type=GRAFTED, content=text, path=path)


def _brought(number: int, message: Message, session_id: str) -> Iterator[Attachment]:
    pictures = [part for part in _attachments(message) if _is_picture(part)]
    text = "\n\n".join(_texts(message))
    if text or not any(part.content for part in pictures):
        yield _carried(number, text or WORDLESS, f"{session_id}/{message.id}")
    for place, part in enumerate(pictures, 1):
        if part.content:
            which = f" {place}" if len(pictures) > 1 else ""
            name = f"earlier message {number}, picture{which}: {part.name}"
            yield replace(part, name=name, path=part.path or part.name, trusted=False)


def _texts(message: Message) -> Iterator[str]:
    """What was said, what came along as text, and what tools answered; without any of it, what
    they were asked."""
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
