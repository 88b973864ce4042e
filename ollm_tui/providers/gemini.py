"""The provider for Google's Gemini API with a key."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from types import MappingProxyType
from urllib.parse import quote, urlsplit

from msgspec.structs import replace

from ollm_tui.core.errors import BadAnswer, OverLimit
from ollm_tui.core.model_card import FindCard, no_card
from ollm_tui.core.provider import Capabilities, ChatRequest, ModelInfo, StreamEvent
from ollm_tui.providers.gemini_wire import AnswerReader, request_body
from ollm_tui.providers.wire.hosted import Hosted, is_about_opaque, plain_messages
from ollm_tui.providers.wire.http import (
    RETRY_SECONDS,
    Connection,
    RefusedError,
    until_accepted,
    with_scheme,
)
from ollm_tui.providers.wire.json_lines import Tree, as_tree, int_at, list_at, text_at, trees_at

GEMINI_URL = "https://generativelanguage.googleapis.com"
_HOST = "generativelanguage.googleapis.com"
_CHATS = "generateContent"
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class Gemini(Hosted):
    """A provider over `streamGenerateContent`."""

    def __init__(
        self,
        *,
        name: str,
        api_key: str | None,
        base_url: str = GEMINI_URL,
        store: bool = False,
        inactivity_seconds: float = 120.0,
        headers: Mapping[str, str] = _NO_HEADERS,
        card: FindCard = no_card,
        retry_seconds: float = RETRY_SECONDS,
    ) -> None:
        address = with_scheme(base_url)
        key = {"x-goog-api-key": api_key.strip()} if api_key and api_key.strip() else {}
        connection = Connection(
            server=name,
            base_url=address if urlsplit(address).path else f"{address}/v1",
            inactivity_seconds=inactivity_seconds,
            headers={**key, **headers},
            down_hint=f"check the network and the baseUrl of {name}",
            retry_seconds=retry_seconds,
        )
        super().__init__(name=name, kind="gemini", connection=connection, card=card)
        # Only Google's own servers know the field; what it says outranks the project's setting.
        self._logged = {"store": store} if self._vendor == f"gemini:{_HOST}" else {}
        self._entries: dict[str, Tree] = {}
        self._no_thinking: set[str] = set()
        """Models that refused to be told how to think."""

    def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Stream the answer, ending with Completed."""
        asked = request

        async def make_body() -> Tree:
            return {**self._body(asked), "model": request.model}

        async def leave_out(no: RefusedError, body: Tree) -> None:
            nonlocal asked
            said = no.refusal.text.lower()
            if is_about_opaque(no, asked.messages):
                asked = replace(asked, messages=plain_messages(asked.messages))
            elif _is_about_thinking(no, said) and request.model not in self._no_thinking:
                self._no_thinking.add(request.model)
            else:
                raise no.error from None

        return until_accepted(make_body, self._events, leave_out)

    async def count_tokens(self, request: ChatRequest) -> int | None:
        """Count the tokens of a prompt; None if the server cannot."""
        body = {**self._body(request), "model": f"models/{_bare(request.model)}"}
        body.pop("store", None)
        path = _path(request.model, "countTokens")
        return await self._counted(path, {"generateContentRequest": body}, "totalTokens")

    async def capabilities(self, model: str) -> Capabilities:
        """Return what the server says of a model, and what is known besides."""
        if model not in self._entries:
            found = await self._connection.ask_if_there("GET", f"/models/{quote(_bare(model))}")
            self._entries[model] = as_tree(found)
        entry = self._entries[model]
        thinks = entry.get("thinking")
        window = int_at(entry, "inputTokenLimit")
        said = Capabilities(
            thinking=thinks if isinstance(thinks, bool) else None,
            window=window,
            max_window=window,
        )
        return self._abilities(model, said)

    async def list_models(self) -> tuple[ModelInfo, ...]:
        """Return the models the server offers; those that cannot chat are marked."""
        answer = as_tree(await self._connection.ask("GET", "/models?pageSize=1000"))
        return tuple(
            self._info(
                name,
                chats=_CHATS in list_at(entry, "supportedGenerationMethods"),
                max_window=int_at(entry, "inputTokenLimit"),
            )
            for entry in trees_at(answer, "models")
            if (name := _bare(text_at(entry, "name"))) and name.isprintable()
        )

    def _body(self, request: ChatRequest) -> Tree:
        if request.model in self._no_thinking:
            request = replace(request, thinking=None)
        return {**request_body(request), **self._logged}

    async def _events(self, body: Tree) -> AsyncGenerator[StreamEvent, None]:
        reader = AnswerReader()
        sent = {key: value for key, value in body.items() if key != "model"}
        path = _path(body["model"], "streamGenerateContent") + "?alt=sse"
        async with aclosing(self._connection.events(path, sent)) as events:
            async for event in events:
                if event.get("error"):
                    raise self._connection.stream_error(event)
                for each in reader.feed(event):
                    yield each
        if reader.blocked and not reader.finished:
            raise BadAnswer(
                f"{self._name} did not answer: {self._connection.foreign(reader.blocked)}",
                "rephrase the message, or choose another model",
            )
        if not reader.finished:
            raise self._connection.cut_off()
        yield reader.end()


def _bare(model: str) -> str:
    return model.removeprefix("models/")


def _path(model: str, method: str) -> str:
    return f"/models/{quote(_bare(model))}:{method}"


def _is_about_thinking(no: RefusedError, said: str) -> bool:
    over = isinstance(no.error, OverLimit)
    return no.refusal.status == 400 and not over and ("thinking" in said or "thought" in said)
