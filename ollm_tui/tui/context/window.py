"""The size of the window: changed by `/window`, with what it costs and means told first."""

from __future__ import annotations

from ollm_tui.core.counts import short_count, short_size
from ollm_tui.core.errors import UsageError
from ollm_tui.engine.context.context_view import ContextView
from ollm_tui.engine.conversation.conversation import Conversation
from ollm_tui.engine.conversation.model_choice import ModelChoice
from ollm_tui.engine.conversation.window_size import HOW_TO_RESIZE, window_size
from ollm_tui.tui.chat.port import ChatPort
from ollm_tui.tui.context.words import (
    RELOADS,
    THE_MODEL_HAS_CHANGED,
    WHY_NOT_RESIZED,
    WINDOW_AGAIN,
    WINDOW_UNCHANGED,
)
from ollm_tui.tui.kit.question import Confirmation


async def window(chat: ChatPort, argument: str) -> None:
    """Tell how large the window is, or change it (`16k`, `8192`, `auto`) after its effect was
    shown. UsageError if that is no size, or if the server alone decides."""
    conversation = chat.conversation
    choice = conversation.choice
    if not argument:
        chat.tell(about_window(choice))
        return
    wanted = await window_size(argument.strip(), choice, chat.app.workspace.models)
    if wanted == choice.window:
        chat.tell(about_window(choice))
        return
    changed = choice._replace(window=wanted)
    effect = window_effect(choice, changed, await conversation.preview_model(changed))

    def answered(is_meant: bool | None) -> None:
        if is_meant:
            chat.screen.run_worker(chat.attempt(lambda: _use(chat, conversation, changed)))
        else:
            chat.tell(WINDOW_UNCHANGED)

    chat.ask(Confirmation(f"Use a window of {short_count(wanted)}?", effect), answered)


async def _use(chat: ChatPort, conversation: Conversation, changed: ModelChoice) -> None:
    before = conversation.choice
    if before[:2] != changed[:2]:
        raise UsageError(THE_MODEL_HAS_CHANGED, WINDOW_AGAIN)
    await conversation.use(before._replace(window=changed.window))
    chat.lines.show_facts()
    chat.tell(f"Window {before.window or 0:,} → {changed.window or 0:,}")


def about_window(choice: ModelChoice) -> str:
    """Return how large the window is, why not larger, and what it takes, in one line."""
    if choice.window is None:
        return WHY_NOT_RESIZED
    facts = [f"Window {choice.window:,}"]
    if choice.largest_window:
        largest = choice.largest_window
        is_all = choice.window >= largest
        facts.append("the model's maximum" if is_all else f"model maximum {largest:,}")
    if choice.window_bytes_per_token:
        facts.append(f"uses {short_size(choice.window * choice.window_bytes_per_token)}")
    if choice.resizable:
        facts.append(HOW_TO_RESIZE)
    return " · ".join(facts)


def window_cost(choice: ModelChoice, window: int) -> str:
    """Return what another window costs: memory, and loading the model again."""
    more = (window - (choice.window or 0)) * (choice.window_bytes_per_token or 0)
    size = short_size(abs(more))
    needs = "" if not more else f"needs {size} more" if more > 0 else f"frees {size}"
    return ", ".join(part for part in (needs, RELOADS if choice.resizable else "") if part)


def window_effect(before: ModelChoice, after: ModelChoice, view: ContextView) -> str:
    """Return what another window would mean, before it is used."""
    parts = [window_cost(before, after.window or 0)]
    room = view.budget.room
    if room is not None:
        used = f"the context uses {view.count.total} of {room.window:,} ({room.percent} %)"
        if view.budget.over_limit:
            then = (
                "the next message will be refused"
                if view.refuses
                else "will be compressed before the next message"
            )
            used = f"{used}: too long, {then}"
        elif view.compresses == "trigger" and view.budget.needs_compression:
            used = f"{used}: will be compressed before the next message"
        parts.append(used)
    return "; ".join(part for part in parts if part)
