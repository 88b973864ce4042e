"""The commands of tools: answer a question, choose when to be asked, see permissions and
outputs."""

from __future__ import annotations

from collections.abc import Mapping

from ollm_tui.core.counts import counted
from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import clean, visible
from ollm_tui.core.loop import LoopAnswer
from ollm_tui.core.tool import APPROVAL_MODES, Decision
from ollm_tui.tui.chat.port import Action, ChatPort
from ollm_tui.tui.stream.entries.tool_entries import ToolFold
from ollm_tui.tui.tools.approval import Approval
from ollm_tui.tui.tools.loop_bar import LoopBar
from ollm_tui.tui.tools.tool_display import ToolDisplay, display_of
from ollm_tui.tui.tools.tool_page import ToolPage, output_lines, permission_lines
from ollm_tui.tui.tools.words import MODES, SAY_WHY, TELL

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
            raise UsageError("nothing is asked now", "the model asks before it changes something")
        case _ if not word:
            asking.focus()
        case Approval() if word in TO_APPROVALS:
            _answer_request(chat, view, asking, word, words.strip())
        case LoopBar() if word in TO_LOOPS:
            _answer_loop(view, asking, word, words.strip())
        case _:
            known = TO_LOOPS if isinstance(asking, LoopBar) else TO_APPROVALS
            raise UsageError(
                f"{visible(word)} is no answer to that", f"there are: {', '.join(known)}"
            )


def mode(chat: ChatPort, argument: str) -> None:
    """Go on to the next approval mode, or use one by its name."""
    tools = chat.conversation.tools
    name = argument.strip()
    if name and name not in APPROVAL_MODES:
        raise UsageError(
            f"there is no mode {visible(name)}", f"there are: {', '.join(APPROVAL_MODES)}"
        )
    if name:
        tools.approval_mode = name
    else:
        tools.next_approval_mode()
    for approval in chat.screen.query(Approval):
        approval.mode = tools.approval_mode
        approval.show_keys()
    chat.lines.show_names()
    chat.tell(f"{tools.approval_mode}: {MODES[tools.approval_mode]}")


async def permissions(chat: ChatPort, argument: str) -> None:
    """Show the tools, what they may do unasked, and the answers given for good; or forget these."""
    tools = chat.conversation.tools
    if argument.strip() == "clear":
        count = await tools.clear_grants()
        chat.tell(f"{counted(count, 'answer')} forgotten; it is asked again")
    elif argument:
        raise UsageError(f"/tools knows no {visible(argument)}", "clear, or nothing")
    else:
        lines = permission_lines(tools, await tools.grants())
        chat.ask(ToolPage("Tools and what they may do", lines))


def output(chat: ChatPort, _argument: str) -> None:
    """Show all that the tools of a message printed: the one under the cursor, else the last one."""
    transcript = chat.transcript
    for key in (transcript.cursor.key, *reversed(transcript.keys)):
        folds = transcript.entry(key).folds if key else []
        calls = [fold.block for fold in folds if isinstance(fold, ToolFold)]
        if calls:
            lines = list(output_lines(calls, chat.conversation.tools.whole_output))
            chat.ask(ToolPage("What the tools answered", lines))
            return
    raise UsageError("no tool was called here", "the model asks for them")


def _answer_request(
    chat: ChatPort, view: ToolDisplay, approval: Approval, word: str, words: str
) -> None:
    if word == "view":
        _view(chat, approval)
    elif word == "why":
        approval.ask_for_words("no", "", SAY_WHY)
    elif not approval.takes(word):
        read = "read it to its end first" if not approval.has_been_read else "it asks every time"
        raise UsageError(f"{visible(word)} does not work here", read)
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
    page = ToolPage(f"wants to {request.action.title}", request.lines)

    def note_read(_: None) -> None:
        if page.end_was_seen and approval.request is request:
            approval.note_read()

    chat.ask(page, note_read)


ACTIONS: Mapping[str, Action] = {
    "tools.mode": mode,
    "tools.answer": answer,
    "tools.permissions": permissions,
    "tools.output": output,
}
