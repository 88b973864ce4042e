"""`ollm doctor`: checks versions, settings, store and providers, and repairs sessions."""

from __future__ import annotations

import os
import platform
import sqlite3
import sys
from argparse import Namespace
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ollm_tui import __version__
from ollm_tui.cli.output import print_json
from ollm_tui.cli.store import open_library, read_settings
from ollm_tui.core.counts import counted
from ollm_tui.core.errors import OllmError, ProviderError
from ollm_tui.core.intake import clean
from ollm_tui.services.jobs.supervisor import can_hold_detached
from ollm_tui.services.sessions.session_library import SessionLibrary
from ollm_tui.services.snapshots.session_repair import damaged, repair
from ollm_tui.settings.loaded import Loaded

if TYPE_CHECKING:
    from ollm_tui.bootstrap import Providers


class Finding(NamedTuple):
    """The result of one check."""

    area: str
    ok: bool
    text: str
    absent: bool = False
    """Whether something is not there that need not be."""

    @property
    def mark(self) -> str:
        """How it stands in the list."""
        return "--" if self.absent else "ok" if self.ok else "!!"


def run(arguments: Namespace) -> int:
    """Check everything, or repair damaged sessions; returns 1 if something is wrong."""
    loaded = read_settings()
    library = open_library(loaded)
    try:
        if arguments.repair is not None:
            return _repair(library, arguments.repair)
        findings = [
            *_versions(),
            *_git(),
            *_settings(loaded),
            *_home(loaded.locations.home),
            *_jobs(),
            *_store(library),
            *_providers(loaded),
        ]
    finally:
        library.close()
    if arguments.json:
        print_json([finding._asdict() for finding in findings])
    else:
        for finding in findings:
            print(f"{finding.mark}  {finding.area:<10} {clean(finding.text)}")
    return 0 if all(finding.ok for finding in findings) else 1


def _versions() -> Iterator[Finding]:
    python = platform.python_version()
    yield Finding("versions", True, f"ollm {__version__}, Python {python}, {platform.system()}")
    yield Finding("versions", True, f"SQLite {sqlite3.sqlite_version}")
    try:
        yield Finding("versions", True, f"llama.cpp by xllamacpp {version('xllamacpp')}")
    except PackageNotFoundError:
        hint = "pip install 'ollm-tui[local]'"
        yield Finding("versions", False, f"engine for embedded models not installed ({hint})")


def _git() -> Iterator[Finding]:
    from ollm_tui.services.files.git_program import GitProgram

    if GitProgram(os.environ).is_installed:
        yield Finding("git", True, "available")
    else:
        without = "git not found: .gitignore rules are approximated"
        yield Finding("git", True, f"{without} (install git)")


def _settings(loaded: Loaded) -> Iterator[Finding]:
    for warning in loaded.warnings:
        yield Finding("settings", False, str(warning))
    if not loaded.warnings:
        yield Finding("settings", True, f"no problems in {loaded.locations.user_config}")
    if loaded.project and loaded.project.notice:
        yield Finding("settings", loaded.project.awaits_answer, loaded.project.notice)


def _home(home: Path) -> Iterator[Finding]:
    if not home.exists():
        yield Finding("home", True, f"{home} does not exist yet")
        return
    if not os.access(home, os.W_OK | os.X_OK):
        yield Finding("home", False, f"{home} is not writable: nothing will be saved")
        return
    others = home.stat().st_mode & 0o077
    text = f"{home}, {_free(home)} free"
    yield Finding("home", not others, text + (" (readable by others: chmod 700)" * bool(others)))


def _jobs() -> Iterator[Finding]:
    if not can_hold_detached():
        text = "detached programs outlive their command on this system"
        yield Finding("jobs", True, text)


def _free(path: Path) -> str:
    room = os.statvfs(path)
    return f"{room.f_bavail * room.f_frsize / 1e9:,.1f} GB"


def _store(library: SessionLibrary) -> Iterator[Finding]:
    names = sorted(library.store.directory.fingerprints())
    messages = 0
    for name in names:
        try:
            loaded = library.load(name)
        except OllmError as error:
            yield Finding("sessions", False, f"{error.message} ({error.hint})")
            continue
        messages += len(loaded.state)
        for problem in loaded.problems:
            yield Finding("sessions", False, f"{name}: {problem}")
    read = f"{counted(len(names), 'session')}, {counted(messages, 'message')} read"
    yield Finding("sessions", True, read)
    library.catalogue.summaries()  # brings the index up to date
    yield Finding("sessions", True, f"index up to date, {len(library.trashed())} in the trash")


def _providers(loaded: Loaded) -> Iterator[Finding]:
    import asyncio

    from ollm_tui.bootstrap import open_providers

    async def states() -> list[tuple[str, tuple[bool, str]]]:
        providers = open_providers(loaded, os.environ)
        try:
            return [(name, await _checked(providers, name)) for name in providers.names()]
        finally:
            await providers.close()

    for name, (answers, text) in asyncio.run(states()):
        # A missing Ollama is no problem; a provider that the user configured has to answer.
        needed = name in loaded.settings.providers or name == "embedded"
        is_absent = not answers and not needed
        yield Finding("provider", answers or not needed, f"{name}: {text}", is_absent)


async def _checked(providers: Providers, name: str) -> tuple[bool, str]:
    """Return whether a provider answers and, if it is embedded, whether its files are undamaged."""
    from ollm_tui.cli.providers_command import state_of
    from ollm_tui.providers.embedded import Embedded

    answers, text = await state_of(providers, name)
    provider = await providers.get(name) if answers else None
    if isinstance(provider, Embedded):
        for model in await provider.list_models():
            try:
                if model.installed:
                    await provider.verify(model.name)
            except ProviderError as error:
                return False, f"{error.message} ({error.hint})"
    return answers, text


def _repair(library: SessionLibrary, session: str) -> int:
    names = [library.catalogue.resolve(session)] if session else damaged(library)
    failed = 0
    for name in names:
        new = repair(library, name)
        if new is None:
            failed += 1
            sys.stderr.write(f"ollm: nothing readable in {name}; its files are untouched\n")
        else:
            print(f"{name} -> {new}")
    if not names:
        print("No damaged sessions.")
    return 1 if failed else 0
