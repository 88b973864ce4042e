"""The prompt, where messages and commands are written; nothing that was written is lost."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from textual import events, on
from textual.app import App
from textual.binding import Binding
from textual.message import Message
from textual.widgets import TextArea

from ollm_tui.core.errors import UsageError
from ollm_tui.core.session.message import Attachment
from ollm_tui.settings.keys import nearest
from ollm_tui.tui.prompt.chip_area import Written, from_draft, to_draft
from ollm_tui.tui.prompt.completion import Completer, Completion, Option
from ollm_tui.tui.prompt.completion_files import FileCompletion, FileSource
from ollm_tui.tui.prompt.vim_area import VimArea


def _key(keys: str, action: str, title: str, tooltip: str) -> Binding:
    """Return a binding that comes before the text area, which would take the key for text."""
    return Binding(
        keys, action, title, id=f"prompt.{action}", tooltip=tooltip, show=False, priority=True
    )


BEGIN_COMMANDS = ("!", "/")
"""What a command begins with."""


class Prompt(VimArea):
    """Enter sends; Shift+Enter, Ctrl+J, Alt+Enter or a backslash before Enter begin a new line.

    Up and down on the first and the last line walk through what was sent before.
    """

    BINDINGS = [
        _key("enter", "send", "Send", "Send the message, or run the command"),
        _key("shift+enter,ctrl+j,alt+enter", "newline", "New line", "Insert a line break"),
        _key("up", "earlier", "Previous prompt", "Previous prompt, on the first line"),
        _key("down", "later", "Next prompt", "Next prompt, on the last line"),
        _key("tab", "complete", "Complete", "Complete the command or file"),
        _key("ctrl+underscore", "undo", "Undo", "Undo the last change"),
        _key("ctrl+p", "option_before", "Previous option", "Previous completion"),
        _key("ctrl+n", "option_after", "Next option", "Next completion"),
        _key("escape", "close_list", "Close", "Close the completion list"),
        Binding(
            "ctrl+d",
            "leave",
            "Quit",
            id="prompt.leave",
            show=False,
            tooltip="Quit, on an empty prompt",
        ),
    ]

    app: App[Any]

    can_take_back = False
    """Whether messages wait: Up on the empty prompt then asks for the last of them."""

    @dataclass
    class Sent(Message):
        """The user sent something; `[paste 1]` in the text names the attachment."""

        text: str
        attachments: tuple[Attachment, ...] = ()

        @property
        def draft(self) -> str:
            """The text to be remembered, for `Prompt.restore`."""
            text = f"/{self.text}" if self.text.startswith("/") else self.text
            return to_draft(Written(text, self.attachments))

    @dataclass
    class CommandSent(Message):
        """The user sent a command that exists."""

        name: str
        argument: str

        @property
        def draft(self) -> str:
            """The text to be remembered, for `Prompt.restore`."""
            return f"/{self.name} {self.argument}".rstrip()

    @dataclass
    class Refused(Message):
        """The user sent a command that does not exist, or named a file that cannot be sent; the
        text is still in the prompt."""

        message: str
        hint: str

    @dataclass
    class Edited(Message):
        """The text changed; `Prompt.draft` is what to keep of it."""

        text: str
        is_put: bool = False
        """Whether the program put it there, and the user did not type it."""

    @dataclass
    class Suggested(Message):
        """The list of completions changed, or another line of it is chosen."""

        options: tuple[Option, ...]
        chosen: int

    @dataclass
    class TakeBackRequested(Message):
        """The user pressed Up on an empty prompt while messages wait."""

    @dataclass
    class SendWaitingRequested(Message):
        """The user pressed Enter on an empty prompt while messages wait."""

    @dataclass
    class PutAside(Message):
        """A draft of the last time gave way to a command."""

        draft: str

    @dataclass
    class LeaveRequested(Message):
        """The user pressed Ctrl+D on an empty prompt."""

    def __init__(
        self,
        placeholder: str,
        completions: Sequence[Completion] = (),
        find_files: Callable[[], FileSource] | None = None,
        *,
        further: Callable[[], Iterable[Completion]] = tuple,
        short: str = "",
        uses_vim: bool = False,
    ) -> None:
        """`short` stands for the placeholder where there is no room for it."""
        super().__init__(placeholder)
        self.uses_vim = uses_vim
        self._placeholders = (placeholder, short or placeholder)
        self._completer = Completer(completions, further)
        self._files = FileCompletion(self, self._completer, find_files, self._suggest)
        self._walk = PromptWalk()
        self._shown = ""
        """The text that was put here and not changed since: nothing is offered for it."""
        self._suggested: tuple[tuple[Option, ...], int] = ((), 0)
        self._is_unseen = False
        """Whether a draft of the last time was put here and not painted yet."""
        self._is_untouched = False
        """Whether no key was pressed since then."""

    @property
    def draft(self) -> str:
        """What would be lost if the program ended now, for `restore`; pastes are in it."""
        return self._walk.draft(self._as_draft())

    def remember(self, drafts: Iterable[str]) -> None:
        """Take over what was sent before this prompt was made, the oldest first."""
        self._walk.remember(drafts)

    def put(self, text: str, attachments: Sequence[Attachment] = ()) -> None:
        """Put a text here to be edited, with the cursor at its end."""
        self._shown = self._chips.unpack(Written(text, tuple(attachments)))
        self._completer.reset()
        self.text = self._shown
        self.move_cursor(self.document.end)
        self.insert_mode()

    def restore(self, draft: str) -> None:
        """Show a text that was kept as a draft."""
        self._walk.leave()
        self._is_unseen = self._is_untouched = False
        self.put(*from_draft(draft))

    def restore_unseen(self, draft: str) -> None:
        """Show the draft of the last time, which the user may not expect here.

        It is not sent before it was painted, and a command typed at once does not become a part
        of it: that would send the command to the model.
        """
        self.restore(draft)
        self._is_unseen = self._is_untouched = bool(self.text)
        self.call_after_refresh(self._see)

    def _see(self) -> None:
        self._is_unseen = False

    def put_aside(self) -> str:
        """Empty the prompt and return its draft, which is the first that Up brings back.

        A draft that was left by walking up comes back.
        """
        draft = self._as_draft()
        self.put(*from_draft(self._walk.add(draft)))
        return draft

    def pick(self, index: int) -> None:
        """Take an option of the list."""
        if index < len(self._completer.options):
            self.run_worker(self._take(self._completer.options[index]))

    def on_resize(self) -> None:
        """Use the short placeholder where the long one would be cut."""
        self._fit_placeholder()

    def watch_placeholder(self) -> None:
        """Fit a placeholder that is put back, too."""
        self._fit_placeholder()

    def on_unmount(self) -> None:
        """End the search for files."""
        self._files.leave()

    # Keys

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave a key that would do nothing to others."""
        match action:
            case "earlier":
                is_first = self._cursor_row == 0
                return self._completer.is_open or (is_first and self._can_go_back)
            case "later":
                is_last = self._cursor_row == self.wrapped_document.height - 1
                return self._completer.is_open or (is_last and self._walk.can_go(1))
            case "complete":
                return self.text.startswith("/") or self._files.here() is not None
            case "close_list" | "option_before" | "option_after":
                return self.is_offering
            case _:
                return super().check_action(action, parameters)

    def check_consume_key(self, key: str, character: str | None = None) -> bool:
        """Leave a question mark on the empty prompt to key bindings: no message begins with one."""
        if character == "?" and not self.text:
            return False
        return super().check_consume_key(key, character)

    async def _on_paste(self, event: events.Paste) -> None:
        """Paste a text; the path of a picture becomes the picture where it can be sent."""
        event.stop()
        event.prevent_default()
        try:
            if await self._files.attach_pasted(event.text):
                return
        except UsageError as error:
            # After the change of the text, which shows key hints in the place of any notice.
            refused = self.Refused(error.message, error.hint)
            self.call_after_refresh(self.post_message, refused)
        await super()._on_paste(event)

    async def action_send(self) -> None:
        """Send the text, or run the command it is; a backslash before the cursor continues it."""
        if self._is_unseen:
            return
        row, column = self.cursor_location
        if self.document.get_line(row)[:column].endswith("\\"):
            self.replace("\n", (row, column - 1), (row, column), maintain_selection_offset=False)
            return
        if option := await self._files.chosen():
            await self._take(option)
            return
        if option := self._completer.meant(self.document.get_line(0)):
            await self._take(option)
        if not self.text.strip():
            if self.can_take_back:
                self.post_message(self.SendWaitingRequested())
            return
        try:
            if not self._is_command:
                await self._files.attach_named()
        except UsageError as error:
            self.post_message(self.Refused(error.message, error.hint))
        else:
            message = self._message(self.text)
            if not isinstance(message, Prompt.Refused):
                self.put_aside()
            self.post_message(message)

    def action_newline(self) -> None:
        """Begin a new line."""
        self.replace("\n", *self.selection, maintain_selection_offset=False)

    def action_earlier(self) -> None:
        """Go to the option above, the last message that waits, or what was sent before."""
        if self._completer.is_open:
            self._choose(-1)
        elif self.can_take_back and not self.text:
            self.post_message(self.TakeBackRequested())
        else:
            self._go(-1)

    def action_later(self) -> None:
        """Go to the option below, or to what was sent after; the draft comes at the end."""
        if self._completer.is_open:
            self._choose(1)
        else:
            self._go(1)

    async def action_complete(self) -> None:
        """Take the chosen option, or show the list that was closed."""
        await self._files.chosen()
        if self._completer.is_open:
            await self._take(self._completer.options[self._completer.chosen])
        else:
            self._files.reopen()
            self._completer.reopen(self.document.get_line(0), self._column)
            self.look_for_completions()

    @property
    def is_offering(self) -> bool:
        """Whether a list of completions is open."""
        return self._completer.is_open

    def action_option_before(self) -> None:
        """Go to the option above."""
        self._choose(-1)

    def action_option_after(self) -> None:
        """Go to the option below."""
        self._choose(1)

    def action_close_list(self) -> None:
        """Close the list of completions, and only that."""
        if not self._files.close():
            self._completer.close()
        self._suggest()

    def action_leave(self) -> None:
        """Leave if there is nothing to lose; otherwise delete to the right, as shells do."""
        if self.text:
            self.action_delete_right()
        else:
            self.post_message(self.LeaveRequested())

    async def _on_key(self, event: events.Key) -> None:
        if self._is_untouched and event.character in BEGIN_COMMANDS:
            self.post_message(self.PutAside(self.put_aside()))
        self._is_untouched = False
        if self.take_vim_key(event):
            event.stop()
            event.prevent_default()
            return
        # A key bound here is lost to the text area: these two still move the cursor.
        move = {"up": self.action_cursor_up, "down": self.action_cursor_down}.get(event.key)
        if move:
            event.stop()
            event.prevent_default()
            move()

    @on(VimArea.BeyondLines)
    def _walk_on(self, event: VimArea.BeyondLines) -> None:
        if self.check_action(event.way, ()):
            self._go(-1 if event.way == "earlier" else 1)

    # What follows from a change

    @on(TextArea.Changed)
    def tell_what_changed(self) -> None:
        """Tell of a change, for whoever keeps drafts."""
        self.post_message(self.Edited(self.text, self.text == self._shown))

    @on(TextArea.Changed)
    @on(TextArea.SelectionChanged)
    def look_for_completions(self) -> None:
        """Offer completions for what is typed, but not for what was put there."""
        if self.text == self._shown:
            self._completer.reset()
            self._files.leave()
        else:
            self._shown = ""
            if not self._files.look():
                self._completer.update(self.document.get_line(0), self._column)
        self._suggest()

    def _suggest(self) -> None:
        suggested = (self._completer.options, self._completer.chosen)
        if suggested != self._suggested:
            self._suggested = suggested
            self.post_message(self.Suggested(*suggested))

    def _choose(self, step: int) -> None:
        self._completer.move(step)
        self._suggest()

    async def _take(self, option: Option) -> None:
        if option.value:
            try:
                await self._files.take(option.value, as_text=self._is_command)
            except UsageError as error:
                self.post_message(self.Refused(error.message, error.hint))
            return
        end = (0, len(self.document.get_line(0)))
        self.replace(option.line, (0, 0), end, maintain_selection_offset=False)
        self.move_cursor((0, option.column))

    def _fit_placeholder(self) -> None:
        room = self.content_size.width
        if room and self.placeholder in self._placeholders:
            long, short = self._placeholders
            self.placeholder = long if len(long) <= room else short

    def _go(self, step: int) -> None:
        self.put(*from_draft(self._walk.go(step, self._as_draft())))

    def _as_draft(self) -> str:
        return to_draft(self._chips.pack(self.text))

    def _message(self, text: str) -> Sent | CommandSent | Refused:
        if self._is_command:
            name = re.split(r"\s", text[1:], maxsplit=1)[0]
            if name.lower() in self._completer.names:
                argument = self._chips.whole(text[1 + len(name) :]).strip()
                return self.CommandSent(name.lower(), argument)
            if "\n" not in text.strip():
                near = nearest(name, self._completer.names)
                meant = f"did you mean /{near}? " if near else ""
                return self.Refused(f"Unknown command /{name}", f"{meant}// sends it as text")
        written = self._chips.pack(text)
        plain = written.text[1:] if written.text.startswith("//") else written.text
        return self.Sent(plain, written.attachments)

    @property
    def _is_command(self) -> bool:
        return self.text.startswith("/") and not self.text.startswith("//")

    @property
    def _can_go_back(self) -> bool:
        return self._walk.can_go(-1) or (self.can_take_back and not self.text)

    @property
    def _cursor_row(self) -> int:
        """The row of the cursor on the screen, where a long line takes several."""
        return self.wrapped_document.location_to_offset(self.cursor_location).y

    @property
    def _column(self) -> int:
        """The column of the cursor in the only line; 0 in a text of several lines, which completes
        nothing."""
        row, column = self.cursor_location
        return column if row == 0 and self.document.line_count == 1 else 0


