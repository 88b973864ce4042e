"""The screen with all that is kept of a job's output, to read and search; it grows with the job."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Static

from ollm_tui.core.intake import clean
from ollm_tui.core.job import Job, JobEvent, JobFinished, JobOutputArrived
from ollm_tui.engine.jobs.job_text import ending
from ollm_tui.tui.jobs.shell_line import name_of
from ollm_tui.tui.jobs.words import NO_OUTPUT_KEPT, NOTHING_TO_FIND, OUTPUT_KEYS
from ollm_tui.tui.kit.find_bar import FindBar
from ollm_tui.tui.kit.line_input import LineInput
from ollm_tui.tui.kit.reading_screen import ReadingScreen
from ollm_tui.tui.stream.transcript.entry import Entry
from ollm_tui.tui.stream.transcript.transcript import Transcript
from ollm_tui.tui.terminal.clipboard import copy

if TYPE_CHECKING:
    from ollm_tui.engine.jobs.session_jobs import SessionJobs
    from ollm_tui.tui.frame import Frame

MERGE_SECONDS = 0.5
"""All of a long output is read again at most this often."""
PAGE_KEY = "output"
"""The key of the only entry."""


class JobOutputScreen(ReadingScreen):
    """Shows the output of one job."""

    PAGE = Transcript
    AUTO_FOCUS = ""
    CSS_PATH = "screen.tcss"
    BINDINGS = [
        Binding("escape,q,o", "close", "Close", id="joboutput.close", tooltip="Back to the list"),
        Binding("slash,ctrl+f", "find", "Find", id="joboutput.find", tooltip="Find in this output"),
        Binding("n", "hit(1)", "Next match", id="joboutput.next", tooltip="Next match"),
        Binding("N", "hit(-1)", "Previous match", id="joboutput.before", tooltip="Previous match"),
        Binding("y", "copy", "Copy", id="joboutput.copy", tooltip="Copy all output"),
        Binding("j,down", "scroll(1)", "Down", id="joboutput.down", tooltip="Scroll down"),
        Binding("k,up", "scroll(-1)", "Up", id="joboutput.up", tooltip="Scroll up"),
        Binding(
            "pagedown,space",
            "page(1)",
            "Page down",
            id="joboutput.page_down",
            tooltip="Scroll a page down",
        ),
        Binding(
            "pageup", "page(-1)", "Page up", id="joboutput.page_up", tooltip="Scroll a page up"
        ),
        Binding("g,home", "edge(0)", "Top", id="joboutput.top", tooltip="Go to the top"),
        Binding("G,end", "edge(1)", "End", id="joboutput.end", tooltip="Go to the bottom"),
    ]

    app: Frame

    def __init__(self, job: Job, jobs: SessionJobs, read: Callable[[Job], Awaitable[str]]) -> None:
        """`read` returns the text of a job."""
        super().__init__()
        self._job = job
        self._jobs = jobs
        self._read = read
        self._text = ""
        self._later: Timer | None = None
        self._unsubscribe: Callable[[], None]

    def compose(self) -> ComposeResult:
        """Lay out what ran and how it ended, the text, the find bar and the keys."""
        transcript = Transcript(self.app.transcript_styles)
        yield Static(id="heading")
        yield transcript
        yield FindBar(transcript)
        yield Static(Content(OUTPUT_KEYS), id="keys")

    def on_mount(self) -> None:
        """Show the end of the text: there it says what went wrong."""
        find = self.query_one(FindBar)
        find.display = False
        find.query_one(LineInput).placeholder = "Find in this output"
        self._page.can_focus = False
        self._unsubscribe = self._jobs.events.subscribe(self._hear)
        self._load()

    def on_unmount(self) -> None:
        """Stop listening to jobs."""
        self._unsubscribe()

    def action_find(self) -> None:
        """Open the find bar."""
        self.query_one(FindBar).open("")

    def action_hit(self, step: int) -> None:
        """Go to another hit, and say which one it is."""
        self._page.finder.go(step)
        number, total = self._page.finder.position
        self._say(f"Match {number:,} of {total:,}" if total else NOTHING_TO_FIND)

    async def action_copy(self) -> None:
        """Copy the whole output."""
        self._say(f"Output {await copy(self.app, self._text)}" if self._text else NO_OUTPUT_KEPT)

    @on(FindBar.Closed)
    def _end_finding(self) -> None:
        self.set_focus(None)
        self._say(OUTPUT_KEYS)

    def _hear(self, event: JobEvent) -> None:
        self.call_later(self._take, event)

    def _take(self, event: JobEvent) -> None:
        match event:
            case JobFinished() if event.job.id == self._job.id:
                self._load()
            case JobOutputArrived() if event.job_id == self._job.id and not self._later:
                self._later = self.set_timer(MERGE_SECONDS, self._load)
            case _:
                pass

    @work(exclusive=True, group="output")
    async def _load(self) -> None:
        self._later = None
        self._job = self._jobs.job(self._job.id)
        text = clean(await self._read(self._job)).strip("\n").expandtabs(8)
        how = "running" if self._job.running else ending(self._job)
        title = Content.styled(name_of(self._jobs.shown(self._job)), "bold $primary")
        heading = Content.assemble(title, (f"   {how}", "$text-muted"))
        self.query_one("#heading", Static).update(heading)
        if text != self._text or not self._page.keys:
            self._text = text
            self._page.add(Entry(PAGE_KEY, "user", text or NO_OUTPUT_KEPT))

    def _say(self, text: str) -> None:
        self.query_one("#keys", Static).update(Content(text))

    @property
    def _page(self) -> Transcript:
        return self.query_one(Transcript)
