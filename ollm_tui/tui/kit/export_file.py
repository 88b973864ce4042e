"""A conversation written into a file of the user's choice; its ending says in which form."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast, get_args

from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import visible
from ollm_tui.core.session.message import Message
from ollm_tui.core.session.session import Session
from ollm_tui.services.export.exporting import ExportFormat, export_session
from ollm_tui.tui.kit.new_file import write_new


async def export_to(name: str, session: Session, branch: Sequence[Message]) -> Path:
    """Write a branch of a session into a new file; gives its whole path. OllmError."""
    kind = Path(name).suffix.removeprefix(".").lower()
    if kind not in get_args(ExportFormat):
        wrong = f"{visible(kind) or 'that'} is no form to export in"
        raise UsageError(wrong, "end the name in .md, .html or .json")
    return await write_new(name, export_session(session, branch, cast(ExportFormat, kind)))
