"""The picker of themes: the highlighted one is shown at once; Esc brings the former one back."""

from __future__ import annotations

from collections.abc import Mapping

from textual.theme import Theme

from ollm_tui.core.errors import OllmError
from ollm_tui.tui.kit.choice_list import Choice
from ollm_tui.tui.kit.picker import Picker
from ollm_tui.tui.settings.words import THEME_KEYS
from ollm_tui.tui.terminal.abilities import AUTOMATIC, choose_theme
from ollm_tui.tui.themes import load_theme, theme_names


class ThemePicker(Picker):
    """Dismisses with the name of a theme or "auto"; it is in use by then, the caller saves it."""

    def __init__(
        self, current: str, environ: Mapping[str, str], further: Mapping[str, Theme] | None = None
    ) -> None:
        """`current` is the setting, which may be "auto"; `further` are the themes of extensions."""
        self._environ = environ
        further = self._further = further or {}
        self._former = ""
        names = (*theme_names(), *further)
        choices = [Choice(AUTOMATIC, AUTOMATIC, "follows the terminal"), *map(self._choice, names)]
        super().__init__(
            "Theme",
            [one._replace(mark="✓" if one.key == current else "") for one in choices],
            highlight=current,
            keys=THEME_KEYS,
            watcher=self._preview,
        )

    def on_mount(self) -> None:
        """Remember what Esc brings back."""
        self._former = self.app.theme

    def action_close(self) -> None:
        """Bring the former theme back."""
        self.app.theme = self._former
        super().action_close()

    def _preview(self, choice: Choice | None) -> None:
        if choice is None:
            return
        try:
            theme = self._load(choose_theme(choice.key, self._environ))
        except OllmError as error:
            self.say(error.line)
            return
        self.say("")
        self._use(theme)

    def _use(self, theme: Theme) -> None:
        if self.app.theme != theme.name:
            self.app.register_theme(theme)
            self.app.theme = theme.name

    def _load(self, name: str) -> Theme:
        return self._further.get(name) or load_theme(name)

    def _choice(self, name: str) -> Choice:
        try:
            theme = self._load(name)
        except OllmError:
            return Choice(name, name, "unreadable")
        return Choice(name, name, "dark" if theme.dark else "light")
