"""Tools on the screen: the engine's events become lines of the reply, and questions above the
prompt that wait for an answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar, assert_never

from textual.timer import Timer

from ollm_tui.core.loop import LoopAnswer, LoopFound
from ollm_tui.core.session.message import Message, ToolCallPart
from ollm_tui.core.tool import Decision
from ollm_tui.core.tool_events import (
    AnyToolEvent,
    ApprovalAnswered,
    ApprovalRequested,
    LoopAnswered,
    LoopPaused,
    LoopReplyRecorded,
    ModelNudged,
    ReplyFinished,
    ToolFinished,
    ToolOutputArrived,
    ToolStarted,
)
from ollm_tui.engine.snapshots.points import Point
from ollm_tui.tui.kit.question_block import QuestionBlock
from ollm_tui.tui.stream.entries.message_entries import entry_of
from ollm_tui.tui.stream.entries.tool_entries import (
    ToolBlock,
    ToolFold,
    decision_words,
    fold_key,
    loop_entry,
    subject_of,
    tail,
)
from ollm_tui.tui.tools.approval import Approval, Request
from ollm_tui.tui.tools.loop_bar import LoopBar
from ollm_tui.tui.tools.words import (
    MODEL_READS,
    NOT_HELD,
    PAUSED,
)

if TYPE_CHECKING:
    from ollm_tui.tui.chat.port import ChatPort

Block = TypeVar("Block", bound=QuestionBlock)
DRAWN_SECONDS = 0.1
"""What a running call prints is drawn at most this often."""
KEPT_CHARACTERS = 20_000
"""Characters kept of what a running call prints; all of it can be read when it is over."""


def display_of(chat: ChatPort) -> ToolDisplay:
    """Return what shows the tools of a conversation; it is made when first asked for."""
    return chat.part(ToolDisplay, lambda: ToolDisplay(chat))


class ToolDisplay:
    """Shows the tools of one conversation."""

    def __init__(self, chat: ChatPort) -> None:
        self._chat = chat
        self._calls: tuple[ToolCallPart, ...] = ()
        """The calls of the reply that are being answered."""
        self._running: dict[str, tuple[str, float]] = {}
        """The reply of each running call, and since when it runs."""
        self._printed: dict[str, str] = {}
        self._ticking: Timer | None = None
        self._drawing: Timer | None = None
        self._asking: object = None
        """Identifies the question that is shown or about to be; None if there is none."""
        self._go_back_to: Point | None = None
        """Where to go back to when the turn is over."""

    def take(self, event: AnyToolEvent | None) -> None:
        """Show one event; None is the end of the turn."""
        match event:
            case None:
                self._end()
            case ReplyFinished():
                self._calls = event.message.tool_calls
            case ApprovalRequested():
                self._ask(event)
            case ApprovalAnswered():
                self._note_answer(event)
            case ToolStarted():
                self._start(event)
            case ToolOutputArrived():
                self._print(event)
            case ToolFinished():
                self._finish(event)
            case LoopPaused():
                self._pause(event)
            case LoopAnswered():
                self._go_on(event.found, event.answer)
            case ModelNudged():
                self._show_nudge()
            case LoopReplyRecorded():
                state = self._chat.conversation.state
                self._chat.transcript.add(entry_of(event.message, state))
            case _:
                assert_never(event)

    def leave(self) -> None:
        """Draw nothing any more, and take questions off the screen: another conversation is shown
        from now on. They wait for their answers."""
        self._stop_timers()
        self._asking = None
        for block in self._chat.screen.query(QuestionBlock):
            self._close(block)

    def _end(self) -> None:
        """End the turn: nothing runs any more, and no question waits."""
        self._running.clear()
        self._printed.clear()
        self._stop_timers()
        self._asking = None
        for block in self._chat.screen.query(QuestionBlock):
            self._close(block)
        if self._go_back_to:
            point, self._go_back_to = self._go_back_to, None
            self._chat.screen.run_worker(self._go_back(point), group="snapshot")

    # Answers

    @property
    def asking(self) -> QuestionBlock | None:
        """What waits for an answer."""
        return next(
            (block for block in self._chat.screen.query(QuestionBlock) if block.display), None
        )

    def decide(self, approval: Approval, decision: Decision) -> None:
        """Tell the engine what the user said to a request."""
        if approval.request:
            self._close(approval)
            self._chat.conversation.tools.answer(approval.request.call_id, decision)

    def decide_loop(self, bar: LoopBar, answer: LoopAnswer, words: str = "") -> None:
        """Tell the engine what the user said to a loop."""
        self._close(bar)
        if answer in ("stop", "back"):
            self._chat.hold_queue(True)
        self._go_back_to = self._before_loop(bar.snapshot) if answer == "back" else None
        self._chat.conversation.tools.answer_loop(answer, words)

    # Approvals

    def _ask(self, event: ApprovalRequested) -> None:
        block = self._block(event.message_id, event.call)
        self._put(event.message_id, block._replace(state="waiting", diff=event.action.diff))
        ids = [call.call_id for call in self._calls]
        count, call_id = len(ids), event.call.call_id
        place = f"{ids.index(call_id) + 1} of {count}" if count > 1 and call_id in ids else ""
        tools = self._chat.conversation.tools
        held = NOT_HELD if event.action.is_outside else tools.sandbox_words
        request = Request(call_id, event.call.name, event.action, event.verdict, place, held)
        self._show(Approval, lambda approval: approval.ask(request))
        waits = f"{event.call.name} is waiting for your answer"
        self._chat.lines.show_doing(waits)
        self._chat.app.call_user(waits)

    def _note_answer(self, event: ApprovalAnswered) -> None:
        for approval in self._chat.screen.query(Approval):
            if approval.request and approval.request.call_id == event.call_id:
                self._close(approval)
        if found := self._shown(event.call_id):
            reply, block = found
            self._put(reply, block._replace(decision=decision_words(event.decision)))

    def _show(self, kind: type[Block], ask: Callable[[Block], None]) -> None:
        """Show a question, unless it is answered before that; its block is made with the first one.

        The focus goes there only from an empty prompt, and only to an approval: nothing that is
        being written is interrupted.
        """

        async def show() -> None:
            chat = self._chat
            if not chat.screen.query(kind):
                reach = chat.lines.hints.keys("context.trust")[0]
                keymap = chat.app.loaded.settings.keymap
                await chat.mount_above_gauge(kind(reach, keymap))
            if self._asking is not ask:
                return  # answered, or replaced by another one, while the block was mounted
            block = chat.screen.query_one(kind)
            ask(block)
            if kind is Approval and chat.screen.focused is chat.prompt and not chat.prompt.text:
                block.focus()

        self._asking = ask
        self._chat.screen.call_later(show)

    def _close(self, block: QuestionBlock) -> None:
        self._asking = None
        if block.close():
            self._chat.prompt.focus()

    # Calls

    def _start(self, event: ToolStarted) -> None:
        call = event.call
        if event.action.effect == "run":
            # Imported late, as commands are. What runs is counted, and told of when it ends.
            from ollm_tui.tui.jobs.shell_line import shell_of

            shell_of(self._chat)
        self._running[call.call_id] = (event.message_id, time.monotonic())
        block = self._block(event.message_id, call)
        self._put(event.message_id, block._replace(state="running", diff=event.action.diff))
        self._chat.lines.show_doing(f"{call.name} {subject_of(call)}".rstrip())
        self._ticking = self._ticking or self._chat.screen.set_interval(1, self._tick)

    def _print(self, event: ToolOutputArrived) -> None:
        printed = self._printed.get(event.call_id, "") + event.text
        self._printed[event.call_id] = printed[-KEPT_CHARACTERS:]
        self._drawing = self._drawing or self._chat.screen.set_timer(DRAWN_SECONDS, self._draw)

    def _draw(self) -> None:
        """Draw what was printed in open folds; in closed ones it is drawn with the time."""
        self._drawing = None
        for call_id, (reply, _) in self._running.items():
            fold = self._chat.transcript.entry(reply).fold(fold_key(call_id))
            if fold and fold.is_open:
                self._tick_one(call_id)

    def _tick(self) -> None:
        for call_id in self._running:
            self._tick_one(call_id)

    def _tick_one(self, call_id: str) -> None:
        if found := self._shown(call_id):
            reply, block = found
            seconds = time.monotonic() - self._running[call_id][1]
            output = tail(self._printed.get(call_id, ""))
            self._put(reply, block._replace(seconds=seconds, output=output))

    def _finish(self, event: ToolFinished) -> None:
        call_id = event.result.call_id
        # Counted from the start of the call: the time for the approval is not the tool's.
        _, begun = self._running.pop(call_id, ("", None))
        seconds = event.seconds if begun is None else time.monotonic() - begun
        self._printed.pop(call_id, None)
        if not self._running:
            self._stop_timers()
        if found := self._shown(call_id, event.message_id):
            reply, block = found
            self._put(reply, block.finished(event.result, event.summary, seconds))
        self._chat.lines.show_doing(MODEL_READS)

    def _stop_timers(self) -> None:
        for timer in (self._ticking, self._drawing):
            if timer:
                timer.stop()
        self._ticking = self._drawing = None

    # Loops

    def _pause(self, event: LoopPaused) -> None:
        found, snapshot = event.found, event.snapshot
        self._show(LoopBar, lambda bar: bar.ask(found, snapshot))
        self._chat.lines.show_doing(PAUSED)

    def _go_on(self, found: LoopFound, answer: LoopAnswer) -> None:
        for bar in self._chat.screen.query(LoopBar):
            self._close(bar)
        key = f"loop-{time.monotonic_ns()}"
        self._chat.transcript.add(loop_entry(key, found.evidence, answer))

    def _before_loop(self, snapshot: str | None) -> Point:
        """Return the point before a loop: the snapshot, or the question if nothing was changed."""
        conversation = self._chat.conversation
        if snapshot:
            return Point(conversation.session_id, snapshot=snapshot)
        asked = [each.id for each in conversation.state.branch() if each.role == "user"]
        return Point(conversation.session_id, message=asked[-1])

    async def _go_back(self, point: Point) -> None:
        chat = self._chat
        # The turn has told of its end, but the chat is busy until its worker is done.
        running = [worker for worker in chat.screen.workers if worker.group == chat.work_group]
        await chat.screen.workers.wait_for_complete(running)  # pyright: ignore[reportUnknownMemberType] Textual leaves it open
        # Imported late: most conversations never go back.
        from ollm_tui.tui.chat.chat_points import ChatPoints

        points = ChatPoints(chat)
        await chat.attempt(lambda: points.go_to(point))

    def _show_nudge(self) -> None:
        """Show what the program told the model; it is the last message recorded."""
        state = self._chat.conversation.state
        nudge: Message | None = state[state.header.head] if state.header.head else None
        if nudge and nudge.role == "system":
            self._chat.transcript.add(entry_of(nudge, state))

    # What is in the stream

    def _block(self, reply: str, call: ToolCallPart) -> ToolBlock:
        found = self._shown(call.call_id, reply)
        return found[1] if found else ToolBlock(call)

    def _shown(self, call_id: str, reply: str = "") -> tuple[str, ToolBlock] | None:
        """Return the reply of a call and its block; None if it is not shown. Without a reply all
        are searched, the last one first."""
        transcript = self._chat.transcript
        keys = [reply] if reply else reversed(transcript.keys)
        for key in keys:
            entry = transcript.entry(key) if key in transcript.stack else None
            fold = entry.fold(fold_key(call_id)) if entry else None
            if isinstance(fold, ToolFold):
                return key, fold.block
        return None

    def _put(self, reply: str, block: ToolBlock) -> None:
        if reply in self._chat.transcript.stack:
            self._chat.transcript.put_fold(reply, ToolFold(block))
