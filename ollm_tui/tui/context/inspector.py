"""The inspector at the right of a wide chat: the parts of the context, the goal, the jobs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from textual.content import Content
from textual.widget import Widget

from ollm_tui.core.intake import visible
from ollm_tui.core.session.goals import Goal
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.tui.chat.port import ChatPort
from ollm_tui.tui.context.words import (
    INSPECTED_CONTEXT,
    INSPECTED_GOAL,
    INSPECTED_JOBS,
    NO_JOBS,
    RUNNING,
    UNSET_GOAL,
)
from ollm_tui.tui.gauge.gauge import Gauge
from ollm_tui.tui.gauge.gauge_line import legend_parts
from ollm_tui.tui.jobs.job_list import job_choices
from ollm_tui.tui.kit.clickable import clickable

MOST_JOBS = 8
"""Jobs that are listed, the newest first."""


class Inspector(Widget):
    """Shows how things stand; it takes no keys, and clicking a heading opens the whole of it."""

    DEFAULT_CSS = """
    Inspector {
        display: none; width: 36; height: 1fr; padding: 0 1; border-left: solid $panel;
        text-wrap: nowrap; text-overflow: ellipsis;
    }
    .-ascii Inspector { border-left: ascii $panel; }
    """

    def __init__(self, front: Callable[[], ChatPort]) -> None:
        """`front` gives the chat that is shown now: the inspector outlives a conversation."""
        super().__init__(id="inspector")
        self._front = front
        self.auto_links = False

    def render(self) -> Content:
        """Draw all parts, with an empty line between them."""
        chat = self._front()
        if (conversation := chat.opened) is None:
            return Content("")
        parts = (self._parts(conversation), _goal(conversation), _jobs(chat, conversation))
        return Content("\n\n").join(Content("\n").join(part) for part in parts)

    def _parts(self, conversation: Conversation) -> Iterator[Content]:
        view, gauge = conversation.context(), self.screen.query_one(Gauge)
        room = view.budget.room
        used = f"  {view.count.total}"
        numbers = f"{used} of {room.window:,}" if room else f"{used} tokens"
        heading = _heading(INSPECTED_CONTEXT, "context.breakdown")
        yield heading + Content.styled(numbers, "$text-muted")
        yield from legend_parts(view, gauge.characters, marks=True)


def _goal(conversation: Conversation) -> Iterator[Content]:
    yield _heading(INSPECTED_GOAL, "goal.goal")
    goal = conversation.goals.active
    if goal is None:
        yield Content.styled(UNSET_GOAL, "$text-muted")
        return
    yield Content(" ".join(visible(goal.text).split()))
    yield from _steps(goal)


def _steps(goal: Goal) -> Iterator[Content]:
    for step in goal.subtasks:
        mark, style = ("✓", "$text-muted") if step.done else ("·", "")
        yield Content.styled(f"{mark} {visible(step.text)}", style)
    for blocker in goal.blockers:
        yield Content.assemble(("! ", "$text-warning"), visible(blocker))


def _jobs(chat: ChatPort, conversation: Conversation) -> Iterator[Content]:
    yield _heading(INSPECTED_JOBS, "jobs.panel")
    # The shells are opened with the first command: asking for them would start what nobody needs.
    jobs = chat.app.jobs.jobs(conversation.session_id) if chat.app.shell else []
    if not jobs:
        yield Content.styled(NO_JOBS, "$text-muted")
    newest = jobs[:MOST_JOBS]
    for job, line in zip(newest, job_choices(newest, conversation.session_id), strict=True):
        yield Content(f"{line.mark} {line.text}")
        # Without the seconds: nothing moves here unless something happened.
        yield Content.styled(f"  {RUNNING if job.running else line.note}", "$text-muted")


def _heading(words: str, command_id: str) -> Content:
    return clickable(words, command_id, style="bold $primary")
