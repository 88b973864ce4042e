"""What jobs behind the walls can and cannot do, and that they still end as they should."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

import pytest

from ollm_tui.core.errors import JobError
from ollm_tui.services.jobs.process_tree import marked
from ollm_tui.services.sandbox.sandbox import Kind
from tests.services.jobs.conftest import until
from tests.services.sandbox.conftest import FindSandbox, HoldJobs

EVERY_KIND = pytest.mark.parametrize("kind", ("bwrap", "landlock"))
CONNECT = "import socket; socket.create_connection(('127.0.0.1', {port}), 2)"


def git(folder: Path, *words: str) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder.parent)}
    subprocess.run(("git", *words), cwd=folder, check=True, env=environment, capture_output=True)


@pytest.fixture
def repository(project: Path) -> Path:
    """The project as a repository."""
    git(project, "init", "-q")
    git(project, "config", "user.email", "me@example.org")
    git(project, "config", "user.name", "me")
    return project


@EVERY_KIND
async def test_the_project_can_be_written_and_the_rest_cannot(
    kind: Kind, find_sandbox: FindSandbox, held_jobs: HoldJobs, project: Path, elsewhere: Path
) -> None:
    jobs = held_jobs(find_sandbox(kind))
    code = f"echo mine > inside; mkdir d && mv inside d/; touch {elsewhere}/outside; cat d/inside"
    assert (await jobs.run(code)).stdout == "mine\n"
    assert (project / "d" / "inside").read_text() == "mine\n"
    assert not (elsewhere / "outside").exists()


@EVERY_KIND
async def test_no_way_of_writing_gets_out(
    kind: Kind, find_sandbox: FindSandbox, held_jobs: HoldJobs, elsewhere: Path
) -> None:
    victim = elsewhere / "victim"
    victim.write_text("whole")
    jobs = held_jobs(find_sandbox(kind))
    for code in (
        f"echo x > {victim}",
        f"truncate -s 0 {victim}",
        f"rm -f {victim}",
        f"mv {victim} .",
        f"ln -s {victim} link && echo x > link",
        f"ln {victim} hard && echo x > hard",
        f"cd {elsewhere} && echo x > {victim.name}",
        f"python3 -c 'import os; os.truncate({str(victim)!r}, 0)'",
        f"setsid sh -c 'echo x > {victim}'",
    ):
        await jobs.run(code)
        assert victim.read_text() == "whole", code


@EVERY_KIND
async def test_the_shell_keeps_its_state_behind_the_walls(
    kind: Kind, find_sandbox: FindSandbox, held_jobs: HoldJobs, project: Path
) -> None:
    jobs = held_jobs(find_sandbox(kind))
    await jobs.run("mkdir below; cd below; x=5; export Y='a b'; f() { echo f; }")
    assert (await jobs.run('pwd; echo "$x $Y"; f')).stdout == f"{project}/below\n5 a b\nf\n"


@EVERY_KIND
async def test_exit_codes_and_signals_come_through(
    kind: Kind, find_sandbox: FindSandbox, held_jobs: HoldJobs
) -> None:
    jobs = held_jobs(find_sandbox(kind))
    assert (await jobs.run("exit 3")).job.exit_code == 3
    killed = (await jobs.run("kill -9 $$")).job
    assert (killed.exit_code, killed.note) == (137, "killed by SIGKILL")


@EVERY_KIND
async def test_a_job_is_asked_to_end_before_it_is_made_to(
    kind: Kind, find_sandbox: FindSandbox, held_jobs: HoldJobs, project: Path
) -> None:
    jobs = held_jobs(find_sandbox(kind))
    code = "trap 'echo bye; exit 7' TERM; touch ready; while :; do sleep 0.05; done"
    job = await jobs.start(code)
    await until((project / "ready").exists)
    ended = await jobs.jobs.kill(job.id)
    assert (ended.status, ended.exit_code) == ("killed", 7)
    assert jobs.jobs.job_output(job.id).stdout.text() == "bye\n"


@EVERY_KIND
async def test_a_job_that_ignores_the_question_is_killed(
    kind: Kind, find_sandbox: FindSandbox, held_jobs: HoldJobs, project: Path
) -> None:
    jobs = held_jobs(find_sandbox(kind))
    job = await jobs.start("trap '' TERM INT HUP; touch ready; while :; do sleep 0.05; done")
    await until((project / "ready").exists)
    ended = await jobs.jobs.kill(job.id, "SIGKILL")
    assert (ended.status, ended.exit_code) == ("killed", 137)
    assert not marked(job.id)


@EVERY_KIND
async def test_a_stopped_job_can_be_ended(
    kind: Kind, find_sandbox: FindSandbox, held_jobs: HoldJobs, project: Path
) -> None:
    jobs = held_jobs(find_sandbox(kind))
    job = await jobs.start("sleep 60 & touch ready; kill -STOP $! $$")
    await until((project / "ready").exists)
    assert (await jobs.jobs.kill(job.id)).status == "killed"
    assert not marked(job.id)


@EVERY_KIND
async def test_children_in_sessions_of_their_own_end_with_the_job(
    kind: Kind, find_sandbox: FindSandbox, held_jobs: HoldJobs
) -> None:
    jobs = held_jobs(find_sandbox(kind))
    said = await jobs.run("setsid sleep 300 & (setsid setsid sleep 300 &) ; sleep 0.2; echo over")
    assert said.stdout == "over\n"
    assert not marked(said.job.id)


@EVERY_KIND
async def test_commands_of_python_code_are_held_too(
    kind: Kind, find_sandbox: FindSandbox, held_jobs: HoldJobs, elsewhere: Path
) -> None:
    jobs = held_jobs(find_sandbox(kind))
    code = f"""
