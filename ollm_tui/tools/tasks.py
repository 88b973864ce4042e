"""The tool tasks, which keeps the goal of the session and its steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Protocol

from msgspec import Meta

from ollm_tui.core.errors import ToolError, UsageError
from ollm_tui.core.session.goals import Goal, Subtask
from ollm_tui.core.tool import Action, PlannedCall, Tell, ToolOutcome
from ollm_tui.tools.call_arguments import Arguments, Planned, one_line, spec_of, understood


class Goals(Protocol):
    """The goals of a session. Its methods raise UsageError, for instance without an active goal."""

    @property
    def active(self) -> Goal | None:
        """The goal that is worked on, if any."""
        ...

    async def set_goal(self, text: str) -> Goal:
        """Set a new active goal."""
        ...

    async def complete_goal(self) -> None:
        """Mark the active goal as reached."""
        ...

    async def add_subtask(self, text: str) -> Subtask:
        """Add a step to the active goal."""
        ...

    async def finish_subtask(self, subtask_id: str, done: bool = True) -> None:
        """Mark a step as done, or as not done."""
        ...


class _Arguments(Arguments, frozen=True):
    action: Literal["list", "goal", "add", "done", "reached"]
    text: Annotated[str, Meta(description="goal, step, or the step's number")] = ""


class Tasks:
    """Sets the goal, adds steps and marks them as done."""

    spec = spec_of("tasks", "Keep the session's goal and its steps.", _Arguments)

    def __init__(self, goals: Goals) -> None:
        self._goals = goals

    async def plan(self, args: Mapping[str, Any]) -> PlannedCall:
        """Check the arguments; nothing is changed yet. ToolError if the text is missing."""
        arguments = understood(self.spec.name, _Arguments, args)
        if arguments.action in ("goal", "add", "done") and not arguments.text.strip():
            raise ToolError(f"tasks with action {arguments.action} needs text: what it is about")

        async def work(_tell: Tell) -> ToolOutcome:
            try:
                await self._do(arguments)
            except UsageError as error:
                raise ToolError(f"{error.message}; tasks with action goal sets one") from error
            text = _listed(self._goals.active)
            return ToolOutcome(
                text=text, changed=arguments.action != "list", summary=arguments.action
            )

        subject = f"{arguments.action} {arguments.text}".strip()
        return Planned(Action(effect="none", title="note", subject=subject), work)

    async def _do(self, arguments: _Arguments) -> None:
        match arguments.action:
            case "goal":
                await self._goals.set_goal(arguments.text)
            case "add":
                await self._goals.add_subtask(arguments.text)
            case "done":
                await self._goals.finish_subtask(_step(self._goals.active, arguments.text).id)
            case "reached":
                await self._goals.complete_goal()
            case "list":
                pass


def _step(goal: Goal | None, name: str) -> Subtask:
    """Find a step by its number or its text. ToolError if there is none."""
    steps = goal.subtasks if goal else ()
    words = " ".join(name.casefold().split())
    for number, step in enumerate(steps, 1):
        if words in (str(number), f"{number}.", step.text.casefold()):
            return step
    raise ToolError(f"there is no step {one_line(name)!r}; tasks with action list shows them")


def _listed(goal: Goal | None) -> str:
    if goal is None:
        return "[no goal is set]"
    steps = [
        f"{number}. [{'x' if step.done else ' '}] {step.text}"
        for number, step in enumerate(goal.subtasks, 1)
    ]
    return "\n".join([f"goal: {goal.text}", *steps])
