"""Hooks: commands of the user that run at certain events and may add to the context.

A hook gets JSON on stdin. It prints plain text or {"context": [{"key", "content", "priority",
"ttl"}]}; either becomes context. A hook that fails is reported and has no other effect.
"""

from __future__ import annotations

import asyncio
import logging
import os
import shlex
import shutil
import signal
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from ollm_tui.core import clock
from ollm_tui.core.intake import clean
from ollm_tui.core.session.context_entry import USUAL_PRIORITY, ContextEntry, expiry
from ollm_tui.services.safety.environment import CleanEnvironment
from ollm_tui.services.safety.project_trust import Trust, Verdict, digest_of
from ollm_tui.services.topic import Topic
from ollm_tui.settings.schema import HookEvent

LIMIT_SECONDS = 30.0
MOST_BYTES = 64 * 1024
"""The most bytes of output that a hook may print."""
LARGEST_SCRIPT = 1_000_000
"""A larger file (in bytes) is not looked at as a script."""
LONGEST_NAME = 30
NOT_TRUSTED = "not trusted yet: /trust shows it"

log = logging.getLogger(__name__)


class Hook(NamedTuple):
    """A command and the event it runs at."""

    event: HookEvent
    command: str

    @property
    def key(self) -> str:
        """The key of its context, if it prints plain text: event and program name."""
        first = self.command.split(maxsplit=1)[:1]
        name = Path(first[0].strip("'\"")).name if first else ""
        plain = "".join(mark if mark.isalnum() or mark in "._-" else "_" for mark in name)
        return f"{self.event}: {plain[:LONGEST_NAME]}"


class HookContent(NamedTuple):
    """The command of a hook and the scripts it runs, as they were when they were read."""

    hook: Hook
    scripts: tuple[tuple[Path, bytes], ...]
    """The scripts and files that the words of the command name."""

    @property
    def digest(self) -> str:
        """A digest of command and scripts: it changes when one of them does."""
        scripts = (content for _, content in self.scripts)
        return digest_of((self.hook.command.encode("utf-8", "replace"), *scripts))

    @property
    def text(self) -> str:
        """Command and scripts as text, to be shown to the user."""
        files = (f"{path}\n\n{data.decode('utf-8', 'replace')}" for path, data in self.scripts)
        return "\n\n".join((f"{self.hook.event}: {self.hook.command}", *files))


class HookNotice(NamedTuple):
    """Something the user should know about a hook."""

    hook: Hook
    words: str
    is_untrusted: bool = False


class HookAnswer(NamedTuple):
    """The context entries that a hook printed; without any, its earlier plain text is removed."""

    hook: Hook
    entries: tuple[ContextEntry, ...]


class HookFailed(Exception):
    """Raised when a hook fails; the text says why."""


class _Printed(msgspec.Struct, frozen=True):
    """A context entry as a hook prints it."""

    key: str
    content: str
    priority: int = USUAL_PRIORITY
    ttl: float | None = None
    """Seconds until it expires."""


