"""What stands behind the context: goals, decisions, mode, model, and why an answer was slow."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap

from textual.content import Content

from ollm_tui.core.counts import counted
from ollm_tui.core.intake import visible
from ollm_tui.core.session.message import Usage
from ollm_tui.core.session.session import Metadata
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.engine.conversation.conversation_goals import ConversationGoals
from ollm_tui.tui.gauge.gauge_line import times_words
from ollm_tui.tui.goals.goal_lists import decided_words
from ollm_tui.tui.stream.entries.message_entries import cached_words, local_time, why_slow

LABEL_CELLS = 9
LEAST_CELLS = 20
NO_GOAL = "none: /goal and a few words set one"
Row = tuple[str, str]


def facts_text(conversation: Conversation, width: int) -> Content:
    """All of them, each with a word for what it is in front, broken into lines of a width."""
    rows = [_goal(conversation.goals), *_who(conversation)]
    rows += [*_compressed(conversation.state.header.metadata), *_speed(conversation.state)]
    rows += [*_told(conversation), *_noted(conversation.goals)]
    lines: list[Content] = []
    for label, text in rows:
        for line in wrap(visible(text), max(width - LABEL_CELLS, LEAST_CELLS)):
            lines.append(Content.assemble((label.ljust(LABEL_CELLS), "$text-muted"), line))
            label = ""
    return Content("\n").join(lines)


def _who(conversation: Conversation) -> Iterator[Row]:
    choice, mode = conversation.choice, conversation.mode
    most = choice.largest_window
    window = "unknown" if choice.window is None else f"{choice.window:,}"
    largest = f" of {most:,}" if most and most != choice.window else ""
    yield "model", f"{choice.model} · {choice.provider.name} · window {window}{largest}"
    yield "mode", f"{mode.name} · {mode.prompt}" if mode.prompt else mode.name


def _compressed(metadata: Metadata) -> Iterator[Row]:
    """How often, and what the last one that is on record did."""
    done = [each for each in metadata.compression_history if each.before != each.after]
    times = times_words(metadata)
    if not (times and done):
        return
    last = done[-1]
    tokens = f"{last.before_tokens:,} → {last.after_tokens:,} tokens"
    undone = ", undone" if last.undone_at else ""
    yield "context", f"{times}, last {local_time(last.at)}: {tokens}{undone}"


def _goal(goals: ConversationGoals) -> Row:
    if goals.active is None:
        return "goal", NO_GOAL
    steps = goals.active.subtasks
    done = sum(step.done for step in steps)
    progress = f" · {done} of {counted(len(steps), 'step')} done" if steps else ""
    return "goal", f"{goals.active.text}{progress}"


def _told(conversation: Conversation) -> Iterator[Row]:
    """What else the model is told in every prompt."""
    goals = conversation.goals
    for number, step in enumerate(goals.active.subtasks if goals.active else (), 1):
        yield "done" if step.done else "to do", f"{number}. {step.text}"
    for number, blocker in enumerate(goals.active.blockers if goals.active else (), 1):
        yield "blocked", f"{number}. {blocker}"
    for number, decision in enumerate(goals.decisions, 1):
        if decision.locked:
            yield "decided", f"{number}. {decided_words(decision)}"
    for note in conversation.notes.all:
        yield "note", f"{note.key}: {note.content}"


def _noted(goals: ConversationGoals) -> Iterator[Row]:
    """What is kept of goals and decisions without the model being told."""
    for number, decision in enumerate(goals.decisions, 1):
        if not decision.locked:
            yield "open", f"{number}. {decided_words(decision)}"
    for milestone in goals.active.milestones if goals.active else ():
        yield "passed" if milestone.reached_at else "ahead", milestone.text
    for artifact in goals.active.artifacts if goals.active else ():
        yield "made", artifact
    for goal in goals.all:
        if goal.status != "active":
            yield "paused" if goal.status == "paused" else "reached", goal.text


def _speed(state: SessionState) -> Iterator[Row]:
    """Where the time of the last answer went, and what of its prompt was known already."""
    usage = _last_usage(state)
    if usage is None:
        yield "speed", "measured with the first answer"
        return
    if cached := cached_words(usage):
        yield "cached", cached
    if times := why_slow(usage):
        yield "speed", times


def _last_usage(state: SessionState) -> Usage | None:
    step, seen = state.header.head, set[str]()
    while step is not None and step not in seen:
        seen.add(step)
        if usage := state[step].usage:
            return usage
        step = state.parent(step)
    return None
