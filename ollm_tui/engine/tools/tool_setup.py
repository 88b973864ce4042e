"""Makes the toolkits of a project's conversations: tools, policy, sandbox, copies of files."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from ollm_tui.engine.conversation.conversation_goals import ConversationGoals
from ollm_tui.engine.conversation.held_session import HeldSession
from ollm_tui.engine.tools.conversation_tools import ToolKit
from ollm_tui.settings.schema import Settings
from ollm_tui.storage.files.cipher import Cipher
from ollm_tui.storage.store_layout import StoreLayout

if TYPE_CHECKING:
    from ollm_tui.engine.jobs.session_jobs import SessionJobs
    from ollm_tui.services.files.project_files import ProjectFiles


@dataclass(frozen=True, kw_only=True)
class ToolSetup:
    """Makes toolkits. Their modules are loaded when the first one is made, which is only for a
    model that can use tools: they would slow down every start."""

    settings: Settings
    project: Path
    home: Path | None
    """The folder of answers that hold for a project; None stores none."""
    layout: StoreLayout
    cipher: Cipher | None
    environ: Mapping[str, str]
    open_jobs: Callable[[], SessionJobs]
    files: Callable[[], ProjectFiles] | None = None
    """Gives the files of the project, where they are shared with others."""

    async def toolkit(
        self,
        session: HeldSession,
        goals: ConversationGoals,
        *,
        keeps: bool,
        sees_pictures: Callable[[], bool] = lambda: False,
    ) -> ToolKit:
        """The toolkit of one session; `keeps` tells whether anything of it may be on disk."""
        # In a thread: it takes longer to load than a key may wait.
        await asyncio.to_thread(_load_modules)
        return await self._make(session, goals, keeps, sees_pictures)

    async def _make(
        self,
        session: HeldSession,
        goals: ConversationGoals,
        keeps: bool,
        sees_pictures: Callable[[], bool],
    ) -> ToolKit:
        # `_load_modules` has loaded all of these by now, so nothing waits here.
        from ollm_tui.engine.tools.policy import Policy, scope_of
        from ollm_tui.services.files.file_changes import FileWatch
        from ollm_tui.services.files.options import DiscoveryOptions
        from ollm_tui.services.files.project_files import ProjectFiles
        from ollm_tui.services.safety.grants import Grants
        from ollm_tui.services.sandbox.sandbox import Sandbox
        from ollm_tui.tools.toolbox import ToolEnvironment, toolbox

        rules, jobs = self.settings.tools, self.open_jobs()
        scope = scope_of(rules, self.project)
        # A command must not change sessions, nor the answers that decide what may run unasked.
        kept = [self.layout.root, *([self.home] if self.home else [])]
        sandbox = await asyncio.to_thread(
            Sandbox.find, scope, self.settings.tools.network, read_only=kept
        )
        environment = ToolEnvironment(
            root=self.project,
            scope=tuple(scope),
            jobs=jobs.service,
            redactor=jobs.redactor,
            session_id=session.session_id,
            open_shell=lambda: jobs.open(session.session_id),
            goals=goals,
            discovery=self.files()
            if self.files
            else ProjectFiles(
                self.project,
                DiscoveryOptions.from_settings(self.settings),
                environ=self.environ,
            ),
            sees_pictures=sees_pictures,
            timeout_seconds=self.settings.tools.timeout_seconds,
            environ=self.environ,
            confinement=sandbox.confinement,
        )
        watch = FileWatch(self.project, self.layout, session.session_id, self.cipher)
        if keeps:
            jobs.files.add(session.session_id, watch)
        return ToolKit(
            tools=toolbox(environment),
            policy=Policy(
                rules,
                self.project,
                Grants(self.home, self.project, writes=keeps),
                lambda: sandbox.confines,
            ),
            redactor=jobs.redactor,
            files=watch if keeps else None,
            sandbox_words=sandbox.words,
        )


def _load_modules() -> tuple[ModuleType, ...]:
    """Imports the modules that a toolkit is made of, with all that they need."""
    from ollm_tui.engine.tools import policy
    from ollm_tui.services.files import file_changes
    from ollm_tui.services.sandbox import sandbox
    from ollm_tui.tools import toolbox

    return toolbox, policy, sandbox, file_changes