class PromptWalk:
    """The walk of Up and Down between the oldest prompt and the draft below the newest."""

    def __init__(self) -> None:
        self._sent: list[str] = []
        self._at = 0
        self._edited: dict[int, str] = {}
        """What was shown where the walk came by, with the changes made there."""

    @property
    def is_at_end(self) -> bool:
        """Whether the draft is shown, and not something that was sent."""
        return self._at == len(self._sent)

    def remember(self, sent: Iterable[str]) -> None:
        """Take over what was sent before, the oldest first; a draft that was left is the newest."""
        left = self._left()
        self._sent = list(sent)
        if left:
            self._sent.append(left)
        self.leave()

    def add(self, sent: str) -> str:
        """Add what was sent or put aside as the newest; returns the draft that was left."""
        left = self._left()
        if sent.strip() and self._sent[-1:] != [sent]:
            self._sent.append(sent)
        self.leave()
        return left

    def leave(self) -> None:
        """Go back below the newest."""
        self._at = len(self._sent)
        self._edited.clear()

    def can_go(self, step: int) -> bool:
        """Whether there is something in that direction."""
        return 0 <= self._at + step <= len(self._sent)

    def go(self, step: int, shown: str) -> str:
        """Return what is shown next; what is shown now comes back as it is when walking back."""
        self._edited[self._at] = shown
        self._at += step
        return self._edited.get(self._at) or "".join(self._sent[self._at : self._at + 1])

    def draft(self, shown: str) -> str:
        """Return what would be lost if the program ended now. That is not what is shown where it is
        one of the sent prompts, unchanged."""
        if self.is_at_end or shown != self._sent[self._at]:
            return shown
        return self._left()

    def _left(self) -> str:
        """Return the draft from which the walk began; empty where it is shown."""
        return "" if self.is_at_end else self._edited.get(len(self._sent), "")