class Hooks:
    """The hooks of the settings. Only those that the user has trusted are ever run."""

    def __init__(
        self,
        commands: Mapping[HookEvent, Sequence[str]],
        environment: CleanEnvironment,
        folder: Path,
        trust: Trust,
        *,
        redact: Callable[[str], str] = str,
        limit_seconds: float = LIMIT_SECONDS,
    ) -> None:
        self.all = tuple(Hook(event, line) for event, lines in commands.items() for line in lines)
        """All hooks of the settings."""
        self.told = Topic[HookNotice]()
        """Notices for the user, one line each."""
        self._environment = environment
        self._folder = folder
        self._trust = trust
        self._redact = redact
        self._limit_seconds = limit_seconds

    def verdict(self, hook: Hook) -> Verdict | None:
        """Return what the user decided about a hook as it is now; None if not asked yet."""
        return self._trust.verdict(f"hook:{hook.command}", self.content(hook).digest)

    def keep_verdict(self, content: HookContent, verdict: Verdict) -> None:
        """Store whether a hook may run; this holds as long as it stays as it was shown."""
        self._trust.keep(f"hook:{content.hook.command}", content.digest, verdict)

    def content(self, hook: Hook) -> HookContent:
        """Read what a hook would run now."""
        found: list[tuple[Path, bytes]] = []
        for number, word in enumerate(_words(hook.command)):
            path = self._folder / Path(word).expanduser()
            if not number and "/" not in word:  # a program, which the system looks for in PATH
                path = Path(shutil.which(word, path=self._environment.variables.get("PATH")) or "")
            content = _script(path)
            # A program that is no script belongs to the system and changes with its updates: then
            # the user would have to trust the hook again.
            if content is not None and (number or "/" in word or content.startswith(b"#!")):
                found.append((path, content))
        return HookContent(hook, tuple(found))

    async def run(self, event: HookEvent, facts: Mapping[str, object]) -> list[HookAnswer]:
        """Run the hooks of an event one after the other and return their answers."""
        answers: list[HookAnswer] = []
        for hook in (hook for hook in self.all if hook.event == event):
            verdict = await asyncio.to_thread(self.verdict, hook)
            if verdict is None:
                self.tell(hook, NOT_TRUSTED, is_untrusted=True)
            elif verdict == "always":
                try:
                    printed = await self._output_of(hook, facts)
                    answers.append(HookAnswer(hook, tuple(self._entries(hook, printed))))
                except HookFailed as error:
                    self.tell(hook, str(error))
        return answers

    def tell(self, hook: Hook, words: str, *, is_untrusted: bool = False) -> None:
        """Log a notice about a hook and publish it for the user."""
        log.warning("hook %s: %s", hook.command, words)
        self.told.publish(HookNotice(hook, clean(words), is_untrusted))

    async def _output_of(self, hook: Hook, facts: Mapping[str, object]) -> str:
        """Run a hook and return what it printed. HookFailed."""
        given = msgspec.json.encode({"event": hook.event, **facts}) + b"\n"
        words = _words(hook.command)
        if not words:
            raise HookFailed("cannot parse its command; check the quotes")
        try:
            process = await asyncio.create_subprocess_exec(
                *words,
                cwd=self._folder,
                env=self._environment.variables,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,  # a group of its own, so that all of it can be killed
            )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise HookFailed(f"cannot start: {reason}") from error
        try:
            async with asyncio.timeout(self._limit_seconds):
                return await self._exchange(process, given)
        except TimeoutError:
            raise HookFailed(f"it took longer than {self._limit_seconds:g} seconds") from None
        finally:
            await _end(process)

    async def _exchange(self, process: asyncio.subprocess.Process, given: bytes) -> str:
        """Write to stdin and read the output. HookFailed if the exit code is not 0."""
        assert process.stdin and process.stdout and process.stderr
        # All three at once: a hook that waits with a full pipe would otherwise never end.
        _, printed, complaint = await asyncio.gather(
            _write(process.stdin, given), _read(process.stdout), _read(process.stderr)
        )
        code = await process.wait()
        if code:
            last = self._heard(complaint).splitlines()[-1:]
            raise HookFailed(f"it failed (exit {code}){''.join(f': {line}' for line in last)}")
        if len(printed) > MOST_BYTES:
            raise HookFailed(f"it said more than {MOST_BYTES // 1024} kB")
        return self._heard(printed)

    def _heard(self, printed: bytes) -> str:
        """Return what a hook printed, without secrets and terminal controls."""
        return self._redact(clean(printed.decode("utf-8", "replace"))).strip()

    def _entries(self, hook: Hook, printed: str) -> Iterator[ContextEntry]:
        """Yield the context entries in the output of a hook; report those that are invalid."""
        moment = clock.now()
        for each in self._parsed(hook, printed):
            # Again: escapes in JSON may stand for control characters or hide a secret.
            entry = ContextEntry(
                key=" ".join(self._redact(clean(each.key)).split()),
                content=self._redact(clean(each.content)).strip(),
                added_at=moment,
                priority=each.priority,
                source="hook",
                expires_at=expiry(moment, each.ttl),
            )
            if entry.problem:
                name = entry.key[:LONGEST_NAME]
                self.tell(hook, f"its context {name!r} is ignored: {entry.problem}")
            else:
                yield entry

    def _parsed(self, hook: Hook, printed: str) -> Iterator[_Printed]:
        """Yield the entries of JSON output, or one entry with the whole text if it is none."""
        try:
            tree: Any = msgspec.json.decode(printed)
        except (msgspec.MsgspecError, RecursionError):
            tree = None
        if not isinstance(tree, dict):
            if printed:
                yield _Printed(hook.key, printed)
            return
        try:
            listed = msgspec.convert(tree, type=dict[str, Any]).get("context", [])
            for each in msgspec.convert(listed, type=list[Any]):
                yield msgspec.convert(each, type=_Printed)
        except msgspec.ValidationError as error:
            self.tell(hook, f"its context is ignored: {error}")


def _words(command: str) -> list[str]:
    """Split a command into words, without a shell; empty if its quotes do not match."""
    try:
        first, *rest = shlex.split(command)
    except ValueError:
        return []
    # Otherwise unchanged: a Path would drop "./", and the program would be looked for in PATH.
    return [str(Path(first).expanduser()) if first.startswith("~") else first, *rest]


def _script(path: Path) -> bytes | None:
    """Return the content of a file; None if it is no file, too large or not readable."""
    try:
        if not path.is_file() or path.stat().st_size > LARGEST_SCRIPT:
            return None
        return path.read_bytes()
    except OSError:
        return None


async def _write(stream: asyncio.StreamWriter, data: bytes) -> None:
    with suppress(ConnectionError):  # a hook need not read its input
        stream.write(data)
        await stream.drain()
    stream.close()


async def _read(stream: asyncio.StreamReader) -> bytes:
    """Read up to one byte more than is allowed; the rest is dropped, so that the hook can end."""
    kept = b""
    while chunk := await stream.read(MOST_BYTES):
        kept += chunk[: MOST_BYTES + 1 - len(kept)]
    return kept


async def _end(process: asyncio.subprocess.Process) -> None:
    """Kill a hook and everything it started in its process group."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
