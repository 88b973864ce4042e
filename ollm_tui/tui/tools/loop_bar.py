"""The question what to do where the model repeats itself: what it did, and the answers to that."""

from __future__ import annotations

from collections.abc import Mapping

from textual.app import ComposeResult
from textual.content import Content
from textual.widgets import Static

from ollm_tui.core.intake import visible
from ollm_tui.core.loop import LoopFound
from ollm_tui.tui.kit.question_block import AS_USUAL, QuestionBlock, answer_key, leave_words


class LoopBar(QuestionBlock):
    """Asks above the gauge; the prompt keeps the focus until the user moves here."""

    NAME = "loop"
    DEFAULT_CSS = """
    LoopBar { border-left: heavy $warning; & #loop-found { height: auto; max-height: 4; } }
    """
    BINDINGS = [
        answer_key("loop", "s", "stop", "Stop", "Stop the turn"),
        answer_key("loop", "o", "once", "Once more", "Continue once; ask again next time"),
        answer_key("loop", "a", "allow", "Allow this", "Allow for this session"),
        answer_key("loop", "t", "tell", "Tell the model", "Send the model a note and continue"),
        answer_key("loop", "b", "back", "Rewind", "Restore the snapshot before it"),
        leave_words("loop"),
    ]

    def __init__(self, reach: str, keymap: Mapping[str, str] = AS_USUAL) -> None:
        super().__init__(reach, keymap)
        self.found: LoopFound | None = None
        self.snapshot: str | None = None

    def compose(self) -> ComposeResult:
        """Lay out what was found, then the keys."""
        yield Static("", id="loop-found", markup=False)
        yield from super().compose()

    def ask(self, found: LoopFound, snapshot: str | None) -> None:
        """Show a loop; `snapshot` is the one taken before it, if any."""
        self.found, self.snapshot = found, snapshot
        text = Content.assemble(
            ("↻ paused  ", "bold $text-warning"), (f"The model {visible(found.evidence)}.", "")
        )
        self.query_one("#loop-found", Static).update(text)
        self.display = True
        self.show_keys()

    def answers(self) -> tuple[str, ...]:
        """Return hints. Back leads to the snapshot, or to the question if nothing was changed."""
        tool = visible(self.found.tool or "this") if self.found else "this"
        back = "rewind to ◆ before it" if self.snapshot else "rewind to your question"
        return (
            f"{self.key('stop')} stop",
            f"{self.key('once')} once more",
            f"{self.key('allow')} allow {tool}",
            f"{self.key('tell')} tell the model",
            f"{self.key('back')} {back}",
        )
