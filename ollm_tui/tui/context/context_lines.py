"""The context in lines: facts about the session, a line per item, and the actions on messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from types import MappingProxyType
from typing import NamedTuple

from textual.content import Content

from ollm_tui.core.counts import counted
from ollm_tui.core.intake import visible
from ollm_tui.core.session.context_marks import Action, ContextChange, Mark, Marks
from ollm_tui.core.session.message import Usage
from ollm_tui.core.session.session import Metadata
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.engine.context.context_view import ContextItem, ContextView
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.engine.conversation.conversation_goals import ConversationGoals
from ollm_tui.services.tokens.prompt_count import Count
from ollm_tui.tui.context.words import MARK_WORDS, NO_GOAL, WHOSE
from ollm_tui.tui.gauge.gauge_line import times_words
from ollm_tui.tui.goals.goal_lists import decided_words
from ollm_tui.tui.kit.choice_list import Choice
from ollm_tui.tui.stream.entries.message_entries import cached_words, local_time, why_slow

LABEL_CELLS = 9
"""Cells for the word before a fact."""
LEAST_CELLS = 20
"""Cells of a fact at least, also where the screen is narrower."""
RECALLED = ":recalled"
"""The end of the key of a line for what a message brought from earlier sessions."""
Row = tuple[str, str]
"""A word for what a fact is about, and the fact."""


def facts_text(conversation: Conversation, width: int) -> Content:
    """Return the facts of a conversation, each after a word for it, in lines of a width."""
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
    """Yield the model with its window, and the mode."""
    choice, mode = conversation.choice, conversation.mode
    most = choice.largest_window
    window = "unknown" if choice.window is None else f"{choice.window:,}"
    largest = f" of {most:,}" if most and most != choice.window else ""
    yield "model", f"{choice.model} · {choice.provider.name} · window {window}{largest}"
    yield "mode", f"{mode.name} · {mode.prompt}" if mode.prompt else mode.name


def _compressed(metadata: Metadata) -> Iterator[Row]:
    """Yield how often the context was compressed, and what the last compression did."""
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
    """Yield what else of goals and notes is in every prompt."""
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
    """Yield what is kept of goals and decisions but not sent to the model."""
    for number, decision in enumerate(goals.decisions, 1):
        if not decision.locked:
            yield "open", f"{number}. {decided_words(decision)}"
    for milestone in goals.active.milestones if goals.active else ():
        yield "reached" if milestone.reached_at else "ahead", milestone.text
    for artifact in goals.active.artifacts if goals.active else ():
        yield "made", artifact
    for goal in goals.all:
        if goal.status != "active":
            yield "paused" if goal.status == "paused" else "reached", goal.text


def _speed(state: SessionState) -> Iterator[Row]:
    """Yield where the time of the last answer went, and how much of its prompt was cached."""
    usage = _last_usage(state)
    if usage is None:
        return
    if cached := cached_words(usage):
        yield "cached", cached
    if times := why_slow(usage):
        yield "speed", times


def _last_usage(state: SessionState) -> Usage | None:
    """Return the usage of the last answer on the current branch that has one."""
    # A damaged file may hold a circle of parents.
    step, seen = state.header.head, set[str]()
    while step is not None and step not in seen:
        seen.add(step)
        if usage := state[step].usage:
            return usage
        step = state.parent(step)
    return None


class MessageAction(NamedTuple):
    """An action on messages, and the one that reverses it."""

    action: Action
    word: str
    reverse: Action | None = None
    reverse_word: str = ""
    mark: Mark = ""
    """The mark of messages to which the reverse applies."""

    def change(self, keys: tuple[str, ...], marks: Marks) -> tuple[ContextChange, str]:
        """Return the change to messages and a word for it; the reverse if all have the mark."""
        if self.reverse and all(marks.mark(key) == self.mark for key in keys):
            return ContextChange(self.reverse, keys), self.reverse_word
        return ContextChange(self.action, keys), self.word


MESSAGE_ACTIONS: Mapping[str, MessageAction] = MappingProxyType(
    {
        "pin": MessageAction("pin", "pin", "unpin", "unpin", "pinned"),
        "leave_out": MessageAction("exclude", "exclude", "include", "include", "excluded"),
        "drop": MessageAction("drop", "exclude the exchange"),
        "fold": MessageAction("fold", "fold", "unfold", "unfold", "folded"),
    }
)


def item_choices(view: ContextView, *, in_order: bool, unicode: bool) -> list[Choice]:
    """Return a line per item of the context, the largest first or in the order of the prompt."""
    items: Sequence[ContextItem] = [line for item in view.items for line in _lines(item)]
    if not in_order:
        items = sorted(items, key=lambda item: -item.tokens.tokens)
    marks = {"pinned": "★", "excluded": "✕", "folded": "▸", "covered": "▪", "elided": "▹"}
    if not unicode:
        marks = {"pinned": "*", "excluded": "x", "folded": ">", "covered": "=", "elided": "~"}
    used = max(view.count.tokens, 1)
    return [_choice(item, used, marks.get(item.mark, " ")) for item in items]


def _lines(item: ContextItem) -> Iterator[ContextItem]:
    """Yield the item; what a message brought from earlier sessions is an item of its own."""
    if item.recalled is None:
        yield item
        return
    title, brought = item.recalled
    left = item.tokens.tokens - brought.tokens
    source = "estimated" if brought.source == "estimated" else item.tokens.source
    yield item._replace(tokens=Count(left, source))
    yield item._replace(key=f"{item.key}{RECALLED}", title=title, tokens=brought)


def _choice(item: ContextItem, used: int, mark: str) -> Choice:
    share = f"{round(item.tokens.tokens * 100 / used)} %"
    whose = "recalled" if item.key.endswith(RECALLED) else WHOSE[item.group]
    words = (whose, MARK_WORDS.get(item.mark, ""))
    note = words[1] if item.mark == "pinned" else " · ".join(filter(None, words))
    return Choice(item.key, item.title, note, f"{item.tokens!s:>8} {share:>6}  {mark}")
