"""The protocol of a model server, and the plain values it takes and gives."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

import msgspec

from ollm_tui.core.model_card import ModelCard
from ollm_tui.core.session.message import Opaque, Role, ToolCallPart, Usage, Value

ThinkingLevel = Literal["low", "medium", "high", "max"]
"""How long a model should think, where it can be told."""
Thinking = bool | ThinkingLevel
Finish = Literal["stop", "length", "tool_calls", "filtered", "unknown"]


class Image(msgspec.Struct, frozen=True):
    """A picture that is sent with a message; `data` is base64."""

    media_type: str
    data: str


class CompactedPrompt(Value, frozen=True):
    """Messages as a server has compacted them; only that server can read the items."""

    provider: str
    model: str
    items: tuple[dict[str, Any], ...]
    tokens: int
    """Tokens the items take in a prompt."""


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
    """The same content as the server that is asked has compacted it; sent instead of the text."""
    opaque: Opaque | None = None
    """The same reply as the server that is asked has sent it; sent instead of text and calls."""


class ToolSpec(msgspec.Struct, frozen=True):
    """A tool offered to the model; `parameters` is a JSON schema."""

    name: str
    description: str
    parameters: dict[str, Any]


class ChatRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One request. `window` is the same in all requests of a session: a change reloads models."""

    model: str
    messages: tuple[PromptMessage, ...]
    tools: tuple[ToolSpec, ...] = ()
    window: int | None = None
    max_output: int | None = None
    temperature: float | None = None
    thinking: Thinking | None = None
    """Whether the model should think first, or how long; None leaves it to the server."""
    answer_schema: dict[str, Any] | None = None
    """A JSON schema for the answer, where the server can enforce one."""
    continues: bool = False
    """Whether the last message is the beginning of the answer; only with `Capabilities.continues`.
    It does not end with white space, which some servers refuse there."""


class Preparing(msgspec.Struct, frozen=True):
    """Something has to happen before the first word: a download, a start, a model load."""

    what: str
    fraction: float | None = None
    """How much of it is done, from 0 to 1; None where that is unknown."""


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
    """The answer is complete. Always the last event of a stream that did not raise."""

    finish: Finish
    usage: Usage | None = None
    model: str | None = None
    """The model that really answered, where the server says so."""
    opaque: tuple[dict[str, Any], ...] = ()
    """The whole reply as it came, if it holds what only the server can read; else nothing."""


StreamEvent = Preparing | TextDelta | ReasoningDelta | ToolCallArrived | Completed


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    """What a model on its server can do; None means the server does not say."""

    streaming: bool = True
    tools: bool | None = None
    counting: bool = False
    """Whether `count_tokens` is exact."""
    compaction: bool = False
    continues: bool = False
    """Whether it goes on with an answer that ends the prompt; others would begin a new one."""
    thinking: bool | None = None
    images: bool | None = None
    window: int | None = None
    """The window that requests really get, in tokens."""
    max_window: int | None = None
    """The largest window the model was made for."""
    card: ModelCard | None = None
    """What the program knows of the model by itself, with its prices."""
    window_bytes_per_token: int | None = None
    """Memory of this machine that each token of the window takes; None on another machine."""
    resizable: bool = False
    """Whether a request may ask for another window than the present one."""


