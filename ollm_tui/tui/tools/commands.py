"""The commands of tools: answer a question, choose when to be asked, see permissions and
outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.widgets import Static

from ollm_tui.core.counts import counted
from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import clean, visible
from ollm_tui.core.loop import LoopAnswer
from ollm_tui.core.tool import APPROVAL_MODES, Decision
from ollm_tui.tui.chat.port import Action, ChatPort
from ollm_tui.tui.kit.diff_lines import DiffLines, TonedLine, exact_lines
from ollm_tui.tui.kit.reading_screen import ReadingScreen
from ollm_tui.tui.kit.words import STILL_ANSWERING, STOP_FIRST
from ollm_tui.tui.stream.entries.tool_entries import ToolBlock, ToolFold, block_title
from ollm_tui.tui.tools.approval import Approval
from ollm_tui.tui.tools.loop_bar import LoopBar
from ollm_tui.tui.tools.tool_display import ToolDisplay, display_of
from ollm_tui.tui.tools.words import (
    MODES,
    NO_APPROVAL_PENDING,
    NO_GRANTS,
    NO_SANDBOX,
    NO_TOOL_CALL_HERE,
    NO_TOOLS,
    PAGE_KEYS,
    SAY_WHY,
    SELECT_ANOTHER,
    TELL,
    TOOL_OUTPUT,
    TOOL_USAGE,
    TOOLS_AND_PERMISSIONS,
    TOOLS_USAGE,
    WHEN_THE_MODEL_ASKS,
    WHICH_TOOL,
    WHICH_TOOL_USAGE,
)

if TYPE_CHECKING:
    from ollm_tui.engine.tools.conversation_tools import ConversationTools
    from ollm_tui.services.safety.grants import Grant


class ToolPage(ReadingScreen):
    """Shows lines on the whole screen."""

    PAGE = DiffLines
    AUTO_FOCUS = ""
    DEFAULT_CSS = """
    ToolPage {
        layout: vertical; background: $background;
        & #heading { height: 1; padding: 0 1; background: $surface; color: $primary; }
        & DiffLines { height: 1fr; padding: 0 1; background: $background; }
        & #keys { height: 1; padding: 0 1; color: $text-muted; background: $surface; }
    }
    """
    BINDINGS = [
        Binding("escape,q,v", "close", "Close", id="toolpage.close", tooltip="Close"),
        Binding("j,down", "scroll(1)", "Down", id="toolpage.down", tooltip="Scroll down"),
        Binding("k,up", "scroll(-1)", "Up", id="toolpage.up", tooltip="Scroll up"),
        Binding(
            "pagedown,space",
            "page(1)",
            "Page down",
            id="toolpage.page_down",
            tooltip="Scroll a page down",
        ),
        Binding("pageup", "page(-1)", "Page up", id="toolpage.page_up", tooltip="Scroll a page up"),
        Binding("g,home", "edge(0)", "Top", id="toolpage.top", tooltip="Go to the top"),
        Binding("G,end", "edge(1)", "End", id="toolpage.end", tooltip="Go to the bottom"),
    ]

    def __init__(self, title: str, lines: Sequence[TonedLine], keys: str = PAGE_KEYS) -> None:
        super().__init__()
        self._heading = visible(title)
        self._page = DiffLines(lines)
        self._keys = keys

    @property
    def end_was_seen(self) -> bool:
        """Whether the end of the page was shown."""
        return self._page.end_was_seen

    def compose(self) -> ComposeResult:
        """Lay out the title, the lines and the keys."""
        yield Static(Content(self._heading), id="heading", markup=False)
        yield self._page
        yield Static(Content(self._keys), id="keys")


def permission_lines(tools: ConversationTools, grants: Sequence[Grant]) -> list[TonedLine]:
    """Return the lines about everything that decides what happens unasked."""
    lines = list(_section("Approval mode", f"{tools.approval_mode}: {MODES[tools.approval_mode]}"))
    lines += [TonedLine("  Shift+Tab changes it", "quiet"), TonedLine("")]
    lines += [*_section("Sandbox", tools.sandbox_words or NO_SANDBOX), TonedLine("")]
    lines += [*_section("Tools", *(tools.offered or (NO_TOOLS,))), TonedLine("")]
    said = [line for grant in grants for line in _grant_words(grant)]
    lines += _section("Permissions", *(said or (NO_GRANTS,)))
    if grants:
        lines.append(TonedLine("  /tools clear removes them all", "quiet"))
    return lines


def output_lines(
    blocks: Iterable[ToolBlock], whole: Callable[[str], str | None]
) -> Iterator[TonedLine]:
    """Yield all that calls printed, also what the model was not given."""
    for block in blocks:
        yield TonedLine(block_title(block), "running")
        text = whole(block.call.call_id) or block.output
        yield from map(TonedLine, clean(text).rstrip("\n").split("\n"))
        yield TonedLine("")


def _grant_words(grant: Grant) -> Iterator[str]:
    subject = grant.subject
    where = f" · in {subject.place}" if subject.place else ""
    yield f"{grant.answer} in this {grant.scope} · {subject.tool}{where}"
    yield from (f"    {line.text}" for line in exact_lines(subject.code))


def _section(title: str, *facts: str) -> Iterator[TonedLine]:
    yield TonedLine(title, "running")
    yield from (TonedLine(f"  {visible(fact)}") for fact in facts)


DECISIONS = {
    "yes": Decision("yes"),
    "no": Decision("no"),
    "always": Decision("always", "session"),
    "project": Decision("always", "project"),
    "never": Decision("never", "session"),
    "forbid": Decision("never", "project"),
}
# The answers each kind of question knows.
TO_APPROVALS = (*DECISIONS, "why", "view")
TO_LOOPS = ("stop", "once", "allow", "tell", "back")


def answer(chat: ChatPort, argument: str) -> None:
    """Answer what is asked above the prompt; without an argument, move the focus there."""
    view = display_of(chat)
    asking = view.asking
    word, _, words = argument.partition(" ")
    match asking:
        case None:
            raise UsageError(NO_APPROVAL_PENDING, WHEN_THE_MODEL_ASKS)
        case _ if not word:
            asking.focus()
        case Approval() if word in TO_APPROVALS:
            _answer_request(chat, view, asking, word, words.strip())
        case LoopBar() if word in TO_LOOPS:
            _answer_loop(view, asking, word, words.strip())
        case _:
            known = TO_LOOPS if isinstance(asking, LoopBar) else TO_APPROVALS
            raise UsageError(f"Not an answer here: {visible(word)}", f"one of {', '.join(known)}")


def mode(chat: ChatPort, argument: str) -> None:
    """Go on to the next approval mode, or use one by its name."""
    tools = chat.conversation.tools
    name = argument.strip()
    if name and name not in APPROVAL_MODES:
        raise UsageError(f"No approval mode {visible(name)}", f"one of {', '.join(APPROVAL_MODES)}")
    if name:
        tools.approval_mode = name
    else:
        tools.next_approval_mode()
    chat.lines.show_names()
    chat.tell(f"{tools.approval_mode}: {MODES[tools.approval_mode]}")


async def permissions(chat: ChatPort, argument: str) -> None:
    """Show the tools, what they may do unasked, and the answers given for good; or forget these."""
    tools = chat.conversation.tools
    if argument.strip() == "clear":
        count = await tools.clear_grants()
        chat.tell(f"{counted(count, 'permission')} removed")
    elif argument:
        raise UsageError(f"Unknown option /tools {visible(argument)}", TOOLS_USAGE)
    else:
        lines = permission_lines(tools, await tools.grants())
        chat.ask(ToolPage(TOOLS_AND_PERMISSIONS, lines))


async def switch(chat: ChatPort, argument: str) -> None:
    """Switch a tool on or off; without a word, the other way round. UsageError."""
    name, _, word = argument.partition(" ")
    tools = chat.conversation.tools
    if not name:
        raise UsageError(WHICH_TOOL, WHICH_TOOL_USAGE)
    if word.strip() not in ("", "on", "off"):
        raise UsageError(f"{visible(word.strip())} is neither on nor off", TOOL_USAGE)
    if chat.is_busy:
        raise UsageError(STILL_ANSWERING, STOP_FIRST)
    on = word.strip() == "on" if word.strip() else name not in tools.offered
    await tools.switch(name, on=on)
    chat.lines.show_facts()
    chat.tell(f"{visible(name)} is {'on' if on else 'off'}")


def output(chat: ChatPort, _argument: str) -> None:
    """Show all that the tools of a message printed: the one under the cursor, else the last one."""
    transcript = chat.transcript
    for key in (transcript.cursor.key, *reversed(transcript.keys)):
        folds = transcript.entry(key).folds if key else []
        calls = [fold.block for fold in folds if isinstance(fold, ToolFold)]
        if calls:
            lines = list(output_lines(calls, chat.conversation.tools.whole_output))
            chat.ask(ToolPage(TOOL_OUTPUT, lines))
            return
    raise UsageError(NO_TOOL_CALL_HERE, SELECT_ANOTHER)


def _answer_request(
    chat: ChatPort, view: ToolDisplay, approval: Approval, word: str, words: str
) -> None:
    if word == "view":
        _view(chat, approval)
    elif word == "why":
        approval.ask_for_words("no", "", SAY_WHY)
    elif not approval.takes(word):
        read = (
            "scroll to the end first"
            if not approval.has_been_read
            else "dangerous calls always ask"
        )
        raise UsageError(f"Not available here: {visible(word)}", read)
    elif word == "no":
        view.decide(approval, Decision("no", words=clean(words)))
    else:
        view.decide(approval, DECISIONS[word])


def _answer_loop(view: ToolDisplay, bar: LoopBar, word: LoopAnswer, words: str) -> None:
    if word == "tell" and not words:
        bar.ask_for_words("tell", TELL)
    else:
        view.decide_loop(bar, word, clean(words))


def _view(chat: ChatPort, approval: Approval) -> None:
    request = approval.request
    if request is None:
        return
    page = ToolPage(f"Wants to {request.action.title}", request.lines)

    def note_read(_: None) -> None:
        if page.end_was_seen and approval.request is request:
            approval.note_read()

    chat.ask(page, note_read)


ACTIONS: Mapping[str, Action] = {
    "tools.mode": mode,
    "tools.answer": answer,
    "tools.permissions": permissions,
    "tools.output": output,
    "tools.switch": switch,
}
