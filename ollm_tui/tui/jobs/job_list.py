"""The list of jobs, the newest first, and the end of what one of them printed."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace
from textual.binding import Binding
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from ollm_tui.core import clock
from ollm_tui.core.intake import clean, visible
from ollm_tui.core.job import Job, JobStatus
from ollm_tui.engine.jobs.job_text import duration, ending
from ollm_tui.tui.kit.choice_list import Choice, ChoiceList

_MARKS: dict[JobStatus, str] = {"running": "●", "completed": "✓"}
_BAD = "!"


class JobList(ChoiceList, inherit_bindings=False):
    """A list with arrow keys only: letters do something with the job."""

    BINDINGS = [
        Binding("up", "move(-1)", "Up", id="joblist.up", tooltip="Previous job", show=False),
        Binding("down", "move(1)", "Down", id="joblist.down", tooltip="Next job", show=False),
        Binding(
            "pageup", "page(-1)", "Page up", id="joblist.page_up", tooltip="A page up", show=False
        ),
        Binding(
            "pagedown",
            "page(1)",
            "Page down",
            id="joblist.page_down",
            tooltip="A page down",
            show=False,
        ),
        Binding("home", "first", "First", id="joblist.first", tooltip="Newest job", show=False),
        Binding("end", "last", "Last", id="joblist.last", tooltip="Oldest job", show=False),
        Binding("enter,o", "choose", "Output", id="joblist.open", tooltip="Show full output"),
    ]


class JobTail(Widget):
    """Shows the last lines of a text, each cut to the width."""

    DEFAULT_CSS = """
    JobTail { text-wrap: nowrap; text-overflow: ellipsis; }
    """

    text: reactive[str] = reactive("")

    def validate_text(self, text: str) -> str:
        """Remove what steers a terminal, and make tabs as wide as they look in a terminal."""
        return clean(text).expandtabs(8)

    def render(self) -> Content:
        """Return the last lines that fit."""
        lines = self.text.strip("\n").split("\n")
        return Content("\n".join(lines[-max(self.size.height, 1) :]))


def job_choices(jobs: Iterable[Job], session_id: str) -> list[Choice]:
    """Return a line for each job; those that other sessions run say so."""
    return [_choice(job, session_id) for job in jobs]


def time_so_far(job: Job) -> str:
    """Return how long a running job has run, in words."""
    passed = clock.parse(clock.now()) - clock.parse(job.started_at)
    seconds = max(int(passed.total_seconds()), 0)
    return f"{seconds} s" if seconds < 60 else duration(seconds * 1000)


def _choice(job: Job, session_id: str) -> Choice:
    facts = [f"running {time_so_far(job)}" if job.running else ending(replace(job, note=""))]
    if job.background and job.running:
        facts.append("background")
    if job.session_id != session_id:
        facts.append("another session")
    text = f"{job.sequence}  {visible(' '.join(job.code.split()))}"
    return Choice(job.id, text, " · ".join(facts), _MARKS.get(job.status, _BAD))
