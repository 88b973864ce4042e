"""What a model server looks like to the rest of the program: one protocol, plain values."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

import msgspec

from ollm_tui.core.session.message import Role, ToolCallPart, Usage, Value

Finish = Literal["stop", "length", "tool_calls", "filtered", "unknown"]


class Image(msgspec.Struct, frozen=True):
    """A picture that goes along with a message, base64."""

    media_type: str
    data: str


class CompactedPrompt(Value, frozen=True):
    """Messages as a server has compacted them: nobody but that server can read its items."""

    provider: str
    model: str
    items: tuple[dict[str, Any], ...]
    tokens: int
    """What the items take of a prompt."""


class PromptMessage(msgspec.Struct, frozen=True, kw_only=True):
    """One message as the model sees it."""

    role: Role
    text: str = ""
    reasoning: str = ""
    tool_calls: tuple[ToolCallPart, ...] = ()
    tool_call_id: str | None = None
    """On a tool message: the call it answers."""
    tool_name: str | None = None
    images: tuple[Image, ...] = ()
    compacted: CompactedPrompt | None = None
    """The same in the form of the server that is asked: it is sent in the place of the text."""


class ToolSpec(msgspec.Struct, frozen=True):
    """A tool offered to the model; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: dict[str, Any]


class ChatRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One request. `window` is equal in all requests of a session: changing it reloads models."""

    model: str
    messages: tuple[PromptMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    window: int | None = None
    max_output: int | None = None
    temperature: float | None = None
    thinking: bool | None = None
    """Whether the model should think first; None leaves it to the server."""
    answer_schema: dict[str, Any] | None = None
    """A JSON schema the answer has to follow, where the server can hold it to that."""


class Preparing(msgspec.Struct, frozen=True):
    """Something has to happen before the first word: a download, a start, a model load."""

    what: str
    fraction: float | None = None


class TextDelta(msgspec.Struct, frozen=True):
    """More of the answer."""

    text: str


class ReasoningDelta(msgspec.Struct, frozen=True):
    """More of the model's thinking."""

    text: str
    signature: str | None = None


class ToolCallArrived(msgspec.Struct, frozen=True):
    """The model asks for a tool; the call is whole."""

    call: ToolCallPart


class Completed(msgspec.Struct, frozen=True, kw_only=True):
    """The answer is over. Always the last event of a stream that did not raise."""

    finish: Finish
    usage: Usage | None = None
    model: str | None = None
    """The model that really answered, where the server says so."""


StreamEvent = Preparing | TextDelta | ReasoningDelta | ToolCallArrived | Completed


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    """What a model on its server can do; None means the server does not say."""

    streaming: bool = True
    tools: bool | None = None
    counting: bool = False
    """Whether `count_tokens` is exact."""
    compaction: bool = False
    thinking: bool | None = None
    images: bool | None = None
    window: int | None = None
    """The window requests will really get."""
    max_window: int | None = None
    """The largest window the model was made for."""
    window_bytes_per_token: int | None = None
    """Memory of this machine that each token of the window takes; None on another machine."""


class ModelInfo(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A model a provider can run."""

    name: str
    size_bytes: int | None = None
    max_window: int | None = None
    parameters: str | None = None
    """How large the model is, in the words of its maker: "1.5B"."""
    quantization: str | None = None
    installed: bool = True
    note: str = ""


class Provider(Protocol):
    """A model server.

    `stream` raises a ProviderError; closing the generator closes the connection, which
    stops the server. `count_tokens` is None where there is no exact way.
    """

    @property
    def name(self) -> str:
        """How the settings call this provider."""
        ...

    def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """The answer as it is written, ending with Completed."""
        ...

    async def count_tokens(self, request: ChatRequest) -> int | None:
        """How many tokens the prompt of this request has, exactly."""
        ...

    async def capabilities(self, model: str) -> Capabilities:
        """What this model can do here."""
        ...

    async def list_models(self) -> tuple[ModelInfo, ...]:
        """The models there are."""
        ...

    async def default_model(self) -> str:
        """The model to use when nobody named one. ModelMissing if there is none."""
        ...

    async def close(self) -> None:
        """Let go of connections and child processes."""
        ...


@runtime_checkable
class CanPull(Protocol):
    """A provider that can fetch models."""

    def pull(self, model: str) -> AsyncGenerator[Preparing, None]:
        """Fetch a model, telling how far it is. ModelMissing if nobody has it."""
        ...


@runtime_checkable
class CanCompact(Protocol):
    """A provider whose server compacts prompts itself, where `Capabilities.compaction` says so.

    With the strategy `summarize` a checkpoint then carries the server's form of what it stands
    for besides its own words, which stay what people read, edit and undo, and what every other
    server is sent. The server's form is kept only if it is no longer than these words.
    """

    async def compact(self, request: ChatRequest) -> CompactedPrompt:
        """The messages of a request, compacted. A ProviderError."""
        ...


@runtime_checkable
class CanEmbed(Protocol):
    """A provider that turns texts into vectors, near each other where they mean alike."""

    async def embed(self, model: str, texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        """One vector for each text, in their order. A ProviderError."""
        ...


@runtime_checkable
class MayBeAbsent(Protocol):
    """A provider whose server may well not be running; asking costs little."""

    async def answers_within(self, seconds: float) -> bool:
        """Whether the server is there; tried once, and never an error."""
        ...


class ProviderSource(Protocol):
    """Finds who answers: by name, or whoever is there."""

    def names(self) -> list[str]:
        """Every provider there is, in the order they are tried."""
        ...

    async def get(self, name: str) -> Provider:
        """One provider. UsageError if the name is unknown, ProviderError if it cannot be used."""
        ...

    async def select(self, provider: str | None, model: str | None) -> tuple[Provider, str]:
        """A provider and a model name. UsageError for an unknown name, or a ProviderError."""
        ...

    async def close(self) -> None:
        """Close every provider that was opened."""
        ...


BYTE_LEVEL = "gpt2"
"""What model files call vocabularies that are built from bytes."""
_CONTROL, _USER_DEFINED = 3, 4


class Vocabulary(msgspec.Struct, frozen=True):
    """The tokens of a byte-level vocabulary; their place in the list is their rank."""

    splitting: str
    """By which rules text is cut into words first, named as model files do."""
    tokens: Sequence[str]
    """Each byte of a token is written as one printable character."""
    kinds: Sequence[int]

    def specials(self) -> dict[str, int]:
        """The tokens that stand for themselves: marks of the chat template and the like."""
        kinds = zip(self.tokens, self.kinds, strict=True)
        return {
            token: rank
            for rank, (token, kind) in enumerate(kinds)
            if kind in (_CONTROL, _USER_DEFINED)
        }


@runtime_checkable
class HasVocabulary(Protocol):
    """A provider that can say by which vocabulary a model reads."""

    async def vocabulary(self, model: str) -> Vocabulary | None:
        """The vocabulary of a model; None if it is not here or of a kind not understood."""
        ...
