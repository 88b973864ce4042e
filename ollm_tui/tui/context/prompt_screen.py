"""A screen for a text that is only read: the exact prompt, or what the user is asked to trust."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Static

from ollm_tui.core.intake import visible
from ollm_tui.services.export.export_file import write_new
from ollm_tui.tui.context.words import EMPTY_PROMPT, NEXT_PROMPT, PROMPT_KEYS
from ollm_tui.tui.kit.reading_screen import ReadingScreen
from ollm_tui.tui.stream.transcript.entry import Entry
from ollm_tui.tui.stream.transcript.transcript import Transcript

if TYPE_CHECKING:
    from ollm_tui.engine.conversation.conversation import Conversation
    from ollm_tui.tui.frame import Frame


async def export_prompt(conversation: Conversation, name: str) -> str:
    """Write the prompt into a new file, as text or as JSON by its ending; returns the path."""
    is_json = name.lower().endswith(".json")
    text = conversation.prompt_json() if is_json else conversation.prompt_text()
    return str(await write_new(name, f"{text}\n"))


def prompt_screen(conversation: Conversation) -> PromptScreen:
    """Return a screen with everything the model would be sent now."""
    tokens = f"{conversation.context().count.total} tokens"
    text = conversation.prompt_text() or EMPTY_PROMPT
    return PromptScreen(NEXT_PROMPT, tokens, text)


class PromptScreen(ReadingScreen):
    """Shows a text in which invisible characters are made visible."""

    PAGE = Transcript
    AUTO_FOCUS = ""
    CSS_PATH = "screen.tcss"
    BINDINGS = [
        Binding("escape,q,v", "close", "Close", id="promptview.close", tooltip="Close"),
        Binding("j,down", "scroll(1)", "Down", id="promptview.down", tooltip="Scroll down"),
        Binding("k,up", "scroll(-1)", "Up", id="promptview.up", tooltip="Scroll up"),
        Binding(
            "pagedown,space",
            "page(1)",
            "Page down",
            id="promptview.page_down",
            tooltip="Scroll a page down",
        ),
        Binding(
            "pageup", "page(-1)", "Page up", id="promptview.page_up", tooltip="Scroll a page up"
        ),
        Binding("g,home", "edge(0)", "Top", id="promptview.top", tooltip="Go to the top"),
        Binding("G,end", "edge(1)", "End", id="promptview.end", tooltip="Go to the bottom"),
    ]

    app: Frame

    def __init__(self, title: str, note: str, text: str) -> None:
        super().__init__()
        self._heading = (title, note)
        self._text = visible(text)

    def compose(self) -> ComposeResult:
        """Show a title, the text, and the keys."""
        title, note = self._heading
        heading = Content.assemble((title, "bold $primary"), (f"   {note}", "$text-muted"))
        yield Static(heading, id="heading", markup=False)
        yield Transcript(self.app.transcript_styles)
        yield Static(Content(PROMPT_KEYS), id="keys")

    def on_mount(self) -> None:
        """Show the text from the top."""
        self._page.can_focus = False
        self._page.show([Entry("prompt", "user", self._text)])
        self.call_after_refresh(self.action_edge, 0)

    @property
    def _page(self) -> Transcript:
        return self.query_one(Transcript)
