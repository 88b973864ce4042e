"""What the screen takes from extensions once they are loaded: their themes, and why one is off."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from ollm_tui.core.errors import OllmError
from ollm_tui.tui.stream.transcript.entry import Entry
from ollm_tui.tui.themes import made_theme, theme_names

if TYPE_CHECKING:
    from ollm_tui.services.extensions.extension_host import ExtensionHost
    from ollm_tui.tui.chat.port import ChatPort


class Arrival:
    """Listens to the extensions as long as the program runs."""

    def __init__(self, chat: ChatPort, host: ExtensionHost) -> None:
        self._chat = chat
        self._host = host
        host.told.subscribe(self._note)
        chat.screen.run_worker(self._take_themes(), group="extensions")

    def _note(self, words: str) -> None:
        """Show in the stream that an extension was switched off."""
        key = f"extension-{time.monotonic_ns()}"
        self._chat.front().transcript.add(Entry(key, "note", words))

    async def _take_themes(self) -> None:
        """Offer the themes of extensions, and use the one that the settings name."""
        await self._host.until_started()
        app, own = self._chat.app, theme_names()
        for extension, theme in list(self._host.themes()):
            if theme.name in own:
                self._host.switch_off(extension, f"a theme {theme.name!r} already exists")
                continue
            try:
                values = {**theme.colours, "dark": "true" if theme.is_dark else "false"}
                app.further_themes[theme.name] = made_theme(theme.name, values)
            except (OllmError, TypeError, AttributeError) as error:  # made of anything
                words = error.message if isinstance(error, OllmError) else str(error)
                self._host.switch_off(extension, words)
        if app.missing_theme in app.further_themes:
            app.use_theme(app.missing_theme)
            self._chat.front().transcript.restyle(app.transcript_styles)
        elif app.missing_theme:
            self._note(app.theme_problem)


def welcome(chat: ChatPort, host: ExtensionHost) -> None:
    """Listen to the extensions, once."""
    chat.app.part(Arrival, lambda: Arrival(chat, host))
