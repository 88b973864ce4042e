"""What the user names with an @: a file of the project or of anywhere, or the list of a folder."""

from __future__ import annotations

import asyncio
from pathlib import Path

from ollm_tui.core.session.message import Attachment
from ollm_tui.engine.project.project_context import ProjectContext
from ollm_tui.services.files.mentioned_file import listing, name_of, place_of, read_mention


async def mentioned(project: ProjectContext, name: str) -> Attachment | None:
    """Return the file or folder of a name that was typed in full; None if there is none.
    UsageError if it cannot be sent."""
    path = await asyncio.to_thread(place_of, project.root, name)
    if path is None:
        return None
    if await asyncio.to_thread(path.is_dir):
        return await _folder(project, path)
    return await asyncio.to_thread(read_mention, project.root, path)


async def _folder(project: ProjectContext, path: Path) -> Attachment:
    root = project.root
    if path.is_relative_to(root) and ".." not in path.parts:
        inside = path.relative_to(root).as_posix()
        below = "" if inside == "." else f"{inside}/"
        files = [name for name in await project.files.paths() if name.startswith(below)]
        return listing(name_of(root, path) or "./", path, sorted(files))
    # A folder outside may be a whole disk: only what lies directly in it is listed.
    entries = await asyncio.to_thread(lambda: sorted(path.iterdir()))
    return listing(name_of(root, path), path, [name_of(path, entry) for entry in entries])
