"""The screen that shows a compression as a whole, while it runs and once it has ended."""

from __future__ import annotations

from collections.abc import Callable

from textual import on
from textual.app import ComposeResult
from textual.screen import Screen

from ollm_tui.tui.compression.panel import CompressionPanel
from ollm_tui.tui.compression.progress import CompressionProgress


class CompressionScreen(Screen[None]):
    """Shows the panel on the whole screen; the caller takes the events, and calls `follow`."""

    AUTO_FOCUS = "CompressionPanel"
    DEFAULT_CSS = """
    CompressionScreen { background: $background; }
    """

    def __init__(
        self,
        progress: CompressionProgress,
        cancel: Callable[[], object],
        edit: Callable[[], object],
        *,
        unicode: bool = True,
    ) -> None:
        super().__init__()
        self._cancel = cancel
        self._edit = edit
        self._panel = CompressionPanel(progress, whole=True, unicode=unicode)

    def compose(self) -> ComposeResult:
        """Show nothing but the panel."""
        yield self._panel

    def follow(self) -> None:
        """Draw again: more is known of the compression."""
        self._panel.follow()

    @on(CompressionPanel.CancelRequested)
    def cancel(self, event: CompressionPanel.CancelRequested) -> None:
        """Cancel the compression; the chat says that it was."""
        event.stop()
        self._cancel()

    @on(CompressionPanel.EditRequested)
    def edit(self, event: CompressionPanel.EditRequested) -> None:
        """Close, and have the preview opened in place of this."""
        event.stop()
        self.dismiss(None)
        self._edit()

    @on(CompressionPanel.WholeRequested)
    @on(CompressionPanel.Left)
    def close(self, event: CompressionPanel.WholeRequested | CompressionPanel.Left) -> None:
        """Go back to the chat; the compression goes on."""
        event.stop()
        self.dismiss(None)
