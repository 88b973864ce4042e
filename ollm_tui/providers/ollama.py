"""The provider for Ollama. It uses the native routes, as `/v1` has no field for the window."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from types import MappingProxyType
from typing import Any

import httpx

from ollm_tui.core.counts import short_count
from ollm_tui.core.errors import AuthFailed, ModelMissing, OverLimit, ProviderError, Unavailable
from ollm_tui.core.provider import (
    Capabilities,
    ChatRequest,
    ModelInfo,
    Preparing,
    Presence,
    RunningModel,
    StreamEvent,
    Vocabulary,
)
from ollm_tui.providers.ollama_models import (
    CAN_BE_LEFT_OUT,
    RefusedFields,
    can_chat,
    cloud_host,
    is_named,
    may_share_weights,
    model_entries,
    model_info,
    model_name,
    newest_first,
    shown_capabilities,
    shown_vocabulary,
    weights_of,
)
from ollm_tui.providers.ollama_wire import AnswerReader, request_body
from ollm_tui.providers.wire.http import (
    RETRY_SECONDS,
    Connection,
    RefusedError,
    drain,
    until_accepted,
    with_scheme,
)
from ollm_tui.providers.wire.http_errors import Refusal, message_in, one_line, refusal_error
from ollm_tui.providers.wire.json_lines import (
    Tree,
    UnreadableError,
    as_tree,
    decode_json,
    int_at,
    text_at,
    trees_at,
    vectors_in,
)

DEFAULT_PORT = 11434
QUIET_SECONDS = 1.0
"""How long the first word may take before it is said what is waited for."""
LOADING_SECONDS = 120.0
"""How long a server may be silent while it loads a model from a slow disk."""
SLOWEST_TOKENS_A_SECOND = 10
"""How fast an old CPU reads a prompt; the server is silent meanwhile."""
CHARACTERS_A_TOKEN = 4
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})
_EVERY_INTERFACE = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}


class Ollama:
    """A provider over `/api/chat`. A prompt that does not fit is an error; it is never cut."""

    def __init__(
        self,
        *,
        name: str,
        base_url: str = "http://127.0.0.1:11434",
        inactivity_seconds: float = 120.0,
        headers: Mapping[str, str] = _NO_HEADERS,
        api_key: str | None = None,
        keep_alive: str | None = None,
        retry_seconds: float = RETRY_SECONDS,
        loading_seconds: float = LOADING_SECONDS,
    ) -> None:
        self._name = name
        self._loading_seconds = loading_seconds
        self._keep_alive: Tree = {"keep_alive": keep_alive} if keep_alive else {}
        address = ollama_address(base_url)
        self._connection = Connection(
            server="Ollama",
            base_url=address,
            api_key=api_key,
            inactivity_seconds=inactivity_seconds,
            headers=headers,
            down_hint="start it with `ollama serve`",
            retry_seconds=retry_seconds,
        )
        self._shown: dict[str, Tree] = {}
        self._refused = RefusedFields()

    @property
    def name(self) -> str:
        """The name of this provider in the settings."""
        return self._name

    async def presence(self, seconds: float) -> Presence:
        """Return whether an Ollama server answers in time; never raises."""
        return await self._connection.presence("/api/version", seconds)

    async def remote_host(self, model: str) -> str | None:
        """Return the machine that gets what is said to a model, which for a cloud model is not
        that of the server; None if it is this one."""
        if self._connection.remote_host:
            return self._connection.remote_host
        entries = [entry for entry in await self._installed() if is_named(entry, model)]
        return cloud_host(entries[0] if entries else {"name": model})

    def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Stream the answer, ending with Completed."""
        version = ""

        async def make_body() -> Tree:
            nonlocal version
            if self._refused and not version:
                version = await self._version()
            refused = self._refused.of(version, request.model)
            body = {**request_body(request), **self._keep_alive}
            return {k: v for k, v in body.items() if k not in refused}

        async def leave_out(no: RefusedError, body: Tree) -> None:
            nonlocal version
            field = _refused_field(no, body)
            if field is None:
                raise _refusal(no, request.model) from None
            version = version or await self._version()
            self._refused.add(version, request.model, field)

        return self._with_word_of_waiting(
            request, until_accepted(make_body, self._events, leave_out)
        )

    async def _with_word_of_waiting(
        self, request: ChatRequest, events: AsyncGenerator[StreamEvent, None]
    ) -> AsyncGenerator[StreamEvent, None]:
        """Yield events, and say what is waited for if the first one takes its time: the server
        says nothing while it loads a model and reads the prompt."""
        first = asyncio.ensure_future(anext(events, None))
        try:
            await asyncio.wait({first}, timeout=QUIET_SECONDS)
            if not first.done():
                tokens = short_count(_prompt_tokens(request_body(request)))
                yield Preparing(f"{request.model} is loading, or reading about {tokens} tokens")
            event = await first
            while event is not None:
                yield event
                event = await anext(events, None)
        finally:
            if not first.done():
                first.cancel()
                await asyncio.wait({first})
            await events.aclose()

    async def count_tokens(self, request: ChatRequest) -> int | None:
        """Return None: Ollama has no route that counts a prompt without answering it."""
        return None

    async def vocabulary(self, model: str) -> Vocabulary | None:
        """Return the vocabulary of a model; None if the server does not tell it."""
        body = {"model": model, "verbose": True}
        show = await self._connection.ask_if_there("POST", "/api/show", body)
        return shown_vocabulary(as_tree(show))

    async def embed(self, model: str, texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        """Return one vector for each text, in the same order."""
        body = {"model": model, "input": list(texts), "truncate": True}
        try:
            answer = await self._connection.ask("POST", "/api/embed", body)
        except ModelMissing as error:
            raise _missing(model) from error
        vectors = vectors_in(as_tree(answer).get("embeddings"))
        if len(vectors) != len(texts):
            raise self._connection.bad_answer("it has not one vector for each text")
        return vectors

    async def capabilities(self, model: str) -> Capabilities:
        """Return what `/api/show` says, which is asked once, and the window of a loaded model."""
        show = await self._show(model)
        loaded = model_entries(await self._connection.ask_if_there("GET", "/api/ps"))
        runs = [entry for entry in loaded if await self._runs_as(entry, model)]
        allocated = int_at(runs[0], "context_length") if runs else None
        return shown_capabilities(show, allocated, here=not self._connection.remote_host)

    async def list_models(self) -> tuple[ModelInfo, ...]:
        """Return the installed models."""
        elsewhere = self._connection.remote_host
        return tuple(model_info(entry, elsewhere) for entry in await self._installed())

    async def search_models(self) -> tuple[ModelInfo, ...]:
        """Return the installed models that make vectors and cannot chat, the newest first."""
        able = [entry for entry in await self._installed() if not can_chat(entry)]
        elsewhere = self._connection.remote_host
        return tuple(model_info(entry, elsewhere) for entry in newest_first(able))

    async def default_model(self) -> str:
        """Return a loaded model, else the one changed last. ModelMissing if none can chat here: a
        cloud model is used only if it is asked for by its name."""
        able = newest_first([entry for entry in await self._installed() if can_chat(entry)])
        if not able:
            raise ModelMissing("Ollama has no models yet", "get one with `ollama pull llama3.2`")
        able = [entry for entry in able if not cloud_host(entry)]
        if not able:
            raise ModelMissing("Ollama has only cloud models", "name one to use it")
        names = [model_name(entry) for entry in able]
        running = model_entries(await self._connection.ask_if_there("GET", "/api/ps"))
        loaded = [model_name(entry) for entry in running if model_name(entry) in names]
        return (loaded or names)[0]

    async def pull(self, model: str) -> AsyncGenerator[Preparing, None]:
        """Download a model; the events say how far it has come. Unavailable if it breaks off."""
        layers: dict[str, tuple[int, int]] = {}
        status = ""
        try:
            async with aclosing(self._objects("/api/pull", {"model": model})) as lines:
                async for line in lines:
                    status = one_line(text_at(line, "status"))
                    yield Preparing(status, _fraction(line, layers))
        except RefusedError as no:
            raise _refusal(no, model) from None
        except ModelMissing:
            raise _not_to_be_had(model) from None
        # The stream may end without an error before the download is complete.
        if status != "success":
            raise Unavailable(
                f"the download of {one_line(model)} was interrupted", "start it again"
            )

    async def running(self) -> tuple[RunningModel, ...]:
        """Return the models in memory, each with those that share its weights: the server names
        only one of them."""
        loaded = model_entries(await self._connection.ask("GET", "/api/ps"))
        installed = await self._installed()
        return tuple([await self._running(entry, installed) for entry in loaded])

    async def unload(self, model: str) -> None:
        """Take a model out of the server's memory."""
        await self._change("POST", "/api/generate", model, {"model": model, "keep_alive": 0})

    async def delete(self, model: str) -> None:
        """Delete a model of the server; weights that another one uses stay."""
        await self._change("DELETE", "/api/delete", model, {"model": model})
        self._shown.pop(model, None)

    async def copy(self, model: str, name: str) -> None:
        """Give a model a second name."""
        body = {"source": model, "destination": name}
        await self._change("POST", "/api/copy", model, body)

    async def close(self) -> None:
        """Close the connections."""
        await self._connection.close()

    async def _change(self, method: str, path: str, model: str, body: Tree) -> None:
        try:
            await self._connection.tell(method, path, body)
        except ModelMissing:
            raise ModelMissing(
                f"Ollama does not have {one_line(model)}", "/models lists all"
            ) from None

    async def _show(self, model: str) -> Tree:
        """Return what the server tells of a model; it is asked once."""
        if model not in self._shown:
            try:
                answer = await self._connection.ask("POST", "/api/show", {"model": model})
            except ModelMissing as error:
                raise _missing(model) from error
            self._shown[model] = as_tree(answer)
        return self._shown[model]

    async def _runs_as(self, entry: Tree, model: str) -> bool:
        """Return whether an entry of `/api/ps` is a model, or another one with its weights."""
        if is_named(entry, model):
            return True
        weights = weights_of(await self._show(model))
        try:
            return bool(weights) and weights_of(await self._show(model_name(entry))) == weights
        except ProviderError:  # it was deleted, and still runs
            return False

    async def _running(self, entry: Tree, installed: list[Tree]) -> RunningModel:
        name = model_name(entry)
        siblings = [
            model_name(other)
            for other in installed
            if not is_named(other, name)
            and may_share_weights(entry, other)
            and await self._runs_as(entry, model_name(other))
        ]
        size, window = int_at(entry, "size"), int_at(entry, "context_length")
        return RunningModel(name, tuple(siblings), size, window)

    async def _version(self) -> str:
        """Return the server's version now; it may have been updated meanwhile."""
        answer = as_tree(await self._connection.ask_if_there("GET", "/api/version"))
        return text_at(answer, "version") or "unknown"

    async def _installed(self) -> list[Tree]:
        return model_entries(await self._connection.ask("GET", "/api/tags"))

    async def _events(self, body: Tree) -> AsyncGenerator[StreamEvent, None]:
        reader = AnswerReader()
        async with aclosing(self._objects("/api/chat", body)) as lines:
            async for line in lines:
                events = reader.feed(line)
                # Before the last event, because the caller may close this generator at it.
                if reader.finished:
                    await drain(lines)
                for event in events:
                    yield event
                if reader.finished:
                    return
        raise Unavailable(
            "Ollama stopped in the middle of the answer", "send again; the text so far is kept"
        )

    async def _objects(self, path: str, body: Tree) -> AsyncGenerator[Tree, None]:
        """Yield the JSON objects of a streamed answer; an error may come after status 200."""
        silence = self._loading_seconds + _prompt_tokens(body) / SLOWEST_TOKENS_A_SECOND
        async with aclosing(self._connection.lines(path, body, silence=silence)) as lines:
            async for line in lines:
                if not line.strip():
                    continue
                try:
                    tree = as_tree(decode_json(line))
                except UnreadableError as error:
                    raise self._connection.bad_answer(str(error)) from error
                if tree.get("error"):
                    raise self._error_in_stream(tree["error"], body)
                yield tree

    def _error_in_stream(self, error: Any, body: Tree) -> ProviderError:
        said = self._connection.foreign(message_in(error))
        if "file does not exist" in said:
            return _missing(body["model"])
        return refusal_error("Ollama", Refusal(500, said))


def ollama_address(base_url: str) -> str:
    """Return the server's address from what people write, also in OLLAMA_HOST."""
    bare = "://" not in base_url
    address = with_scheme(base_url).removesuffix("/api").removesuffix("/v1")
    try:
        url = httpx.URL(address)
    except httpx.InvalidURL:
        return address  # the connection will say so, where errors are expected
    # OLLAMA_HOST is also where the server listens: every interface is no address to connect to.
    url = url.copy_with(host=_EVERY_INTERFACE.get(url.host, url.host))
    if bare and url.port is None:
        url = url.copy_with(port=DEFAULT_PORT)
    return str(url).rstrip("/")


def _refused_field(no: RefusedError, body: Tree) -> str | None:
    """Return the field the server complains about, if the request can do without it."""
    if no.refusal.status != 400 or isinstance(no.error, OverLimit):
        return None
    return next((f for f in CAN_BE_LEFT_OUT if f in no.refusal.text and f in body), None)


def _refusal(no: RefusedError, model: str) -> ProviderError:
    if no.refusal.status == 403 and _is_cloud(model):
        said = f": {one_line(no.refusal.text)}" if no.refusal.text else ""
        return AuthFailed(
            f"Ollama's cloud refuses {one_line(model)}{said}", "see https://ollama.com"
        )
    if no.refusal.status == 401 and ("signin" in no.refusal.kind or _is_cloud(model)):
        where = next((w for w in no.refusal.kind.split() if w.startswith("https://")), "")
        hint = f"sign in with `ollama signin`{f' or at {where}' if where else ''}"
        return AuthFailed(f"Ollama is not signed in, and {one_line(model)} runs in its cloud", hint)
    return _missing(model) if isinstance(no.error, ModelMissing) else no.error


def _prompt_tokens(body: Tree) -> int:
    """Return about how many tokens the server has to read for a request."""
    said = (len(text_at(message, "content")) for message in trees_at(body, "messages"))
    return sum(said) // CHARACTERS_A_TOKEN


def _is_cloud(model: str) -> bool:
    return cloud_host({"name": model}) is not None


def _not_to_be_had(model: str) -> ModelMissing:
    hint = "see https://ollama.com/search"
    return ModelMissing(f"Ollama has no model {one_line(model)}", hint)


def _missing(model: str) -> ModelMissing:
    plain = one_line(model)
    return ModelMissing(f"Ollama does not have {plain}", f"get it with `ollama pull {plain}`")


def _fraction(line: Tree, layers: dict[str, tuple[int, int]]) -> float | None:
    """Return the share that is done of all layers known so far; None if the line names none."""
    digest, total = text_at(line, "digest"), int_at(line, "total")
    if not digest or not total:
        return None
    layers[digest] = (int_at(line, "completed") or 0, total)
    done, size = (sum(column) for column in zip(*layers.values(), strict=True))
    return min(1.0, done / size)
