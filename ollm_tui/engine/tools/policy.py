"""The policy for tools: whether an action is allowed, refused, or needs the user's approval."""

from __future__ import annotations

from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal, NamedTuple

from ollm_tui.core.intake import visible
from ollm_tui.core.tool import Action, ApprovalMode, Decision, Verdict
from ollm_tui.services.safety.grants import Grant, Grants, Subject
from ollm_tui.services.safety.places import Places, names_secrets, runs_by_itself
from ollm_tui.settings.schema import Tools

HELD_TOOLS = frozenset(("exec",))
"""The tools whose commands run in the sandbox; those of the git tool, for instance, do not."""


class _Assessment(NamedTuple):
    """How risky an action is by itself, before settings and grants are looked at."""

    level: Literal["harmless", "ordinary", "dangerous"]
    reason: str


class Policy:
    """The rules of one session in a project.

    `confined` tells whether a sandbox holds commands. It is a function because that is only
    found out after the start; without a sandbox, no mode runs commands unasked.
    """

    def __init__(
        self,
        settings: Tools,
        project: Path,
        grants: Grants,
        confined: Callable[[], bool] = lambda: False,
    ) -> None:
        self._settings = settings
        self._project = project
        self._scope = scope_of(settings, project)
        self._grants = grants
        self._confined = confined

    def judge(self, tool: str, action: Action, mode: ApprovalMode) -> Verdict:
        """The verdict on an action. A denial stands, whatever else allows the action."""
        if not any(fnmatchcase(tool, pattern) for pattern in self._settings.allowed):
            return Verdict("deny", f"{tool} is not an allowed tool")
        permission = self._settings.permissions.get(tool)
        if permission == "deny":
            return Verdict("deny", f"the settings forbid {tool}")
        answer = self._grants.answer(self._subject(tool, action))
        if answer == "never":
            return Verdict("deny", "you said never to this")
        # Before any rule that allows: dangerous actions ask each time, in every mode.
        found = self._assess(action)
        if found.level == "dangerous":
            return Verdict("ask", found.reason, dangerous=True)
        grant = self._grant_words(action)
        if answer == "always":
            return Verdict("allow", "you said always to this", grant=grant)
        if permission == "auto":
            return Verdict("allow", f"the settings allow {tool}", grant=grant)
        if permission == "confirm":
            return Verdict("ask", f"the settings require asking for {tool}", grant=grant)
        if found.level == "harmless":
            return Verdict("allow", found.reason)
        return self._by_mode(tool, action, found, mode, grant)

    def remember(self, tool: str, action: Action, verdict: Verdict, decision: Decision) -> None:
        """Store an answer that holds for more than once; never an "always" to something
        dangerous."""
        if decision.answer not in ("always", "never") or decision.scope == "once":
            return
        if decision.answer == "always" and (verdict.dangerous or not verdict.grant):
            return
        self._grants.keep(self._subject(tool, action), decision.answer, decision.scope)

    def grants(self) -> list[Grant]:
        """The answers that hold for more than once, the newest first."""
        return self._grants.list()

    def clear_grants(self) -> int:
        """Forget all grants that hold here; returns how many there were."""
        return self._grants.clear()

    def _by_mode(
        self, tool: str, action: Action, found: _Assessment, mode: ApprovalMode, grant: str
    ) -> Verdict:
        if action.effect == "write" and mode in ("auto-edit", "auto"):
            return Verdict("allow", f"mode {mode} allows edits in the project", grant=grant)
        if action.effect == "run" and mode == "auto":
            if tool in HELD_TOOLS and self._confined():
                return Verdict("allow", "mode auto allows it in the sandbox", grant=grant)
            return Verdict("ask", f"not sandboxed; {found.reason}", grant=grant)
        return Verdict("ask", found.reason, grant=grant)

    def _assess(self, action: Action) -> _Assessment:
        match action.effect:
            case "none":
                return _Assessment("harmless", "it touches no files and runs nothing")
            case "read":
                return self._assess_reading(action)
            case "write":
                return self._assess_writing(action)
            case "run":
                return self._assess_running(action)

    def _assess_reading(self, action: Action) -> _Assessment:
        if any(map(names_secrets, action.reads or (action.subject,))):
            return _Assessment("ordinary", "it names a place that may hold secrets")
        return _Assessment("harmless", "it only reads")

    def _assess_writing(self, action: Action) -> _Assessment:
        places = Places(self._project, self._scope)
        real = places.real(action.subject)
        if not places.holds(real):
            return _Assessment("dangerous", "it writes outside the project")
        if runs := runs_by_itself(places.within(real)):
            return _Assessment("dangerous", f"it changes {runs}")
        return _Assessment("ordinary", "it changes a file")

    def _assess_running(self, action: Action) -> _Assessment:
        # The grammar takes 35 ms to load: not before a tool wants to run something.
        from ollm_tui.services.safety.judgement import judge, judge_python

        directory = Path(action.place or self._project)
        judges = judge_python if action.language == "python" else judge
        found = judges(action.subject, directory, self._scope)
        if found.level == "read-only" and action.language == "shell":
            return _Assessment("harmless", found.reason)
        if found.level == "dangerous":
            return _Assessment("dangerous", found.reason)
        return _Assessment("ordinary", found.reason if action.language else "it runs something")

    def _subject(self, tool: str, action: Action) -> Subject:
        # With the directory: the same command does something else in another one.
        directory = action.place or str(self._project)
        return Subject(tool, action.subject, directory, action.language)

    def _grant_words(self, action: Action) -> str:
        """What "always" would allow, as one line for the user."""
        match action.effect:
            case "run":
                words = f"exactly this command, in {action.place or self._project}"
            case "write":
                words = f"edits of {action.subject}"
            case "read":
                words = f"reading {action.subject}"
            case "none":
                words = "exactly this"
        return " ".join(visible(words).split())


def scope_of(settings: Tools, project: Path) -> tuple[Path, ...]:
    """The directories that tools may touch, as absolute paths."""
    return tuple((project / Path(folder).expanduser()).resolve() for folder in settings.scope)
