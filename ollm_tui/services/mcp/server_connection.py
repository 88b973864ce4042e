"""The connection to one MCP server: started when needed, called, ended, and begun again.

The SDK takes a second to load, so it is imported when the first server is started.
"""

from __future__ import annotations

import asyncio
import logging
import re
import tempfile
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TextIO, TypeVar, cast

import msgspec

from ollm_tui import __version__
from ollm_tui.core.errors import ToolError
from ollm_tui.core.intake import clean
from ollm_tui.services.mcp.offer import MOST_ENTRIES, Offer, offer_of, one_line
from ollm_tui.settings.schema import McpServer

if TYPE_CHECKING:
    from mcp import Client
    from mcp.types import CallToolResult

ServerState = Literal["off", "starting", "ready", "failed"]
MOST_CHARACTERS = 1_000_000
"""The most that is kept of one answer."""
LAST_WORDS = 300
"""Characters of what a server that ended printed last."""
_REFERENCE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")

R = TypeVar("R")
log = logging.getLogger(__name__)


class ServerAnswer(NamedTuple):
    """What a tool of a server answered."""

    text: str
    is_error: bool


class ServerConnection:
    """One server. Its methods raise ToolError, in words for model and user."""

    def __init__(
        self,
        name: str,
        entry: McpServer,
        environment: Mapping[str, str],
        variables: Mapping[str, str],
        folder: Path,
        changed: Callable[[], None],
        *,
        redact: Callable[[str], str] = str,
        is_projects: bool = False,
    ) -> None:
        self.name = name
        self.entry = entry
        self.is_projects = is_projects
        """Whether the project asked for it, and not the user's settings."""
        self.state: ServerState = "off"
        self.problem = ""
        """Why it cannot be used, in one line."""
        self.offer = Offer()
        self._was_ready = False
        self._environment = environment
        self._variables = variables
        self._folder = folder
        self._changed = changed
        self._redact = redact
        self._client: Client | None = None
        self._holding: asyncio.Task[None] | None = None
        self._begun: asyncio.Event = asyncio.Event()
        self._ending: asyncio.Event = asyncio.Event()

    @property
    def is_lost(self) -> bool:
        """Whether it could be asked once and cannot be reached now."""
        return self.state == "failed" and self._was_ready

    async def start(self) -> None:
        """Start the server unless it runs; waits until it is ready or has failed."""
        if self._holding is None or self._holding.done():
            self._begun, self._ending = asyncio.Event(), asyncio.Event()
            self._set("starting")
            self._holding = asyncio.create_task(self._hold(), name=f"mcp {self.name}")
        await self._begun.wait()

    async def stop(self) -> None:
        """End the server; it can be started again."""
        self._ending.set()
        if self._holding and not self._holding.done():
            if self.state == "starting":  # it may never answer, and nobody is to wait for that
                self._holding.cancel()
            with suppress(asyncio.CancelledError):
                await self._holding
        self.offer = Offer()
        self._set("off")

    async def call(self, tool: str, arguments: Mapping[str, Any]) -> ServerAnswer:
        """Call a tool."""
        from mcp.types import TextContent

        result = await self._ask(lambda client: client.call_tool(tool, dict(arguments)))
        texts = [
            part.text if isinstance(part, TextContent) else f"[{part.type} left out]"
            for part in result.content
        ]
        text = await asyncio.to_thread(_readable, texts, result)
        return ServerAnswer(text, bool(result.is_error))

    async def read(self, uri: str) -> str:
        """Return the text of a resource."""
        from mcp.types import TextResourceContents

        result = await self._ask(lambda client: client.read_resource(uri))
        texts = [part.text for part in result.contents if isinstance(part, TextResourceContents)]
        if not texts:
            raise ToolError(f"{self.name}: {one_line(uri)[:80]} is not text")
        return await asyncio.to_thread(_cut, "\n".join(texts))

    async def prompt(self, name: str, arguments: Mapping[str, str]) -> str:
        """Return the text that a prompt of the server makes."""
        from mcp.types import TextContent

        result = await self._ask(lambda client: client.get_prompt(name, dict(arguments)))
        texts = [
            each.content.text for each in result.messages if isinstance(each.content, TextContent)
        ]
        return await asyncio.to_thread(_cut, "\n\n".join(texts))

    async def _ask(self, ask: Callable[[Client], Awaitable[R]]) -> R:
        """Ask the server something. One that has ended is started first; what it was asked when it
        ended is never asked twice, since it may have been done."""
        if self.state != "ready":
            await self.start()
        client = self._client
        if client is None:
            raise ToolError(f"MCP server {self.name} failed: {self.problem}", "/mcp")
        try:
            async with asyncio.timeout(self.entry.timeout_seconds):
                return await ask(client)
        except TimeoutError:
            seconds = f"{self.entry.timeout_seconds:g} s"
            raise ToolError(f"MCP server {self.name} did not answer within {seconds}") from None
        except Exception as error:
            raise await self._failure(error) from error

    async def _failure(self, error: Exception) -> ToolError:
        """What went wrong, for model and user; a server that has ended is started again."""
        words = _words(error, self._redact)
        log.warning("mcp server %s: %s", self.name, words)
        if not _is_over(error):
            return ToolError(f"{self.name}: {words}")
        await self.stop()
        await self.start()
        again = "restarted" if self.state == "ready" else "restart failed"
        return ToolError(
            f"MCP server {self.name} exited; {again}", "check the result before repeating the call"
        )

    async def _hold(self) -> None:
        """Hold the connection in one task, as the SDK needs it, until it is to end."""
        with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as complaints:
            try:
                await self._connect(complaints)
            except Exception as error:
                self.problem = _why(error, complaints, self._redact)
                log.warning("mcp server %s: %s", self.name, self.problem)
                self._client = None
                self._set("failed")
            finally:
                self._client = None
                self._begun.set()

    async def _connect(self, complaints: TextIO) -> None:
        sdk = await asyncio.to_thread(_load_sdk)
        who = sdk.Implementation(name="ollm", version=__version__)
        async with asyncio.timeout(self.entry.timeout_seconds) as limit:
            async with sdk.Client(self._transport(complaints), client_info=who) as client:
                self.offer = await _listed(client, self.entry.tools)
                limit.reschedule(None)
                self._client = client
                self.problem = ""
                self._was_ready = True
                self._set("ready")
                self._begun.set()
                await self._ending.wait()

    def _transport(self, complaints: TextIO) -> Any:
        """What carries the messages: the pipes of a process, or requests to an address."""
        from ollm_tui.services.mcp.transport import over_http, over_stdio

        entry = self.entry
        if entry.url:
            return over_http(entry.url, self._filled(entry.headers))
        if not entry.command:
            raise ToolError("neither command nor url")
        environment = {**self._environment, **self._filled(entry.env)}
        return over_stdio(entry.command, entry.args, environment, self._folder, complaints)

    def _filled(self, values: Mapping[str, str]) -> dict[str, str]:
        """Values with ${NAME} replaced by the user's variable of that name."""

        def value(match: re.Match[str]) -> str:
            return self._variables.get(match[1], match[2] or "")

        return {name: _REFERENCE.sub(value, text) for name, text in values.items()}

    def _set(self, state: ServerState) -> None:
        self.state = state
        self._changed()


