"""The provider for Anthropic's Messages API, and for servers that speak it."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from msgspec.structs import replace

from ollm_tui.core.errors import OverLimit
from ollm_tui.core.model_card import FindCard, ModelCard, no_card
from ollm_tui.core.provider import Capabilities, ChatRequest, ModelInfo, StreamEvent
from ollm_tui.providers.anthropic_wire import Abilities, AnswerReader, request_body
from ollm_tui.providers.wire.hosted import Hosted, is_about_opaque, plain_messages
from ollm_tui.providers.wire.http import (
    RETRY_SECONDS,
    Connection,
    RefusedError,
    drain,
    until_accepted,
    with_scheme,
)
from ollm_tui.providers.wire.json_lines import Tree, as_tree, int_at, text_at, tree_at, trees_at

ANTHROPIC_URL = "https://api.anthropic.com"
VERSION = "2026-10-21"
VERSION_WITH_TEMPERATURE = "2023-06-01"
"""The last version of the API that takes a temperature."""
_CAN_BE_LEFT_OUT = ("thinking", "output_config", "temperature", "cache_control")
"""Fields that a request can do without, and that some models and servers refuse."""
_CONTINUES = re.compile(r"claude-(3|(opus|sonnet|haiku)-4(-[015])?(-\d{8})?$)")
"""The models that go on with an answer at the end of a prompt; those since 4.6 refuse that."""
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class Anthropic(Hosted):
    """A provider over `/v1/messages`."""

    def __init__(
        self,
        *,
        name: str,
        api_key: str | None,
        base_url: str = ANTHROPIC_URL,
        inactivity_seconds: float = 120.0,
        headers: Mapping[str, str] = _NO_HEADERS,
        caches: bool = True,
        card: FindCard = no_card,
        retry_seconds: float = RETRY_SECONDS,
    ) -> None:
        key = {"x-api-key": api_key.strip()} if api_key and api_key.strip() else {}
        connection = Connection(
            server=name,
            base_url=with_scheme(base_url).removesuffix("/v1"),
            inactivity_seconds=inactivity_seconds,
            headers={**key, **headers},
            down_hint=f"check the network and the baseUrl of {name}",
            retry_seconds=retry_seconds,
            open_headers={"anthropic-version": VERSION},
        )
        super().__init__(name=name, kind="anthropic", connection=connection, card=card)
        self._caches = caches
        self._entries: dict[str, Tree] = {}
        self._refused: dict[str, set[str]] = {}
        """The fields that were refused, by model."""

    def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Stream the answer, ending with Completed."""
        asked = request

        async def make_body() -> Tree:
            return {**await self._body(asked), "stream": True}

        async def leave_out(no: RefusedError, body: Tree) -> None:
            nonlocal asked
            if is_about_opaque(no, asked.messages):
                asked = replace(asked, messages=plain_messages(asked.messages), thinking=None)
                return
            refused = self._refused.setdefault(request.model, set())
            field = _refused_field(no, body, refused)
            if field is None:
                raise no.error from None
            refused.add(field)

        return until_accepted(make_body, self._events, leave_out)

    async def count_tokens(self, request: ChatRequest) -> int | None:
        """Count the tokens of a prompt; None if the server cannot."""
        body = await self._body(request)
        fields = ("model", "messages", "system", "tools", "thinking")
        counted = {key: body[key] for key in fields if key in body}
        return await self._counted("/v1/messages/count_tokens", counted, "input_tokens")

    async def capabilities(self, model: str) -> Capabilities:
        """Return what the list of models says, and what is known besides."""
        entry = await self._entry(model)
        can = tree_at(entry, "capabilities")
        said = Capabilities(
            tools=True,
            thinking=_supports(can, "thinking"),
            images=_supports(can, "image_input"),
            continues=bool(_CONTINUES.match(model)),
            max_window=int_at(entry, "max_input_tokens"),
            window=int_at(entry, "max_input_tokens"),
        )
        return self._abilities(model, said)

    async def list_models(self) -> tuple[ModelInfo, ...]:
        """Return the models the server offers; those that are retired are left out."""
        answer = as_tree(await self._connection.ask("GET", "/v1/models?limit=1000"))
        entries = [entry for entry in trees_at(answer, "data") if text_at(entry, "id")]
        self._entries.update({text_at(entry, "id"): entry for entry in entries})
        return tuple(
            self._info(text_at(entry, "id"), max_window=int_at(entry, "max_input_tokens"))
            for entry in entries
            if text_at(entry, "id").isprintable() and entry.get("lifecycle") != "retired"
        )

    async def _entry(self, model: str) -> Tree:
        """Return what the server says about a model; asked once, empty if it says nothing."""
        if model not in self._entries:
            path = f"/v1/models/{quote(model, safe='')}"
            self._entries[model] = as_tree(await self._connection.ask_if_there("GET", path))
        return self._entries[model]

    async def _body(self, request: ChatRequest) -> Tree:
        entry = await self._entry(request.model)
        card = self._card(request.model) or ModelCard()
        refused = self._refused.get(request.model, set[str]())
        can = tree_at(entry, "capabilities")
        types = tree_at(tree_at(can, "thinking"), "types")
        able = Abilities(
            max_output=int_at(entry, "max_tokens") or card.max_output,
            adaptive=False if "adaptive" in refused else _supports(types, "adaptive"),
            thinking=False if "thinking" in refused else _supports(can, "thinking"),
            caches=self._caches and "cache_control" not in refused,
        )
        body = request_body(request, able)
        return {key: value for key, value in body.items() if key not in refused}

    async def _events(self, body: Tree) -> AsyncGenerator[StreamEvent, None]:
        reader = AnswerReader()
        older = {"anthropic-version": VERSION_WITH_TEMPERATURE}
        headers = older if "temperature" in body else None
        stream = self._connection.events("/v1/messages", body, headers)
        async with aclosing(stream) as events:
            async for event in events:
                if event.get("type") == "error" or "error" in event:
                    raise self._connection.stream_error(event)
                found = reader.feed(event)
                # Before the last event, because the caller may close this generator at it.
                if reader.finished:
                    await drain(events)
                for each in found:
                    yield each
                if reader.finished:
                    return
        raise self._connection.cut_off()


def _supports(tree: Tree, key: str) -> bool | None:
    """Return whether an ability is supported; None if the server does not say."""
    said: Any = tree_at(tree, key).get("supported")
    return said if isinstance(said, bool) else None


def _refused_field(no: RefusedError, body: Tree, refused: set[str]) -> str | None:
    """Return the field the server complains about, if the request can do without it."""
    said = no.refusal.text
    if no.refusal.status not in (400, 422) or isinstance(no.error, OverLimit):
        return None
    if "adaptive" in said and "adaptive" not in refused:
        return "adaptive"
    if "effort" in said and "output_config" in body:
        return "output_config"
    sent = {*body, "cache_control"} - refused
    return next((field for field in _CAN_BE_LEFT_OUT if field in said and field in sent), None)
