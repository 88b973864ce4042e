"""The settings screen: every key with its value and meaning, changed in the user's file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.screen import Screen
from textual.theme import Theme
from textual.widgets import Input, Static

from ollm_tui.core.errors import OllmError
from ollm_tui.core.intake import visible
from ollm_tui.settings.loaded import Loaded
from ollm_tui.settings.user_file import Scalar, set_user_value, unset_user_value
from ollm_tui.tui.kit.choice_list import Choice, ChoiceList
from ollm_tui.tui.kit.line_input import LineInput
from ollm_tui.tui.kit.picker import Picker
from ollm_tui.tui.kit.question import Question
from ollm_tui.tui.settings.setting_entries import (
    SettingEntry,
    setting_entries,
    shown,
    shown_briefly,
)
from ollm_tui.tui.settings.theme_picker import ThemePicker
from ollm_tui.tui.settings.words import FIND_PLACEHOLDER

LIVE = frozenset(
    f"ui.{name}" for name in ("theme", "density", "timestamps", "textWidth", "textAlign", "editing")
)
"""Keys that apply at once; the caller sees to that."""
OFFERED = frozenset({"context.window"})
"""Keys that the caller offers to use for the open session too."""
KEYS = "Enter change   Del reset   / find   Esc close"
FIND_KEYS = "↑↓ move   Enter list   Esc show all"
CHANGED = "*"
"""The mark of keys that are not at their default."""


class SettingsScreen(Screen[None]):
    """Shows the settings that `load` returns, and writes changes into the user's file.

    `applied` is called with each key of LIVE and OFFERED that was changed, after `load` was called
    again.
    """

    AUTO_FOCUS = "ChoiceList"
    CSS_PATH = "screen.tcss"
    BINDINGS = [
        Binding(
            "escape", "back", "Close", id="settings.close", tooltip="Clear the filter, or close"
        ),
        Binding("slash", "find", "Find", id="settings.find", tooltip="Filter settings"),
        Binding("delete,d", "reset", "Default", id="settings.reset", tooltip="Reset to default"),
        Binding("up", "move(-1)", "Up", id="settings.up", tooltip="Previous line", show=False),
        Binding("down", "move(1)", "Down", id="settings.down", tooltip="Next line", show=False),
    ]

    app: App[Any]

    def __init__(
        self,
        load: Callable[[], Loaded],
        applied: Callable[[str], None],
        environ: Mapping[str, str],
        further_themes: Mapping[str, Theme] | None = None,
    ) -> None:
        super().__init__()
        self._further_themes = further_themes
        self._load = load
        self._applied = applied
        self._environ = environ
        self._loaded = load()
        self._entries: Mapping[str, SettingEntry] = {}
        self._explained = ""

    def compose(self) -> ComposeResult:
        """Lay out the title, the find line, the list, what a key means, and the hints."""
        title = Content.styled("Settings", "bold $primary")
        about = f"   {visible(str(self._file))}   {CHANGED} changed"
        yield Static(Content.assemble(title, (about, "$text-muted")), id="title")
        yield LineInput(placeholder=FIND_PLACEHOLDER)
        yield ChoiceList(unicode=not self.app.has_class("-ascii"))
        yield Static(id="meaning")
        yield Static(id="said")
        yield Static(Content(KEYS), id="keys")

    def on_mount(self) -> None:
        """Hide the find line until / is pressed, and show the list."""
        self._find_line.display = False
        self._show()

    # What the user does

    @on(ChoiceList.Highlighted)
    def explain(self, event: ChoiceList.Highlighted) -> None:
        """Show what the highlighted key is for."""
        entry = self._entries.get(event.choice.key) if event.choice else None
        if entry is None or entry.key != self._explained:
            self._say("")  # what was said is about the key that was highlighted before
        self._explained = entry.key if entry else ""
        meaning = Content("")
        if entry:
            lines = [Content.styled(f"{entry.key} = {shown(entry.value)}", "bold")]
            lines += [Content(entry.help), Content.styled(entry.origin(), "$text-muted")]
            meaning = Content("\n").join(lines)
        self.query_one("#meaning", Static).update(meaning)

    @on(Input.Changed)
    def narrow(self, event: Input.Changed) -> None:
        """Keep the keys that have every word."""
        self._list.filter(event.value)

    @on(Input.Submitted)
    def go_to_found(self) -> None:
        """Go from the find line to the list: only Enter there changes a value."""
        self._list.focus()
        self._show_keys(KEYS)

    @on(ChoiceList.Chosen)
    def change(self, event: ChoiceList.Chosen) -> None:
        """Change the value in the way that suits it."""
        entry = self._entries[event.choice.key]
        refusal = self._refusal(entry)
        if refusal:
            self._say(refusal)
        elif entry.is_switch:
            self._save(entry, not entry.value)
        else:
            self._ask(entry)

    def action_reset(self) -> None:
        """Take the key out of the user's file."""
        highlighted = self._list.highlighted
        if not highlighted:
            return
        entry = self._entries[highlighted.key]
        if entry.source is None:
            self._say(f"{entry.key} is already the default")
        elif refusal := self._refusal(entry):
            self._say(refusal)
        else:
            self._write(entry, lambda: unset_user_value(self._file, entry.path))

    def action_find(self) -> None:
        """Show the find line."""
        self._find_line.display = True
        self._find_line.focus()
        self._show_keys(FIND_KEYS)

    def action_back(self) -> None:
        """Show all again, or close."""
        if not self._find_line.display:
            self.dismiss(None)
            return
        self._find_line.value = ""
        self._find_line.display = False
        self._list.focus()
        self._show_keys(KEYS)

    def action_move(self, step: int) -> None:
        """Move the highlight while words are typed."""
        self._list.move(step)

    # Changing

    def _ask(self, entry: SettingEntry) -> None:
        value = shown(entry.value)

        def save(answer: str | None) -> None:
            if answer is not None and answer != value:
                self._save(entry, entry.value_of(answer))

        if entry.key == "ui.theme":
            self.app.push_screen(ThemePicker(value, self._environ, self._further_themes), save)
        elif entry.options:
            choices = [Choice(option, option) for option in entry.options]
            self.app.push_screen(Picker(entry.key, choices, highlight=value), save)
        else:
            question = f"{entry.key}\n{entry.help}"
            self.app.push_screen(Question(question, value, "save", entry.problem), save)

    def _save(self, entry: SettingEntry, value: Scalar) -> None:
        self._write(entry, lambda: set_user_value(self._file, entry.path, value))

    def _write(self, entry: SettingEntry, write: Callable[[], None]) -> None:
        try:
            write()
        except OllmError as error:
            self._say(error.line)
            return
        self._loaded = self._load()
        self._show()
        if entry.key in LIVE | OFFERED:
            self._applied(entry.key)
        when = "" if entry.key in LIVE else " · applies at the next start"
        self._say(f"Saved{when}")

    def _refusal(self, entry: SettingEntry) -> str:
        """Return why a key cannot be changed here; empty if it can."""
        if not entry.is_ours and entry.source:
            return f"Set by {visible(entry.source.place)}; change it there"
        if entry.only_in_file:
            return f"Lists and tables: edit {visible(str(self._file))}"
        return ""

    # Showing

    @property
    def _list(self) -> ChoiceList:
        return self.query_one(ChoiceList)

    @property
    def _find_line(self) -> LineInput:
        return self.query_one(LineInput)

    @property
    def _file(self) -> Path:
        return self._loaded.locations.user_config

    def _show(self) -> None:
        entries = setting_entries(self._loaded)
        self._entries = {entry.key: entry for entry in entries}
        self._list.show(list(_choices(entries)))

    def _show_keys(self, keys: str) -> None:
        self.query_one("#keys", Static).update(Content(keys))

    def _say(self, text: str) -> None:
        self.query_one("#said", Static).update(Content(text))


def _choices(entries: Sequence[SettingEntry]) -> Iterator[Choice]:
    group = ""
    for entry in entries:
        if entry.group != group:
            group = entry.group
            yield Choice(f"group {group}", group, heading=True)
        mark = CHANGED if entry.is_changed else " "
        words = f"{entry.key} {entry.help}"
        yield Choice(entry.key, entry.path[-1], shown_briefly(entry), mark, words=words)
