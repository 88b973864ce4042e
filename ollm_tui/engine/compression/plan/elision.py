"""Old data cut short: the facts that stay of what tools said and what came along."""

from __future__ import annotations

from ollm_tui.core.session.message import Attachment, Message, Retrieval, ToolResultPart
from ollm_tui.engine.compression.ledger.ledger import ledger_of, rendered
from ollm_tui.engine.compression.summary.summary_input import shortened
from ollm_tui.engine.context.context_view import cost_of
from ollm_tui.engine.context.prompt_message import Said, said_by
from ollm_tui.services.tokens.counter import TokenCounter

FACTS_TOKENS = 80
"""So much of old data is left as facts found in it."""

WORTH_CHARACTERS = 40
IMAGE_CHARACTERS = 1000
"""About what an image takes."""

Data = ToolResultPart | Attachment | Retrieval
"""What in a message may be cut short."""


class Elisions:
    """What would be left of the data of messages, and what that costs; each is looked at once."""

    def __init__(self, counter: TokenCounter) -> None:
        self._counter = counter
        self._facts: dict[str, str] = {}
        self._costs: dict[tuple[str, str], int] = {}

    def facts(self, message: Message) -> str:
        """The facts that stay of old data."""
        if message.id not in self._facts:
            self._facts[message.id] = facts_of(message)
        return self._facts[message.id]

    def excerpt(self, message: Message, most_tokens: int) -> str:
        """Beginning and end of data that the model has not read yet."""
        contents = [_as_output(part).content for part in message.parts if isinstance(part, Data)]
        return shortened("\n".join(contents), most_tokens, self._counter.text_tokens)

    def shortens(self, message: Message, facts: str) -> bool:
        """Whether that is worth it. Letters are compared, so that it is the same every time:
        what tokens are known of a message changes with every count."""
        return _size(said_by(message)) - _size(said_by(message, None, facts)) >= WORTH_CHARACTERS

    def cost(self, message: Message, facts: str) -> int:
        """The tokens of a message of whose data these facts are left."""
        key = (message.id, facts)
        if key not in self._costs:
            self._costs[key] = cost_of(self._counter, message, None, facts)
        return self._costs[key]


def has_data(message: Message) -> bool:
    """Whether something in a message may be cut short."""
    return any(isinstance(part, Data) for part in message.parts)


def facts_of(message: Message) -> str:
    """The facts in the data of a message; the same message always gives the same."""
    data = tuple(_as_output(part) for part in message.parts if isinstance(part, Data))
    ledger = ledger_of([Message(message.id, "tool", data, message.timestamp)])
    return rendered(ledger, FACTS_TOKENS, lambda text: len(text) // 3)


def _size(said: Said) -> int:
    results = sum(len(result.text) for result in said.results)
    return len(said.text) + results + len(said.images) * IMAGE_CHARACTERS


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
