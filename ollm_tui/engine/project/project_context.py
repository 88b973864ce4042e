"""What a project folder can add to the context: instructions, its file tree, the state of git.

Instructions are used only after the user has agreed to them, and only as they were then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ollm_tui.core import clock
from ollm_tui.core.errors import OllmError, UsageError
from ollm_tui.core.intake import visible
from ollm_tui.core.session.context_entry import ContextEntry
from ollm_tui.engine.context.system_prompt import INSTRUCTIONS
from ollm_tui.engine.conversation.conversation_notes import ConversationNotes
from ollm_tui.engine.project.instructions import InstructionFiles, Instructions, entry_key
from ollm_tui.engine.project.own_commands import OwnCommands
from ollm_tui.engine.project.project_state import active_tasks, recent_errors
from ollm_tui.services.files.git_program import git_state
from ollm_tui.services.safety.project_trust import Trust, Verdict
from ollm_tui.services.tasks.project_tasks import ProjectTasks
from ollm_tui.services.tokens.careful_estimate import careful_estimate
from ollm_tui.services.topic import Topic
from ollm_tui.settings.locations import Locations
from ollm_tui.settings.schema import Settings

if TYPE_CHECKING:
    from ollm_tui.services.files.project_files import ProjectFiles

INSTRUCTIONS_PRIORITY = 90
TREE, GIT, TASKS, ERRORS = "tree", "git", "tasks", "errors"
COMPUTED = (TREE, GIT, TASKS, ERRORS)
"""What can be computed of a project, in the order of `/context project`."""
COMPUTED_PRIORITY = 30
COMPUTED_TOKENS = 2_000
"""The most tokens that the tree, or the state of the repository, may take."""


class MetInstructions(NamedTuple):
    """Instructions of a folder that a session came across."""

    session_id: str
    instructions: Instructions


class ProjectContext:
    """Reads what one project folder can add to the context of its sessions."""

    def __init__(
        self, root: Path, settings: Settings, trust: Trust, home: Path | None = None
    ) -> None:
        self.root = root
        self._settings = settings
        self._trust = trust
        self._instructions = InstructionFiles(root, settings.context.instruction_files)
        self.undecided = Topic[MetInstructions]()
        """Publishes instructions of folders that the user has yet to decide about."""
        self.tasks = ProjectTasks(root)
        """The tasks of the project, where it has some."""
        self.commands = OwnCommands(home, root, trust)
        """The commands that the user and the project wrote."""

    @cached_property
    def files(self) -> ProjectFiles:
        """The project's files; listed when they are first asked for, watched from then on."""
        # Loaded when first used: it takes 30 ms, and most sessions need none of it.
        from ollm_tui.services.files.options import DiscoveryOptions
        from ollm_tui.services.files.project_files import ProjectFiles

        options = DiscoveryOptions.from_settings(self._settings)
        return ProjectFiles(self.root, options, watches=True)

    async def close(self) -> None:
        """Stop watching the files."""
        if "files" in vars(self):
            await self.files.close()

    async def instructions(self) -> Instructions | None:
        """The instructions as they are in the files now; None if there are none."""
        return await asyncio.to_thread(self._instructions.at_root)

    def verdict(self, instructions: Instructions) -> Verdict | None:
        """The user's answer about these instructions; None if they were never asked."""
        return self._trust.verdict(self._subject(instructions), instructions.digest)

    def keep_verdict(self, instructions: Instructions, verdict: Verdict) -> None:
        """Store the user's answer about these instructions; it holds until they change."""
        self._trust.keep(self._subject(instructions), instructions.digest, verdict)

    def trusts_settings(self, places: Locations, digest: str) -> bool | None:
        """Whether a project's settings with this content count; None if the user must be asked."""
        return self._trust.accepts_settings(places.project, digest)

    def keep_settings_verdict(self, digest: str, verdict: Verdict) -> None:
        """Store the user's answer about the settings; it holds until they change."""
        self._trust.keep_settings(self.root, digest, verdict)

    async def use(self, notes: ConversationNotes, instructions: Instructions) -> None:
        """Add instructions that the user agreed to to every prompt of a session, in place of
        earlier ones."""
        origin = INSTRUCTIONS + (f":{instructions.folder}" if instructions.folder else "")
        old = {entry.key for entry in notes.all if entry.origin == origin}
        taken = {entry.key for entry in notes.all if entry.origin != origin}
        new = [
            ContextEntry(
                key=entry_key(name),
                content=text,
                added_at=clock.now(),
                priority=INSTRUCTIONS_PRIORITY,
                source="system",
                origin=origin,
            )
            for name, text in instructions.files
            if entry_key(name) not in taken  # imported by those of another folder as well
        ]
        await notes.replace(old - {entry.key for entry in new}, new)

    async def use_trusted(self, notes: ConversationNotes, *, is_new: bool) -> None:
        """Use the instructions if the user trusts them for good; in a resumed session only if it
        has some already."""
        if not is_new and not any(entry.origin == INSTRUCTIONS for entry in notes.all):
            return
        found = await self.instructions()
        if found and await asyncio.to_thread(self.verdict, found) == "always":
            await self.use(notes, found)

    async def touched(
        self, notes: ConversationNotes, paths: Sequence[str], met: set[str], session_id: str
    ) -> None:
        """Add the instructions on the way to files that were touched, if the user trusts them for
        good; the others are published. `met` remembers which were met in this conversation: what
        the user removes does not come back."""
        for found in await asyncio.to_thread(self._instructions.on_the_way_to, paths):
            if found.digest in met:
                continue
            met.add(found.digest)
            verdict = await asyncio.to_thread(self.verdict, found)
            if verdict == "always":
                await self.use(notes, found)
            elif verdict is None:
                self.undecided.publish(MetInstructions(session_id, found))

    async def add(self, notes: ConversationNotes, key: str) -> None:
        """Add one of COMPUTED, as it is now, to every prompt of a session. UsageError if the
        project has nothing of the kind."""
        match key:
            case "tree":
                content = await self._tree()
            case "git":
                content = await self._git()
            case "tasks":
                content = await self._capped(partial(active_tasks, self.tasks), "no active tasks")
            case _:
                errors = partial(recent_errors, self.root, notes.state)
                content = await self._capped(errors, "no recent errors")
        await notes.add(key, content, COMPUTED_PRIORITY, source="system", origin=key)

    async def add_all(self, notes: ConversationNotes) -> list[str]:
        """Add all of COMPUTED that the project has; returns what was added."""
        added: list[str] = []
        for key in COMPUTED:
            try:
                await self.add(notes, key)
            except OllmError:
                continue
            added.append(key)
        return added

    async def _capped(self, read: Callable[[], list[str]], nothing: str) -> str:
        lines = await asyncio.to_thread(read)
        if not lines:
            raise UsageError(f"{nothing}", "/context list shows what is there")
        kept = _within_cap(lines)
        return "\n".join(kept if len(kept) == len(lines) else [*kept, "…"])

    async def _tree(self) -> str:
        paths = sorted(await self.files.paths())
        if not paths:
            raise UsageError("the project has no files", "check its ignore files")
        # Files near the root say most about a project, so these stay when there are too many.
        near = sorted(paths, key=lambda path: path.count("/"))
        kept = set(_within_cap(near))
        lines = [visible(path) for path in paths if path in kept]
        more = [f"… and {len(paths) - len(lines):,} more"] if len(lines) < len(paths) else []
        return "\n".join((*lines, *more))

    async def _git(self) -> str:
        lines = await asyncio.to_thread(git_state, self.root)
        if not lines:
            raise UsageError("not a git repository", "git init creates one")
        kept = _within_cap(lines)
        return "\n".join(kept if len(kept) == len(lines) else [*kept, "…"])

    def _subject(self, instructions: Instructions) -> str:
        return f"instructions:{self.root / instructions.folder}"


def _within_cap(lines: Iterable[str]) -> list[str]:
    """The first lines, as many as COMPUTED_TOKENS allow."""
    kept: list[str] = []
    room = float(COMPUTED_TOKENS)
    for line in lines:
        room -= careful_estimate(line) + 1
        if room < 0:
            break
        kept.append(line)
    return kept
