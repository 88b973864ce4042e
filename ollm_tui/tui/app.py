"""The application: themes, the way in and the way out. Screens do the rest."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from textual.app import App
from textual.binding import Binding

from ollm_tui.engine.conversation import Conversation
from ollm_tui.tui.looks import transcript_styles
from ollm_tui.tui.screens.chat import ChatScreen
from ollm_tui.tui.themes import DEFAULT_THEME, load_theme
from ollm_tui.tui.transcript.layout import TranscriptStyles

OpenConversation = Callable[[], Awaitable[tuple[Conversation, tuple[str, ...]]]]
"""Begins or resumes what the user asked for; also says what of it could not be read."""


class OllmApp(App[int]):
    """The full screen."""

    TITLE = "ollm"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS = [
        Binding("ctrl+q", "quit", "Quit", id="app.quit", tooltip="Leave", priority=True),
        Binding("ctrl+l", "refresh_screen", "Redraw", id="app.redraw", tooltip="Draw all again"),
    ]

    def __init__(self, open_conversation: OpenConversation, theme: str = DEFAULT_THEME) -> None:
        super().__init__()
        self.open_conversation = open_conversation
        chosen = load_theme(DEFAULT_THEME if theme == "auto" else theme)
        self.register_theme(chosen)
        self.theme = chosen.name

    @property
    def transcript_styles(self) -> TranscriptStyles:
        """How the stream looks in the current theme."""
        return transcript_styles(self.current_theme)

    def on_mount(self) -> None:
        """One screen, for now and for most of the time."""
        self.push_screen(ChatScreen())

    def action_refresh_screen(self) -> None:
        """Draw everything again, for a terminal that something else wrote into."""
        self.refresh(layout=True, repaint=True)
