"""Commands beyond the table: your own, those of extensions, and prompts of MCP servers."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from ollm_tui.core.errors import ToolError, UsageError
from ollm_tui.core.intake import visible
from ollm_tui.services.extensions.extension_host import ExtensionFailed
from ollm_tui.tui.chat.port import Action, ChatPort
from ollm_tui.tui.extensions.own_command_run import run_own
from ollm_tui.tui.extensions.words import OF_PROJECT, TURNED_OFF
from ollm_tui.tui.stream.transcript.entry import Entry

if TYPE_CHECKING:
    from ollm_tui.services.mcp.mcp_servers import McpServers
    from ollm_tui.services.mcp.offer import ServerPrompt
    from ollm_tui.services.mcp.server_connection import ServerConnection

WORDS = "[words]"
"""What may follow the name of a command that does not say."""


async def run(chat: ChatPort, argument: str) -> None:
    """Run a command of your own or of an extension, or put a prompt of an MCP server into the
    prompt line."""
    # A message of several lines may follow the name.
    name, words = [*argument.strip().split(maxsplit=1), "", ""][:2]
    if own := chat.app.workspace.project.commands.all.get(name):
        run_own(chat, own, words)
        return
    additions = chat.app.workspace.additions
    # Slash names come in small letters; those of servers and extensions may have others.
    for server, prompt in _prompts(additions.mcp):
        if f"{server.name}:{prompt.name}".lower() == name.lower():
            given = _given(prompt, words)
            try:
                chat.prompt.put(await server.prompt(prompt.name, given))
            except ToolError as error:
                raise UsageError(error.message, error.hint or "/mcp lists the servers") from error
            chat.prompt.focus()
            return
    host = additions.extensions
    for extension, command in host.commands() if host else ():
        if command.name.lower() == name.lower():
            assert host
            try:
                text = await host.text(extension, command.run, words)
            except ExtensionFailed as error:
                raise UsageError(f"Extension {extension} failed: {error}", TURNED_OFF) from error
            if text.strip():
                key = f"extension-{time.monotonic_ns()}"
                chat.transcript.add(Entry(key, "note", text))
            return
    names = ", ".join(each for each, _, _ in further_commands(chat)) or "none"
    raise UsageError(f"No command {visible(name)!r}", f"available: {names}")


def further_commands(chat: ChatPort) -> Iterator[tuple[str, str, str]]:
    """Yield name, arguments and description of all commands that are not in the table; your own
    come last, so that they win."""
    additions = chat.app.workspace.additions
    for server, each in _prompts(additions.mcp):
        yield f"{server.name}:{each.name}".lower(), WORDS, each.description
    for _, command in additions.extensions.commands() if additions.extensions else ():
        yield command.name.lower(), WORDS, visible(command.description)
    for own in chat.app.workspace.project.commands.all.values():
        about = own.problem or own.description
        yield (
            own.name,
            own.arguments or WORDS,
            f"{about} ({OF_PROJECT})" if own.is_of_project else about,
        )


def _prompts(mcp: McpServers | None) -> Iterator[tuple[ServerConnection, ServerPrompt]]:
    for server in mcp.ready if mcp else ():
        for prompt in server.offer.prompts:
            yield server, prompt


def _given(prompt: ServerPrompt, words: str) -> dict[str, str]:
    """The arguments of a prompt: words in order, the last one takes the rest. UsageError."""
    try:
        given = shlex.split(words)
    except ValueError:
        given = words.split()
    names = prompt.arguments
    if len(given) > len(names) > 0:
        given = [*given[: len(names) - 1], " ".join(given[len(names) - 1 :])]
    missing = [name for name in prompt.required if name in names[len(given) :]]
    if missing:
        raise UsageError(f"{prompt.name} needs {', '.join(missing)}", " ".join(names))
    return dict(zip(names, given, strict=False))


ACTIONS: Mapping[str, Action] = {"extension.run": run}
