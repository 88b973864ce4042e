"""Suggests another mode in one line above the prompt; only the user switches."""

from __future__ import annotations

from ollm_tui.core.counts import percent
from ollm_tui.core.intake import visible
from ollm_tui.engine.conversation.mode_suggestion import suggested_mode
from ollm_tui.tui.chat.port import ChatPort
from ollm_tui.tui.chat.trust import bar_of
from ollm_tui.tui.chat.trust_question import MODE, Question
from ollm_tui.tui.chat.words import MODE_DISMISSED, MODE_LATER

_USE, _NEVER = "use", "no"


class DismissedModes(set[str]):
    """The modes that are not suggested again in one conversation."""


async def suggest(chat: ChatPort) -> None:
    """Ask whether to use the mode that fits what was just asked, where there is one."""
    conversation = chat.conversation
    found = suggested_mode(conversation.state.branch(), conversation.mode)
    dismissed = chat.part(DismissedModes, DismissedModes)
    known = {mode.name for mode in conversation.modes}
    if found is None or found.mode in dismissed or found.mode not in known:
        return

    async def give(answer: str) -> str:
        if answer != _USE:
            dismissed.add(found.mode)
            return MODE_DISMISSED
        await conversation.change_mode(found.mode, "auto", round(found.confidence, 2))
        chat.lines.show_facts()
        return f"Mode: {visible(found.mode)}"

    sure = percent(found.confidence)
    words = f"{found.mode.capitalize()} mode? {found.reason.capitalize()} ({sure} sure)."
    answers = {"y": _USE, "n": _NEVER}
    question = Question(MODE, words, answers, "", give, later=MODE_LATER, is_brief=True)
    (await bar_of(chat)).ask(question)
