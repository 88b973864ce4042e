"""Writes the lists of keys, settings and events, and the manual page: `make docs`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import cast, get_args

import msgspec
from textual.binding import Binding

from ollm_tui import tui
from ollm_tui.cli.man_command import man_page
from ollm_tui.engine.project.outside_events import ALL_EVENTS, DELTAS
from ollm_tui.settings.keys import default, expectation, is_table, names_below, shape
from ollm_tui.settings.loaded import KeyPath
from ollm_tui.settings.loader import load_settings
from ollm_tui.settings.project_rules import may_set
from ollm_tui.settings.resources import default_config
from ollm_tui.settings.schema import HookEvent
from ollm_tui.tui.commands import BY_ID, COMMANDS, GROUPS, Command
from ollm_tui.tui.keymap import check_keymap, key_names
from ollm_tui.tui.settings.setting_entries import (
    GENERAL,
    SettingEntry,
    setting_entries,
    shown,
)

DOCS = Path(__file__).parent

KEYS_INTRODUCTION = """\
# Keys and commands

<!-- Written by `make docs` from the tables of the program. Do not edit. -->

Enter sends a message. Ctrl+J, Shift+Enter, Alt+Enter, or a `\\` before Enter start a new line.
Up on the first line and Down on the last line walk through earlier prompts.

Keys marked *stream* work while the conversation has the focus; there letters are keys. Alt+↑ moves
the focus to the conversation, Esc back to the prompt. All other commands work everywhere.

To change a key, put the id of the command and the new keys into `~/.ollm/config.yaml`. Several keys
are separated by commas. A letter alone cannot be a key of a command that works everywhere.

```yaml
keymap:
  screen.palette: ctrl+k
  read.find: f11,ctrl+f
```

F1 shows the keys as they are mapped now, Ctrl+P finds a command by its name.

## Commands
"""

PLACES: Mapping[str, str] = {
    "prompt": "Prompt",
    "find": "Find in the conversation (Ctrl+F)",
    "approval": "Approval of a tool call (Alt+A goes there)",
    "loop": "Paused turn (Alt+A goes there)",
    "trust": "Question above the prompt (Alt+A goes there)",
    "files": "Files to bring back after a restore",
    "tabs": "In the chat: open conversations",
    "sessions": "Session browser (F3) and sidebar (F2)",
    "diff": "Diff of two points",
    "hits": "Search (F4)",
    "activity": "Calendar (`/activity`)",
    "breakdown": "Context (F5)",
    "promptview": "Prompt as it is sent (`/context show`)",
    "compression": "Compression panel",
    "preview": "Compression preview (`/compact --preview`)",
    "checkpoints": "Checkpoints (`/checkpoints`)",
    "joblist": "Jobs (F8)",
    "joboutput": "Output of a job",
    "compare": "Answers side by side",
    "answer_diff": "Difference of two answers",
    "beside": "A session beside this one",
    "toolpage": "Output of a tool",
    "models": "Model picker (F7)",
    "store": "Models on this machine (`/models`, or F7 twice)",
    "servers": "MCP servers (`/mcp`)",
    "settings": "Settings (F10)",
    "help": "Help (F1)",
    "picker": "Lists that are filtered by typing",
    "choices": "Lists",
    "question": "Questions with a line to fill in",
    "confirmation": "Yes or no",
    "chat": "Conversation, while a command runs",
}
"""The first word of the id of a key that belongs to one place, and what that place is called."""

PLACES_INTRODUCTION = """\
## Keys of single places

These work only while the place has the focus. Keys without an id cannot be changed.
"""

SETTINGS_INTRODUCTION = """\
# Settings

<!-- Written by `make docs` from the schema and config/default.yaml. Do not edit. -->

Settings come from these sources; a later one wins:

1. the defaults below,
2. `~/.ollm/config.yaml` (or `config.yaml` in `$OLLM_HOME`),
3. `.ollm/config.yaml` of the project, once you trust it and as far as a project may set it,
4. environment variables: `OLLM_COMPRESSION_THRESHOLD=0.7` sets `compression.threshold`, and
   `OLLM_UI_THEME=nord` sets `ui.theme`; items of a list are separated by commas,
