"""The commands for the program itself: palette, help, theme, settings, log, redraw."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from textual.binding import Binding

from ollm_tui.services.logs import recent_events
from ollm_tui.tui.chat.port import Action, ChatPort
from ollm_tui.tui.commands import COMMANDS, GROUPS
from ollm_tui.tui.gauge.gauge import Gauge
from ollm_tui.tui.gauge.gauge_line import MEANINGS
from ollm_tui.tui.help.screen import HelpEntry, HelpScreen
from ollm_tui.tui.help.words import LOG_EMPTY, LOG_KEYS, PALETTE_KEYS
from ollm_tui.tui.keymap import key_names
from ollm_tui.tui.kit.choice_list import Choice
from ollm_tui.tui.kit.picker import Picker
from ollm_tui.tui.prompt.command_values import COMMON, further_completions
from ollm_tui.tui.prompt.prompt import Prompt
from ollm_tui.tui.stream.entries.message_entries import local_time

IN_THE_GAUGE = "Context gauge"
FURTHER = "further/"
"""Before the name of a command that is not in the table; no id of the table has a slash."""


class PaletteEntry(NamedTuple):
    """One command."""

    id: str
    title: str
    key: str = ""
    """Its shortest key as it is shown: "Ctrl+P"."""
    description: str = ""
    slash: str = ""
    """What to type instead: "/theme"."""


class CommandPalette(Picker):
    """Dismisses with the id of a command, or None."""

    def __init__(self, entries: Sequence[PaletteEntry]) -> None:
        descriptions = {entry.id: entry.description for entry in entries}
        super().__init__(
            "Commands",
            [_choice(entry) for entry in entries],
            keys=PALETTE_KEYS,
            watcher=lambda choice: self.say(descriptions[choice.key] if choice else ""),
        )


class LogViewer(Picker):
    """Lists what was logged, the newest first."""

    RANKS = False


class RecentCommands:
    """The commands that were chosen in the palette, the latest first."""

    def __init__(self) -> None:
        self._ids: list[str] = []

    def note(self, command_id: str) -> None:
        """Make a command the latest."""
        self._ids = [command_id, *(one for one in self._ids if one != command_id)]

    def first(self, entries: Iterable[PaletteEntry]) -> list[PaletteEntry]:
        """Return the entries, those used before all others."""
        places = {command_id: at for at, command_id in enumerate(self._ids)}
        return sorted(entries, key=lambda entry: places.get(entry.id, len(places)))


def _choice(entry: PaletteEntry) -> Choice:
    note = " · ".join(filter(None, (entry.slash, entry.key)))
    return Choice(entry.id, entry.title, note, words=f"{entry.description} {entry.id}")


def palette(chat: ChatPort, _argument: str) -> None:
    """Open the palette of all commands, and run the chosen one."""
    entries = [
        PaletteEntry(
            command.id,
            command.title,
            chat.lines.hints.key(command.id),
            command.help,
            f"/{command.slash}" if command.slash else "",
        )
        # Several commands may have one title; the first row of the table stands for them.
        for command in {command.title: command for command in reversed(COMMANDS)}.values()
        if command.id != "screen.palette"
    ]
    entries.reverse()
    common = {f"/{name}": at for at, name in enumerate(COMMON)}
    entries.sort(key=lambda entry: common.get(entry.slash, len(common)))
    entries += _further(chat)
    recent = chat.app.part(RecentCommands, RecentCommands)

    async def run(command_id: str | None) -> None:
        if command_id:
            recent.note(command_id)
            further = command_id.removeprefix(FURTHER)
            if further == command_id:
                await chat.command(command_id)
            else:
                # Put into the prompt, where words can follow it.
                chat.put_aside()
                chat.prompt.put(f"/{further} ")
                chat.prompt.focus()

    chat.ask(CommandPalette(recent.first(entries)), run)


def _further(chat: ChatPort) -> list[PaletteEntry]:
    """Return your own commands and those that others bring; none before a session is open."""
    return [
        PaletteEntry(f"{FURTHER}{one.name}", one.description or one.name, slash=f"/{one.name}")
        for one in further_completions(lambda: chat)
    ]


def keys(chat: ChatPort, _argument: str) -> None:
    """Show every key and command as they are mapped now, and where the files are."""
    keymap = chat.app.loaded.settings.keymap
    entries = [
        HelpEntry(
            command.group,
            " ".join(chat.lines.hints.keys(command.id)),
            command.title,
            f"/{command.slash} {command.argument}".rstrip() if command.slash else "",
            command.help,
        )
        for command in COMMANDS
    ]
    entries += [
        HelpEntry(
            GROUPS["prompt"],
            " ".join(key_names(keymap.get(binding.id or "") or binding.key)),
            binding.tooltip,
        )
        for binding in _keys_of_the_prompt()
    ]
    characters = chat.screen.query_one(Gauge).characters
    entries += [
        HelpEntry(IN_THE_GAUGE, characters[kind], meaning.sentence, colour=meaning.colour)
        for kind, meaning in MEANINGS.items()
    ]
    order = [*GROUPS.values(), IN_THE_GAUGE]
    entries.sort(key=lambda entry: order.index(entry.group))
    loaded = chat.app.loaded
    places = [
        ("settings", str(loaded.locations.user_config)),
        ("sessions", str(loaded.locations.sessions(loaded.settings))),
        ("log", str(loaded.locations.home / "logs" / "ollm.log")),
    ]
    chat.ask(HelpScreen(entries, places))


def _keys_of_the_prompt() -> Iterator[Binding]:
    """Yield the keys of the prompt, and of what it is made from in this program."""
    for kind in Prompt.__mro__:
        for binding in vars(kind).get("BINDINGS", ()):
            # The text area's own keys have no ids: arrows, Home and the like.
            if isinstance(binding, Binding) and (binding.id or "").startswith("prompt."):
                yield binding


async def log(chat: ChatPort, _argument: str) -> None:
    """Show what the program logged, the newest first."""
    home = chat.app.loaded.locations.home
    events = await asyncio.to_thread(recent_events, home)
    choices = [
        Choice(
            str(number),
            event.get("message", ""),
            f"{event.get('level', '')}  {local_time(event.get('time', ''))}",
            words=" ".join(event.values()),
        )
        for number, event in enumerate(events)
    ]

    def describe(choice: Choice | None) -> None:
        event = events[int(choice.key)] if choice else {}
        viewer.say("   ".join(f"{name}: {value}" for name, value in event.items()))

    empty = LOG_EMPTY
    viewer = LogViewer("Log", choices, empty=empty, keys=LOG_KEYS, watcher=describe)
    chat.ask(viewer)


def redraw(chat: ChatPort, _argument: str) -> None:
    """Draw everything again, for a terminal that something else wrote into."""
    chat.app.refresh(layout=True, repaint=True)


ACTIONS: Mapping[str, Action] = {
    "screen.palette": palette,
    "screen.keys": keys,
    "screen.log": log,
    "screen.redraw": redraw,
}
