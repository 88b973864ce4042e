"""Files in the prompt: offered while one is named with @, and put there as chips."""

from __future__ import annotations

import asyncio
import re
import shlex
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import NamedTuple, Protocol
from urllib.parse import unquote, urlsplit

from textual.widgets.text_area import Location

from ollm_tui.core.errors import UsageError
from ollm_tui.core.session.message import Attachment
from ollm_tui.services.files.mention_names import AT, as_typed, names_in
from ollm_tui.tui.prompt.chip_area import ChipArea
from ollm_tui.tui.prompt.completion import Completer, Option

_BEGUN = re.compile(rf"""{AT}(?:"(?P<quoted>[^"]*)"?|(?P<plain>[^\s"]*))$""")


class Mention(NamedTuple):
    """A name that is being typed: from the @ to the cursor."""

    row: int
    start: int
    end: int
    query: str


def mention_at(line: str, row: int, column: int) -> Mention | None:
    """Return the name that is being typed at the cursor; None if there is none."""
    found = _BEGUN.search(line[:column])
    if found is None:
        return None
    return Mention(row, found.start(), column, found["quoted"] or found["plain"] or "")


PICTURES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp"})
"""The endings of files whose pasted path becomes the picture itself."""
LONGEST_PATH = 4096
LONGEST_SEARCH_SECONDS = 2.0
"""How long Enter waits for the files that fit a name; after that the name is only words."""


class FileSource(Protocol):
    """Finds files by some of their letters, and reads them."""

    def options(self, query: str) -> AsyncGenerator[tuple[Option, ...], None]:
        """Yield the files that fit, and again when more of them are known."""
        ...

    async def attachment(self, name: str) -> Attachment:
        """Return a file to be sent along. UsageError if it cannot be."""
        ...

    async def exists(self, name: str) -> bool:
        """Whether a name that was typed in full leads to a file or folder."""
        ...


class FileCompletion:
    """Follows the cursor of a text area, and offers the files that fit through its completer."""

    def __init__(
        self,
        area: ChipArea,
        completer: Completer,
        find_files: Callable[[], FileSource] | None,
        suggest: Callable[[], None],
    ) -> None:
        self._area = area
        self._completer = completer
        self._find_files = find_files
        self._source: FileSource | None = None
        self._suggest = suggest
        self._mention: Mention | None = None
        """The name that files are offered for."""
        self._closed: tuple[int, int] | None = None
        """The row and column of the @ whose list the user closed."""
        self._offering: asyncio.Task[None] | None = None

    def here(self) -> Mention | None:
        """Return the name the cursor is in; None if there is none."""
        if not self._may_name:
            return None
        row, column = self._area.cursor_location
        return mention_at(self._area.document.get_line(row), row, column)

    def look(self) -> bool:
        """Follow a change of the text or the cursor; returns whether a file is being named."""
        mention = self.here()
        if mention is None:
            self.leave()
            return False
        if mention[:2] == self._closed or mention == self._mention:
            return True
        if self._mention is None:
            self._completer.offer(())
        # Otherwise the list stays until another is found: it would flicker with every key.
        self._mention, self._closed = mention, None
        self._stop()
        self._offering = asyncio.create_task(self._offer(mention))
        return True

    def leave(self) -> None:
        """End the search: no file is being named."""
        self._stop()
        self._mention = self._closed = None

    def close(self) -> bool:
        """Offer nothing more for this name; returns whether there was one."""
        if self._mention is None:
            return False
        self._stop()
        self._closed, self._mention = self._mention[:2], None
        self._completer.offer(())
        return True

    def reopen(self) -> None:
        """Offer files again for the name whose list was closed."""
        self._closed = None

    async def chosen(self) -> Option | None:
        """Return the option that is chosen; None if no file is being named or none fits.

        Waits for the search: a name typed in a burst is ahead of it.
        """
        if self._mention and self._offering:
            await asyncio.wait({self._offering}, timeout=LONGEST_SEARCH_SECONDS)
        if self._mention and self._completer.is_open:
            return self._completer.options[self._completer.chosen]
        return None

    async def take(self, name: str, *, as_text: bool) -> None:
        """Put a file in the place of its typed name. UsageError if it cannot be sent."""
        mention = self._mention
        if mention is None:
            return
        self.close()
        self._suggest()
        start, end = (mention.row, mention.start), (mention.row, mention.end)
        if as_text:
            text = f"{as_typed(name)} "
            self._area.replace(text, start, end, maintain_selection_offset=False)
            return
        self._area.put_chip(await self._files.attachment(name), start, end)
        self._area.insert(" ", maintain_selection_offset=False)

    async def attach_pasted(self, text: str) -> bool:
        """Attach a picture whose path was pasted, as a terminal does with a file that is dropped
        on it; returns whether it is one. UsageError if it cannot be sent."""
        path = pasted_path(text) if self._may_name else None
        if path is None or not await asyncio.to_thread(_is_file, path):
            return False
        piece = await self._files.attachment(path)
        self._area.put_chip(piece, *self._area.selection)
        self._area.insert(" ", maintain_selection_offset=False)
        return True

    async def attach_named(self) -> None:
        """Attach the files that were typed in full and not chosen from the list; names of no file
        stay words. UsageError if a file cannot be sent."""
        if not self._may_name:
            return
        # From the end: a chip moves everything behind it.
        for named in reversed(names_in(self._area.text)):
            if await self._files.exists(named.name):
                piece = await self._files.attachment(named.name)
                start, end = self._location(named.start), self._location(named.end)
                self._area.put_chip(piece, start, end)

    @property
    def _may_name(self) -> bool:
        """Whether files can be named: not in a command for the shell, where an @ is an @."""
        return self._find_files is not None and not self._area.text.startswith("!")

    @property
    def _files(self) -> FileSource:
        if self._source is None:
            assert self._find_files is not None
            self._source = self._find_files()
        return self._source

    async def _offer(self, mention: Mention) -> None:
        try:
            async with aclosing(self._files.options(mention.query)) as found:
                async for options in found:
                    self._completer.offer(options)
                    self._suggest()
        except UsageError:
            self.close()  # the project's folder is gone: there is nothing to offer
            self._suggest()

    def _stop(self) -> None:
        if self._offering:
            self._offering.cancel()
            self._offering = None

    def _location(self, index: int) -> Location:
        before = self._area.text[:index]
        return before.count("\n"), index - (before.rfind("\n") + 1)


def pasted_path(text: str) -> str | None:
    """Return the one path of a picture that a text is, quoted or escaped as terminals do."""
    if "\n" in text.strip() or len(text) > LONGEST_PATH:
        return None
    try:
        words = shlex.split(text)
    except ValueError:
        return None
    word = words[0] if len(words) == 1 else ""
    if word.startswith("file://"):
        word = unquote(urlsplit(word).path)
    is_whole = word.startswith(("/", "~/"))
    return word if is_whole and Path(word).suffix.lower() in PICTURES else None


def _is_file(path: str) -> bool:
    try:
        return Path(path).expanduser().is_file()
    except (OSError, ValueError, RuntimeError):
        return False
