"""The provider for OpenAI's Responses API, at OpenAI, at Azure, and at servers that speak it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from types import MappingProxyType
from urllib.parse import quote

from msgspec.structs import replace

from ollm_tui.core.errors import OverLimit, ProviderError
from ollm_tui.core.model_card import FindCard, no_card
from ollm_tui.core.provider import (
    Capabilities,
    ChatRequest,
    CompactedPrompt,
    ModelInfo,
    StreamEvent,
)
from ollm_tui.providers.responses_wire import (
    AnswerReader,
    input_items,
    request_body,
    usage_in,
)
from ollm_tui.providers.wire.hosted import Hosted, is_about_opaque, plain_messages
from ollm_tui.providers.wire.http import (
    RETRY_SECONDS,
    Connection,
    RefusedError,
    drain,
    until_accepted,
    with_scheme,
)
from ollm_tui.providers.wire.json_lines import Tree, as_tree, int_at, text_at, trees_at
from ollm_tui.providers.wire.prompt_turns import system_text

OPENAI_URL = "https://api.openai.com/v1"
OPENAI_HOSTS = ("api.openai.com", "eu.api.openai.com")
_CAN_BE_LEFT_OUT = ("reasoning", "include", "temperature", "prompt_cache_key", "text")
"""Fields that a request can do without, and that some models refuse. `store` is not among them:
what is kept on the server is the user's decision."""
_NOT_FOR_CHAT = ("embedding", "whisper", "tts", "dall-e", "image", "moderation", "transcribe",
                 "realtime", "audio", "sora", "davinci", "babbage")  # fmt: skip
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class OpenAIResponses(Hosted):
    """A provider over `/responses`. `api_version` makes it Azure's variant."""

    def __init__(
        self,
        *,
        name: str,
        api_key: str | None,
        base_url: str = OPENAI_URL,
        api_version: str | None = None,
        store: bool = False,
        inactivity_seconds: float = 120.0,
        headers: Mapping[str, str] = _NO_HEADERS,
        card: FindCard = no_card,
        retry_seconds: float = RETRY_SECONDS,
    ) -> None:
        key = {"api-key": api_key.strip()} if api_version and api_key else {}
        connection = Connection(
            server=name,
            base_url=with_scheme(base_url),
            api_key=None if api_version else api_key,
            inactivity_seconds=inactivity_seconds,
            headers={**key, **headers},
            down_hint=f"check the network and the baseUrl of {name}",
            retry_seconds=retry_seconds,
        )
        super().__init__(name=name, kind="openai", connection=connection, card=card)
        self._query = f"?api-version={quote(api_version)}" if api_version else ""
        self._store = store
        self._refused: dict[str, set[str]] = {}
        """The fields that were refused, by model."""
        self._compacts: bool | None = None
        """Whether the server compacts; None until it was asked to."""

    def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Stream the answer, ending with Completed."""
        asked = request

        async def make_body() -> Tree:
            return {**self._body(asked), "stream": True}

        async def leave_out(no: RefusedError, body: Tree) -> None:
            nonlocal asked
            if is_about_opaque(no, asked.messages):
                asked = replace(asked, messages=plain_messages(asked.messages))
                return
            field = _refused_field(no, body)
            if field is None:
                raise no.error from None
            self._refused.setdefault(request.model, set()).add(field)

        return until_accepted(make_body, self._events, leave_out)

    async def count_tokens(self, request: ChatRequest) -> int | None:
        """Count the tokens of a prompt; None if the server cannot."""
        body = self._body(request)
        fields = ("model", "input", "instructions", "tools", "reasoning")
        counted = {key: body[key] for key in fields if key in body}
        return await self._counted(self._at("/responses/input_tokens"), counted, "input_tokens")

    async def compact(self, request: ChatRequest) -> CompactedPrompt:
        """Have the server compact messages; the items can be read by it alone."""
        body: Tree = {"model": request.model, "input": input_items(request.messages)}
        if system := system_text(request.messages):
            body["instructions"] = system
        try:
            path = self._at("/responses/compact")
            answer = as_tree(await self._connection.ask_long("POST", path, body))
        except ProviderError:
            self._compacts = False
            raise
        items = tuple(trees_at(answer, "output"))
        if not any(item.get("type") == "compaction" for item in items):
            raise self._connection.bad_answer("nothing in it is compacted")
        self._compacts = True
        counted = {"model": request.model, "input": list(items)}
        path = self._at("/responses/input_tokens")
        tokens = await self._counted(path, counted, "input_tokens")
        usage = usage_in(answer)
        return CompactedPrompt(
            provider=self.vendor,
            model=request.model,
            items=items,
            tokens=tokens or (usage.output_tokens if usage else 0),
        )

    async def capabilities(self, model: str) -> Capabilities:
        """Return what is known of a model: the server says nothing about them."""
        official = self._vendor.removeprefix("openai:") in OPENAI_HOSTS or bool(self._query)
        compacts = official if self._compacts is None else self._compacts
        said = Capabilities(tools=None, compaction=compacts)
        known = self._abilities(model, said)
        return replace(known, tools=True) if known.tools is None else known

    async def list_models(self) -> tuple[ModelInfo, ...]:
        """Return the models the server offers; those that cannot chat are marked."""
        answer = as_tree(await self._connection.ask("GET", self._at("/models")))
        entries = [
            entry for entry in trees_at(answer, "data") if text_at(entry, "id").isprintable()
        ]
        entries.sort(key=lambda entry: -(int_at(entry, "created") or 0))
        names = sorted((text_at(entry, "id") for entry in entries), key=_is_for_else)
        return tuple(self._info(name, chats=not _is_for_else(name)) for name in names if name)

    def _at(self, path: str) -> str:
        return path + self._query

    def _body(self, request: ChatRequest) -> Tree:
        refused = self._refused.get(request.model, set[str]())
        card = self._card(request.model)
        if card is not None and "thinking" not in card.can:
            refused = {*refused, "reasoning", "include"}
        body = request_body(request, store=self._store)
        return {key: value for key, value in body.items() if key not in refused}

    async def _events(self, body: Tree) -> AsyncGenerator[StreamEvent, None]:
        reader = AnswerReader()
        stream = self._connection.events(self._at("/responses"), body)
        async with aclosing(stream) as events:
            async for event in events:
                failed = event.get("type") == "error" or bool(event.get("error"))
                if failed and "response" not in event:
                    raise self._connection.stream_error(event)
                found = reader.feed(event)
                if reader.failure:
                    raise self._connection.stream_error(reader.failure)
                # Before the last event, because the caller may close this generator at it.
                if reader.finished:
                    await drain(events)
                for each in found:
                    yield each
                if reader.finished:
                    return
        raise self._connection.cut_off()


def _is_for_else(name: str) -> bool:
    return any(word in name for word in _NOT_FOR_CHAT)


def _refused_field(no: RefusedError, body: Tree) -> str | None:
    """Return the field the server complains about, if the request can do without it."""
    said = no.refusal.text.lower()
    if no.refusal.status not in (400, 422) or isinstance(no.error, OverLimit):
        return None
    if "encrypted content is not supported" in said and "include" in body:
        return "include"
    return next((field for field in _CAN_BE_LEFT_OUT if field in said and field in body), None)
