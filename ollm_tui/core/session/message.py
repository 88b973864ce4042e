"""Messages and their typed parts: what was said, by whom, and whether it is to be trusted."""

from __future__ import annotations

from typing import Any, Literal
from uuid import uuid4

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

Role = Literal["user", "assistant", "system", "tool"]

Status = Literal["complete", "streaming", "cancelled", "failed", "interrupted", "length"]
"""`length`: the reply ended at the output cap or the window, not because it was done."""

EXTRA_KEY = "\ue000extra"
"""Encoded name of `Value.extra`: a private-use character no real field starts with."""


class Value(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """A frozen value that keeps what it does not know.

    Strict decoding refuses unknown fields; `core.session.encoding` then puts them into `extra`
    and writes them back to where they were.
    """

    extra: dict[str, Any] | UnsetType = msgspec.field(default=UNSET, name=EXTRA_KEY)


class Text(Value, frozen=True, tag_field="type", tag="text"):
    """Plain text of the user, the model or the program."""

    text: str
    trusted: bool = True


class Reasoning(Value, frozen=True, tag_field="type", tag="reasoning"):
    """What the model thought before it answered; `signature` lets a provider accept it back."""

    text: str
    signature: str | None = None
    trusted: bool = False


class ToolCallPart(Value, frozen=True, tag_field="type", tag="tool-call"):
    """The model asks for a tool; `raw_arguments` is kept when its JSON could not be read."""

    call_id: str
    name: str
    args: dict[str, Any]
    raw_arguments: str | None = None
    trusted: bool = False


class ToolResultPart(Value, frozen=True, tag_field="type", tag="tool-result"):
    """What a tool answered: data, never instructions."""

    call_id: str
    name: str
    content: str
    is_error: bool = False
    trusted: bool = False


class Attachment(Value, frozen=True, tag_field="type", tag="attachment"):
    """A paste, file or image sent with a message; images are base64 in `content`."""

    name: str
    media_type: str
    content: str
    path: str | None = None
    trusted: bool = False
    handle: str | None = None
    """The name by which the model reads it in parts; None if it is sent whole."""


class Retrieval(Value, frozen=True, tag_field="type", tag="retrieval"):
    """A passage brought in from another place in the history."""

    text: str
    session_id: str
    message_id: str | None = None
    trusted: bool = False
    source: str | None = None
    """The file of the project and its lines, if it is from one; then the session is empty."""


class Approval(Value, frozen=True, tag_field="type", tag="approval"):
    """What the user decided about a tool call, and for how long."""

    call_id: str
    decision: str
    scope: str = "once"
    trusted: bool = True


class Opaque(Value, frozen=True, tag_field="type", tag="opaque"):
    """A reply just as its server sent it, with what only that server can read: signed or encrypted
    thinking. It goes back unchanged, to the same server and model only."""

    vendor: str
    """The kind and the host of the server."""
    model: str
    items: tuple[dict[str, Any], ...]
    calls: tuple[str, ...] = ()
    """The ids that the calls among the items have in this session, in their order."""
    trusted: bool = False


class UnknownPart(Value, frozen=True, tag_field="type", tag="\ue000unknown"):
    """A part of a type this version does not know, kept as it came."""

    raw: dict[str, Any]
    trusted: bool = False


Part = (
    Text
    | Reasoning
    | ToolCallPart
    | ToolResultPart
    | Attachment
    | Retrieval
    | Approval
    | Opaque
    | UnknownPart
)


class Usage(Value, frozen=True, omit_defaults=True):
    """What one request cost in tokens and seconds, as the provider measured it."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int | None = None
    """Tokens of the input that the server took from its cache."""
    cache_written_tokens: int | None = None
    """Tokens of the input that the server put into its cache."""
    reasoning_tokens: int | None = None
    """Tokens of the output that were thinking, where the server says so."""
    cost: float | Literal["unknown"] | None = None
    """US dollars, by the price of that day; None if it came from this machine, which is free."""
    load_seconds: float | None = None
    prompt_seconds: float | None = None
    output_seconds: float | None = None

    @property
    def total_tokens(self) -> int:
        """Tokens in the window when the reply ended."""
        return self.input_tokens + self.output_tokens


class FileRef(Value, frozen=True):
    """Refers to a value that is too large for its place and has a file named by its hash."""

    sha256: str
    size: int


class Continued(Value, frozen=True):
    """Says that an answer goes on with one that was stopped: it begins with the same text."""

    message_id: str
    """The stopped answer, which stays as a sibling."""
    characters: int
    """How much of its text was taken over: all but white space at its end."""


class Message(Value, frozen=True, omit_defaults=True):
    """One message of the conversation tree; `parent_id` is what it answers or continues."""

    id: str
    role: Role
    parts: tuple[Part, ...]
    timestamp: str
    parent_id: str | None = None
    model: str | None = None
    provider: str | None = None
    usage: Usage | None = None
    status: Status = "complete"
    error: str | None = None
    file: FileRef | None = None
    """On disk only: the side file with the whole message, when this is just a stub."""
    machine: str | None = None
    """The machine it was recorded on, if that is another one."""
    continues: Continued | None = None
    """The answer this one goes on with, on a reply that did not begin anew."""

    @property
    def text(self) -> str:
        """The text of the message, without reasoning, tools and attachments."""
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def reasoning(self) -> str:
        """What the model thought, as far as it was given."""
        return "".join(part.text for part in self.parts if isinstance(part, Reasoning))

    @property
    def opaque(self) -> Opaque | None:
        """The reply as its server wants it back, if there is more to it than text and calls."""
        return next((part for part in self.parts if isinstance(part, Opaque)), None)

    @property
    def tool_calls(self) -> tuple[ToolCallPart, ...]:
        """The tools this message asks for."""
        return tuple(part for part in self.parts if isinstance(part, ToolCallPart))


def going_on(reply: Message, stopped: Message) -> Message:
    """Return a reply that begins with what a stopped one has, as another version of it."""
    parts = _beginning(stopped)
    begun = replace(reply, parts=parts, parent_id=stopped.parent_id)
    return replace(begun, continues=Continued(message_id=stopped.id, characters=len(begun.text)))


def can_go_on(stopped: Message) -> bool:
    """Whether an answer can be gone on with: it ends with text, after nothing but thinking."""
    return bool(_beginning(stopped))


def _beginning(stopped: Message) -> tuple[Part, ...]:
    *before, last = stopped.parts or (Text(""),)
    rest = last.text.rstrip() if isinstance(last, Text) else ""
    if not rest or not all(isinstance(part, Text | Reasoning) for part in before):
        return ()
    return (*before, Text(rest, trusted=last.trusted))


def sent_length(message: Message) -> int:
    """Count the characters of a message that a model reads; pictures have none."""
    length = 0
    for part in message.parts:
        if isinstance(part, Attachment) and part.media_type.startswith("image/"):
            continue
        if isinstance(part, Text | Retrieval):
            length += len(part.text)
        elif isinstance(part, Attachment | ToolResultPart):
            length += len(part.content)
    return length


def new_id() -> str:
    """Return a new message id: short enough to type, long enough to be unique."""
    return uuid4().hex[:16]
