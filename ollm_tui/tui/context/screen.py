"""The context screen: what fills the context, and changes to it, whose effect is shown first."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from ollm_tui.core.errors import OllmError, UsageError
from ollm_tui.core.intake import visible
from ollm_tui.core.session.context_marks import ContextChange, MarksRestored
from ollm_tui.tui.context.context_lines import (
    MESSAGE_ACTIONS,
    RECALLED,
    facts_text,
    item_choices,
)
from ollm_tui.tui.context.prompt_screen import export_prompt, prompt_screen
from ollm_tui.tui.context.words import (
    ALWAYS_SENT,
    BREAKDOWN_KEYS,
    NOT_IN_CHAT,
    NOTHING_ABOVE_THIS_MESSAGE,
    NOTHING_SAID,
    NOTHING_TO_CHANGE_HERE,
    SELECT_TO_COMPRESS,
    SORTED_BY_POSITION,
    SORTED_BY_SIZE,
    WAIT_UNTIL_IT_IS_DONE,
    about_item,
    effect,
)
from ollm_tui.tui.gauge.gauge import Gauge
from ollm_tui.tui.gauge.gauge_line import COMPACT, legend
from ollm_tui.tui.kit.choice_list import ChoiceList
from ollm_tui.tui.kit.live_keys import LiveKeys
from ollm_tui.tui.kit.question import Question
from ollm_tui.tui.kit.words import STILL_ANSWERING

if TYPE_CHECKING:
    from ollm_tui.engine.context.context_view import ContextView
    from ollm_tui.engine.conversation.conversation import Conversation
    from ollm_tui.tui.frame import Frame


BINDINGS = (
    Binding("escape", "back", "Close", id="breakdown.close", tooltip="Cancel, or close"),
    Binding("f5", "close", "Close", id="breakdown.leave", tooltip="Back to the chat"),
    Binding(
        "p",
        "change('pin')",
        "Pin",
        id="breakdown.pin",
        tooltip="Pin or unpin",
    ),
    Binding(
        "x",
        "change('leave_out')",
        "Exclude",
        id="breakdown.leave_out",
        tooltip="Exclude or include",
    ),
    Binding(
        "d",
        "change('drop')",
        "Exclude exchange",
        id="breakdown.drop",
        tooltip="Exclude the whole exchange",
    ),
    Binding(
        "f",
        "change('fold')",
        "Fold",
        id="breakdown.fold",
        tooltip="Fold or unfold",
    ),
    Binding(
        "a",
        "compact_above",
        "Compress above",
        id="breakdown.compact_above",
        tooltip="Preview compressing everything above",
    ),
    Binding("u", "undo", "Undo", id="breakdown.undo", tooltip="Undo the last change"),
    Binding(
        "o",
        "order",
        "Sort",
        id="breakdown.order",
        tooltip="Sort by size or by time",
    ),
    Binding(
        "i",
        "facts",
        "Facts",
        id="breakdown.facts",
        tooltip="Show facts full screen, or the list",
    ),
    Binding("v", "prompt", "Prompt", id="breakdown.prompt", tooltip="Show the exact prompt"),
    Binding("e", "export", "Export", id="breakdown.export", tooltip="Export the prompt"),
)


TALL = 30
"""Rows of the terminal from which on there is more room for the facts below the list."""
# The same as `max-height` of `#facts` in screen.tcss.
MOST_FACTS = (4, 12)
"""Rows of facts that stand there in a low terminal and in a high one; more have a page."""


class _Armed(NamedTuple):
    """A change whose effect is shown; the same key again carries it out."""

    action: str
    change: ContextChange
    words: str
    preview: ContextView


class GoTo(NamedTuple):
    """The user wants to see a message in the stream."""

    key: str


class CompactAbove(NamedTuple):
    """The user wants what was said above a message to be compressed, after a preview."""

    key: str


class ContextScreen(Screen[GoTo | CompactAbove | None]):
    """Dismisses with what the user wants to do next, or None.

    A key that changes something shows the effect first, in the gauge and in words; pressed
    again it is done. While `is_busy`, because the model is answering, nothing can be changed.
    """

    AUTO_FOCUS = "ChoiceList"
    CSS_PATH = "screen.tcss"
    VERTICAL_BREAKPOINTS = [(0, "-short"), (TALL, "-tall")]
    BINDINGS = [*BINDINGS]

    app: Frame

    def __init__(
        self, conversation: Conversation, *, is_busy: Callable[[], bool] = lambda: False
    ) -> None:
        super().__init__()
        self._conversation = conversation
        self._is_busy = is_busy
        self._view = conversation.context()
        self._armed: _Armed | None = None
        self._undo: list[MarksRestored] = []
        self._in_order = False
        self._said = ("", "")
        """The text that is shown, and the key of the line it is about."""

    def compose(self) -> ComposeResult:
        """Lay out the gauge, its legend, the items, the effect of a change, the facts, the keys."""
        unicode = not self.app.has_class("-ascii")
        yield Static(Content("Context"), id="heading")
        yield Gauge(unicode=unicode)
        yield Static(id="legend")
        yield ChoiceList(unicode=unicode)
        yield Static(id="about")
        yield Static(id="said")
        with VerticalScroll(id="facts", can_focus=False):
            yield Static()
        yield LiveKeys()

    def on_mount(self) -> None:
        """Show estimates at once, better numbers when they are known."""
        self._show()
        self.settle()

    def on_resize(self) -> None:
        """Break the lines for the new width."""
        self._show_facts()
        self._show_legend()

    @work(exclusive=True)
    async def settle(self) -> None:
        """Count exactly, where that can be done, and show the numbers."""
        try:
            await self._conversation.settle_context()
        except OllmError as error:
            self._complain(error)
        await self._count()

    # What the user does

    async def action_change(self, action: str) -> None:
        """Show what a change would do; at the second press, carry it out."""
        await self._count()  # an answer may have come meanwhile
        try:
            planned = await self._planned(action)
            if self._armed and planned[:2] == self._armed[:2]:
                await self._carry_out(planned)
            else:
                self._armed = planned
                self._say(planned.words)
        except OllmError as error:
            self._armed = None
            self._complain(error)

    def action_compact_above(self) -> None:
        """Dismiss with the message above which is to be compressed; a preview follows."""
        state, self._armed = self._conversation.state, None
        try:
            if self._key not in state:
                raise UsageError(SELECT_TO_COMPRESS, "")
            if state.parent(self._key) is None:
                raise UsageError(NOTHING_ABOVE_THIS_MESSAGE, "")
            self._check_free()
        except OllmError as error:
            self._complain(error)
        else:
            self.dismiss(CompactAbove(self._key))

    async def action_undo(self) -> None:
        """Undo the last change that is not undone yet."""
        before, self._armed = self._view, None
        try:
            self._check_free()
            await self._conversation.change_context(self._undo[-1])
        except OllmError as error:
            self._complain(error)
            return
        self._undo.pop()
        await self._count()
        self._say(effect("undone", before, self._view))

    def action_order(self) -> None:
        """Sort by size, or as it was said."""
        self._in_order = not self._in_order
        self._show()
        self._say(SORTED_BY_POSITION if self._in_order else SORTED_BY_SIZE)

    def action_facts(self) -> None:
        """Show the facts in the place of the list, or the list again."""
        self.toggle_class("-facts")
        facts = self.query_one("#facts", VerticalScroll)
        facts.can_focus = self.has_class("-facts")
        (facts if facts.can_focus else self.query_one(ChoiceList)).focus()
        self._armed = None
        self._say("")

    def action_prompt(self) -> None:
        """Show the prompt as it would be sent."""
        self.app.push_screen(prompt_screen(self._conversation))

    def action_export(self) -> None:
        """Ask where to, and write the prompt there."""
        name = f"{self._conversation.session_id[:8]}-prompt.txt"
        question = "Export the prompt to\n.json for the whole request, any other extension for text"

        async def write(answer: str | None) -> None:
            if answer:
                await self._write(answer)

        self.app.push_screen(Question(question, name, "write"), write)

    def action_back(self) -> None:
        """Drop the change that is shown; else leave the facts; else close."""
        if self._armed:
            self._armed = None
            self._say("")
        elif self.has_class("-facts"):
            self.action_facts()
        else:
            self.action_close()

    def action_close(self) -> None:
        """Close, and want nothing."""
        self.dismiss(None)

    @on(ChoiceList.Chosen)
    def go_to_message(self) -> None:
        """Dismiss with the message to go to."""
        if self._key in self._conversation.state:
            self.dismiss(GoTo(self._key))
        else:
            self._say(NOT_IN_CHAT)

    @on(ChoiceList.Highlighted)
    def look_at(self) -> None:
        """Drop the change that is shown for another line, and show what is known of this one."""
        if self._key != self._said[1]:
            self._armed = None
            self._say("")
        self._show_about()
        self._show_effect()

    def on_descendant_focus(self) -> None:
        """Show the keys of the part that has the focus now."""
        self._show_effect()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Allow undoing after a change, and changing where the list is seen."""
        if action == "undo":
            return bool(self._undo)
        if action == "facts" and not self.has_class("-facts"):  # else all are below the list
            return len(str(self._facts).splitlines()) > MOST_FACTS[self.size.height >= TALL]
        return action not in ("change", "compact_above", "order") or not self.has_class("-facts")

    # Changing

    @property
    def _key(self) -> str:
        """The key of the highlighted item; what a message brought along counts as the message."""
        highlighted = self.query_one(ChoiceList).highlighted
        return highlighted.key.removesuffix(RECALLED) if highlighted else ""

    async def _planned(self, action: str) -> _Armed:
        """Return the change of an action on the highlighted message. UsageError if it has none."""
        if self._key not in self._conversation.state:
            raise UsageError(ALWAYS_SENT, "")
        self._check_free()
        marks = self._view.prompt.assembly.marks
        change, word = MESSAGE_ACTIONS[action].change((self._key,), marks)
        preview = await self._conversation.preview(change)
        if preview.prompt.assembly.marks == marks:
            raise UsageError(NOTHING_TO_CHANGE_HERE, "")
        return _Armed(action, change, effect(word, self._view, preview), preview)

    def _check_free(self) -> None:
        if self._is_busy():
            raise UsageError(STILL_ANSWERING, WAIT_UNTIL_IT_IS_DONE)

    async def _carry_out(self, planned: _Armed) -> None:
        self._undo.append(await self._conversation.change_context(planned.change))
        self._armed = None
        await self._count()
        self._say(f"Done   {planned.words}")

    async def _write(self, name: str) -> None:
        try:
            file = await export_prompt(self._conversation, name)
        except OllmError as error:
            self._complain(error)
        else:
            self._say(f"Exported to {file}")

    # Showing

    async def _count(self) -> None:
        """Count the context as it is now, and show it if that is news."""
        if await self._conversation.context_items() is not self._view and self.is_running:
            self._show()

    def _show(self) -> None:
        """Show the context as it is now."""
        self._view = self._conversation.context()
        unicode = not self.app.has_class("-ascii")
        choices = item_choices(self._view, in_order=self._in_order, unicode=unicode)
        self.query_one(ChoiceList).show(choices)
        self._show_legend()
        self._show_facts()
        self._show_about()
        self._show_effect()

    def _show_legend(self) -> None:
        """Show the legend; it has the marks only where there is a bar they stand in."""
        gauge, width = self.query_one(Gauge), self.size.width - 2
        text = legend(self._view, gauge.characters, width, marks=width >= COMPACT)
        self.query_one("#legend", Static).update(text)

    def _show_facts(self) -> None:
        self.query_one("#facts Static", Static).update(self._facts)

    @property
    def _facts(self) -> Content:
        return facts_text(self._conversation, self.size.width - 3)

    def _show_about(self) -> None:
        """Show what the highlighted line has no room for; without messages, what will come."""
        state, key = self._conversation.state, self._key
        item = next((each for each in self._view.items if each.key == key), None)
        usage = state[key].usage if key in state else None
        text = about_item(item, usage) if item and len(state) else NOTHING_SAID
        about = self.query_one("#about", Static)
        about.update(Content(visible(text)))
        about.set_class(not text, "empty")

    def _show_effect(self) -> None:
        """Show the gauge as it is, or as it would be after the change, and the keys."""
        gauge, keys, armed = self.query_one(Gauge), self.query_one(LiveKeys), self._armed
        if armed is None:
            gauge.show(self._view)
            keys.show(*self._key_words().items())
        else:
            gauge.show(armed.preview, caption="preview")
            keys.show(
                (f"breakdown.{armed.action}", "again to confirm"), ("breakdown.close", "cancel")
            )

    def _key_words(self) -> dict[str, str]:
        """Return what the keys would do to the highlighted line, in a word each."""
        marks = self._view.prompt.assembly.marks
        words = {
            f"breakdown.{name}": action.change((self._key,), marks)[1]
            for name, action in MESSAGE_ACTIONS.items()
            if action.reverse
        }
        if self.has_class("-facts"):
            words |= {"breakdown.facts": "list", "breakdown.close": "back"}
        return {**BREAKDOWN_KEYS, **words}

    def _say(self, text: str) -> None:
        """Show a line for as long as the highlight stays where it is."""
        self._said = (text, self._key)
        said = self.query_one("#said", Static)
        said.update(Content(visible(text)))
        said.set_class(self._armed is not None, "armed")
        self._show_effect()

    def _complain(self, error: OllmError) -> None:
        self._say(error.line)
