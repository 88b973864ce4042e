"""The label of the sandbox says what a canary could do, on machines with and without each kind."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
import pytest

from ollm_tui.services.sandbox.canary import Findings
from ollm_tui.services.sandbox.sandbox import Kind, Sandbox
from tests.services.sandbox.conftest import FindSandbox, HoldJobs

BWRAP = Findings(
    reads=True,
    writes_inside=True,
    writes_protected=False,
    writes_outside=False,
    changes_modes=False,
    tcp=False,
    udp=False,
)
NOTHING_HELD = Findings(*(True,) * len(Findings._fields))


def test_bubblewrap_without_the_network_holds_everything(find_sandbox: FindSandbox) -> None:
    sandbox = find_sandbox("bwrap")
    assert sandbox.findings == BWRAP
    assert sandbox.words == "✓ bwrap, no network"
    assert sandbox.confines


def test_bubblewrap_with_the_network_says_that_it_is_open(find_sandbox: FindSandbox) -> None:
    sandbox = find_sandbox("bwrap", network=True)
    assert sandbox.findings == BWRAP._replace(tcp=True, udp=True)
    assert sandbox.words == "✓ bwrap, network open"
    assert sandbox.confines


def test_landlock_holds_files_and_says_no_more(find_sandbox: FindSandbox) -> None:
    sandbox = find_sandbox("landlock")
    found = sandbox.findings
    assert (found.writes_inside, found.writes_outside) == (True, False)
    # It can hold neither of these: nothing may run unasked because of it.
    assert found.writes_protected
    assert found.udp
    assert not sandbox.confines
    held = "files only" if found.tcp else "files and TCP only"
    assert sandbox.words == f"landlock: {held}"


def test_landlock_with_the_network_allowed_holds_files_only(find_sandbox: FindSandbox) -> None:
    sandbox = find_sandbox("landlock", network=True)
    assert sandbox.findings.tcp
    assert sandbox.words == "landlock: files only"


def test_without_either_the_label_says_that_only_limits_hold(project: Path) -> None:
    sandbox = Sandbox.find([project], network=False, kinds=())
    assert sandbox.level == "limits"
    assert sandbox.words == "no sandbox: limits only"
    assert sandbox.findings == NOTHING_HELD
    assert sandbox.confinement is None
    assert not sandbox.confines


def test_a_machine_without_bubblewrap_goes_down_the_ladder_and_says_why(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    sandbox = Sandbox.find([project], network=False, temporary=tmp_path / "temporary")
    assert sandbox.level in ("landlock", "limits")
    assert sandbox.notes[0] == "bwrap: bubblewrap is not installed"


def test_a_bubblewrap_that_does_not_hold_anything_is_not_believed(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    liar = programs / "bwrap"
    liar.write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n')
    liar.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    sandbox = Sandbox.find([project], False, kinds=("bwrap",), temporary=tmp_path / "temporary")
    assert sandbox.level == "limits"
    assert sandbox.notes != ()


def test_a_bubblewrap_that_fails_is_not_used_and_its_words_are_told(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'bwrap: no permissions' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    sandbox = Sandbox.find([project], False, kinds=("bwrap",))
    assert sandbox.notes == ("bwrap: bwrap: no permissions",)


def test_the_whole_machine_as_scope_cannot_be_held() -> None:
    assert Sandbox.find([Path("/")], network=False).level == "limits"


def test_it_is_found_once(project: Path) -> None:
    assert Sandbox.find([project], False) is Sandbox.find([project], False)


@pytest.mark.parametrize("kind", ("bwrap", "landlock"))
def test_looking_for_a_sandbox_leaves_nothing_behind(
    kind: Kind, find_sandbox: FindSandbox, project: Path, tmp_path: Path
) -> None:
    before = sorted(tmp_path.rglob("*"))
    find_sandbox(kind)
    assert sorted(tmp_path.rglob("*")) == before


async def test_a_sandbox_that_breaks_later_fails_the_job_and_runs_nothing(
    find_sandbox: FindSandbox, held_jobs: HoldJobs, project: Path, tmp_path: Path
) -> None:
    sandbox = find_sandbox("bwrap")
    assert sandbox.confinement is not None
    gone = msgspec.structs.replace(sandbox.confinement, program=str(tmp_path / "bwrap"))
    said = await held_jobs(sandbox._replace(confinement=gone)).run("touch ran")
    assert said.job.status == "failed"
    assert "bwrap: No such file or directory" in said.stderr
    assert not (project / "ran").exists()
