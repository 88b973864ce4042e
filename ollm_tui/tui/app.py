"""The application: theme, keys, the way in and the way out. Screens do the rest."""

from __future__ import annotations

import logging
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual.app import App
from textual.await_complete import AwaitComplete
from textual.driver import Driver
from textual.keys import Keys
from textual.screen import Screen
from textual.worker import (
    NoActiveWorker,
    Worker,
    WorkerFailed,
    get_current_worker,  # pyright: ignore[reportUnknownVariableType] Textual leaves it open
)

from ollm_tui.core.errors import OllmError
from ollm_tui.settings.loaded import Loaded
from ollm_tui.tui.chat.screen import ChatScreen
from ollm_tui.tui.keymap import check_keymap
from ollm_tui.tui.prompt.prompt import Prompt
from ollm_tui.tui.stream.transcript.looks import TranscriptStyles, transcript_styles
from ollm_tui.tui.terminal.abilities import Abilities, choose_theme
from ollm_tui.tui.themes import DEFAULT_THEME, load_theme, rounded

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ollm_tui.engine.conversation.conversation import Conversation
    from ollm_tui.engine.jobs.session_jobs import SessionJobs
    from ollm_tui.engine.project.workspace import Workspace
    from ollm_tui.services.sessions.prompt_memory import PromptMemory
    from ollm_tui.tui.jobs.shell_line import ShellLine


log = logging.getLogger(__name__)


class Backend(Protocol):
    """What works behind the screen; opened after the first picture, which needs none of it."""

    def open_workspace(self) -> Workspace:
        """Conversations and sessions."""
        ...

    def open_memory(self) -> PromptMemory:
        """Earlier prompts and drafts."""
        ...

    def open_jobs(self) -> SessionJobs:
        """Shells and what runs in them; whoever opened them closes them."""
        ...


OpenConversation = Callable[["Workspace"], Awaitable[tuple["Conversation", tuple[str, ...]]]]
"""Begins or resumes what the user asked for; also says what of it could not be read."""


