"""Hooks: run only when trusted, told what happens, heard, bounded, and never fatal."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from ollm_tui.services.hooks import MOST_BYTES, Hook, HookNotice, Hooks
from ollm_tui.services.safety.environment import CleanEnvironment
from ollm_tui.services.safety.project_trust import Trust, Verdict
from ollm_tui.settings.schema import HookEvent

FACTS: Mapping[str, object] = {"sessionId": "s1", "text": "hello"}


class Setup:
    """Hooks of one event, trusted from the start unless a test says otherwise."""

    def __init__(self, folder: Path, *commands: str, trusted: bool = True) -> None:
        environment = CleanEnvironment({"PATH": os.environ["PATH"]}, ())
        wanted: Mapping[HookEvent, Sequence[str]] = {"before-turn": commands}
        self.hooks = Hooks(wanted, environment, folder, Trust(None), limit_seconds=20)
        self.told: list[HookNotice] = []
        self.hooks.told.subscribe(self.told.append)
        if trusted:
            for hook in self.hooks.all:
                self.hooks.keep_verdict(self.hooks.content(hook), "always")

    async def contents(self) -> dict[str, str]:
        answers = await self.hooks.run("before-turn", FACTS)
        return {entry.key: entry.content for answer in answers for entry in answer.entries}

    @property
    def words(self) -> str:
        return " ".join(told.words for told in self.told)


def script(folder: Path, text: str, name: str = "hook.sh") -> str:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return f"./{name}"


async def test_what_a_hook_prints_is_context_under_its_own_name(tmp_path: Path) -> None:
    setup = Setup(tmp_path, script(tmp_path, "echo on branch main"))
    assert await setup.contents() == {"before-turn: hook.sh": "on branch main"}
    assert await setup.hooks.run("after-turn", FACTS) == []


async def test_a_hook_is_told_what_happens_and_sees_a_clean_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_TOKEN", "secret")
    setup = Setup(tmp_path, script(tmp_path, "cat; echo; env; pwd"))
    [said] = (await setup.contents()).values()
    assert json.loads(said.splitlines()[0]) == {"event": "before-turn", **FACTS}
    assert "secret" not in said
    assert said.endswith(str(tmp_path))


async def test_a_hook_may_give_several_entries_and_what_is_wrong_is_left_out(
    tmp_path: Path,
) -> None:
    good = {"key": "branch", "content": "main\x1b[2J", "priority": 70, "ttl": 60}
    bad = {"key": "x", "content": "y", "priority": 999}
    command = script(tmp_path, f"echo '{json.dumps({'context': [good, bad]})}'")
    setup = Setup(tmp_path, command)
    [answer] = await setup.hooks.run("before-turn", FACTS)
    [entry] = answer.entries
    assert (entry.key, entry.content, entry.priority) == ("branch", "main", 70)
    assert entry.source == "hook" and not entry.is_users_own
    assert entry.expires_at is not None and entry.expires_at > entry.added_at
    assert "'x' is ignored: its priority" in setup.words


@pytest.mark.parametrize("said", ('{"context": 5}', '{"context": [{"key": 1}]}'))
async def test_an_answer_of_another_shape_is_told_and_left_out(tmp_path: Path, said: str) -> None:
    setup = Setup(tmp_path, script(tmp_path, f"echo '{said}'"))
    assert await setup.contents() == {}
    assert "its context is ignored" in setup.words


async def test_nothing_runs_before_the_user_said_yes(tmp_path: Path) -> None:
    setup = Setup(tmp_path, script(tmp_path, "touch ran"), trusted=False)
    assert await setup.contents() == {}
    assert not (tmp_path / "ran").exists()
    assert [told.is_untrusted for told in setup.told] == [True]
    [hook] = setup.hooks.all
    setup.hooks.keep_verdict(setup.hooks.content(hook), "never")
    await setup.contents()
    assert not (tmp_path / "ran").exists() and len(setup.told) == 1
    setup.hooks.keep_verdict(setup.hooks.content(hook), "always")
    await setup.contents()
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize("answer", ("always", "never"))
async def test_an_answer_is_about_the_hook_as_it_was_shown(tmp_path: Path, answer: Verdict) -> None:
    setup = Setup(tmp_path, script(tmp_path, "echo harmless"), trusted=False)
    [hook] = setup.hooks.all
    shown = setup.hooks.content(hook)
    script(tmp_path, "touch ran")
    setup.hooks.keep_verdict(shown, answer)
    assert setup.hooks.verdict(hook) is None and "echo harmless" in shown.text
    await setup.contents()
    assert not (tmp_path / "ran").exists()
    assert [told.is_untrusted for told in setup.told] == [True]
    script(tmp_path, "echo harmless")
    assert setup.hooks.verdict(hook) == answer


@pytest.mark.parametrize("command", ("./hook.sh", "sh hook.sh", "sh ./hook.sh --fast"))
async def test_a_changed_script_is_another_hook(tmp_path: Path, command: str) -> None:
    script(tmp_path, "echo one")
    setup = Setup(tmp_path, command)
    [hook] = setup.hooks.all
    assert setup.hooks.verdict(hook) == "always"
    script(tmp_path, "echo two")
    assert setup.hooks.verdict(hook) is None
    assert await setup.contents() == {}


def test_programs_of_the_system_are_trusted_by_their_name(tmp_path: Path) -> None:
    setup = Setup(tmp_path, "true")
    assert setup.hooks.content(setup.hooks.all[0]).scripts == ()


@pytest.mark.parametrize(
    ("text", "words"),
    (
        ("echo 'no such branch' >&2; exit 3", "it failed (exit 3): no such branch"),
        (f"head -c {MOST_BYTES + 1} /dev/zero | tr '\\0' x", "it said more than 64 kB"),
    ),
)
async def test_a_failure_is_told_in_one_line(tmp_path: Path, text: str, words: str) -> None:
    setup = Setup(tmp_path, script(tmp_path, text))
    assert await setup.contents() == {}
    assert words in setup.words and "\n" not in setup.words


@pytest.mark.parametrize("command", ("./missing.sh", "no-such-program-here", "'open quote"))
async def test_a_hook_that_cannot_be_started_is_told(tmp_path: Path, command: str) -> None:
    setup = Setup(tmp_path, command)
    assert await setup.contents() == {}
    assert "cannot" in setup.words


async def test_a_slow_hook_is_ended_with_all_it_started(tmp_path: Path) -> None:
    command = script(tmp_path, "sleep 61 & echo $! > child; wait")
    setup = Setup(tmp_path, command)
    setup.hooks = Hooks(
        {"before-turn": [command]},
        CleanEnvironment({"PATH": os.environ["PATH"]}, ()),
        tmp_path,
        Trust(None),
        limit_seconds=1.5,
    )
    setup.hooks.told.subscribe(setup.told.append)
    setup.hooks.keep_verdict(setup.hooks.content(setup.hooks.all[0]), "always")
    assert await setup.contents() == {}
    assert "longer than 1.5 seconds" in setup.words
    assert await gone(int((tmp_path / "child").read_text()))


async def test_a_hook_nobody_waits_for_any_more_is_ended(tmp_path: Path) -> None:
    setup = Setup(tmp_path, script(tmp_path, "echo $$ > pid; sleep 61"))
    running = asyncio.create_task(setup.contents())
    pid = tmp_path / "pid"
    while not (running.done() or (pid.exists() and pid.read_text().strip())):
        await asyncio.sleep(0.02)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert await gone(int(pid.read_text()))


async def test_a_hook_that_reads_nothing_of_what_it_is_told_is_fine(tmp_path: Path) -> None:
    setup = Setup(tmp_path, "true")
    await setup.hooks.run("before-turn", {"text": "x" * 1_000_000})
    assert setup.told == []


async def test_secrets_are_taken_out_of_what_a_hook_says(tmp_path: Path) -> None:
    escaped = json.dumps({"context": [{"key": "k", "content": "xyzzy"}]}).replace("xy", "x\\u0079")
    commands = [
        script(tmp_path, "echo the word is xyzzy"),
        script(tmp_path, f"cat <<'END'\n{escaped}\nEND", "escaped.sh"),
        script(tmp_path, "echo no entry with xyzzy >&2; exit 3", "fails.sh"),
    ]
    hooks = Hooks(
        {"before-turn": commands},
        CleanEnvironment({"PATH": os.environ["PATH"]}, ()),
        tmp_path,
        Trust(None),
        redact=lambda text: text.replace("xyzzy", "***"),
    )
    told: list[HookNotice] = []
    hooks.told.subscribe(told.append)
    for hook in hooks.all:
        hooks.keep_verdict(hooks.content(hook), "always")
    answers = await hooks.run("before-turn", FACTS)
    assert [answer.entries[0].content for answer in answers] == ["the word is ***", "***"]
    assert [notice.words for notice in told] == ["it failed (exit 3): no entry with ***"]


def test_a_hook_has_a_plain_name() -> None:
    assert Hook("before-turn", "~/bin/my hook").key == "before-turn: my"
    assert Hook("after-turn", "'./a b;c' x").key == "after-turn: a"


async def gone(pid: int) -> bool:
    """Whether a process has ended, or does so soon."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except FileNotFoundError:
            return True
        if state == "Z":
            return True
        await asyncio.sleep(0.05)
    return False
