"""What goes on in one conversation, as others see it: told by the events of its turns."""

from __future__ import annotations

from ollm_tui.core.compression_events import CompressionFailed
from ollm_tui.core.events import AnyTurnEvent, Queued, TurnFailed, TurnFinished, TurnStarted
from ollm_tui.core.tool_events import ApprovalAnswered, ApprovalRequested, LoopAnswered, LoopPaused
from ollm_tui.tui.conversations.standing import State


class Progress:
    """Hears the events of one conversation, and says how it stands."""

    def __init__(self) -> None:
        self.is_unread = False
        """Whether something came to an end while another conversation was shown."""
        self._is_asking = self._is_queued = self._has_failed = False

    def note(self, event: AnyTurnEvent) -> None:
        """Take in an event."""
        match event:
            case ApprovalRequested() | LoopPaused():
                self._is_asking = True
            case ApprovalAnswered() | LoopAnswered():
                self._is_asking = False
            case Queued():
                self._is_queued = event.place > 0
            case TurnStarted():
                self._has_failed = False
            case TurnFailed() | CompressionFailed():
                self._has_failed = True
            case TurnFinished():
                self._is_queued = False
            case _:
                pass  # how it stands is the same

    def end_turn(self, *, has_failed: bool = False) -> None:
        """Note that a turn is over, whatever its events were."""
        self._is_asking = self._is_queued = False
        self._has_failed |= has_failed

    def leave(self) -> None:
        """Note that another conversation is shown: all that happened until now was seen."""
        self._has_failed = False

    def state(self, *, is_busy: bool, runs_command: bool) -> State:
        """Say how the conversation stands."""
        if self._is_asking:
            return "waits"
        if self._is_queued:
            return "queued"
        if is_busy:
            return "writing"
        if runs_command:
            return "running"
        if not self.is_unread:
            return "quiet"
        return "failed" if self._has_failed else "done"