class OllmApp(App[int]):
    """The full screen."""

    TITLE = "ollm"
    CSS_PATH = "chat/screen.tcss"  # here: Textual does not load that of a default screen
    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self,
        loaded: Loaded,
        behind: Backend,
        open_conversation: OpenConversation,
        abilities: Abilities,
    ) -> None:
        # Without colours the terminal's own two are used: Textual would send shades of grey.
        super().__init__(ansi_color=abilities.colours == 0 or None)
        self.loaded = loaded
        self._behind = behind
        self.open_conversation = open_conversation
        self.abilities = abilities
        self.conversation: Conversation | None = None
        """The one that is open now; whoever runs the application closes it in the end."""
        self.shell: ShellLine | None = None
        """Commands of the user's and of the model, once there was one."""
        self.is_looked_at = True
        """Whether the terminal has the focus, where terminals tell."""
        self.warnings = [str(warning) for warning in loaded.warnings]
        """What was odd on the way in, said in the stream."""
        self.set_class(not abilities.unicode, "-ascii")
        self._begin_theme(loaded.settings.ui.theme)
        self._begin_keys()
        # Terminals without the kitty protocol send this for Alt+Enter; Textual reads an Enter.
        cast(dict[str, object], ANSI_SEQUENCES_KEYS)["\x1b\r"] = (Keys.ControlJ,)

    @cached_property
    def workspace(self) -> Workspace:
        """Conversations and sessions."""
        return self._behind.open_workspace()

    @cached_property
    def memory(self) -> PromptMemory:
        """Earlier prompts and drafts."""
        return self._behind.open_memory()

    @cached_property
    def jobs(self) -> SessionJobs:
        """Shells and what runs in them."""
        return self._behind.open_jobs()

    @property
    def transcript_styles(self) -> TranscriptStyles:
        """How the stream looks in the current theme."""
        compact = self.loaded.settings.ui.density == "compact"
        return transcript_styles(
            self.current_theme, unicode=self.abilities.unicode, compact=compact
        )

    def use_theme(self, name: str) -> None:
        """Look different from now on. OllmError if there is no such theme."""
        chosen = load_theme(choose_theme(name, os.environ))
        if self.abilities.colours == 256:
            chosen = rounded(chosen)
        self.register_theme(chosen)
        self.theme = chosen.name

    def get_default_screen(self) -> Screen[None]:
        """One screen, for now and for most of the time."""
        return ChatScreen()

    def on_mount(self) -> None:
        """Back from the shell: nothing of the screen is left, so all of it is drawn again."""
        resumed = self.app_resume_signal  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] Textual leaves it open
        resumed.subscribe(self, self._draw_again)  # pyright: ignore[reportUnknownMemberType] Textual leaves it open

    async def leave(self) -> None:
        """End as the user would: drafts are kept."""
        for screen in self.screen_stack:
            if isinstance(screen, ChatScreen):
                await screen.leave()
                return
        self.exit(0)

    async def action_quit(self) -> None:
        """Leave, when the user wants it; jobs that would be ended are told of first. Ctrl+Q is
        Textual's own, which comes before that of the screen."""
        if not (self.shell and self.shell.asks_before_leaving()):
            await self.leave()

    def action_to_background(self, _if_empty: bool = False) -> None:
        """Let the command that runs go on in the background."""
        if self.shell:
            self.shell.to_background()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """The keys of a running command are others' while none runs; one while text is there."""
        if action == "to_background":
            is_free = not parameters or not (isinstance(self.focused, Prompt) and self.focused.text)
            return is_free and self.shell is not None and self.shell.movable is not None
        return super().check_action(action, parameters)

    def _draw_again(self, _app: App[object]) -> None:
        self.refresh(layout=True, repaint=True)

    def on_app_focus(self) -> None:
        """The terminal is looked at."""
        self.is_looked_at = True

    def on_app_blur(self) -> None:
        """The user looks at something else."""
        self.is_looked_at = False

    def get_driver_class(self) -> type[Driver]:
        """Textual's way to the terminal, guarded."""
        usual = super().get_driver_class()
        if usual.__name__ != "LinuxDriver":
            return usual
        # By name: there is no such module where there is no such terminal.
        return import_module("ollm_tui.tui.terminal.driver").TerminalDriver

    @property
    def failure(self) -> Exception | None:
        """The error of the program itself that ended it; whoever runs it tells the user."""
        return self._exception

    def panic(self, *renderables: RenderableType) -> None:
        """Something outside of the screens failed: end as for any other error."""
        if self._exception is None:
            self._handle_exception(RuntimeError("the terminal cannot be used any more"))
        else:
            super().panic(*renderables)

    def pop_screen(self) -> AwaitComplete:
        """Close a screen. What was still being read for it ends at once: its parts are taken away
        one by one, and a late answer would look for those that are gone."""
        closing, current = self.screen, None
        with suppress(NoActiveWorker):
            current = cast(Worker[object], get_current_worker())
        for worker in tuple(self.workers):
            if worker.node is closing and worker is not current:
                worker.cancel()
        return super().pop_screen()

    async def run_priority_key(self, key: str) -> bool:
        """Do what a key that comes before all others is bound to; whether there was such one."""
        return await super()._check_bindings(key, priority=True)

    async def _check_bindings(self, key: str, priority: bool = False) -> bool:
        """What is typed into the prompt waits in its queue; a key that comes before all others
        would overtake it there: Enter would send without the last letters, or before a paste.
        So while the prompt has the focus it asks for these keys when their turn comes."""
        if priority and isinstance(self.focused, Prompt):
            return False
        return await super()._check_bindings(key, priority)

    def _handle_exception(self, error: Exception) -> None:
        cause = error.error if isinstance(error, WorkerFailed) else error
        log.error("the screen failed", exc_info=cause)
        super()._handle_exception(cause if isinstance(cause, Exception) else error)

    def _print_error_renderables(self) -> None:
        """The trace is in the log; on the terminal one line is enough."""
        self._exit_renderables.clear()

    def _begin_theme(self, name: str) -> None:
        try:
            self.use_theme(name)
        except OllmError as error:
            self.warnings.append(f"{error.message}; {error.hint}")
            self.use_theme(DEFAULT_THEME)

    def _begin_keys(self) -> None:
        keymap, problems = check_keymap(self.loaded.settings.keymap)
        self.warnings += problems
        self.set_keymap(keymap)
