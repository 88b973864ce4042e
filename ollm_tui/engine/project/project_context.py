"""What the project itself has to say: instructions for the model, its files, its repository.

Instructions are used only after the user agreed to them, as they were then.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ollm_tui.core import clock
from ollm_tui.core.errors import UsageError
from ollm_tui.core.intake import clean, visible
from ollm_tui.core.session.context_entry import ContextEntry
from ollm_tui.engine.context.system_prompt import INSTRUCTIONS
from ollm_tui.engine.conversation.conversation_notes import ConversationNotes
from ollm_tui.services.files.git_program import git_state
from ollm_tui.services.safety.project_trust import Trust, Verdict, digest_of
from ollm_tui.services.tokens.careful_estimate import careful_estimate
from ollm_tui.settings.schema import Settings
from ollm_tui.storage.files.beneath import Beneath

if TYPE_CHECKING:
    from ollm_tui.services.files.project_files import ProjectFiles

INSTRUCTION_FILES = ("AGENTS.md", ".ollm/OLLM.md")
LARGEST_BYTES = 100_000
INSTRUCTIONS_PRIORITY = 90
TREE, GIT = "tree", "git"
COMPUTED_PRIORITY = 30
COMPUTED_TOKENS = 2_000
"""The most that the tree, or the state of the repository, may take."""


class Instructions(NamedTuple):
    """What a project wants to tell the model."""

    files: tuple[tuple[str, str], ...]
    """Name and text of each."""

    @property
    def names(self) -> str:
        """The files, in words."""
        return " and ".join(name for name, _ in self.files)

    @property
    def tokens(self) -> int:
        """About how long they are."""
        return round(sum(careful_estimate(text) for _, text in self.files))

    @property
    def digest(self) -> str:
        """Another one for every content."""
        return digest_of(part.encode() for file in self.files for part in file)


class ProjectContext:
    """What one project folder can add to the context of its sessions."""

    def __init__(self, root: Path, settings: Settings, trust: Trust) -> None:
        self.root = root
        self._settings = settings
        self._trust = trust

    @cached_property
    def files(self) -> ProjectFiles:
        """The project's files, listed when they are first asked for, and watched from then on."""
        # Loaded when first used: it takes 30 ms, and most sessions need none of it.
        from ollm_tui.services.files.options import DiscoveryOptions
        from ollm_tui.services.files.project_files import ProjectFiles

        options = DiscoveryOptions.from_settings(self._settings)
        return ProjectFiles(self.root, options, watches=True)

    async def close(self) -> None:
        """Watch nothing any more."""
        if "files" in vars(self):
            await self.files.close()

    async def instructions(self) -> Instructions | None:
        """What the project's files say now; None if there is nothing."""
        return await asyncio.to_thread(self._read_instructions)

    def verdict(self, instructions: Instructions) -> Verdict | None:
        """What the user said about them; None if they were never asked about."""
        return self._trust.verdict(self._subject, instructions.digest)

    def keep_verdict(self, instructions: Instructions, verdict: Verdict) -> None:
        """The user said whether they may be used, as long as they stay as they are."""
        self._trust.keep(self._subject, instructions.digest, verdict)

    async def use(self, notes: ConversationNotes, instructions: Instructions) -> None:
        """Put instructions the user agreed to into every prompt of a session."""
        old = {entry.key for entry in notes.all if entry.origin == INSTRUCTIONS}
        new = [
            ContextEntry(
                key=name,
                content=text,
                added_at=clock.now(),
                priority=INSTRUCTIONS_PRIORITY,
                source="system",
                origin=INSTRUCTIONS,
            )
            for name, text in instructions.files
        ]
        await notes.replace(old - {entry.key for entry in new}, new)

    async def use_trusted(self, notes: ConversationNotes, *, is_new: bool) -> None:
        """Use what the user agreed to for good; in an older session only if it has some."""
        if not is_new and not any(entry.origin == INSTRUCTIONS for entry in notes.all):
            return
        found = await self.instructions()
        if found and await asyncio.to_thread(self.verdict, found) == "always":
            await self.use(notes, found)

    async def add(self, notes: ConversationNotes, key: str) -> None:
        """Put the files or the repository's state into every prompt, as they are now.
        UsageError if there is nothing to say."""
        content = await (self._tree() if key == TREE else self._git())
        await notes.add(key, content, COMPUTED_PRIORITY, source="system", origin=key)

    async def _tree(self) -> str:
        paths = sorted(await self.files.paths())
        if not paths:
            raise UsageError("the project has no files", "look at its ignore files")
        # What lies near to the root says most about a project.
        near = sorted(paths, key=lambda path: path.count("/"))
        kept = set(_within_cap(near))
        lines = [visible(path) for path in paths if path in kept]
        more = [f"… and {len(paths) - len(lines):,} more"] if len(lines) < len(paths) else []
        return "\n".join((*lines, *more))

    async def _git(self) -> str:
        lines = await asyncio.to_thread(git_state, self.root)
        if not lines:
            raise UsageError("the project is no git repository", "git init makes one")
        kept = _within_cap(lines)
        return "\n".join(kept if len(kept) == len(lines) else [*kept, "…"])

    @property
    def _subject(self) -> str:
        return f"instructions:{self.root}"

    def _read_instructions(self) -> Instructions | None:
        found = ((name, self._read(name)) for name in INSTRUCTION_FILES)
        files = tuple((name, text) for name, text in found if text)
        return Instructions(files) if files else None

    def _read(self, name: str) -> str:
        """The text of a file; links are followed within the project only."""
        try:
            root = self.root.resolve()
            place = (root / name).resolve().relative_to(root)
            file = Beneath(root).read(place.as_posix(), LARGEST_BYTES)
        except (OSError, ValueError, RuntimeError):
            return ""
        data = file.data if file else None
        return clean(data.decode("utf-8", "replace")).strip() if data else ""


def _within_cap(lines: Iterable[str]) -> list[str]:
    kept: list[str] = []
    room = float(COMPUTED_TOKENS)
    for line in lines:
        room -= careful_estimate(line) + 1
        if room < 0:
            break
        kept.append(line)
    return kept
