"""Making all tools of one session from what they work on."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ollm_tui.core.tool import Tool
from ollm_tui.services.files.project_files import ProjectFiles
from ollm_tui.services.jobs.job_registry import JobRegistry
from ollm_tui.services.redaction.redactor import Redactor
from ollm_tui.services.sandbox.confinement import Confinement
from ollm_tui.tools.edit_file import EditFile
from ollm_tui.tools.exec_code import Exec
from ollm_tui.tools.find_files import FindFiles
from ollm_tui.tools.git import Git
from ollm_tui.tools.jobs import JobsTool
from ollm_tui.tools.planned_write import FilesRead
from ollm_tui.tools.read_file import ReadFile
from ollm_tui.tools.scope import Scope
from ollm_tui.tools.scope_files import ScopeFiles
from ollm_tui.tools.search_text import SearchText
from ollm_tui.tools.tasks import Goals, Tasks
from ollm_tui.tools.write_file import WriteFile

TIMEOUT_SECONDS = 120.0


@dataclass(frozen=True, kw_only=True)
class ToolEnvironment:
    """Where the tools of a session work, and with what."""

    root: Path
    """The folder of the project; relative paths start here."""
    scope: tuple[Path, ...] = (Path(),)
    """The directories that tools may touch."""
    jobs: JobRegistry
    redactor: Redactor = field(default_factory=Redactor)
    """Hides secrets in what jobs print, known ones among them."""
    session_id: str
    open_shell: Callable[[], Awaitable[None]]
    """Opens the session's shell unless it is open."""
    goals: Goals
    discovery: ProjectFiles
    """The files of the project."""
    sees_pictures: Callable[[], bool] = lambda: False
    """Whether the model that asks can look at pictures."""
    timeout_seconds: float = TIMEOUT_SECONDS
    """The longest time one call may take."""
    confinement: Confinement | None = None
    """The sandbox around what exec runs, if there is one."""
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    """The environment from which git gets the variables it needs."""


def toolbox(place: ToolEnvironment) -> tuple[Tool, ...]:
    """Return every tool, the most useful first: a small window has no room for the last ones."""
    scope = Scope(place.root, place.scope)
    memory = FilesRead()
    files = ScopeFiles(scope, place.discovery)
    seconds = place.timeout_seconds
    return (
        ReadFile(scope, memory, sees_pictures=place.sees_pictures),
        Exec(
            place.jobs,
            place.session_id,
            place.open_shell,
            seconds,
            place.confinement,
            place.redactor,
        ),
        EditFile(scope, memory),
        SearchText(scope, files),
        FindFiles(files),
        WriteFile(scope, memory),
        Git(scope, place.environ, seconds),
        Tasks(place.goals),
        JobsTool(place.jobs, place.session_id, seconds, place.redactor),
    )