async def _listed(client: Client, allowed: tuple[str, ...] | None) -> Offer:
    """Ask for all that a server offers; what it does not know of is empty."""
    able = client.server_capabilities
    tools = await _all_pages(client.list_tools, "tools") if able.tools else []
    resources = await _all_pages(client.list_resources, "resources") if able.resources else []
    prompts = await _all_pages(client.list_prompts, "prompts") if able.prompts else []
    return await asyncio.to_thread(offer_of, tools, resources, prompts, allowed)


async def _all_pages(ask: Callable[..., Awaitable[Any]], name: str) -> list[Any]:
    """Return all entries of a list that comes in pages; a server without an end is cut off."""
    found: list[Any] = []
    cursor: str | None = None
    while len(found) < MOST_ENTRIES:
        page = await ask(cursor=cursor)
        entries: list[Any] = getattr(page, name)
        found += entries
        cursor = page.next_cursor
        if not cursor or not entries:
            break
    return found


def _readable(texts: list[str], result: CallToolResult) -> str:
    """The text of an answer; without any, its structured content."""
    if not any(text.strip() for text in texts) and result.structured_content:
        texts = [msgspec.json.encode(result.structured_content).decode()]
    return _cut("\n".join(texts))


def _cut(text: str) -> str:
    """Text without controls, and not more of it than can be kept."""
    if len(text) > MOST_CHARACTERS:
        left_out = len(text) - MOST_CHARACTERS
        text = f"{text[:MOST_CHARACTERS]}\n[{left_out:,} more characters were left out]"
    return clean(text)


def _words(error: BaseException, redact: Callable[[str], str]) -> str:
    """What an error says in one line; of an answer that breaks the protocol, the first fault."""
    text = str(error)
    if type(error).__name__ == "ValidationError":  # of pydantic, which the SDK brings along
        _, where, what, *_ = [*text.splitlines(), "", ""]
        text = f"it breaks the protocol: {where}: {what.partition('[')[0]}"
    return _last_words(text, redact) or type(error).__name__


def _last_words(text: str, redact: Callable[[str], str]) -> str:
    """Words of a server in one line; a secret is hidden before it could be cut in two."""
    return one_line(redact(clean(text)))[:LAST_WORDS]


def _why(error: BaseException, complaints: TextIO, redact: Callable[[str], str]) -> str:
    """Why a server does not start, with the last line it printed."""
    while isinstance(error, BaseExceptionGroup):
        group = cast(BaseExceptionGroup[BaseException], error)
        error = group.exceptions[0]
    words = _words(error, redact)
    if isinstance(error, TimeoutError):
        words = "it did not answer in time"
    if isinstance(error, FileNotFoundError):
        words = f"program not found: {error.filename or ''}".rstrip()
    complaints.seek(0)
    lines = clean(complaints.read(MOST_CHARACTERS)).strip().splitlines()
    said = f"; it said: {_last_words(lines[-1], redact)}" if lines else ""
    return f"{one_line(words)[:LAST_WORDS]}{said}"


def _is_over(error: Exception) -> bool:
    """Whether an error tells that the connection is gone."""
    from mcp import MCPError
    from mcp.types import CONNECTION_CLOSED

    if isinstance(error, MCPError):
        return error.error.code == CONNECTION_CLOSED
    # Those of anyio, which the SDK brings along.
    names = ("ClosedResourceError", "BrokenResourceError", "EndOfStream")
    return isinstance(error, ConnectionError) or type(error).__name__ in names


class _Sdk(NamedTuple):
    """The parts of the SDK that are used."""

    Client: Any
    Implementation: Any


def _load_sdk() -> _Sdk:
    """Load the SDK. ToolError if it is not installed."""
    try:
        from mcp import Client
        from mcp.types import Implementation
    except ImportError as error:
        raise ToolError("MCP servers need a package: pip install 'ollm-tui[mcp]'") from error
    return _Sdk(Client, Implementation)
