"""What a feature may ask of the chat. One port belongs to one open conversation."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from textual.screen import Screen, ScreenResultCallbackType
from textual.widget import AwaitMount, Widget

from ollm_tui.core.errors import OllmError
from ollm_tui.core.events import AnyTurnEvent
from ollm_tui.tui.chat.words import PLACEHOLDER
from ollm_tui.tui.conversations.standing import Standing
from ollm_tui.tui.frame import Frame
from ollm_tui.tui.keymap import Hints
from ollm_tui.tui.prompt.prompt import Prompt
from ollm_tui.tui.stream.transcript.transcript import Transcript

if TYPE_CHECKING:
    from ollm_tui.engine.conversation.conversation import Conversation

T = TypeVar("T")

NOTICE_SECONDS = 5.0
"""How long a line of `tell` stays; a warning given in it is not repeated meanwhile."""

Opening = Callable[[], Awaitable[tuple["Conversation", tuple[str, ...]]]]
"""Opens a conversation; also returns what of it could not be read."""


class ChatLines(Protocol):
    """The lines around the stream and the prompt, as far as features change them."""

    hints: Hints
    unsaved: str
    """Why records could not be written; empty while all is well."""

    def show_doing(self, doing: str) -> None:
        """Shows what the model is doing; an empty text means nothing."""
        ...

    def show_state(self, *, keeps_notice: bool = False) -> None:
        """Shows what goes on, or which keys matter now."""
        ...

    def show_facts(self) -> None:
        """Shows title, model, gauge and whether everything is saved, as they are now."""
        ...

    def show_names(self) -> None:
        """Shows title, model and how freely it may act."""
        ...

    def show_saving(self) -> None:
        """Shows whether everything is saved, and how many jobs run."""
        ...


class ChatPort(Protocol):
    """The chat on one open conversation, as features know it.

    A port does not follow the user to another conversation: `switch` and `open_session` return
    the port of the conversation they opened.
    """

    editing: str | None
    """The message that the text of the prompt will replace."""
    is_busy: bool
    """Whether a turn or a compression runs."""
    takes_next: Callable[[Prompt.Sent], None] | None
    """Gets the next message in the place of the model; None while nothing does."""

    @property
    def opened(self) -> Conversation | None:
        """The conversation; None while none is open, or while another window has it."""
        ...

    @property
    def conversation(self) -> Conversation:
        """The conversation. UsageError while none is open."""
        ...

    @property
    def is_following(self) -> bool:
        """Whether the stream shows a session that another window writes."""
        ...

    @property
    def is_shown(self) -> bool:
        """Whether this is the conversation on the screen."""
        ...

    @property
    def is_at_rest(self) -> bool:
        """Whether nothing runs, waits or is left to be read: it may be closed."""
        ...

    @property
    def work_group(self) -> str:
        """The group of the workers that run turns and compressions of this conversation."""
        ...

    @property
    def app(self) -> Frame:
        """The program around it: settings, workspace, terminal."""
        ...

    @property
    def screen(self) -> Screen[Any]:
        """The screen, for what only Textual can do: mount a widget, run a worker, set a timer."""
        ...

    @property
    def transcript(self) -> Transcript:
        """The stream."""
        ...

    @property
    def prompt(self) -> Prompt:
        """The prompt."""
        ...

    @property
    def lines(self) -> ChatLines:
        """The lines of state."""
        ...

    # Saying and asking

    def tell(self, *texts: str) -> None:
        """Shows one line for a few seconds: the first of the texts that there is room for."""
        ...

    def complain(self, error: OllmError) -> None:
        """Shows what did not work, and what to do about it."""
        ...

    def ask(self, screen: Screen[T], answer: ScreenResultCallbackType[T] | None = None) -> None:
        """Shows a screen or a dialog; `answer` gets what it is closed with."""
        ...

    # Doing

    async def attempt(self, action: Callable[[], object]) -> None:
        """Does something that may be awaited; an OllmError is shown as one line."""
        ...

    async def command(self, command_id: str, argument: str = "") -> None:
        """Runs another command."""
        ...

    def run(self, turn: AsyncGenerator[AnyTurnEvent, None]) -> None:
        """Has a turn run. UsageError while another one does."""
        ...

    def take(self, event: AnyTurnEvent) -> None:
        """Takes what happened in this conversation: shown now, or when it is looked at again."""
        ...

    def when_shown(self, action: Callable[[], object]) -> None:
        """Does something that may be awaited now, or when this conversation is looked at again."""
        ...

    def send(self, sent: Prompt.Sent) -> None:
        """Sends a message now, or when the model is free."""
        ...

    def hold_queue(self, holds: bool) -> None:
        """Holds queued messages back, or no longer."""
        ...

    def go_on(self) -> None:
        """Shows the facts after something has ended, and sends the next queued message."""
        ...

    def note_command(self) -> None:
        """Hears that a command of the user has begun or ended in this conversation."""
        ...

    def invite(self, words: str = PLACEHOLDER) -> None:
        """Shows words in the empty prompt whenever this conversation is shown; without words, the
        usual ones."""
        ...

    def put_aside(self) -> None:
        """Empties the prompt; its text is remembered as if it had been sent."""
        ...

    def mount_beside(self, widget: Widget, *, first: bool = False) -> AwaitMount:
        """Mounts a widget beside the stream: at its right, or as the `first` at its left."""
        ...

    def mount_above_gauge(self, widget: Widget) -> AwaitMount:
        """Mounts a widget between the stream and the gauge, where questions stand."""
        ...

    def show_branch(self) -> None:
        """Shows the current branch from its first message."""
        ...

    def reload_sidebar(self) -> None:
        """Reads the list of sessions beside the stream again, where it is shown."""
        ...

    # Other conversations

    async def switch(self, opening: Opening) -> ChatPort:
        """Opens another conversation in the place of this one; if that fails, this one stays."""
        ...

    async def resume(self, session_id: str) -> ChatPort:
        """Shows a session that is open here, or opens it. SessionBusy if another window has it."""
        ...

    async def open_session(self, session_id: str) -> ChatPort:
        """Opens a stored session; one that another window has open is followed live."""
        ...

    def front(self) -> ChatPort:
        """Returns the chat that is shown now: for widgets that outlive one conversation."""
        ...

    def standings(self) -> Sequence[Standing]:
        """Tells how all open conversations stand, in the order they were opened."""
        ...

    def shown_before(self) -> str | None:
        """Returns the session that was shown before; None if there was none."""
        ...

    async def release(self) -> None:
        """Closes the conversation after it was left, unless something runs or waits in it."""
        ...

    # What features keep here

    def part(self, kind: type[T], make: Callable[[], T]) -> T:
        """Returns the one object of a kind that a feature keeps for this conversation."""
        ...

    def find_part(self, kind: type[T]) -> T | None:
        """Returns such an object if it was made already."""
        ...


Action = Callable[[ChatPort, str], object]
"""What a command does, given the words after its name."""
