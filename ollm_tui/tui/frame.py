"""What every screen finds around it: the settings, the terminal, the theme, the services behind.

The application itself is in `app.py`, which knows the chat screen. Screens know only this frame,
so that none of them has to know the others.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar, cast

from textual._ansi_sequences import ANSI_SEQUENCES_KEYS
from textual.app import App
from textual.await_complete import AwaitComplete
from textual.events import Event, Key
from textual.keys import Keys
from textual.screen import Screen
from textual.theme import Theme
from textual.worker import (
    NoActiveWorker,
    Worker,
    WorkerFailed,
    get_current_worker,  # pyright: ignore[reportUnknownVariableType] Textual leaves it open
)

from ollm_tui.core.errors import OllmError
from ollm_tui.settings.loaded import Loaded
from ollm_tui.tui.keymap import Hints, check_keymap
from ollm_tui.tui.stream.transcript.looks import TranscriptStyles, transcript_styles
from ollm_tui.tui.terminal.abilities import Abilities, choose_theme
from ollm_tui.tui.terminal.desktop_notice import BELL, notice_kind, notice_sequence
from ollm_tui.tui.terminal.input_queue import InputQueue
from ollm_tui.tui.themes import DEFAULT_THEME, load_theme, rounded

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ollm_tui.engine.conversation.conversation import Conversation
    from ollm_tui.engine.jobs.session_jobs import SessionJobs
    from ollm_tui.engine.project.workspace import Workspace
    from ollm_tui.services.sessions.prompt_memory import PromptMemory


log = logging.getLogger(__name__)

T = TypeVar("T")


class Backend(Protocol):
    """The services behind the screens. They are opened after the first paint, which needs none."""

    def load(self) -> None:
        """Imports what the workspace is made of. Run in a thread, it keeps no key waiting."""
        ...

    def note_opened(self) -> None:
        """Hears that another conversation was opened, and the one before it closed."""
        ...

    def open_workspace(self) -> Workspace:
        """Opens conversations and sessions."""
        ...

    def open_memory(self) -> PromptMemory:
        """Opens earlier prompts and drafts."""
        ...

    def open_jobs(self) -> SessionJobs:
        """Opens the shells and what runs in them; whoever opened them closes them."""
        ...


class RunningCommands(Protocol):
    """The commands of the user that run now, as far as keys and lines of state ask for them."""

    @property
    def foreground(self) -> str | None:
        """The job that is waited for in the open session."""
        ...

    @property
    def movable(self) -> str | None:
        """The job that can go to the background."""
        ...

    @property
    def doing(self) -> str:
        """What runs in the foreground, in words."""
        ...

    @property
    def would_end(self) -> str:
        """How many jobs quitting would end, in words; empty if none runs."""
        ...

    def waits_in(self, session_id: str) -> bool:
        """Whether a command is waited for in a session."""
        ...

    def show_again(self) -> None:
        """Draws the commands of the session that is shown now that it has no record of yet."""
        ...

    def stop(self) -> bool:
        """Stops the command in the foreground; returns whether there was one."""
        ...

    def to_background(self) -> None:
        """Lets the command that is waited for go on. UsageError if there is none."""
        ...


OpenConversation = Callable[["Workspace"], Awaitable[tuple["Conversation", tuple[str, ...]]]]
"""Begins or resumes what the user asked for; also returns what of it could not be read."""


class Beginning(NamedTuple):
    """What the command line asked for once a conversation is open."""

    question: str = ""
    picks_session: bool = False
    only_looks: bool = False
    """Whether a session is shown live and nothing can be written."""


class Frame(App[int]):
    """The application as its screens know it."""

    TITLE = "ollm"
    ENABLE_COMMAND_PALETTE = False

    def __init__(
        self,
        loaded: Loaded,
        backend: Backend,
        open_conversation: OpenConversation,
        abilities: Abilities,
        beginning: Beginning | None = None,
    ) -> None:
        # Without colours the terminal's own two are used: Textual would send shades of grey.
        super().__init__(ansi_color=abilities.colours == 0 or None)
        self.loaded = loaded
        self._backend = backend
        self.open_conversation = open_conversation
        self.abilities = abilities
        self.beginning = beginning or Beginning()
        self.conversation: Conversation | None = None
        """The conversation in front; whoever runs the application closes all in the end. Features
        ask their port instead, which belongs to one conversation."""
        self.conversations: list[Conversation] = []
        """All open conversations, also those that are not in front."""
        self.shell: RunningCommands | None = None
        """Commands of the user and of the model, once there was one."""
        self.is_looked_at = True
        """Whether the terminal has the focus, where terminals tell."""
        self.warnings = [str(warning) for warning in loaded.warnings]
        """What was wrong with the settings, shown at the top of the stream."""
        if loaded.project and not loaded.project.awaits_answer and loaded.project.notice:
            self.warnings.append(loaded.project.notice)  # what awaits an answer is a question
        self.starts_again = False
        self.ends_at_once = False
        """Whether it was told to end before its first screen was there, which then ends it."""
        """Whether the program is to start again in the place of this one, with settings that count
        only now."""
        self._parts: dict[type[object], object] = {}
        self._input = InputQueue(self, super().on_event, self._handle_exception)
        self.set_class(not abilities.unicode, "-ascii")
        self.further_themes: dict[str, Theme] = {}
        """Themes of extensions, once these are loaded."""
        self.missing_theme = self.theme_problem = ""
        """The theme of the settings if there is none of that name, and a line that says so: an
        extension may still bring it."""
        self._begin_theme(loaded.settings.ui.theme)
        self._begin_keys()
        # What terminals without the kitty protocol send for Alt+Enter and for Alt and a digit:
        # Textual reads an Enter, and what Option and a digit type on a Mac.
        sequences = cast(dict[str, object], ANSI_SEQUENCES_KEYS)
        sequences["\x1b\r"] = (Keys.ControlJ,)
        for digit in "0123456789":
            sequences.pop(f"\x1b{digit}", None)

    # Services

    async def load_services(self) -> None:
        """Imports what is behind the screens, in a thread: keys are echoed meanwhile."""
        await asyncio.to_thread(self._backend.load)

    def note_opened(self) -> None:
        """Tells that another conversation was opened."""
        self._backend.note_opened()

    @cached_property
    def workspace(self) -> Workspace:
        """Conversations and sessions."""
        return self._backend.open_workspace()

    @cached_property
    def memory(self) -> PromptMemory:
        """Earlier prompts and drafts."""
        return self._backend.open_memory()

    @cached_property
    def jobs(self) -> SessionJobs:
        """Shells and what runs in them."""
        return self._backend.open_jobs()

    def part(self, kind: type[T], make: Callable[[], T]) -> T:
        """Returns the one object of a kind that a feature keeps for the whole program."""
        if kind not in self._parts:
            self._parts[kind] = make()
        return cast(T, self._parts[kind])

    async def leave(self) -> None:
        """Ends the program."""
        self.exit(0)

    async def start_again(self) -> None:
        """Ends the program, which then starts again with the same session."""
        self.starts_again = True
        await self.leave()

    # Looks

    @property
    def transcript_styles(self) -> TranscriptStyles:
        """How the stream looks in the current theme."""
        settings = self.loaded.settings
        return transcript_styles(
            self.current_theme,
            unicode=self.abilities.unicode,
            compact=settings.ui.density == "compact",
            stamps=settings.ui.timestamps,
            column=settings.ui.text_width,
            is_centred=settings.ui.text_align == "centre",
            copy_hint=Hints(settings.keymap).line(("message.copy_code", "copy")),
        )

    def use_theme(self, name: str) -> None:
        """Changes the theme. OllmError if there is no such theme."""
        chosen = self.further_themes.get(name) or load_theme(choose_theme(name, os.environ))
        if self.abilities.colours == 256:
            chosen = rounded(chosen)
        self.register_theme(chosen)
        self.theme = chosen.name

    def refresh_css(self, animate: bool = True) -> None:
        """Gives the styles the colours of another theme. At the start they have yet to be read;
        Textual would read them twice."""
        if self.children:
            super().refresh_css(animate)
        else:
            self.stylesheet.set_variables(self.get_css_variables())

    def _begin_theme(self, name: str) -> None:
        try:
            self.use_theme(name)
        except OllmError as error:
            self.missing_theme, self.theme_problem = name, error.line
            self.use_theme(DEFAULT_THEME)

    def _begin_keys(self) -> None:
        keymap, problems = check_keymap(self.loaded.settings.keymap)
        self.warnings += problems
        self.set_keymap(keymap)

    def get_screen(  # pyright: ignore[reportIncompatibleMethodOverride] none has a name here
        self, screen: Screen[T], screen_class: type[Screen[T]] | None = None
    ) -> Screen[T]:
        """Gives a screen the classes of its size before it is first laid out. Textual does so
        afterwards, and then styles it, lays it out and draws it once more."""
        if not screen.is_running:
            steps_and_room = (
                (screen.HORIZONTAL_BREAKPOINTS or (), self.size.width),
                (screen.VERTICAL_BREAKPOINTS or (), self.size.height),
            )
            for steps, room in steps_and_room:
                if fitting := [step for step in steps if step[0] <= room]:
                    screen.add_class(max(fitting)[1], update=False)
        return super().get_screen(screen, screen_class)  # pyright: ignore[reportUnknownMemberType] Textual leaves it open

    # The terminal

    async def on_event(self, event: Event) -> None:
        """Lets keys, pastes and clicks wait for those before them."""
        if isinstance(event, Key) and event.key.startswith("alt+"):
            event.character = None  # without a command of its own, Alt and a letter type nothing
        if InputQueue.takes(event):
            await self._input.add(event)
        else:
            await super().on_event(event)

    def on_mount(self) -> None:
        """Draws everything again after a suspend: nothing of the screen is left then."""
        resumed = self.app_resume_signal  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType] Textual leaves it open
        resumed.subscribe(self, self._draw_again)  # pyright: ignore[reportUnknownMemberType] Textual leaves it open

    def _draw_again(self, _app: App[object]) -> None:
        self.refresh(layout=True, repaint=True)

    def on_app_focus(self) -> None:
        """Notes that the terminal has the focus."""
        self.is_looked_at = True

    def on_app_blur(self) -> None:
        """Notes that the terminal has lost the focus."""
        self.is_looked_at = False

    def call_user(self, words: str) -> None:
        """Tells somebody who looks elsewhere, as the settings want it; others see it anyway."""
        if self.is_looked_at:
            return
        kind = notice_kind(self.loaded.settings.ui.notifications, os.environ)
        sequence = notice_sequence(kind, words)
        if sequence == BELL:
            self.bell()
        elif sequence and self._driver:
            self._driver.write(sequence)
            self._driver.flush()

    def pop_screen(self) -> AwaitComplete:
        """Closes a screen, and ends at once what was still being read for it: its widgets are
        removed one by one, and a late answer would look for those that are gone."""
        closing, current = self.screen, None
        with suppress(NoActiveWorker):
            current = cast(Worker[object], get_current_worker())
        for worker in tuple(self.workers):
            if worker.node is closing and worker is not current:
                worker.cancel()
        return super().pop_screen()

    # Failures

    @property
    def failure(self) -> Exception | None:
        """The error of the program itself that ended it; whoever runs it tells the user."""
        return self._exception

    def panic(self, *renderables: RenderableType) -> None:
        """Ends as for any other error when something outside of the screens failed."""
        if self._exception is None:
            self._handle_exception(RuntimeError("the terminal cannot be used any more"))
        else:
            super().panic(*renderables)

    def _handle_exception(self, error: Exception) -> None:
        cause = error.error if isinstance(error, WorkerFailed) else error
        log.error("the screen failed", exc_info=cause)
        super()._handle_exception(cause if isinstance(cause, Exception) else error)

    def _print_error_renderables(self) -> None:
        """Prints no trace: that is in the log, and on the terminal one line is enough."""
        self._exit_renderables.clear()
