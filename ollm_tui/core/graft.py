"""Messages brought in from another branch or session: on their way they are attachments, so
that prompt and drafts carry them; in the message that is sent they are retrievals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ollm_tui.core.message import Attachment, Message, Retrieval

GRAFTED = "text/x-ollm-message"
"""The media type of a message that is brought in; its path is session/message."""


def grafted(
    messages: Iterable[Message], session_id: str, beside: Sequence[Attachment] = ()
) -> list[Attachment]:
    """Messages to be sent along with the next prompt, beside what is there already."""
    number = sum(part.media_type == GRAFTED for part in beside)
    return [
        _carried(number, _words(message), f"{session_id}/{message.id}")
        for number, message in enumerate(messages, number + 1)
    ]


def as_sent(attachment: Attachment) -> Attachment | Retrieval:
    """What stands in the message for something that came along."""
    if attachment.media_type != GRAFTED:
        return attachment
    session_id, _, message_id = (attachment.path or "").partition("/")
    return Retrieval(text=attachment.content, session_id=session_id, message_id=message_id or None)


def as_written(message: Message) -> list[Attachment]:
    """What a message brought along, to be written again."""
    found = [part for part in message.parts if isinstance(part, Attachment)]
    brought = [part for part in message.parts if isinstance(part, Retrieval)]
    for number, part in enumerate(brought, 1):
        found.append(_carried(number, part.text, f"{part.session_id}/{part.message_id or ''}"))
    return found


def _carried(number: int, text: str, path: str) -> Attachment:
    """Named by its number, so that the text that names it still does when it is edited."""
    return Attachment(name=f"earlier message {number}", media_type=GRAFTED, content=text, path=path)


def _words(message: Message) -> str:
    """What was said; without words, what came along."""
    if message.text.strip():
        return message.text
    return "\n\n".join(part.content for part in message.parts if isinstance(part, Attachment))
