"""What the user wants of the model in one session: its system prompt, temperature and thinking."""

from __future__ import annotations

from typing import cast, get_args

from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import clean, visible
from ollm_tui.core.provider import Thinking, ThinkingLevel
from ollm_tui.core.session.session import Session
from ollm_tui.engine.context.system_prompt import DEFAULT_PROMPT
from ollm_tui.engine.conversation.held_session import HeldSession

DEFAULT = "default"
"""Takes a wish back."""
HOTTEST = 2.0
LEVELS = ("off", "on", *get_args(ThinkingLevel))
"""What can be said about thinking."""


class ConversationWishes:
    """Reads and records the wishes of one session; they hold from the next message on."""

    def __init__(self, session: HeldSession) -> None:
        self._session = session

    @property
    def system(self) -> str:
        """The system prompt."""
        return self._session.state.header.system_prompt

    @property
    def temperature(self) -> str:
        """The temperature, in words."""
        wanted = self._session.state.header.temperature
        return DEFAULT if wanted is None else f"{wanted:g}"

    @property
    def thinking(self) -> str:
        """How long the model thinks, in words."""
        wanted = self._session.state.header.thinking
        return DEFAULT if wanted is None else _word(wanted)

    async def set_system(self, words: str) -> None:
        """Use another system prompt; `default` brings back the usual one."""
        text = clean(words).strip()
        await self._session.change(systemPrompt=DEFAULT_PROMPT if text == DEFAULT else text)

    async def set_temperature(self, word: str) -> None:
        """Use another temperature. UsageError if it is none."""
        if word == DEFAULT:
            await self._session.change(temperature=None)
            return
        try:
            wanted = float(word)
        except ValueError:
            wanted = -1.0
        if not 0 <= wanted <= HOTTEST:
            hint = f"0 to {HOTTEST:g}, or {DEFAULT}"
            raise UsageError(f"not a temperature: {visible(word)}", hint)
        await self._session.change(temperature=wanted)

    async def set_thinking(self, word: str) -> None:
        """Have the model think for longer, or less, or not at all. UsageError if it is no level."""
        if word not in (*LEVELS, DEFAULT):
            raise UsageError(
                f"not a thinking level: {visible(word)}", ", ".join((*LEVELS, DEFAULT))
            )
        wanted = {"off": False, "on": True, DEFAULT: None}.get(word, word)
        await self._session.change(thinking=wanted)


def wanted_thinking(header: Session, usual: Thinking | None) -> Thinking | None:
    """How long the model thinks: as the session wants it, else as usual."""
    wanted = header.thinking
    if isinstance(wanted, bool) or wanted in get_args(ThinkingLevel):
        return cast(Thinking, wanted)
    return usual


def _word(wanted: bool | str) -> str:
    if isinstance(wanted, bool):
        return "on" if wanted else "off"
    return wanted
