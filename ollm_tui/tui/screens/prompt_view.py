"""The exact prompt, to be read: everything the model would be sent now, as data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Static

from ollm_tui.core.intake import visible
from ollm_tui.tui.new_file import write_new
from ollm_tui.tui.screens.reading import ReadingScreen
from ollm_tui.tui.transcript.entry import Entry
from ollm_tui.tui.transcript.transcript import Transcript

if TYPE_CHECKING:
    from ollm_tui.engine.conversation import Conversation
    from ollm_tui.tui.app import OllmApp

KEYS = "j k PgUp PgDn g G read   Esc close"
EMPTY = "Nothing would be sent: there is no system prompt, and nothing was said yet."


async def export_prompt(conversation: Conversation, name: str) -> str:
    """Write the prompt into a new file, as text or as JSON by its ending; gives the path."""
    is_json = name.lower().endswith(".json")
    text = conversation.prompt_json() if is_json else conversation.prompt_text()
    return str(await write_new(name, f"{text}\n"))


class PromptScreen(ReadingScreen):
    """Shows the prompt of a conversation; what is unseen in it is made visible."""

    PAGE = Transcript
    AUTO_FOCUS = ""
    CSS_PATH = "context.tcss"
    BINDINGS = [
        Binding("escape,q,v", "close", "Close", id="promptview.close", tooltip="Close the prompt"),
        Binding("j,down", "scroll(1)", "Down", id="promptview.down", tooltip="A line down"),
        Binding("k,up", "scroll(-1)", "Up", id="promptview.up", tooltip="A line up"),
        Binding(
            "pagedown,space", "page(1)", "Page down", id="promptview.page_down", tooltip="A page on"
        ),
        Binding("pageup", "page(-1)", "Page up", id="promptview.page_up", tooltip="A page back"),
        Binding("g,home", "edge(0)", "Top", id="promptview.top", tooltip="To the top"),
        Binding("G,end", "edge(1)", "End", id="promptview.end", tooltip="To the end"),
    ]

    app: OllmApp

    def __init__(self, conversation: Conversation) -> None:
        super().__init__()
        self._conversation = conversation

    def compose(self) -> ComposeResult:
        """A title, the text, the keys."""
        view = self._conversation.context()
        title = Content.styled("The prompt as it would be sent now", "bold $primary")
        tokens = f"   {view.count.total} tokens"
        yield Static(Content.assemble(title, (tokens, "$text-muted")), id="heading")
        yield Transcript(self.app.transcript_styles)
        yield Static(Content(KEYS), id="keys")

    def on_mount(self) -> None:
        """Read from the top."""
        text = visible(self._conversation.prompt_text())
        self._page.can_focus = False
        self._page.show([Entry("prompt", "user", text or EMPTY)])
        self.call_after_refresh(self.action_edge, 0)

    @property
    def _page(self) -> Transcript:
        return self.query_one(Transcript)
