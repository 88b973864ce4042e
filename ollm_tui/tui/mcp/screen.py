"""The screen of MCP servers and tools: their state, and what each tool costs, on or off."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from ollm_tui.core.counts import short_count
from ollm_tui.core.intake import visible
from ollm_tui.core.tool import Tool
from ollm_tui.tui.kit.choice_list import Choice, ChoiceList
from ollm_tui.tui.kit.live_keys import LiveKeys
from ollm_tui.tui.mcp.words import (
    KEYS,
    MARKS,
    NO_ROOM,
    NO_SERVERS,
    NO_TOOLS,
    NOT_OFFERED,
    OFF,
    OWN,
    STATES,
    TITLE,
    of_extension,
    over_the_limit,
)

if TYPE_CHECKING:
    from ollm_tui.engine.conversation.conversation import Conversation
    from ollm_tui.engine.project.additions import Additions
    from ollm_tui.services.mcp.server_connection import ServerConnection

SERVER = "server:"
"""Begins the key of a line that is a server; the others are tools."""
INDENT = "  "


class McpScreen(Screen[None]):
    """Lists the tools of servers, of extensions, and the program's own; Space switches one."""

    AUTO_FOCUS = "ChoiceList"
    CSS_PATH = "screen.tcss"
    BINDINGS = [
        Binding("escape,q", "close", "Close", id="servers.close", tooltip="Back to the chat"),
        Binding("space", "switch", "On or off", id="servers.switch", tooltip="Turn on or off"),
        Binding("r", "again", "Restart", id="servers.again", tooltip="Restart the server"),
    ]

    app: App[Any]

    def __init__(self, conversation: Conversation, additions: Additions) -> None:
        super().__init__()
        self._conversation = conversation
        self._additions = additions
        self._tools: dict[str, Tool] = {}
        self._unsubscribe: Callable[[], None] = lambda: None

    def compose(self) -> ComposeResult:
        """Lay out the heading, the list, what the highlighted line is, and the keys."""
        yield Static(id="heading")
        yield ChoiceList(empty=NO_SERVERS, unicode=not self.app.has_class("-ascii"))
        yield Static(id="about")
        yield LiveKeys()

    def on_mount(self) -> None:
        """Show the list, and again whenever a server changes."""
        if self._additions.mcp:
            self._unsubscribe = self._additions.mcp.changed.subscribe(lambda _: self._look_again())
        self._look_again()
        self.call_after_refresh(lambda: self.query_one(LiveKeys).show(*KEYS))

    def on_unmount(self) -> None:
        """Stop listening to the servers."""
        self._unsubscribe()

    @on(ChoiceList.Highlighted)
    def explain(self, event: ChoiceList.Highlighted) -> None:
        """Show what the highlighted line is."""
        self.query_one("#about", Static).update(Content(self._about(event.choice)))

    @on(ChoiceList.Chosen)
    def take(self) -> None:
        """Switch the line, as Space does."""
        self.action_switch()

    def action_close(self) -> None:
        """Close the screen."""
        self.dismiss(None)

    def action_switch(self) -> None:
        """Switch the highlighted server or tool on or off."""
        key = self.query_one(ChoiceList).highlighted_key
        if key.startswith(SERVER):
            self.run_worker(self._switch_server(key.removeprefix(SERVER)), exclusive=True)
        elif key:
            selection = self._additions.selection
            is_offered = key in self._conversation.tools.offered
            selection.switch(key, on=not is_offered)
            self._look_again()

    def action_again(self) -> None:
        """End the server of the highlighted line, and start it again."""
        key = self.query_one(ChoiceList).highlighted_key
        name = key.removeprefix(SERVER).partition(".")[0]
        if self._additions.mcp and any(each.name == name for each in self._additions.mcp.all):
            self.run_worker(self._begin_again(self._additions.mcp.get(name)), exclusive=True)

    async def _switch_server(self, name: str) -> None:
        assert self._additions.mcp
        server = self._additions.mcp.get(name)
        await (server.stop() if server.state in ("ready", "starting") else server.start())

    async def _begin_again(self, server: ServerConnection) -> None:
        await server.stop()
        await server.start()

    def _look_again(self) -> None:
        self.run_worker(self._show, group="show", exclusive=True)

    async def _show(self) -> None:
        await self._conversation.tools.ready()
        self._tools = {tool.spec.name: tool for tool in self._conversation.tools.known}
        self.query_one(ChoiceList).show(list(self._choices()))
        offered = self._conversation.tools.offered
        cost = sum(self._cost(name) for name in offered if name in self._tools)
        facts = (
            f"   {len(offered)} of {len(self._tools)} tools offered, ≈{short_count(cost)} tokens"
        )
        title = Content.styled(TITLE, "bold $primary")
        self.query_one("#heading", Static).update(Content.assemble(title, (facts, "$text-muted")))

    def _choices(self) -> Iterator[Choice]:
        servers = self._additions.mcp.all if self._additions.mcp else ()
        shown: set[str] = set()
        for server in servers:
            mark = MARKS.get(server.state, "○")
            note = STATES[server.state] + (" · project" if server.is_projects else "")
            yield Choice(f"{SERVER}{server.name}", server.name, note, mark)
            for tool in server.offer.tools:
                name = f"{server.name}.{tool.name}"
                shown.add(name)
                yield self._line(name)
        by_extension: dict[str, list[Choice]] = {}
        for extension, tool in self._of_extensions():
            if tool in self._tools and tool not in shown:
                shown.add(tool)
                by_extension.setdefault(extension, []).append(self._line(tool))
        own = [self._line(name) for name in self._tools if name not in shown]
        titled = ((of_extension(name), lines) for name, lines in by_extension.items())
        for title, lines in (*titled, (OWN, own)):
            if lines:
                yield Choice("", title, heading=True)
                yield from lines

    def _of_extensions(self) -> Iterator[tuple[str, str]]:
        """The tools of extensions: the name of the extension, and that of the tool."""
        host = self._additions.extensions
        yield from ((name, tool.name) for name, tool in (host.tools() if host else ()))

    def _line(self, name: str) -> Choice:
        is_offered = name in self._conversation.tools.offered
        note = f"≈{short_count(self._cost(name))}" if name in self._tools else ""
        if not is_offered:
            note = f"{self._why_not(name)} · {note}"
        return Choice(name, visible(name), note, "✓" if is_offered else "○", indent=INDENT)

    def _why_not(self, name: str) -> str:
        """Why the model is not told about a tool."""
        tools, selection = self._conversation.tools, self._additions.selection
        if selection.is_off(name):
            return OFF
        if name not in self._tools:
            return NOT_OFFERED
        if not tools.can_use_tools:
            return NO_TOOLS
        return NO_ROOM if len(tools.offered) < selection.most else over_the_limit(selection.most)

    def _cost(self, name: str) -> int:
        return self._conversation.tools.cost(self._tools[name])

    def _about(self, choice: Choice | None) -> str:
        if choice is None:
            return ""
        if not choice.key.startswith(SERVER):
            tool = self._tools.get(choice.key)
            return visible(tool.spec.description) if tool else ""
        assert self._additions.mcp
        server = self._additions.mcp.get(choice.key.removeprefix(SERVER))
        entry, offer = server.entry, server.offer
        what = entry.url or " ".join((entry.command or "", *entry.args))
        more = [f"@{server.name}:{each.uri}" for each in offer.resources[:5]]
        more += [f"/{server.name}:{each.name}" for each in offer.prompts[:5]]
        lines = (what, server.problem, "  ".join(more), *offer.problems)
        return "\n".join(visible(line) for line in lines if line)
