"""Elisions: what is left of old data and arguments that are cut short, and what that costs."""

from __future__ import annotations

from ollm_tui.core.session.message import (
    Attachment,
    Message,
    Retrieval,
    ToolCallPart,
    ToolResultPart,
)
from ollm_tui.engine.compression.summary.summary_input import shortened
from ollm_tui.engine.context.context_view import cost_of
from ollm_tui.engine.context.prompt_message import Said, said_by
from ollm_tui.services.tokens.counter import TokenCounter

EXCERPT_CHARACTERS = 240
"""Characters of the end of one message's old data that are kept."""

WORTH_CHARACTERS = 40
"""Data is cut short only if the message loses at least so many characters."""
IMAGE_CHARACTERS = 1000
"""Characters that an image is taken to be worth when lengths are compared."""

Data = ToolResultPart | Attachment | Retrieval
"""The parts of a message that may be cut short."""


class Elisions:
    """What would be left of the data of messages and what that costs, worked out once each."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._costs: dict[tuple[str, str], int] = {}

    def excerpt(self, message: Message, most_tokens: int) -> str:
        """Return the beginning and end of data that the model has not read yet."""
        contents = [_as_output(part).content for part in message.parts if isinstance(part, Data)]
        return shortened("\n".join(contents), most_tokens, self._counter.text_tokens)

    def shortens(self, message: Message, facts: str) -> bool:
        """Whether a message becomes enough shorter with only these facts left of its data.

        Characters are compared, not tokens: what is known of a message's tokens changes with
        every count, and the answer has to be the same every time.
        """
        return _size(said_by(message)) - _size(said_by(message, None, facts)) >= WORTH_CHARACTERS

    def cost(self, message: Message, facts: str) -> int:
        """Return the tokens of a message with only these facts left of its data."""
        key = (message.id, facts)
        if key not in self._costs:
            self._costs[key] = cost_of(self._counter, message, None, facts)
        return self._costs[key]


def has_data(message: Message) -> bool:
    """Whether something in a message may be cut short: data, or arguments of calls."""
    return any(isinstance(part, Data | ToolCallPart) for part in message.parts)


def end_of(message: Message) -> str:
    """Return the end of the data of a message; always the same for the same message.

    Its first words are kept in any case.
    """
    contents = [_as_output(part).content for part in message.parts if isinstance(part, Data)]
    end = "\n".join(contents)[-EXCERPT_CHARACTERS * 2 :].rstrip()
    if len(end) <= EXCERPT_CHARACTERS:
        return end
    end = end[-EXCERPT_CHARACTERS:]
    # From the beginning of a line where one is near.
    begins = end.find("\n", 0, EXCERPT_CHARACTERS // 2)
    return f"…{end[begins + 1 :]}"


def _size(said: Said) -> int:
    results = sum(len(result.text) for result in said.results)
    calls = sum(len(str(call.args)) for call in said.calls)
    return len(said.text) + results + calls + len(said.images) * IMAGE_CHARACTERS


def _as_output(part: Data) -> ToolResultPart:
    """Return a part as tool output, so that facts are read from all data in the same way."""
    match part:
        case ToolResultPart():
            return part
        case Retrieval():
            return ToolResultPart(call_id="", name="", content=part.text)
        case Attachment():
            is_image = part.media_type.startswith("image/")
            return ToolResultPart(call_id="", name="", content="" if is_image else part.content)
