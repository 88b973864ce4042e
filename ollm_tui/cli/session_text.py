"""Sessions, snapshots and their differences as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, assert_never

import msgspec

from ollm_tui.cli.output import short_time, today
from ollm_tui.core.counts import counted, short_count
from ollm_tui.core.intake import clean, visible
from ollm_tui.core.session.message import (
    Approval,
    Attachment,
    Message,
    Opaque,
    Part,
    Reasoning,
    Retrieval,
    Text,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
)
from ollm_tui.core.session.session_state import SessionState
from ollm_tui.core.session.titles import title_of
from ollm_tui.core.snapshot import ContextSnapshot, Reason
from ollm_tui.services.snapshots.snapshot_diff import Change, ContextDiff, MessageDiff

WHY: dict[Reason, str] = {
    "compression": "before compressing",
    "threshold": "nearly full",
    "overflow": "before a message that was too long",
    "restore": "before a rewind",
    "clear": "before clearing",
    "model": "before a model switch",
    "mode": "before a mode switch",
    "tool": "before a change by the model",
    "fork": "before a fork",
    "manual": "by hand",
    "older": "earlier program",
}
"""The reasons for a snapshot, in words."""
_STATES = {
    "streaming": "interrupted",
    "interrupted": "interrupted",
    "cancelled": "stopped",
    "failed": "failed",
    "length": "cut at the output limit",
}
_SIGNS = {"added": "+", "gone": "-", "changed": "~"}
_LOOKED_AT = 500
"""How many characters of a message are enough for a line."""


def transcript(state: SessionState) -> str:
    """Return the current branch, oldest message first, safe to print."""
    header = state.header
    branch = state.branch()
    day = today()
    lines = [
        clean(header.title) or "Untitled",
        f"{header.session_id} · {clean(header.provider)} · "
        f"started {short_time(header.start_time, day)}",
    ]
    if header.continues:
        lines.append(f"continues {visible(header.continues)}")
    if header.continued_in:
        lines.append(f"continued in {visible(header.continued_in)}")
    if others := len(state) - len(branch):
        lines.append(f"{others} more messages are on other branches")
    metadata = header.metadata
    if metadata.token_count:
        about = "≈" if metadata.tokens_estimated else ""
        window = f" of {header.window:,}" if header.window else ""
        lines.append(f"context {about}{metadata.token_count:,}{window} tokens")
    for message in branch:
        lines += ["", *message_lines(message, day)]
    return "\n".join(lines)


def snapshot_text(snapshot: ContextSnapshot) -> str:
    """Return the facts of a snapshot and then what the model would see, safe to print."""
    return "\n".join([*_facts(snapshot), *_said(snapshot)])


def diff_text(left: ContextSnapshot, right: ContextSnapshot, found: ContextDiff) -> str:
    """Return what changes from the left snapshot to the right one, safe to print."""
    lines = [f"from  {_title(left)}", f"to    {_title(right)}", ""]
    if found.tokens[0] != found.tokens[1]:
        before, after = ("≈" if estimated else "" for estimated in found.estimated)
        lines.append(f"tokens: {before}{found.tokens[0]:,} → {after}{found.tokens[1]:,}")
    lines += _changes("", [change for change in found.facts if change.what != "system prompt"])
    if any(change.what == "system prompt" for change in found.facts):
        lines.append("system prompt: changed")
    lines += _changes("goal ", found.goals)
    lines += _changes("file ", found.files)
    for each in found.pins:
        lines.append(f"pin {'+' if each.key in right.pins else '-'} {_words(each, found)}")
    lines += [
        f"{_SIGNS[each.outcome]} {_words(each, found)}{_forms(each)}"
        for each in found.messages
        if each.outcome != "same"
    ]
    same = found.count("same")
    if len(lines) == 3:  # only the heading
        return "\n".join([*lines, f"no differences; {counted(same, 'message')} in both"])
    return "\n".join([*lines, "", f"{counted(same, 'message')} unchanged"])


def diff_tree(found: ContextDiff) -> dict[str, Any]:
    """Return a difference for JSON: every message with its role and text, where they are known."""
    tree: dict[str, Any] = msgspec.to_builtins(msgspec.structs.replace(found, words={}))
    del tree["words"]
    for each in tree["messages"]:
        if message := found.words.get(each["key"]):
            each |= {"role": message.role, "text": message.text}
    return tree


def message_lines(message: Message, day: str) -> list[str]:
    """Return one message in lines: who, when and how it ended, then the text; `day` is today."""
    return [_head(message, day), *_body(message)]


def _head(message: Message, day: str) -> str:
    who = "you" if message.role == "user" else message.model or message.role
    facts = [f"── {clean(who)}", short_time(message.timestamp, day)]
    if message.usage:
        facts.append(f"{short_count(message.usage.output_tokens)} tokens")
    if state := _STATES.get(message.status):
        facts.append(state)
    return " · ".join(fact for fact in facts if fact)


def _body(message: Message) -> list[str]:
    lines = [clean(text) for part in message.parts if (text := _part(part))]
    if message.error:
        lines.append(f"[{clean(message.error)}]")
    return lines


def _part(part: Part) -> str:
    match part:
        case Text():
            return part.text
        case Reasoning():
            return "\n".join(f"| {line}" for line in part.text.splitlines())
        case ToolCallPart():
            return f"[asks for {part.name} {part.raw_arguments or part.args}]"
        case ToolResultPart():
            return f"[{part.name} returned]\n{part.content}"
        case Attachment():
            return f"[{part.name}, {part.media_type}]"
        case Retrieval():
            return f"[recalled from {part.session_id}]\n{part.text}"
        case Approval():
            return f"[{part.decision}]"
        case Opaque():
            return ""  # only its server can read it
        case UnknownPart():
            return "[written by a newer version]"
        case _:
            assert_never(part)


def _facts(snapshot: ContextSnapshot) -> Iterator[str]:
    window = f" of {snapshot.window:,}" if snapshot.window else ""
    facts = {
        "snapshot": snapshot.id,
        "name": clean(snapshot.name) + (" (pinned)" if snapshot.pinned else ""),
        "session": snapshot.session_id,
        "taken": f"{short_time(snapshot.timestamp)}, {WHY[snapshot.reason]}",
        "model": f"{visible(snapshot.metadata.model)} · {visible(snapshot.provider)}",
        "mode": visible(snapshot.mode),
        "tokens": f"{'≈' if snapshot.tokens_estimated else ''}{snapshot.token_count:,}{window}",
        "messages": f"{len(snapshot.order):,}",
        "goals": "; ".join(visible(goal.text) for goal in snapshot.goal_stack.goals),
        "files": "; ".join(visible(file.path) for file in snapshot.files),
    }
    width = max(map(len, facts))
    return (f"{name:{width}}  {fact}" for name, fact in facts.items() if fact.strip())


def _said(snapshot: ContextSnapshot) -> Iterator[str]:
    """Yield the messages; a checkpoint's summary stands where the messages it covers begin."""
    held = {message.id: message for message in snapshot.sent()}
    starts = {each.messages[0]: each for each in snapshot.checkpoints if each.messages}
    day, missing = today(), 0
    for key in snapshot.order:
        if checkpoint := starts.get(key):
            yield f"\n── checkpoint for {counted(len(checkpoint.messages), 'message')}"
            yield clean(checkpoint.summary).strip() or "(no summary: no model used)"
        if message := held.get(key):
            yield ""
            yield from message_lines(message, day)
        else:
            missing += 1
    if missing:
        yield f"\n{counted(missing, 'message')} behind a checkpoint; ollm sessions view has them"


def _title(snapshot: ContextSnapshot) -> str:
    name = clean(snapshot.name or snapshot.summary)
    return f"{short_time(snapshot.timestamp)}  {counted(len(snapshot.order), 'message')}  {name}"


def _changes(before: str, changes: Sequence[Change]) -> Iterator[str]:
    for what, left, right in changes:
        yield f"{before}{visible(what)}: {visible(left) or '(none)'} → {visible(right) or '(none)'}"


def _words(each: MessageDiff, found: ContextDiff) -> str:
    message = found.words.get(each.key)
    return _line(message) if message else f"(message {each.key[:8]}, behind a checkpoint)"


def _line(message: Message) -> str:
    who = "you" if message.role == "user" else message.model or message.role
    said = message.text or ", ".join(call.name for call in message.tool_calls)
    return f"{visible(who)}: {visible(title_of(said[:_LOOKED_AT]))}"


def _forms(each: MessageDiff) -> str:
    return f"  ({each.left} → {each.right})" if each.outcome == "changed" else ""
