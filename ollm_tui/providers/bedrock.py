"""The provider for Amazon Bedrock's Converse API."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from types import MappingProxyType
from urllib.parse import quote

from msgspec.structs import replace

from ollm_tui.core.errors import ModelMissing
from ollm_tui.core.model_card import FindCard, ModelCard, no_card
from ollm_tui.core.provider import Capabilities, ChatRequest, ModelInfo, StreamEvent
from ollm_tui.providers.aws_credentials import AwsAccount
from ollm_tui.providers.bedrock_wire import AnswerReader, request_body
from ollm_tui.providers.wire.aws_signing import signed_headers
from ollm_tui.providers.wire.event_frames import Frame, FrameReader
from ollm_tui.providers.wire.hosted import Hosted, is_about_opaque, plain_messages
from ollm_tui.providers.wire.http import (
    RETRY_SECONDS,
    Connection,
    RefusedError,
    until_accepted,
    with_scheme,
)
from ollm_tui.providers.wire.json_lines import (
    Tree,
    UnreadableError,
    as_tree,
    decode_json,
    list_at,
    text_at,
    tree_at,
    trees_at,
)

_REGION = re.compile(r"^(?:us|eu|apac|au|jp|ca|global|us-gov)\.")
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})


class Bedrock(Hosted):
    """A provider over `converse-stream`, in one region."""

    def __init__(
        self,
        *,
        name: str,
        region: str,
        account: AwsAccount,
        base_url: str | None = None,
        api_key: str | None = None,
        inactivity_seconds: float = 120.0,
        headers: Mapping[str, str] = _NO_HEADERS,
        caches: bool = True,
        card: FindCard = no_card,
        retry_seconds: float = RETRY_SECONDS,
    ) -> None:
        self._region = region
        self._account = account
        self._caches = caches
        bearer = api_key or account.bearer

        def connect(service: str) -> Connection:
            address = base_url or f"https://{service}.{region}.amazonaws.com"
            return Connection(
                server=name,
                base_url=with_scheme(address),
                api_key=bearer,
                inactivity_seconds=inactivity_seconds,
                headers=headers,
                down_hint=f"check the network and the region of {name}",
                retry_seconds=retry_seconds,
                sign=None if bearer else self._sign,
            )

        connection = connect("bedrock-runtime")
        super().__init__(name=name, kind="bedrock", connection=connection, card=card)
        # What one region has signed, another may read.
        self._vendor = "bedrock"
        self._catalogue = connect("bedrock")
        self._refuses_marks: set[str] = set()
        """Models that refused marks for the cache."""

    def stream(self, request: ChatRequest) -> AsyncGenerator[StreamEvent, None]:
        """Stream the answer, ending with Completed."""
        asked = request

        async def make_body() -> Tree:
            return {**self._body(asked), "modelId": request.model}

        async def leave_out(no: RefusedError, body: Tree) -> None:
            nonlocal asked
            said = no.refusal.text.lower()
            if is_about_opaque(no, asked.messages):
                asked = replace(asked, messages=plain_messages(asked.messages), thinking=None)
            elif "cache" in said and request.model not in self._refuses_marks:
                self._refuses_marks.add(request.model)
            elif "on-demand throughput" in said:
                raise ModelMissing(
                    f"{self._name} offers {request.model} only through an inference profile",
                    "choose one in /model, such as us.MODEL",
                ) from None
            else:
                raise no.error from None

        return until_accepted(make_body, self._events, leave_out)

    async def count_tokens(self, request: ChatRequest) -> int | None:
        """Count the tokens of a prompt; None if the model cannot."""
        body = self._body(request)
        fields = ("messages", "system", "toolConfig")
        converse = {key: body[key] for key in fields if key in body}
        # Only the bare id of a model is taken here, no inference profile.
        path = _path(_REGION.sub("", request.model), "count-tokens")
        return await self._counted(path, {"input": {"converse": converse}}, "inputTokens")

    async def capabilities(self, model: str) -> Capabilities:
        """Return what is known of a model: the server says nothing about windows."""
        known = self._abilities(model, Capabilities())
        return replace(known, tools=True) if known.tools is None else known

    async def list_models(self) -> tuple[ModelInfo, ...]:
        """Return the models and inference profiles of the region."""
        models, profiles = await asyncio.gather(
            self._catalogue.ask("GET", "/foundation-models?byOutputModality=TEXT"),
            self._catalogue.ask_if_there("GET", "/inference-profiles?maxResults=1000"),
        )
        entries = [
            entry
            for entry in trees_at(as_tree(models), "modelSummaries")
            if "ON_DEMAND" in list_at(entry, "inferenceTypesSupported")
            and entry.get("responseStreamingSupported") is not False
        ]
        named = [text_at(entry, "modelId") for entry in entries]
        summaries = trees_at(as_tree(profiles), "inferenceProfileSummaries")
        named += [text_at(entry, "inferenceProfileId") for entry in summaries]
        return tuple(self._info(name) for name in named if name and name.isprintable())

    async def close(self) -> None:
        """Close the connections."""
        await super().close()
        await self._catalogue.close()

    def _body(self, request: ChatRequest) -> Tree:
        card = self._card(request.model) or ModelCard()
        caches = self._caches and request.model not in self._refuses_marks
        return request_body(request, card.max_output, caches=caches)

    async def _sign(self, method: str, url: str, body: bytes) -> Mapping[str, str]:
        # In a thread, because the keys may come from a program or over the network.
        credentials = await asyncio.to_thread(self._account.credentials)
        return signed_headers(method, url, body, credentials, self._region)

    async def _events(self, body: Tree) -> AsyncGenerator[StreamEvent, None]:
        reader, frames = AnswerReader(), FrameReader()
        sent = {key: value for key, value in body.items() if key != "modelId"}
        path = _path(body["modelId"], "converse-stream")
        async with aclosing(self._connection.pieces(path, sent)) as pieces:
            async for piece in pieces:
                try:
                    arrived = frames.feed(piece)
                except UnreadableError as error:
                    raise self._connection.bad_answer(str(error)) from error
                for frame in arrived:
                    for event in reader.feed(*self._read(frame)):
                        yield event
        if not reader.finished or not frames.is_empty:
            raise self._connection.cut_off()
        yield reader.end()

    def _read(self, frame: Frame) -> tuple[str, Tree]:
        """Return the kind and the content of an event. ProviderError if it is an error."""
        try:
            content = as_tree(decode_json(frame.payload or b"{}"))
        except UnreadableError as error:
            raise self._connection.bad_answer(str(error)) from error
        headers = frame.headers
        if headers.get(":message-type") != "event":
            kind = headers.get(":exception-type") or headers.get(":error-code", "")
            said = text_at(content, "message") or headers.get(":error-message", "")
            error = {"type": kind, "message": said}
            raise self._connection.stream_error({"error": error})
        kind = headers.get(":event-type", "")
        return kind, tree_at(content, kind) or content


def _path(model: str, operation: str) -> str:
    return f"/model/{quote(model, safe='')}/{operation}"