5. arguments of the command line, such as `--model`.

[config/default.yaml](../config/default.yaml) is a complete file to copy from. F10 shows and changes
settings in the program. `ollm config show` prints the values in force and where each comes from,
`ollm config path` the files, and `ollm config check` what is wrong with them. A wrong value never
stops the program: a warning names the file, the line and the key, and the default is used.

The settings of a project count only after you agreed: `ollm` lists what they would change and asks,
and asks again when that changes. Until then they are ignored, also by `ollm -p`, which never asks.
The column *Project* says which keys a trusted project may set. It can never set addresses, keys,
commands, permissions, your keymap, what is kept and where, or what pauses a model.
"""


EVENTS_INTRODUCTION = """\
# Events

<!-- Written by `make docs` from the events of the program. Do not edit. -->

Everything that happens reaches extensions (`on_event`), `ollm --events FILE` and `ollm -p --output
stream-json`, as one JSON object each: `event` is its name, `at` the time, `sessionId` the session,
and the fields below. In `stream-json` the events of the turn itself have no `at` and `sessionId`.
Messages have the form they have in the session file. Hooks run at the events that are marked; what
they print at these is not used. Pieces of what arrives, many a second, are in `stream-json` only.
A turn is `turn-started`, any number of others, then one of `turn-finished`, `turn-cancelled` and
`turn-failed`. New events and fields may come with a later version: ignore what you do not know.
"""


def keys_page() -> str:
    """Lists every command and every key, under the headings of the help screen."""
    lines = [KEYS_INTRODUCTION]
    for group in GROUPS.values():
        lines += [f"### {group}", "", "| Keys | Command | What it does | Id |", "|---|---|---|---|"]
        lines += [_command_row(command) for command in COMMANDS if command.group == group]
        lines.append("")
    lines.append(PLACES_INTRODUCTION)
    found = _bindings()
    for place in sorted(found, key=[*PLACES].index):
        lines += [f"### {PLACES[place]}", "", "| Keys | Action | What it does | Id |"]
        lines += ["|---|---|---|---|", *map(_binding_row, found[place]), ""]
    return "\n".join(lines).rstrip() + "\n"


def settings_page() -> str:
    """Lists every setting with its default, the values it takes and what it is for."""
    nothing_set = load_settings({"OLLM_HOME": "/nowhere"}, Path("/"), {})
    entries = setting_entries(nothing_set)
    text = default_config().read_text(encoding="utf-8")
    lines = [SETTINGS_INTRODUCTION]
    groups = sorted({_heading(entry) for entry in entries}, key=(GENERAL, *names_below(())).index)
    for group in groups:
        lines += [f"## {group.capitalize() if group == GENERAL else group}", ""]
        if about := re.search(rf"^# (.+)\n{group}:", text, re.MULTILINE):
            lines += [about[1], ""]
        members = [entry for entry in entries if _heading(entry) == group]
        rows = [_setting_row(entry) for entry in members if len(entry.path) > 1 or group == GENERAL]
        if rows:
            lines += ["| Setting | Default | Values | What it does | Project |"]
            lines += ["|---|---|---|---|---|", *rows, ""]
        else:
            may = "may set this, too" if _project(members[0].path) == "yes" else "cannot set this"
            lines += [f"A project {may}.", ""]
        for entry in members:
            if is_table(entry.path):
                lines += ["```yaml", *_example(text, entry.path), "```", ""]
    return "\n".join(lines).rstrip() + "\n"


def events_page() -> str:
    """Lists every event with what it says and who hears it."""
    lines = [EVENTS_INTRODUCTION, "| Event | When | Fields | Heard by |", "|---|---|---|---|"]
    tags = {each.__name__: f"`{each.__struct_config__.tag}`" for each in ALL_EVENTS}
    names = re.compile(rf"\b({'|'.join(tags)})\b")
    for each in ALL_EVENTS:
        when = names.sub(lambda found: tags[found[0]], " ".join((each.__doc__ or "").split()))
        fields = ", ".join(f"`{field}`" for field in each.__struct_encode_fields__)
        lines.append(f"| {tags[each.__name__]} | {when} | {fields} | {_listeners(each)} |")
    return "\n".join(lines).rstrip() + "\n"


def _listeners(event: type[msgspec.Struct]) -> str:
    if event in DELTAS:
        return "stream-json only"
    hooks = event.__struct_config__.tag in get_args(HookEvent)
    return "all, hooks too" if hooks else "all"


PAGES: Mapping[str, Callable[[], str]] = {
    "keys.md": keys_page,
    "settings.md": settings_page,
    "events.md": events_page,
    "ollm.1": man_page,
}
"""What each generated file of this directory holds."""


def _command_row(command: Command) -> str:
    slash = f"/{command.slash} {command.argument}".rstrip() if command.slash else ""
    stream = "" if command.where == "anywhere" else " *stream*"
    what = f"{command.title}. {command.help}".rstrip()
    return (
        f"| {_keys(command.keys)}{stream} | {_cell(_code(slash))} | {_cell(what)} | {command.id} |"
    )


def _bindings() -> dict[str, list[Binding]]:
    """Collects the keys that belong to one place, by the first word of their ids."""
    found: dict[str, dict[str, Binding]] = {}
    for binding in _all_bindings():
        if binding.id and binding.id not in BY_ID:
            found.setdefault(binding.id.partition(".")[0], {}).setdefault(binding.id, binding)
    return {place: list(each.values()) for place, each in found.items()}


def _all_bindings() -> Iterator[Binding]:
    for module in walk_packages(tui.__path__, f"{tui.__name__}."):
        for value in vars(import_module(module.name)).values():
            if isinstance(value, type) and value.__module__ == module.name:
                given = cast(list[object], vars(value).get("BINDINGS", []))
                yield from (each for each in given if isinstance(each, Binding))


def _binding_row(binding: Binding) -> str:
    assert binding.id
    can_be_changed, _ = check_keymap({binding.id: "f11"})
    name = binding.id if can_be_changed else ""
    cells = (_keys(binding.key), binding.description, binding.tooltip, name)
    return f"| {' | '.join(map(_cell, cells))} |"


def _setting_row(entry: SettingEntry) -> str:
    value = "none" if is_table(entry.path) else shown(default(entry.path))
    takes = "names and values" if is_table(entry.path) else _values(entry.path)
    cells = (_code(entry.path[-1]), _code(value), takes, entry.help, _project(entry.path))
    return f"| {' | '.join(map(_cell, cells))} |"


def _values(path: KeyPath) -> str:
    """Describes the values a setting takes, with long numbers made readable."""
    return re.sub(r"\d{5,}", lambda number: f"{int(number[0]):,}", expectation(shape(path)))


def _heading(entry: SettingEntry) -> str:
    return entry.path[0] if is_table(entry.path) else entry.group


def _project(path: KeyPath) -> str:
    return "yes" if may_set((*path, "any") if is_table(path) else path) else "no"


def _example(text: str, path: KeyPath) -> list[str]:
    """Cuts the example of a table out of config/default.yaml and takes its comment signs away."""
    above, indent = path[:-1], "  " * (len(path) - 1)
    block = re.search(rf"^{indent}{path[-1]}:\n((?:{indent}  #.*\n)+)", text, re.MULTILINE)
    assert block, f"config/default.yaml has no example of {path}"
    lines = [re.sub(r"^( *)#(?! \S)", r"\1", line) for line in block[1].splitlines()]
    return [*(f"{name}:" for name in above), f"{indent}{path[-1]}:", *lines]


def _keys(keys: str) -> str:
    return " ".join(f"`{key}`" for key in key_names(keys))


def _code(text: str) -> str:
    return f"`{text}`" if text else ""


def _cell(text: str) -> str:
    return text.replace("|", r"\|")


if __name__ == "__main__":
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")
