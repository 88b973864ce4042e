"""The commands of the settings: the screen of them, and the theme."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping

from ollm_tui.settings.loaded import Loaded
from ollm_tui.settings.loader import load_settings
from ollm_tui.settings.user_file import set_user_value
from ollm_tui.tui.chat.port import Action, ChatPort
from ollm_tui.tui.settings.screen import OFFERED, SettingsScreen
from ollm_tui.tui.settings.theme_picker import ThemePicker


def settings(chat: ChatPort, _argument: str) -> None:
    """Open the settings; what is changed there applies at once where it can."""

    def load() -> Loaded:
        return read_again(chat)

    def apply(key: str) -> None:
        if key in OFFERED:
            _offer_window(chat)
            return
        ui = chat.app.loaded.settings.ui
        chat.app.use_theme(ui.theme)
        chat.transcript.restyle(chat.app.transcript_styles)
        chat.prompt.use_vim(ui.editing == "vim")

    chat.ask(SettingsScreen(load, apply, os.environ, chat.app.further_themes))


def _offer_window(chat: ChatPort) -> None:
    """Offer the window of the settings for the open session, with its effect, where it can be
    changed."""
    if chat.opened and chat.opened.choice.resizable:
        size = str(chat.app.loaded.settings.context.window)
        chat.screen.run_worker(chat.command("context.window", size))


def read_again(chat: ChatPort) -> Loaded:
    """Read the settings again after one of them was written."""
    project = chat.app.workspace.project
    chat.app.loaded = load_settings(os.environ, project.root, {}, project.trusts_settings)
    return chat.app.loaded


async def theme(chat: ChatPort, argument: str) -> None:
    """Choose a theme by looking at it, or by its name; it is kept for the next start."""
    if argument:
        chat.app.use_theme(argument)
        await _keep_theme(chat, argument)
        return

    async def keep(name: str | None) -> None:
        if name:
            await chat.attempt(lambda: _keep_theme(chat, name))

    current = chat.app.loaded.settings.ui.theme
    chat.ask(ThemePicker(current, os.environ, chat.app.further_themes), keep)


async def _keep_theme(chat: ChatPort, name: str) -> None:
    file = chat.app.loaded.locations.user_config
    await asyncio.to_thread(set_user_value, file, ("ui", "theme"), name)
    read_again(chat)
    chat.tell(f"Theme: {name}")


ACTIONS: Mapping[str, Action] = {
    "screen.settings": settings,
    "screen.theme": theme,
}
