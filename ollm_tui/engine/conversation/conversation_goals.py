"""The goals of one conversation, with their decisions, subtasks, milestones and blockers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from msgspec.structs import replace

from ollm_tui.core import clock
from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import clean
from ollm_tui.core.session import goals
from ollm_tui.core.session.goals import Decision, Goal, GoalStatus, Milestone, Subtask
from ollm_tui.core.session.message import new_id
from ollm_tui.core.session.session import Metadata
from ollm_tui.engine.conversation.held_session import HeldSession

ChangeMetadata = Callable[[Metadata], Awaitable[None]]
NO_GOAL = "/goal TEXT sets one"


class ConversationGoals:
    """Changes the goals of one session, each change in one record.

    UsageError where a text has no words, or there is no such goal, or no active one.
    """

    def __init__(self, session: HeldSession, change: ChangeMetadata | None = None) -> None:
        self._session = session
        self._change_metadata = change or session.change_metadata

    @property
    def all(self) -> tuple[Goal, ...]:
        """Every goal that was set, the oldest first."""
        return goals.goals_of_user(self._kept)

    @property
    def active(self) -> Goal | None:
        """The goal that is worked on; None if there is none."""
        return goals.active_goal(self._kept)

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """The decisions that were not taken back, the oldest first."""
        return goals.decisions(self._kept)

    async def set_goal(self, text: str) -> Goal:
        """Set a new active goal; the one that was active is paused."""
        goal = Goal(id=new_id(), text=_words(text), created_at=clock.now())
        await self._keep(goals.with_goal(self._kept, goal))
        return goal

    async def pause_goal(self) -> None:
        """Pause the active goal."""
        await self._give_status(self._worked_on().id, "paused")

    async def resume_goal(self, goal_id: str) -> None:
        """Make a goal the active one again; the one that was active is paused."""
        if goal_id not in {goal.id for goal in self.all}:
            raise UsageError("no such goal", "choose one from the list")
        await self._give_status(goal_id, "active")

    async def complete_goal(self) -> None:
        """Mark the active goal as done."""
        await self._give_status(self._worked_on().id, "done")

    async def decide(self, text: str, reason: str = "", *, locked: bool = False) -> Decision:
        """Record a decision for the active goal, or for the session where there is none.

        A locked decision is told to the model in every prompt.
        """
        why = " ".join(clean(reason).split())
        decision = Decision(
            id=new_id(), text=_words(text), at=clock.now(), reason=why, locked=locked
        )
        await self._keep(goals.with_decision(self._kept, decision))
        return decision

    async def lock(self, decision_id: str, locked: bool) -> None:
        """Lock a decision of any goal, or unlock it."""
        await self._keep(goals.with_lock(self._kept, decision_id, locked))

    async def take_back(self, decision_id: str) -> None:
        """Remove a decision, whichever goal it was made for."""
        await self._keep(goals.without_decision(self._kept, decision_id))

    async def add_subtask(self, text: str) -> Subtask:
        """Add a subtask to the active goal."""
        subtask = Subtask(id=new_id(), text=_words(text))
        await self._change(lambda goal: replace(goal, subtasks=(*goal.subtasks, subtask)))
        return subtask

    async def finish_subtask(self, subtask_id: str, done: bool = True) -> None:
        """Mark a subtask of the active goal as done, or as open again."""

        def change(goal: Goal) -> Goal:
            subtasks = tuple(
                replace(each, done=done) if each.id == subtask_id else each
                for each in goal.subtasks
            )
            return replace(goal, subtasks=subtasks)

        await self._change(change)

    async def add_milestone(self, text: str, *, reached: bool = True) -> Milestone:
        """Add a milestone, reached just now or still ahead. One with the same words that was
        ahead is replaced, so naming it again marks it as reached."""
        moment, words = clock.now() if reached else None, _words(text)
        ahead = next(
            (each for each in self._worked_on().milestones if _is_ahead(each, words)), None
        )
        milestone = Milestone(id=ahead.id if ahead else new_id(), text=words, reached_at=moment)

        def change(goal: Goal) -> Goal:
            if ahead is None:
                return replace(goal, milestones=(*goal.milestones, milestone))
            passed = (milestone if each.id == ahead.id else each for each in goal.milestones)
            return replace(goal, milestones=tuple(passed))

        await self._change(change)
        return milestone

    async def add_artifact(self, text: str) -> None:
        """Add a result of the work to the active goal, such as a file."""
        artifact = _words(text)
        await self._change(lambda goal: replace(goal, artifacts=(*goal.artifacts, artifact)))

    async def add_blocker(self, text: str) -> None:
        """Add something that is in the way of the active goal."""
        blocker = _words(text)
        await self._change(lambda goal: replace(goal, blockers=(*goal.blockers, blocker)))

    async def remove_blocker(self, text: str) -> None:
        """Remove a blocker of the active goal."""

        def change(goal: Goal) -> Goal:
            return replace(goal, blockers=tuple(each for each in goal.blockers if each != text))

        await self._change(change)

    @property
    def _kept(self) -> tuple[Goal, ...]:
        return self._session.state.header.metadata.goals

    def _worked_on(self) -> Goal:
        if self.active is None:
            raise UsageError("no active goal", NO_GOAL)
        return self.active

    async def _give_status(self, goal_id: str, status: GoalStatus) -> None:
        await self._keep(goals.with_status(self._kept, goal_id, status))

    async def _change(self, change: Callable[[Goal], Goal]) -> None:
        await self._keep(goals.changed(self._kept, self._worked_on().id, change))

    async def _keep(self, all_goals: tuple[Goal, ...]) -> None:
        metadata = self._session.state.header.metadata
        await self._change_metadata(replace(metadata, goals=all_goals))


def _is_ahead(milestone: Milestone, words: str) -> bool:
    return milestone.reached_at is None and milestone.text.casefold() == words.casefold()


def _words(text: str) -> str:
    words = " ".join(clean(text).split())
    if not words:
        raise UsageError("empty text", "add a few words")
    return words
