"""The application: its first screen, the way out, and keys that come before all others."""

from __future__ import annotations

from textual.binding import Binding
from textual.driver import Driver
from textual.keys import key_to_character
from textual.screen import Screen

from ollm_tui.tui.chat.screen import ChatScreen
from ollm_tui.tui.frame import Frame
from ollm_tui.tui.prompt.prompt import Prompt


class OllmApp(Frame):
    """The full-screen program."""

    BINDINGS = [
        Binding(
            "f1",
            "keys_here",
            "Help",
            id="help.here",
            tooltip="The keys of the screen or dialog in front",
            show=False,
            priority=True,
        )
    ]
    CSS_PATH = "chat/screen.tcss"  # here: Textual does not load that of a default screen

    def get_default_screen(self) -> Screen[None]:
        """Returns the chat; all other screens are shown on top of it."""
        return ChatScreen()

    async def leave(self) -> None:
        """Ends the program as the user would end it: drafts are kept."""
        for screen in self.screen_stack:
            if isinstance(screen, ChatScreen) and screen.is_ready:
                await screen.leave()
                return
        # Textual does not survive an end in the middle of its first layout.
        self.ends_at_once = True

    async def action_quit(self) -> None:
        """Quits, after a warning if that would end answers or jobs.

        Ctrl+Q is Textual's own key for this action, which comes before the key of the screen.
        """
        chats = [screen for screen in self.screen_stack if isinstance(screen, ChatScreen)]
        if not any(chat.asks_before_leaving() for chat in chats):
            await self.leave()

    def action_help_quit(self) -> None:
        """Does what Ctrl+C means on a screen before the chat: what Esc does there.

        Textual would ask a question of its own.
        """
        self.simulate_key("escape")

    def action_keys_here(self) -> None:
        """Shows the keys of the screen in front of the chat; from there, closes them."""
        # Imported late: the first paint needs none of it.
        from ollm_tui.tui.help.screen import HelpScreen, keys_of

        if isinstance(self.screen, HelpScreen):
            self.screen.action_close()
        else:
            self.push_screen(HelpScreen(keys_of(self.screen), ()))

    def action_to_background(self, _if_empty: bool = False) -> None:
        """Lets the command that runs go on in the background."""
        if self.shell:
            self.shell.to_background()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leaves the keys of a running command to others while none runs, and the one that moves
        the cursor in the prompt while there is text."""
        if action == "keys_here":  # the chat has a key of its own, which may be another one
            return not isinstance(self.screen, ChatScreen)
        if action == "to_background":
            is_free = not parameters or not (isinstance(self.focused, Prompt) and self.focused.text)
            return is_free and self.shell is not None and self.shell.movable is not None
        return super().check_action(action, parameters)

    def get_driver_class(self) -> type[Driver]:
        """Returns Textual's way to the terminal, guarded."""
        usual = super().get_driver_class()
        if usual.__name__ != "LinuxDriver":
            return usual
        # Imported late: it needs termios, which not every system has.
        from ollm_tui.tui.terminal.driver import TerminalDriver

        return TerminalDriver

    async def _check_bindings(self, key: str, priority: bool = False) -> bool:
        """Leaves characters to the text field that has the focus, whatever they are bound to."""
        focused = self.focused
        if priority and focused and focused.check_consume_key(key, key_to_character(key)):
            return False
        return await super()._check_bindings(key, priority)
