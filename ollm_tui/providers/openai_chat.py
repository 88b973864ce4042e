"""The provider for servers with a chat completions API: OpenAI, vLLM, LM Studio, llama.cpp…"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from types import MappingProxyType
from typing import Any, cast
from urllib.parse import quote, urlsplit

from ollm_tui.core.errors import ModelMissing, OverLimit, ProviderError, Unavailable
from ollm_tui.core.provider import Capabilities, ChatRequest, ModelInfo, StreamEvent
from ollm_tui.providers.openai_wire import AnswerReader, request_body
from ollm_tui.providers.wire.http import (
    RETRY_SECONDS,
    Connection,
    RefusedError,
    drain,
    until_accepted,
    with_scheme,
)
from ollm_tui.providers.wire.http_errors import Refusal, message_in, refusal_error
from ollm_tui.providers.wire.json_lines import (
    EventReader,
    Tree,
    UnreadableError,
    as_tree,
    decode_json,
    int_at,
    list_at,
    text_at,
    tree_at,
    trees_at,
    vectors_in,
)

_NOTHING: Mapping[str, Any] = MappingProxyType({})
_DONE = b"[DONE]"
_COUNT = "/chat/completions/input_tokens"
_NO_TOKEN = -1
"""Stands between texts that are counted in one request; no vocabulary has such a token."""
_CAN_BE_LEFT_OUT = (
    "stream_options",
    "chat_template_kwargs",
    "reasoning_effort",
    "temperature",
    "reasoning_content",
)
"""Fields that a request can do without, and that some servers refuse."""
_WINDOW_KEYS = (
    "loaded_context_length",
    "max_model_len",
    "context_length",
    "context_window",
    "max_context_length",
)
"""Names for the window in the model lists of LM Studio, vLLM, OpenRouter and Groq."""


class OpenAICompatible:
    """A provider over `/chat/completions` that accepts how servers deviate from the format."""

    def __init__(
        self,
        *,
        name: str,
        base_url: str,
        api_key: str | None,
        inactivity_seconds: float = 120.0,
        keepalive: bool = True,
        headers: Mapping[str, str] = _NOTHING,
        extra_body: Mapping[str, Any] = _NOTHING,
        retry_seconds: float = RETRY_SECONDS,
        azure_version: str | None = None,
    ) -> None:
        """`azure_version` makes it Azure's variant: the model is part of the address there."""
        self._name = name
        self._root, address = _addresses(base_url)
        self._azure = azure_version
        self._connection = Connection(
            server=name,
            base_url=address,
            api_key=api_key,
            inactivity_seconds=inactivity_seconds,
            keepalive=keepalive,
            headers=headers,
            down_hint=f"check that it runs, and the baseUrl of {name}",
            retry_seconds=retry_seconds,
        )
        self._extra_body = dict(extra_body)
        self._capabilities: dict[str, Capabilities] = {}
        self._counts: bool | None = None
        self._refused: dict[str, set[str]] = {}
        """The fields that were refused, by model."""

    @property
    def name(self) -> str:
        """The name of this provider in the settings."""
        return self._name

    def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Stream the answer, ending with Completed."""
        refused = self._refused.setdefault(request.model, set())

        async def make_body() -> Tree:
            return _without(request_body(request, self._extra_body), refused)

        async def leave_out(no: RefusedError, body: Tree) -> None:
            field = _refused_field(no, body)
            if field is None:
                raise no.error from None
            refused.add(field)

        return until_accepted(make_body, self._events, leave_out)

    async def count_tokens(self, request: ChatRequest) -> int | None:
        """Count the prompt's tokens if the server can (llama.cpp can); else None."""
        if not await self._can_count(request.model):
            return None
        body = request_body(request, self._extra_body)
        count = await self._connection.ask("POST", _COUNT, body)
        return int_at(as_tree(count), "input_tokens")

    async def token_counts(self, texts: Sequence[str]) -> tuple[int, ...] | None:
        """Count the tokens of each text if the server is llama.cpp; else None."""
        # It takes tokens between the texts as they are: one request for any number of texts.
        parts = [part for text in texts for part in (text, _NO_TOKEN)]
        body = {"content": parts, "parse_special": True}
        answer = await self._connection.ask_if_there("POST", f"{self._root}/tokenize", body)
        counts, reached = list[int](), 0
        for token in list_at(as_tree(answer), "tokens"):
            if token == _NO_TOKEN:
                counts.append(reached)
                reached = 0
            else:
                reached += 1
        return tuple(counts) if len(counts) == len(texts) else None

    async def embed(self, model: str, texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        """Return one vector for each text, in the same order."""
        body = {"model": model, "input": list(texts)}
        answer = as_tree(await self._connection.ask("POST", "/embeddings", body))
        entries = sorted(trees_at(answer, "data"), key=lambda entry: int_at(entry, "index") or 0)
        vectors = vectors_in([entry.get("embedding") for entry in entries])
        if len(vectors) != len(texts):
            raise self._connection.bad_answer("it has not one vector for each text")
        return vectors

    async def capabilities(self, model: str) -> Capabilities:
        """Return what the model list and, on llama.cpp, `/props` say; asked once per model."""
        if model not in self._capabilities:
            models = await self._connection.ask_if_there("GET", self._at("/models"))
            properties = await self._connection.ask_if_there("GET", f"{self._root}/props")
            self._capabilities[model] = model_capabilities(
                named_model(models, model),
                as_tree(properties),
                counting=await self._can_count(model),
            )
        return self._capabilities[model]

    async def list_models(self) -> tuple[ModelInfo, ...]:
        """Return the models the server offers."""
        models = await self._connection.ask("GET", self._at("/models"))
        return model_infos(models, self._connection.remote_host)

    async def remote_host(self, model: str) -> str | None:
        """Return the machine that gets what is said; None if it is this one."""
        return self._connection.remote_host

    async def default_model(self) -> str:
        """Return the first model of the list. ModelMissing if the list is empty."""
        models = await self.list_models()
        if not models:
            raise ModelMissing(f"{self._name} offers no models", "name one in the settings")
        return models[0].name

    async def close(self) -> None:
        """Close the connections."""
        await self._connection.close()

    def _at(self, path: str, model: str = "") -> str:
        """Return where a request goes."""
        if self._azure is None:
            return path
        deployment = f"/deployments/{quote(model, safe='')}" if model else ""
        return f"{deployment}{path}?api-version={quote(self._azure)}"

    async def _can_count(self, model: str) -> bool:
        """Return whether the server has llama.cpp's route for counting; asked once."""
        if self._counts is None:
            body = {"model": model, "messages": [{"role": "user", "content": "?"}]}
            count = await self._connection.ask_if_there("POST", _COUNT, body)
            self._counts = int_at(as_tree(count), "input_tokens") is not None
        return self._counts

    async def _events(self, body: Tree) -> AsyncGenerator[StreamEvent, None]:
        reader, chunk = AnswerReader(), b""
        async with aclosing(self._chunks(body)) as chunks:
            async for chunk in chunks:
                if chunk == _DONE:
                    await drain(chunks)
                    break
                for event in reader.feed(self._read(chunk)):
                    yield event
        if not chunk:
            raise self._connection.bad_answer("there is nothing in it")
        if not (chunk == _DONE or reader.finished):
            raise Unavailable(
                f"{self._name} stopped in the middle of the answer",
                "send again; the text so far is kept",
            )
        for event in reader.end():
            yield event

    async def _chunks(self, body: Tree) -> AsyncGenerator[bytes, None]:
        """Yield the data of each event, or one JSON document if the server does not stream."""
        events, document = EventReader(), bytearray()
        path = self._at("/chat/completions", body["model"])
        async with aclosing(self._connection.lines(path, body)) as lines:
            async for line in lines:
                if document or line.lstrip().startswith(b"{"):
                    document += line + b"\n"
                    continue
                data = events.feed(line)
                if data is not None:
                    yield data
        rest = events.finish() or bytes(document)
        if rest:
            yield rest

    def _read(self, data: bytes) -> Tree:
        try:
            chunk = decode_json(data)
        except UnreadableError as error:
            raise self._connection.bad_answer(str(error)) from error
        if not isinstance(chunk, dict):
            raise self._connection.bad_answer("a chunk that is no object")
        tree = cast(Tree, chunk)
        if tree.get("error"):
            raise self._error_in_stream(tree["error"])
        return tree

    def _error_in_stream(self, error: Any) -> ProviderError:
        status = int_at(as_tree(error), "code", "status") or 500
        said = self._connection.foreign(message_in(error))
        return refusal_error(self._name, Refusal(status if status >= 400 else 500, said))


def model_infos(answer: Any, remote_host: str | None) -> tuple[ModelInfo, ...]:
    """Return the models of a list whose names can be shown in a terminal."""
    return tuple(
        ModelInfo(
            name=entry["id"],
            size_bytes=_size(entry),
            max_window=_max_window(entry),
            remote_host=remote_host,
        )
        for entry in _entries(answer)
        if entry["id"].isprintable()
    )


def named_model(answer: Any, model: str) -> Tree:
    """Return the entry of a model; if the server has only one, that one under any name."""
    entries = _entries(answer)
    found = next((entry for entry in entries if entry["id"] == model), None)
    if found is not None:
        return found
    return entries[0] if len(entries) == 1 else {}


def model_capabilities(entry: Tree, properties: Tree, *, counting: bool) -> Capabilities:
    """Return what a model can do, from its entry in the list and llama.cpp's `/props`."""
    # llama.cpp's n_ctx is the window a request gets, however large the model's own one is.
    loaded = int_at(tree_at(properties, "default_generation_settings"), "n_ctx")
    return Capabilities(
        tools=_tools(entry, properties),
        counting=counting,
        thinking=_thinking(entry, properties),
        images=_images(entry, properties),
        window=loaded or int_at(entry, *_WINDOW_KEYS),
        max_window=_max_window(entry) or loaded,
    )


def _entries(answer: Any) -> list[Tree]:
    listed = {"data": cast(Any, answer)} if isinstance(answer, list) else as_tree(answer)
    return [entry for entry in trees_at(listed, "data") if text_at(entry, "id")]


def _size(entry: Tree) -> int | None:
    return int_at(tree_at(entry, "meta"), "size")


def _max_window(entry: Tree) -> int | None:
    made_for = int_at(tree_at(entry, "meta"), "n_ctx_train")
    return made_for or int_at(entry, "max_context_length", *_WINDOW_KEYS)


def _tools(entry: Tree, properties: Tree) -> bool | None:
    template = tree_at(properties, "chat_template_caps")
    if "supports_tools" in template:
        return bool(template["supports_tools"])
    return _lists(entry, "supported_parameters", "tools")


def _thinking(entry: Tree, properties: Tree) -> bool | None:
    template = properties.get("chat_template")
    if isinstance(template, str):
        return "enable_thinking" in template or "<think>" in template
    return _lists(entry, "supported_parameters", "reasoning")


def _images(entry: Tree, properties: Tree) -> bool | None:
    modalities = tree_at(properties, "modalities")
    if "vision" in modalities:
        return bool(modalities["vision"])
    return _lists(tree_at(entry, "architecture"), "input_modalities", "image")


def _lists(tree: Tree, key: str, value: str) -> bool | None:
    """Return whether a list has a value; None if there is no list."""
    return value in list_at(tree, key) if key in tree else None


def _addresses(base_url: str) -> tuple[str, str]:
    """Return the server's root and its API's address: /v1 unless the address has a path."""
    address = with_scheme(base_url)
    if not urlsplit(address).path:
        return address, f"{address}/v1"
    return address.removesuffix("/v1"), address


def _without(body: Tree, refused: set[str]) -> Tree:
    """Return the body without the refused fields."""
    kept = {key: value for key, value in body.items() if key not in refused}
    # Newer models of OpenAI take the limit only under this name.
    if "max_tokens" in refused and "max_tokens" in body:
        kept["max_completion_tokens"] = body["max_tokens"]
    if "reasoning_content" in refused:
        kept["messages"] = [
            {key: value for key, value in message.items() if key != "reasoning_content"}
            for message in body["messages"]
        ]
    return kept


def _refused_field(no: RefusedError, body: Tree) -> str | None:
    """Return the field the server complains about, if the request can do without it."""
    said = no.refusal.text
    if no.refusal.status not in (400, 422) or isinstance(no.error, OverLimit):
        return None
    if "max_completion_tokens" in said and "max_tokens" in body:
        return "max_tokens"
    sent = set(body) | {key for message in body["messages"] for key in message}
    return next((field for field in _CAN_BE_LEFT_OUT if field in said and field in sent), None)
