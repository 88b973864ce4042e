"""The sessions that were used last, for the first screen."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from ollm_tui.core.errors import OllmError
from ollm_tui.core.intake import clean
from ollm_tui.core.session.titles import UNTITLED
from ollm_tui.tui.browser.session_list import age_labels

if TYPE_CHECKING:
    from ollm_tui.core.session.session import SessionSummary
    from ollm_tui.engine.project.workspace import Workspace

MOST = 3
"""Sessions that are offered."""
LOOKED_AT = 30
"""Sessions among which there are probably enough that are neither archived nor damaged."""


class RecentSession(NamedTuple):
    """One of them, in words."""

    session_id: str
    title: str
    age: str


async def recent_sessions(workspace: Workspace) -> AsyncGenerator[list[RecentSession], None]:
    """Yield the sessions used last as the index has them, then as their files are; nothing where
    they cannot be read, which the list of sessions tells."""
    try:
        yield _chosen(await workspace.known_sessions(LOOKED_AT))
        yield _chosen(await workspace.sessions())
    except OllmError:
        return


def _chosen(summaries: Sequence[SessionSummary]) -> list[RecentSession]:
    age = age_labels(datetime.now().astimezone())
    usable = (each for each in summaries if not each.archived and not each.damage)
    return [
        RecentSession(each.session_id, clean(each.title) or UNTITLED, age(each.last_activity))
        for each, _ in zip(usable, range(MOST), strict=False)
    ]