class ModelInfo(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A model a provider can run."""

    name: str
    size_bytes: int | None = None
    max_window: int | None = None
    parameters: str | None = None
    """The number of parameters as its maker writes it, such as "1.5B"."""
    quantization: str | None = None
    installed: bool = True
    note: str = ""
    chats: bool = True
    """Whether it answers; models that only make vectors, pictures or sounds do not."""
    remote_host: str | None = None
    """The machine that gets what is said to it; None if it is this one."""
    abilities: tuple[str, ...] = ()
    """What it can, as far as that is known without asking: "tools", "images", "thinking"."""
    card: ModelCard | None = None
    """What the program or the user knows of it, with its prices."""

    def is_called(self, name: str) -> bool:
        """Whether a name means this model."""
        return same_model(self.name, name)


def same_model(one: str, other: str) -> bool:
    """Whether two names mean the same model: one without a tag means the latest."""
    return _with_tag(one) == _with_tag(other)


def _with_tag(name: str) -> str:
    # A colon before the last slash belongs to the address of a registry.
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


class Provider(Protocol):
    """A model server.

    `stream` raises a ProviderError; closing the generator closes the connection, which
    stops the server. `count_tokens` is None where there is no exact way.
    """

    @property
    def name(self) -> str:
        """The name of this provider in the settings."""
        ...

    def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Yield the answer as it is written, ending with Completed."""
        ...

    async def count_tokens(self, request: ChatRequest) -> int | None:
        """Count the tokens of the prompt of a request exactly."""
        ...

    async def capabilities(self, model: str) -> Capabilities:
        """Return what a model can do on this server."""
        ...

    async def list_models(self) -> tuple[ModelInfo, ...]:
        """Return the models this provider can run."""
        ...

    async def default_model(self) -> str:
        """Return the model to use when none is named. ModelMissing if there is none."""
        ...

    async def close(self) -> None:
        """Close connections and end child processes."""
        ...


@runtime_checkable
class CanPull(Protocol):
    """A provider that can fetch models."""

    def pull(self, model: str) -> AsyncGenerator[Preparing, None]:
        """Fetch a model and yield the progress. ModelMissing if it cannot be found."""
        ...


class RunningModel(NamedTuple):
    """A model that is in memory."""

    name: str
    """Its name, or that of the first of several with the same weights, which run as one."""
    siblings: tuple[str, ...] = ()
    """The other models with the same weights."""
    size_bytes: int | None = None
    """The memory it takes."""
    window: int | None = None


@runtime_checkable
class StoresModels(Protocol):
    """A provider whose models are files on its machine, and are loaded into its memory."""

    async def running(self) -> tuple[RunningModel, ...]:
        """Return the models that are in memory. ProviderError."""
        ...

    async def unload(self, model: str) -> None:
        """Take a model out of memory. ProviderError if it is in use or is not there."""
        ...

    async def delete(self, model: str) -> None:
        """Delete a model for good. ModelMissing if it is not there, ProviderError."""
        ...


@runtime_checkable
class CanCopy(Protocol):
    """A provider that can give a model a second name."""

    async def copy(self, model: str, name: str) -> None:
        """Copy a model; its weights are not stored twice. ProviderError."""
        ...


@runtime_checkable
class CanCompact(Protocol):
    """A provider whose server compacts prompts itself, where `Capabilities.compaction` says so.

    With the strategy `summarize` a checkpoint then carries the server's form of its messages
    besides its own text, which people still read, edit and undo, and which every other server
    is sent. The server's form is kept only if it is no longer than this text.
    """

    async def compact(self, request: ChatRequest) -> CompactedPrompt:
        """Return the messages of a request in compacted form. ProviderError if that fails."""
        ...


@runtime_checkable
class CanEmbed(Protocol):
    """A provider that turns texts into vectors; similar meanings give vectors that are close."""

    async def embed(self, model: str, texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        """Return one vector for each text, in their order. ProviderError if that fails."""
        ...


@runtime_checkable
class HasSearchModels(Protocol):
    """A provider that knows which of its models make vectors for searches."""

    async def search_models(self) -> tuple[ModelInfo, ...]:
        """Return the models that make vectors and cannot chat, the best first. ProviderError."""
        ...


Presence = Literal["there", "absent", "late"]
"""Whether a server answers, refuses or cannot be reached, or takes too long."""


@runtime_checkable
class MayBeAbsent(Protocol):
    """A provider whose server may well not be running; asking costs little."""

    async def presence(self, seconds: float) -> Presence:
        """Whether the server is there; tried once, never raises."""
        ...


@runtime_checkable
class SendsAway(Protocol):
    """A provider whose models may run on another machine."""

    async def remote_host(self, model: str) -> str | None:
        """Return the machine that gets what is said to a model; None if it is this one.
        ProviderError if the server does not say."""
        ...


@runtime_checkable
class HasVendor(Protocol):
    """A provider whose replies may hold what only its server can read."""

    @property
    def vendor(self) -> str:
        """The kind and the host of the server: nothing opaque goes to another one."""
        ...


def vendor_of(provider: Provider) -> str:
    """Return who can read what a provider keeps opaque or compacts."""
    return provider.vendor if isinstance(provider, HasVendor) else provider.name


class Missed(NamedTuple):
    """A provider that comes before the chosen one and could not be used."""

    provider: str
    why: str
    """The reason in words; empty if its server just is not running, which is nothing unusual."""


class Selection(NamedTuple):
    """The provider and the model that were chosen."""

    provider: Provider
    model: str
    missed: Missed | None = None
    """What would have been chosen, had it been there."""


class ProviderSource(Protocol):
    """Finds a provider: by name, or one that is available."""

    def names(self) -> list[str]:
        """Return the names of all providers, in the order they are tried."""
        ...

    async def get(self, name: str) -> Provider:
        """Open a provider. UsageError for an unknown name, ProviderError if it cannot be used."""
        ...

    async def select(self, provider: str | None, model: str | None) -> Selection:
        """Choose a provider and a model; None leaves the choice open.

        UsageError for an unknown name, ProviderError if nothing can be used.
        """
        ...

    async def close(self) -> None:
        """Close every provider that was opened."""
        ...


@runtime_checkable
class ChangesRegions(Protocol):
    """A source of providers some of which answer in a region that can be chosen."""

    async def use_region(self, name: str, region: str) -> None:
        """Have a provider answer in another region from now on. UsageError if it has none."""
        ...


BYTE_LEVEL = "gpt2"
"""The name model files give to vocabularies that are built from bytes."""
_CONTROL, _USER_DEFINED = 3, 4
"""Values of `tokenizer.ggml.token_type` in model files."""


class Vocabulary(msgspec.Struct, frozen=True):
    """The tokens of a byte-level vocabulary; the position of a token is its rank."""

    splitting: str
    """The rules by which text is first split into words, named as in model files."""
    tokens: Sequence[str]
    """Each byte of a token is written as one printable character."""
    kinds: Sequence[int]

    def specials(self) -> dict[str, int]:
        """Return the tokens that are never split, such as the marks of the chat template."""
        kinds = zip(self.tokens, self.kinds, strict=True)
        return {
            token: rank
            for rank, (token, kind) in enumerate(kinds)
            if kind in (_CONTROL, _USER_DEFINED)
        }


@runtime_checkable
class HasVocabulary(Protocol):
    """A provider that knows the vocabularies of its models."""

    async def vocabulary(self, model: str) -> Vocabulary | None:
        """Return the vocabulary of a model; None if it is missing or not byte-level."""
        ...


@runtime_checkable
class CanTokenize(Protocol):
    """A provider whose server splits texts into tokens, as long as it runs."""

    def tokenizes(self, model: str) -> bool:
        """Return whether the server runs with this model, so that counting costs little."""
        ...

    async def token_counts(self, model: str, texts: Sequence[str]) -> tuple[int, ...] | None:
        """Count the tokens of each text; None if the server does not run with this model.

        ProviderError if the server cannot be asked.
        """
        ...
