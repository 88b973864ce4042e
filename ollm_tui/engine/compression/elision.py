"""Old data cut short: the facts that stay of what tools said and what came along."""

from __future__ import annotations

from ollm_tui.core.message import Attachment, Message, Retrieval, ToolResultPart
from ollm_tui.engine.compression.ledger import ledger_of, rendered

FACTS_TOKENS = 80
"""So much of old data is left as facts found in it."""

Data = ToolResultPart | Attachment | Retrieval
"""What in a message may be cut short."""


def has_data(message: Message) -> bool:
    """Whether something in a message may be cut short."""
    return any(isinstance(part, Data) for part in message.parts)


def facts_of(message: Message) -> str:
    """The facts in the data of a message; the same message always gives the same."""
    data = tuple(_as_output(part) for part in message.parts if isinstance(part, Data))
    ledger = ledger_of([Message(message.id, "tool", data, message.timestamp)])
    return rendered(ledger, FACTS_TOKENS, lambda text: len(text) // 3)


def _as_output(part: Data) -> ToolResultPart:
    """Files and pastes are read as if a tool had said them."""
    match part:
        case ToolResultPart():
            return part
        case Retrieval():
            return ToolResultPart(call_id="", name="", content=part.text)
        case Attachment():
            is_image = part.media_type.startswith("image/")
            return ToolResultPart(call_id="", name="", content="" if is_image else part.content)