print(cmd("touch", ["made"]).code, cmd("touch", ["{elsewhere}/outside"]).code)
open("{elsewhere}/outside", "w")
"""
    said = await jobs.run(code, "python")
    assert said.stdout == "0 1\n"
    assert said.job.exit_code == 1
    assert not (elsewhere / "outside").exists()


@EVERY_KIND
async def test_what_a_held_job_leaves_in_the_shell_does_not_reach_the_users_own_commands(
    kind: Kind, find_sandbox: FindSandbox, held_jobs: HoldJobs, project: Path
) -> None:
    jobs = held_jobs(find_sandbox(kind))
    session = jobs.jobs.shells()[0].id
    await jobs.jobs.exec(session, "mine=1; export OURS=1")
    await jobs.run("mkdir sub; cd sub; export PATH=$PWD:$PATH EVIL=1; ls() { echo evil; }; x=2")
    await jobs.run("y = 3", "python")
    own = await jobs.jobs.exec(session, 'echo "$mine$OURS$EVIL$x"; type -t ls; pwd')
    shown = jobs.jobs.job_output(own.id).stdout.text()
    assert shown == f"11\nfile\n{project}/sub\n"
    own = await jobs.jobs.exec(session, "print('y' in globals())", "python")
    assert jobs.jobs.job_output(own.id).stdout.text() == "False\n"
    assert (await jobs.run('echo "$mine$OURS$EVIL$x"; ls; pwd')).stdout == (
        f"1112\nevil\n{project}/sub\n"
    )


async def test_no_network_means_none(find_sandbox: FindSandbox, held_jobs: HoldJobs) -> None:
    jobs = held_jobs(find_sandbox("bwrap"))
    with socket.create_server(("127.0.0.1", 0)) as server:
        said = await jobs.run(CONNECT.format(port=server.getsockname()[1]), "python")
    assert "ConnectionRefusedError" in said.stderr


async def test_with_the_network_allowed_it_is_there(
    find_sandbox: FindSandbox, held_jobs: HoldJobs
) -> None:
    jobs = held_jobs(find_sandbox("bwrap", network=True))
    with socket.create_server(("127.0.0.1", 0)) as server:
        said = await jobs.run(CONNECT.format(port=server.getsockname()[1]), "python")
    assert said.job.exit_code == 0, said.stderr


async def test_sockets_of_other_programs_are_out_of_reach(
    find_sandbox: FindSandbox, held_jobs: HoldJobs
) -> None:
    with socket.socket(socket.AF_UNIX) as other:
        place = Path(f"/tmp/ollm-other-{os.getpid()}")
        other.bind(str(place))
        jobs = held_jobs(find_sandbox("bwrap"))
        said = await jobs.run(f"ls -A /run; ls {place}")
        place.unlink()
    assert said.stdout == "" and "No such file" in said.stderr


async def test_temporary_files_are_private_and_stay_from_job_to_job(
    find_sandbox: FindSandbox, held_jobs: HoldJobs
) -> None:
    jobs = held_jobs(find_sandbox("bwrap"))
    name = f"/tmp/ollm-private-{os.getpid()}"
    await jobs.run(f"echo kept > {name}")
    assert (await jobs.run(f"cat {name}; rm {name}")).stdout == "kept\n"
    assert not Path(name).exists()


async def test_what_the_environment_starts_is_started_behind_the_walls(
    find_sandbox: FindSandbox, held_jobs: HoldJobs, project: Path
) -> None:
    jobs = held_jobs(find_sandbox("bwrap"))
    await jobs.run(f"export LD_PRELOAD={project}/evil.so")
    said = await jobs.run("echo hi")
    # The loader complains about the missing file in bash, and not before in bubblewrap itself.
    assert said.stdout == "hi\n"
    assert said.stderr.count("evil.so") == 1


async def test_keys_of_the_user_cannot_be_read(
    find_sandbox: FindSandbox,
    held_jobs: HoldJobs,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", str(project))
    (project / ".ssh").mkdir()
    (project / ".ssh" / "id_rsa").write_text("key")
    (project / ".netrc").write_text("password")
    jobs = held_jobs(find_sandbox("bwrap"))
    said = await jobs.run("cat .ssh/id_rsa; cat .netrc; ls")
    assert said.stdout == ""


async def test_commits_work_but_hooks_and_settings_of_git_cannot_be_changed(
    find_sandbox: FindSandbox, held_jobs: HoldJobs, repository: Path
) -> None:
    jobs = held_jobs(find_sandbox("bwrap"))
    said = await jobs.run(
        "echo a > a && git add a && git commit -qm one && git log --oneline | wc -l"
    )
    assert said.stdout == "1\n", said.stderr
    before = (repository / ".git" / "config").read_text()
    for code in (
        "echo x > .git/hooks/pre-commit",
        "git config core.fsmonitor ./evil",
        "echo x >> .git/config",
        "rm -rf .git/hooks",
        "mv .git moved",
        "mv .git/hooks .git/moved && mkdir .git/hooks",
        "rm -f .git/config && cp a .git/config",
        "echo /elsewhere > .git/commondir",
        "mkdir .ollm; echo x > .ollm/config.yaml",
    ):
        assert (await jobs.run(code)).job.exit_code != 0, code
    assert (repository / ".git" / "config").read_text() == before
    assert not (repository / ".git" / "hooks" / "pre-commit").exists()
    assert not (repository / ".git" / "commondir").exists()
    assert not (repository / ".ollm").exists()
    git(repository, "fsck")


async def test_repositories_below_the_project_are_protected_too(
    find_sandbox: FindSandbox, held_jobs: HoldJobs, repository: Path
) -> None:
    nested = repository / "vendor" / "library"
    nested.mkdir(parents=True)
    git(nested, "init", "-q")
    (nested / ".git" / "hooks" / "pre-commit").unlink(missing_ok=True)
    git(repository, "init", "-q", "--bare", "copy.git")
    linked = repository / "linked"
    linked.mkdir()
    (linked / ".git").write_text("gitdir: ../.git/modules/linked\n")
    jobs = held_jobs(find_sandbox("bwrap"))
    before = (nested / ".git" / "config").read_text()
    for code in (
        "echo x > vendor/library/.git/hooks/pre-commit",
        "cd vendor/library && git config core.fsmonitor ./evil",
        "mv vendor/library/.git vendor/library/moved",
        "rm -rf vendor/library/.git/hooks",
        "echo x >> copy.git/config",
        "echo x > copy.git/hooks/update",
        "echo gitdir: ../evil > linked/.git",
        "rm -f linked/.git",
    ):
        said = await jobs.run(f"cd {repository}; {code}")
        assert said.job.exit_code != 0, code
    assert (nested / ".git" / "config").read_text() == before
    assert (linked / ".git").read_text() == "gitdir: ../.git/modules/linked\n"
    said = await jobs.run(
        f"cd {nested} && echo a > a && git add a &&"
        " git -c user.name=me -c user.email=me@example.org commit -qm one && git log --oneline"
    )
    assert said.stdout.endswith("one\n"), said.stderr


async def test_a_repository_that_came_since_the_last_command_is_protected(
    find_sandbox: FindSandbox, held_jobs: HoldJobs, project: Path
) -> None:
    jobs = held_jobs(find_sandbox("bwrap"))
    assert (await jobs.run("mkdir -p a/b")).job.exit_code == 0
    git(project / "a" / "b", "init", "-q")
    assert (await jobs.run("echo x > a/b/.git/hooks/pre-push")).job.exit_code != 0
    assert not (project / "a" / "b" / ".git" / "hooks" / "pre-push").exists()


async def test_what_is_protected_is_so_where_it_does_not_exist_yet(
    find_sandbox: FindSandbox, held_jobs: HoldJobs, project: Path
) -> None:
    jobs = held_jobs(find_sandbox("bwrap"))
    said = await jobs.run("git init -q; mkdir .git/hooks; echo x > .ollm/config.yaml; ls -A")
    assert said.stdout.split() == [".git", ".ollm"]
    assert list(project.iterdir()) == []


async def test_start_files_of_shells_are_protected_where_home_is_in_the_scope(
    find_sandbox: FindSandbox,
    held_jobs: HoldJobs,
    project: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HOME", str(project))
    (project / ".bashrc").write_text("mine")
    jobs = held_jobs(find_sandbox("bwrap"))
    await jobs.run("echo x >> .bashrc; echo x > .zshrc; echo x > .bash_profile; rm -f .profile")
    assert (project / ".bashrc").read_text() == "mine"
    assert [path.name for path in project.iterdir()] == [".bashrc"]


async def test_other_directories_of_the_scope_can_be_kept_read_only(
    find_sandbox: FindSandbox, held_jobs: HoldJobs, project: Path
) -> None:
    data = project / "data"
    data.mkdir()
    jobs = held_jobs(find_sandbox("bwrap", read_only=(data,)))
    assert (await jobs.run("touch data/x")).job.exit_code != 0


async def test_a_protected_place_that_is_a_link_fails_the_job(
    find_sandbox: FindSandbox, held_jobs: HoldJobs, project: Path, tmp_path: Path
) -> None:
    jobs = held_jobs(find_sandbox("bwrap"))
    (tmp_path / "elsewhere").mkdir()
    (project / ".git").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(JobError, match="is a link"):
        await jobs.run("true")


async def test_a_job_never_runs_in_another_directory_than_the_one_meant(
    find_sandbox: FindSandbox, held_jobs: HoldJobs, tmp_path: Path
) -> None:
    jobs = held_jobs(find_sandbox("bwrap"))
    hidden = tmp_path / "hidden"  # below /tmp, which is another one for jobs
    hidden.mkdir()
    await jobs.run(f"cd {hidden} 2>/dev/null || echo gone")
    jobs.jobs.change_shell(jobs.jobs.shells()[0].id, cwd=hidden)
    said = await jobs.run("touch here")
    assert said.job.status == "failed"
    assert "Can't chdir" in said.stderr


async def test_a_users_own_command_is_not_held(
    held_jobs: HoldJobs, find_sandbox: FindSandbox, tmp_path: Path
) -> None:
    jobs = held_jobs(find_sandbox("bwrap"))
    session = jobs.jobs.shells()[0].id
    job = await jobs.jobs.exec(session, f"touch {tmp_path}/outside")
    assert job.exit_code == 0
    assert (tmp_path / "outside").exists()
