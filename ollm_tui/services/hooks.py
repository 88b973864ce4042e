"""The user's own commands that run at certain events, and what they answer.

A hook gets JSON on stdin. What it prints is text, or {"context": [{"key", "content",
"priority", "ttl"}]}; either becomes context. Its failure is told and is never more than that.
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
LARGEST_SCRIPT = 1_000_000
LONGEST_NAME = 30
NOT_TRUSTED = "it is not trusted yet: /trust looks at it"

log = logging.getLogger(__name__)


class Hook(NamedTuple):
    """A command, and when it runs."""

    event: HookEvent
    command: str

    @property
    def key(self) -> str:
        """The name of its context."""
        first = self.command.split(maxsplit=1)[:1]
        name = Path(first[0].strip("'\"")).name if first else ""
        plain = "".join(mark if mark.isalnum() or mark in "._-" else "_" for mark in name)
        return f"{self.event}: {plain[:LONGEST_NAME]}"


class HookContent(NamedTuple):
    """What a hook would run, as it was when somebody looked."""

    hook: Hook
    scripts: tuple[tuple[Path, bytes], ...]
    """The files it runs, as far as its words name them."""

    @property
    def digest(self) -> str:
        """Another one for every content."""
        scripts = (content for _, content in self.scripts)
        return digest_of((self.hook.command.encode("utf-8", "replace"), *scripts))

    @property
    def text(self) -> str:
        """All of it, to be read."""
        files = (f"{path}\n\n{data.decode('utf-8', 'replace')}" for path, data in self.scripts)
        return "\n\n".join((f"{self.hook.event}: {self.hook.command}", *files))


class HookNotice(NamedTuple):
    """Something the user should know about a hook."""

    hook: Hook
    words: str
    is_untrusted: bool = False


class HookAnswer(NamedTuple):
    """What a hook wants to have in the context; nothing takes its earlier words away."""

    hook: Hook
    entries: tuple[ContextEntry, ...]


class HookFailed(Exception):
    """A hook did not do its work, in words."""


class _Wanted(msgspec.Struct, frozen=True):
    key: str
    content: str
    priority: int = USUAL_PRIORITY
    ttl: float | None = None
    """Seconds."""


class Hooks:
    """The hooks of the settings. Only those the user said yes to are ever run."""

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
        """Every hook there is."""
        self.told = Topic[HookNotice]()
        """What the user should know, one line each."""
        self._environment = environment
        self._folder = folder
        self._trust = trust
        self._redact = redact
        self._limit_seconds = limit_seconds

    def verdict(self, hook: Hook) -> Verdict | None:
        """What the user said about a hook as it is now; None if that was never asked."""
        return self._trust.verdict(f"hook:{hook.command}", self.content(hook).digest)

    def keep_verdict(self, content: HookContent, verdict: Verdict) -> None:
        """The user said whether a hook may run, as long as it stays as it was shown."""
        self._trust.keep(f"hook:{content.hook.command}", content.digest, verdict)

    def content(self, hook: Hook) -> HookContent:
        """What a hook would run now."""
        found: list[tuple[Path, bytes]] = []
        for place, word in enumerate(_words(hook.command)):
            path = self._folder / Path(word).expanduser()
            if not place and "/" not in word:
                path = Path(shutil.which(word, path=self._environment.variables.get("PATH")) or "")
            content = _script(path)
            # A program that is no script belongs to the system, and changes with it.
            if content is not None and (place or "/" in word or content.startswith(b"#!")):
                found.append((path, content))
        return HookContent(hook, tuple(found))

    async def run(self, event: HookEvent, facts: Mapping[str, object]) -> list[HookAnswer]:
        """Run the hooks of an event one after the other; says what they answered."""
        answers: list[HookAnswer] = []
        for hook in (hook for hook in self.all if hook.event == event):
            verdict = await asyncio.to_thread(self.verdict, hook)
            if verdict is None:
                self.tell(hook, NOT_TRUSTED, is_untrusted=True)
            elif verdict == "always":
                try:
                    said = await self._said_by(hook, facts)
                    answers.append(HookAnswer(hook, tuple(self._entries(hook, said))))
                except HookFailed as error:
                    self.tell(hook, str(error))
        return answers

    def tell(self, hook: Hook, words: str, *, is_untrusted: bool = False) -> None:
        """Tell the user something about a hook."""
        log.warning("hook %s: %s", hook.command, words)
        self.told.publish(HookNotice(hook, clean(words), is_untrusted))

    async def _said_by(self, hook: Hook, facts: Mapping[str, object]) -> str:
        given = msgspec.json.encode({"event": hook.event, **facts}) + b"\n"
        words = _words(hook.command)
        if not words:
            raise HookFailed("its command cannot be read; look at its quotes")
        try:
            process = await asyncio.create_subprocess_exec(
                *words,
                cwd=self._folder,
                env=self._environment.variables,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise HookFailed(f"it cannot be started: {reason}") from error
        try:
            async with asyncio.timeout(self._limit_seconds):
                return await self._conversation(process, given)
        except TimeoutError:
            raise HookFailed(f"it took longer than {self._limit_seconds:g} seconds") from None
        finally:
            await _end(process)

    async def _conversation(self, process: asyncio.subprocess.Process, given: bytes) -> str:
        assert process.stdin and process.stdout and process.stderr
        _, said, complaint = await asyncio.gather(
            _write(process.stdin, given), _read(process.stdout), _read(process.stderr)
        )
        code = await process.wait()
        if code:
            last = clean(complaint.decode("utf-8", "replace")).strip().splitlines()[-1:]
            raise HookFailed(f"it failed (exit {code}){''.join(f': {line}' for line in last)}")
        if len(said) > MOST_BYTES:
            raise HookFailed(f"it said more than {MOST_BYTES // 1024} kB")
        return self._redact(clean(said.decode("utf-8", "replace"))).strip()

    def _entries(self, hook: Hook, said: str) -> Iterator[ContextEntry]:
        """What a hook wants to have in the context; what cannot be used is told."""
        moment = clock.now()
        for wanted in self._wanted(hook, said):
            entry = ContextEntry(
                key=" ".join(clean(wanted.key).split()),
                content=clean(wanted.content).strip(),
                added_at=moment,
                priority=wanted.priority,
                source="hook",
                expires_at=expiry(moment, wanted.ttl),
            )
            if entry.problem:
                name = entry.key[:LONGEST_NAME]
                self.tell(hook, f"its context {name!r} is left out: {entry.problem}")
            else:
                yield entry

    def _wanted(self, hook: Hook, said: str) -> Iterator[_Wanted]:
        try:
            tree: Any = msgspec.json.decode(said)
        except (msgspec.MsgspecError, RecursionError):
            tree = None
        if not isinstance(tree, dict):
            if said:
                yield _Wanted(hook.key, said)
            return
        try:
            listed = msgspec.convert(tree, type=dict[str, Any]).get("context", [])
            for each in msgspec.convert(listed, type=list[Any]):
                yield msgspec.convert(each, type=_Wanted)
        except msgspec.ValidationError as error:
            self.tell(hook, f"its context is left out: {error}")


def _words(command: str) -> list[str]:
    """Without a shell: what stands in the settings is what runs. Empty if it makes no sense."""
    try:
        first, *rest = shlex.split(command)
    except ValueError:
        return []
    # Otherwise as it is: a Path would drop the ./ without which it is looked for elsewhere.
    return [str(Path(first).expanduser()) if first.startswith("~") else first, *rest]


def _script(path: Path) -> bytes | None:
    try:
        if not path.is_file() or path.stat().st_size > LARGEST_SCRIPT:
            return None
        return path.read_bytes()
    except OSError:
        return None


async def _write(stream: asyncio.StreamWriter, data: bytes) -> None:
    with suppress(ConnectionError):  # it need not read what it is told
        stream.write(data)
        await stream.drain()
    stream.close()


async def _read(stream: asyncio.StreamReader) -> bytes:
    """Up to one byte more than is allowed; the rest is thrown away, so that nobody waits."""
    kept = b""
    while chunk := await stream.read(MOST_BYTES):
        kept += chunk[: MOST_BYTES + 1 - len(kept)]
    return kept


async def _end(process: asyncio.subprocess.Process) -> None:
    """Nothing that a hook started outlives it."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
