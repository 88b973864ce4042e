"""tasks: the goal of the session and its steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Protocol

from msgspec import Meta

from ollm_tui.core.errors import ToolError, UsageError
from ollm_tui.core.session.goals import Goal, Subtask
from ollm_tui.core.tool import Action, PlannedCall, Tell, ToolOutcome
from ollm_tui.tools.call_arguments import Arguments, one_line, spec_of, understood
from ollm_tui.tools.planned import Planned


class Goals(Protocol):
    """Who keeps the goals of a session. Errors are UsageErrors."""

    @property
    def active(self) -> Goal | None:
        """The goal that is worked on."""
        ...

    async def set_goal(self, text: str) -> Goal:
        """Work on something new."""
        ...

    async def complete_goal(self) -> None:
        """The active goal is reached."""
        ...

    async def add_subtask(self, text: str) -> Subtask:
        """One more step of the active goal."""
        ...

    async def finish_subtask(self, subtask_id: str, done: bool = True) -> None:
        """A step is done."""
        ...


class _Arguments(Arguments, frozen=True):
    action: Literal["list", "goal", "add", "done", "reached"]
    text: Annotated[str, Meta(description="goal, step, or the step's number")] = ""


class Tasks:
    """Sets the goal, adds steps, ticks them off."""

    spec = spec_of("tasks", "Keep the session's goal and its steps.", _Arguments)

    def __init__(self, goals: Goals) -> None:
        self._goals = goals

    async def plan(self, args: Mapping[str, Any]) -> PlannedCall:
        """Nothing is changed yet."""
        wanted = understood(self.spec.name, _Arguments, args)
        if wanted.action in ("goal", "add", "done") and not wanted.text.strip():
            raise ToolError(f"tasks with action {wanted.action} needs text: what it is about")

        async def work(_tell: Tell) -> ToolOutcome:
            try:
                await self._do(wanted)
            except UsageError as error:
                raise ToolError(f"{error.message}; tasks with action goal sets one") from error
            text = _listed(self._goals.active)
            return ToolOutcome(text=text, changed=wanted.action != "list", summary=wanted.action)

        subject = f"{wanted.action} {wanted.text}".strip()
        return Planned(Action(effect="none", title="note", subject=subject), work)

    async def _do(self, wanted: _Arguments) -> None:
        match wanted.action:
            case "goal":
                await self._goals.set_goal(wanted.text)
            case "add":
                await self._goals.add_subtask(wanted.text)
            case "done":
                await self._goals.finish_subtask(_step(self._goals.active, wanted.text).id)
            case "reached":
                await self._goals.complete_goal()
            case "list":
                pass


def _step(goal: Goal | None, wanted: str) -> Subtask:
    """A step by its number or its words."""
    steps = goal.subtasks if goal else ()
    words = " ".join(wanted.casefold().split())
    for number, step in enumerate(steps, 1):
        if words in (str(number), f"{number}.", step.text.casefold()):
            return step
    raise ToolError(f"there is no step {one_line(wanted)!r}; tasks with action list shows them")


def _listed(goal: Goal | None) -> str:
    if goal is None:
        return "[no goal is set]"
    steps = [
        f"{number}. [{'x' if step.done else ' '}] {step.text}"
        for number, step in enumerate(goal.subtasks, 1)
    ]
    return "\n".join([f"goal: {goal.text}", *steps])
