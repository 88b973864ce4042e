"""What the providers of hosted models share: their address, their models and their counts."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

import msgspec

from ollm_tui.core.errors import ModelMissing
from ollm_tui.core.model_card import FindCard, ModelCard
from ollm_tui.core.provider import Capabilities, ModelInfo, PromptMessage
from ollm_tui.providers.wire.http import Connection, RefusedError, host_of
from ollm_tui.providers.wire.json_lines import as_tree, int_at

KEPT_COUNTS = 16
"""How many counts of prompts are remembered: a prompt is often counted before it is sent."""
OUTPUT_SHARE = 0.15
"""Share of the window that an answer gets where the server has to be told a length."""
USUAL_OUTPUT = 8192
"""Tokens of the longest answer of a model about which nothing is known."""


class Hosted:
    """A provider on another machine; the adapters add the formats."""

    def __init__(self, *, name: str, kind: str, connection: Connection, card: FindCard) -> None:
        self._name = name
        self._connection = connection
        self._card = card
        self._vendor = f"{kind}:{host_of(connection.base_url)}"
        self._counts: dict[bytes, int] = {}

    @property
    def name(self) -> str:
        """The name of this provider in the settings."""
        return self._name

    @property
    def vendor(self) -> str:
        """The kind and the host of the server: nothing opaque goes to another one."""
        return self._vendor

    async def remote_host(self, model: str) -> str | None:
        """Return the machine that gets what is said; None if it is this one."""
        return self._connection.remote_host

    async def list_models(self) -> tuple[ModelInfo, ...]:
        """Return the models the server offers."""
        raise NotImplementedError

    async def default_model(self) -> str:
        """Return the first model of the list. ModelMissing if the list is empty."""
        models = await self.list_models()
        if not models:
            raise ModelMissing(f"{self._name} offers no models", "name one in the settings")
        return models[0].name

    async def close(self) -> None:
        """Close the connections."""
        await self._connection.close()

    async def _counted(self, path: str, body: Mapping[str, Any], key: str) -> int | None:
        """Return the tokens of a prompt as the server counts them; asked once for each prompt.
        None if it cannot count."""
        digest = blake2b(msgspec.json.encode(body), digest_size=16).digest()
        if digest not in self._counts:
            answer = await self._connection.ask_if_there("POST", path, body)
            tokens = int_at(as_tree(answer), key)
            if tokens is None:
                return None
            if len(self._counts) >= KEPT_COUNTS:
                del self._counts[next(iter(self._counts))]
            self._counts[digest] = tokens
        return self._counts[digest]

    def _info(self, name: str, *, chats: bool = True, max_window: int | None = None) -> ModelInfo:
        """Return a model of the list, with what is known of it beside what the server says."""
        card = self._card(name) or ModelCard()
        return ModelInfo(
            name=name,
            max_window=max_window or card.window,
            note="" if chats else "not for chat",
            chats=chats,
            remote_host=self._connection.remote_host,
            abilities=card.can,
            card=self._card(name),
        )

    def _abilities(self, model: str, said: Capabilities) -> Capabilities:
        """Return what a model can do: as its server says, else as its card does."""
        card = self._card(model)
        if card is None:
            return said
        window = said.max_window or card.window
        return msgspec.structs.replace(
            said,
            tools="tools" in card.can if said.tools is None else said.tools,
            images="images" in card.can if said.images is None else said.images,
            thinking="thinking" in card.can if said.thinking is None else said.thinking,
            window=said.window or window,
            max_window=window,
            card=card,
        )


def longest_output(wish: int | None, window: int | None, most: int | None) -> int:
    """Return the tokens an answer may have, for servers that have to be told."""
    if wish is not None:
        return wish
    share = int(window * OUTPUT_SHARE) if window else USUAL_OUTPUT
    return max(1, min(share, most or USUAL_OUTPUT))


def is_about_opaque(no: RefusedError, messages: tuple[PromptMessage, ...]) -> bool:
    """Return whether a server refuses what it had signed or encrypted itself: after a change of
    what comes before it, or of the model's version, some do."""
    said = no.refusal.text.lower()
    words = ("signature", "thinking", "encrypted", "reasoning", "thought", "item ")
    return (
        no.refusal.status in (400, 404, 422)
        and any(message.opaque for message in messages)
        and any(word in said for word in words)
    )


def own_items(message: PromptMessage, ids: list[str]) -> Mapping[str, str] | None:
    """Return the server's id of each call of an opaque reply by our id of it; None if the reply
    cannot be sent as it came. `ids` are the server's, in their order."""
    opaque = message.opaque
    if opaque is None or len(opaque.calls) != len(ids) or len(message.tool_calls) != len(ids):
        return None
    return dict(zip(opaque.calls, ids, strict=True))


def plain_messages(messages: tuple[PromptMessage, ...]) -> tuple[PromptMessage, ...]:
    """Return messages without anything opaque."""
    return tuple(
        msgspec.structs.replace(message, opaque=None) if message.opaque else message
        for message in messages
    )
