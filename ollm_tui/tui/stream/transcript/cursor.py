"""The message cursor: one message, or several in a row, that keys act on."""

from __future__ import annotations

from collections.abc import Callable

from ollm_tui.tui.stream.transcript.viewport import Viewport


class MessageCursor:
    """Moves over the entries of a view; extended, it covers all entries from where it was."""

    def __init__(self, view: Viewport, moved: Callable[[str | None], None]) -> None:
        self._view = view
        self._moved = moved
        self._key: str | None = None
        self._anchor: str | None = None

    @property
    def key(self) -> str | None:
        """The key of the entry the cursor is on; None if it is nowhere."""
        return self._key

    @property
    def keys(self) -> list[str]:
        """The keys of all entries the cursor covers, from the top."""
        return [entry.key for entry in self._view.stack.entries[slice(*self._places())]]

    def covers(self, place: int) -> bool:
        """Whether the cursor covers the entry at a place."""
        first, end = self._places()
        return first <= place < end

    def move(self, step: int) -> None:
        """Move down or up by entries; from nowhere, to the last entry in view."""
        if (key := self._stepped(step)) is not None:
            self._set(key, key, from_below=step < 0)

    def extend(self, step: int) -> None:
        """Extend the cursor over more or fewer entries, down or up."""
        if (key := self._stepped(step)) is not None:
            self._set(key, self._anchor or key, from_below=step < 0)

    def move_to(self, key: str | None, *, reveal: bool = True) -> None:
        """Move to an entry, or nowhere; the view follows if `reveal` is set."""
        self._set(key, key, reveal=reveal)

    def forget(self, key: str) -> None:
        """Leave an entry that is about to be removed."""
        if key in (self._key, self._anchor):
            self.move_to(None)

    def _stepped(self, step: int) -> str | None:
        stack = self._view.stack
        if not len(stack):
            return None
        if self._key is None:
            last = self._view.entry_at(max(self._view.size.height - 1, 0))
            place = last[0] if last else len(stack) - 1
        else:
            place = stack.place(self._key) + step
        return stack.entries[max(min(place, len(stack) - 1), 0)].key

    def _places(self) -> tuple[int, int]:
        if self._key is None or self._anchor is None:
            return 0, 0
        stack = self._view.stack
        ends = stack.place(self._key), stack.place(self._anchor)
        return min(ends), max(ends) + 1

    def _set(
        self, key: str | None, anchor: str | None, *, reveal: bool = True, from_below: bool = False
    ) -> None:
        has_moved = key != self._key
        self._key, self._anchor = key, anchor
        if key is not None and reveal:
            self._view.reveal(self._view.stack.place(key), from_below)
        self._view.refresh()
        if has_moved:
            self._moved(key)
